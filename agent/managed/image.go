package managed

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/genai"
)

// image is a state as a snapshot stores it. Its lists keep the difference between nil and empty, so a state
// that is read back equals the one that was stored. What the log does not tell is not in it.
type image struct {
	Info     sessionInfo           `json:"info"`
	Head     head                  `json:"head"`
	Phase    phase                 `json:"phase"`
	Began    time.Time             `json:"began"`
	Changed  time.Time             `json:"changed"`
	Records  uint64                `json:"records"`
	Retries  int                   `json:"retries"`
	Messages []*Event              `json:"messages"`
	Stops    []*Event              `json:"stops"`
	Calls    []*openCall           `json:"calls"`
	Asked    []string              `json:"asked"`
	Closed   map[string]string     `json:"closed"`
	Uses     map[string]*Event     `json:"uses"`
	Contents []*genai.Content      `json:"contents"`
	Authors  []string              `json:"authors"`
	Active   string                `json:"active"`
	Values   map[string]any        `json:"values,omitempty"`
	Turn     *turnImage            `json:"turn"`
	Spent    spent                 `json:"spent"`
	Stalled  bool                  `json:"stalled"`
	Due      bool                  `json:"due"`
	Failure  *Failure              `json:"failure"`
	Inputs   []*inputImage         `json:"inputs"` // those that Keys and Recent name, once each
	Keys     []keyImage            `json:"keys"`   // the oldest first
	Recent   []uint64              `json:"recent"` // numbers of records
	Bound    map[string]*boundName `json:"bound"`
}

type turnImage struct {
	Info        turnInfo               `json:"info"`
	Began       time.Time              `json:"began"`
	Base        int                    `json:"base"`
	Agent       string                 `json:"agent"`
	Values      map[string]any         `json:"values,omitempty"`
	Effects     map[string]effectImage `json:"effects"`
	End         *turnEnd               `json:"end"`
	Unreachable map[string]bool        `json:"unreachable"`
}

type effectImage struct {
	Info  *effectInfo `json:"info"`
	Done  bool        `json:"done"`
	First uint64      `json:"first"`
}

type inputImage struct {
	Seq    uint64    `json:"seq"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	Events []*Event  `json:"events"`
}

type keyImage struct {
	Key string `json:"key"`
	Seq uint64 `json:"seq"`
}

// image copies what may change, and shares what does not. The caller holds the lock of the state, and may
// encode the image without it.
func (s *state) image() *image {
	m := &image{Info: s.info, Head: s.head, Phase: s.phase, Began: s.began, Changed: s.changed, Records: s.records,
		Retries: s.retries, Messages: slices.Clone(s.messages), Stops: slices.Clone(s.stops), Asked: slices.Clone(s.asked),
		Closed: maps.Clone(s.closed), Uses: maps.Clone(s.uses), Contents: slices.Clip(s.contents), Failure: s.failure,
		Bound: maps.Clone(s.bound), Authors: slices.Clip(s.authors), Active: s.active, Spent: s.spent, Values: s.values,
		Stalled: s.stalled, Due: s.due}
	if s.calls != nil {
		m.Calls = make([]*openCall, len(s.calls))
	}
	for i, c := range s.calls {
		call := *c
		m.Calls[i] = &call
	}
	if t := s.turn; t != nil {
		m.Turn = &turnImage{Info: t.info, Began: t.began, Base: t.base, Agent: t.agent, End: t.end, Values: t.values,
			Effects:     map[string]effectImage{},
			Unreachable: maps.Clone(t.unreachable)}
		for key, e := range t.effects {
			m.Turn.Effects[key] = effectImage{Info: e.info, Done: e.done, First: e.first}
		}
	}
	known := map[uint64]bool{}
	add := func(a *accepted) {
		if !known[a.seq] {
			known[a.seq] = true
			m.Inputs = append(m.Inputs, &inputImage{Seq: a.seq, Hash: a.hash, At: a.at, Events: a.events})
		}
	}
	for _, key := range s.keyOrder {
		m.Keys = append(m.Keys, keyImage{Key: key, Seq: s.keys[key].seq})
		add(s.keys[key])
	}
	for _, a := range s.recent {
		m.Recent = append(m.Recent, a.seq)
		add(a)
	}
	return m
}

var errImage = errors.New("the snapshot holds no state of a session")

// decodeImage reads a state. An image that was made by hand is refused where it would break the session.
func decodeImage(b []byte) (*state, error) {
	m := &image{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errImage, err)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	s := newState()
	s.info, s.head, s.phase, s.began, s.changed, s.records = m.Info, m.Head, m.Phase, m.Began, m.Changed, m.Records
	s.retries, s.messages, s.stops, s.calls, s.asked = m.Retries, m.Messages, m.Stops, m.Calls, m.Asked
	s.closed, s.uses, s.contents, s.failure, s.bound = m.Closed, m.Uses, m.Contents, m.Failure, m.Bound
	s.authors, s.active, s.spent = m.Authors, m.Active, m.Spent
	s.stalled, s.due, s.values = m.Stalled, m.Due, m.Values
	if t := m.Turn; t != nil {
		s.turn = &turn{info: t.Info, began: t.Began, base: t.Base, agent: t.Agent, end: t.End, values: t.Values,
			effects:     map[string]*effect{},
			unreachable: t.Unreachable}
		for key, e := range t.Effects {
			s.turn.effects[key] = &effect{info: e.Info, done: e.Done, first: e.First}
		}
	}
	inputs := map[uint64]*accepted{}
	for _, in := range m.Inputs {
		inputs[in.Seq] = &accepted{seq: in.Seq, hash: in.Hash, at: in.At, events: in.Events}
	}
	for _, k := range m.Keys {
		if inputs[k.Seq] == nil {
			return nil, fmt.Errorf("%w: the input %d is missing", errImage, k.Seq)
		}
		s.keyOrder = append(s.keyOrder, k.Key)
		s.keys[k.Key] = inputs[k.Seq]
	}
	for _, seq := range m.Recent {
		if inputs[seq] == nil {
			return nil, fmt.Errorf("%w: the input %d is missing", errImage, seq)
		}
		s.recent = append(s.recent, inputs[seq])
	}
	return s, nil
}

// check finds what no state has.
func (m *image) check() error {
	bad := m.Info.ID == "" || m.Records == 0 || m.Phase > phaseOver || m.Retries < 0 ||
		m.Closed == nil || m.Uses == nil || m.Bound == nil ||
		slices.Contains(m.Messages, nil) || slices.Contains(m.Stops, nil) || slices.Contains(m.Calls, nil) ||
		slices.Contains(m.Contents, nil) || slices.Contains(m.Inputs, nil) ||
		len(m.Authors) != len(m.Contents) || len(m.Keys) > keysMax || len(m.Recent) > recentMax
	for _, c := range m.Contents {
		bad = bad || c != nil && slices.Contains(c.Parts, nil)
	}
	for _, in := range m.Inputs {
		bad = bad || in != nil && slices.Contains(in.Events, nil)
	}
	for _, ev := range m.Uses {
		bad = bad || ev == nil
	}
	for _, b := range m.Bound {
		bad = bad || b == nil
	}
	if t := m.Turn; t != nil {
		bad = bad || t.Base < 0 || t.Base > len(m.Contents) || t.Effects == nil || t.Unreachable == nil
		for _, e := range t.Effects {
			bad = bad || e.Info == nil
		}
	}
	if bad {
		return errImage
	}
	return nil
}
