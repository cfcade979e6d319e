package petri

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// An encoded snapshot starts with a line of format, version and checksum of the rest.
const (
	snapshotFormat  = "voicegw snapshot "
	snapshotVersion = "1 "
)

// snapshotBody is the encoded form of a Snapshot.
type snapshotBody struct {
	Net     string        `json:"net"`
	Hash    string        `json:"hash"`
	At      time.Duration `json:"at"`
	Seq     uint64        `json:"seq"`
	Gen     Gen           `json:"gen,omitempty"`
	Ended   bool          `json:"ended,omitempty"`
	Tokens  []tokenBody   `json:"tokens"`
	Clocks  []clockBody   `json:"clocks,omitempty"`
	Working []string      `json:"working,omitempty"`
}

type tokenBody struct {
	Place string          `json:"place"`
	Slot  int             `json:"slot,omitempty"`
	N     int             `json:"n"`
	Value json.RawMessage `json:"value,omitempty"`
}

type clockBody struct {
	Transition string        `json:"transition"`
	Due        time.Duration `json:"due"`
}

// MarshalBinary encodes the snapshot as a line with format, version and checksum, followed by JSON.
// Payloads are encoded as JSON too, so a colour with unexported fields must implement
// json.Marshaler and json.Unmarshaler. MarshalBinary returns an error for a payload that does not
// survive the round trip, and for a token of a Secret colour, which must not be stored.
func (s *Snapshot) MarshalBinary() ([]byte, error) {
	b := snapshotBody{Net: s.Net, Hash: s.hash, At: s.At, Seq: s.Seq, Gen: s.gen, Ended: s.ended, Working: s.Working,
		Tokens: make([]tokenBody, 0, len(s.tokens))}
	for i := range s.tokens {
		t := &s.tokens[i]
		raw, err := t.encode()
		if err != nil {
			return nil, fmt.Errorf("petri: encode snapshot of net %s: place %s: %w", s.Net, t.place, err)
		}
		b.Tokens = append(b.Tokens, tokenBody{Place: t.place, Slot: t.slot, N: t.n, Value: raw})
	}
	for _, c := range s.clocks {
		b.Clocks = append(b.Clocks, clockBody{c.transition, c.due})
	}
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("petri: encode snapshot of net %s: %w", s.Net, err)
	}
	return append([]byte(snapshotFormat+snapshotVersion+checksum(body)+"\n"), body...), nil
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// encode returns a token's payload as JSON and checks that decoding it gives the same payload.
func (t *heldToken) encode() (json.RawMessage, error) {
	if t.col == nil {
		return t.raw, nil
	}
	if t.col.secret {
		return nil, fmt.Errorf("%T is Secret and must not be stored", t.value)
	}
	raw, err := json.Marshal(t.value)
	if err != nil {
		return nil, err
	}
	back, err := t.col.decode(raw)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(back, t.value) {
		return nil, fmt.Errorf("%T does not survive JSON; implement json.Marshaler and json.Unmarshaler", t.value)
	}
	return raw, nil
}

// UnmarshalBinary decodes a snapshot. Its errors wrap ErrOtherVersion or ErrDamaged. Payloads stay
// encoded until Restore, which knows their colours.
func (s *Snapshot) UnmarshalBinary(data []byte) error {
	head, body, ok := bytes.Cut(data, []byte("\n"))
	rest, format := strings.CutPrefix(string(head), snapshotFormat)
	if !format {
		return fmt.Errorf("petri: decode snapshot: %w: it begins with %.20q", ErrOtherVersion, head)
	}
	sum, version := strings.CutPrefix(rest, snapshotVersion)
	if !version {
		number, _, _ := strings.Cut(rest, " ")
		return fmt.Errorf("petri: decode snapshot: %w: version %.20q, not %q", ErrOtherVersion, number,
			strings.TrimSpace(snapshotVersion))
	}
	if !ok || sum != checksum(body) {
		return fmt.Errorf("petri: decode snapshot: %w: the checksum does not match", ErrDamaged)
	}
	var b snapshotBody
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("petri: decode snapshot: %w: %w", ErrDamaged, err)
	}
	*s = Snapshot{Net: b.Net, At: b.At, Seq: b.Seq, Working: b.Working, hash: b.Hash, gen: b.Gen, ended: b.Ended}
	for _, t := range b.Tokens {
		s.tokens = append(s.tokens, heldToken{place: t.Place, slot: t.Slot, n: t.N, raw: t.Value})
	}
	for _, c := range b.Clocks {
		s.clocks = append(s.clocks, heldClock{c.Transition, c.Due})
	}
	return nil
}

// hash identifies what a snapshot of the program means: its places with their colours and limits,
// and its transitions with their tables, arcs and intervals.
func (p *Program) hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %v\n", p.name, p.final, p.tasks)
	for i := range p.places {
		pl := &p.places[i]
		fmt.Fprintf(h, "place %q %q %q %t %t %d %d %t %d\n",
			pl.Name, pl.Type, pl.Keys, pl.Gen, pl.Out, pl.Slots, pl.Max, pl.Env, pl.Policy)
	}
	for i := range p.transitions {
		t := &p.transitions[i]
		fmt.Fprintf(h, "transition %q %d %d %d %t %t\n", t.Name, t.When.Earliest, t.When.Latest, t.Priority, t.Free, t.Bump)
		for k := range t.Modes {
			m := &t.Modes[k]
			fmt.Fprintf(h, " mode %v %v %v %v %d\n", m.Conds, m.Take, m.Drain, m.Reset, m.branch)
			for _, b := range m.Branches {
				fmt.Fprintf(h, "  put %v emit %v\n", b.Put, b.Emit)
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
