package console

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A Turn is an exchange: what the caller said and the reply to it. Times are milliseconds since the
// call began, 0 if the moment has not come.
type Turn struct {
	N           int     `json:"n"` // from 0
	SpeechBegan float64 `json:"speech_began,omitempty"`
	SpeechEnded float64 `json:"speech_ended,omitempty"` // as detected, which is later than it was
	TurnEnded   float64 `json:"turn_ended,omitempty"`   // the model knows that it is its turn
	ModelFirst  float64 `json:"model_first,omitempty"`  // the first audio of the reply came from the model
	SentFirst   float64 `json:"sent_first,omitempty"`   // and went to the caller
	PlayedFirst float64 `json:"played_first,omitempty"` // and the caller's side acknowledged it
	Ended       float64 `json:"ended,omitempty"`        // of the reply
	End         string  `json:"end,omitempty"`          // complete, interrupted, model_lost
	SentMS      int     `json:"sent_ms"`                // audio of the reply that was handed over
	HeardMS     int     `json:"heard_ms"`               // and acknowledged as played
	SilentMS    int     `json:"silent_ms,omitempty"`    // nothing of the reply was heard in its middle
	Prompt      bool    `json:"prompt,omitempty"`       // it is a prompt of the gateway's
	Tools       int     `json:"tools,omitempty"`        // functions that the model called meanwhile
	Stages      []Stage `json:"stages,omitempty"`       // those that are known
	spent       spent
}

// frameMS is the length of a frame.
const frameMS = 20

// turns makes the turns of a call.
type turns struct {
	spots  *spots
	cut    map[int32]bool
	down   map[int32]bool // transitions that hand over a frame
	again  map[int32]bool // of those, the ones that hand it over once more
	list   []Turn
	turn   *Turn // the newest, nil before the first
	fresh  int   // first one not flushed
	was    struct{ speaking, inTurn, pending, replying bool }
	began  time.Duration // of the caller's newest speech
	ended  time.Duration
	waits  waits
	tools  int
	atModl bool // the turn of the newest is at the model
}

func newTurns(p *petri.Program, s *spots) *turns {
	t := &turns{spots: s, cut: cuts(p, s), down: emitters(p, s.audioDown), again: map[int32]bool{}}
	for i := range t.down {
		t.again[i] = base(p.Transitions()[i].Name) == "play_again"
	}
	return t
}

// current returns the newest turn, or nil.
func (t *turns) current() *Turn { return t.turn }

func (t *turns) take(tr *petri.Tracker, e petri.Event) {
	s, at := t.spots, ms(e.At)
	t.waits.pass(t.turn, e.At)
	speaking, inTurn, pending := has(tr, s.speaking), has(tr, s.inTurn), has(tr, s.pending)
	replying := has(tr, s.replying)
	if speaking && !t.was.speaking {
		t.began = e.At
	}
	if !speaking && t.was.speaking {
		t.ended = e.At
	}
	if t.was.replying && (!replying || e.Kind == petri.Fired && t.cut[e.Index]) {
		t.endReply(tr, e)
	}
	if inTurn && !t.was.inTurn {
		t.begin().SpeechBegan = ms(t.began)
	}
	if pending && !t.was.pending {
		t.toModel(inTurn, at)
	}
	if replying && !t.was.replying {
		t.reply(tr)
	}
	t.was.speaking, t.was.inTurn, t.was.pending, t.was.replying = speaking, inTurn, pending, replying
	if t.turn != nil && t.turn.Ended == 0 {
		t.audio(e, at)
		t.tool(tr)
	}
	if t.waits.look(tr, s, t.turn) {
		t.touch()
	}
}

// begin begins a turn.
func (t *turns) begin() *Turn {
	if t.turn != nil && t.turn.TurnEnded == 0 && t.turn.SentFirst == 0 && t.turn.Ended == 0 {
		return t.turn
	}
	t.list = append(t.list, Turn{N: len(t.list)})
	t.turn, t.atModl = &t.list[len(t.list)-1], false
	t.touch()
	return t.turn
}

// toModel notes that the caller's turn is at the model.
func (t *turns) toModel(inTurn bool, at float64) {
	if t.turn == nil || t.turn.TurnEnded > 0 && t.turn.SentFirst > 0 || t.turn.Ended > 0 {
		t.begin()
	}
	if t.turn.TurnEnded > 0 {
		return // the same turn waits again
	}
	if t.turn.SpeechBegan == 0 && t.ended > 0 && at-ms(t.ended) < 50 { // the model detects speech
		t.turn.SpeechBegan = ms(t.began)
	}
	if t.turn.SpeechBegan > 0 && !inTurn && t.ended >= t.began {
		t.turn.SpeechEnded = ms(t.ended)
	}
	t.turn.TurnEnded = at
	t.touch()
}

// reply notes that a reply or a prompt begins.
func (t *turns) reply(tr *petri.Tracker) {
	prompt := has(tr, t.spots.prompting)
	if t.turn == nil || t.turn.Ended > 0 || t.turn.SentFirst > 0 || prompt && t.turn.TurnEnded == 0 {
		model := 0.0
		if t.turn != nil && t.turn.Ended == 0 {
			model = t.turn.ModelFirst
		}
		t.begin().ModelFirst = model
	}
	t.turn.Prompt = prompt
	t.touch()
}

// audio notes where a frame of the reply is.
func (t *turns) audio(e petri.Event, at float64) {
	s := t.spots
	switch {
	case e.Kind == petri.Injected && int(e.Index) == s.modelAudio && t.turn.ModelFirst == 0:
		t.turn.ModelFirst = at
	case e.Kind == petri.Injected && int(e.Index) == s.ack:
		if t.turn.SentFirst == 0 {
			return
		}
		if t.turn.HeardMS += frameMS; t.turn.PlayedFirst == 0 {
			t.turn.PlayedFirst = at
		}
	case e.Kind == petri.Fired && t.down[e.Index]:
		if t.turn.SentFirst == 0 {
			t.turn.SentFirst = at
		}
		if !t.again[e.Index] {
			t.turn.SentMS += frameMS
		}
	default:
		return
	}
	t.touch()
}

func (t *turns) tool(tr *petri.Tracker) {
	n := 0
	for _, place := range t.spots.tools {
		n += tr.Count(place)
	}
	if n > t.tools {
		t.turn.Tools += n - t.tools
		t.touch()
	}
	t.tools = n
}

// endReply notes how a reply ended.
func (t *turns) endReply(tr *petri.Tracker, e petri.Event) {
	if t.turn == nil || t.turn.Ended > 0 {
		return
	}
	t.turn.Ended, t.turn.End = ms(e.At), "complete"
	switch {
	case e.Kind == petri.Fired && t.cut[e.Index]:
		t.turn.End = "interrupted"
	case tr.Ended():
		t.turn.End = "call_over"
	case has(tr, t.spots.pending):
		t.turn.End = "model_lost"
	}
	t.touch()
}

// touch marks the newest turn as changed.
func (t *turns) touch() { t.fresh = min(t.fresh, len(t.list)-1) }

func (t *turns) flush() []Turn {
	news := append([]Turn(nil), t.list[t.fresh:]...)
	for i := range news {
		news[i].Stages = news[i].stages()
	}
	t.fresh = len(t.list)
	return news
}
