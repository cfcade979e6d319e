package verify

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
)

// lock is a net in which frames wait for a door that opens and shuts within one instant. sendFirst
// puts the frame's move before the shutting.
func lock(sendFirst bool) *petri.Net {
	send := petri.Transition{Name: "send", In: arcs("frame"), Read: arcs("open"), Out: outs("up")}
	shut := petri.Transition{Name: "shut", In: arcs("open", "muting"), Out: outs("closed")}
	n := &petri.Net{Name: "lock", Imported: true, Init: tokens("closed"), Out: []petri.Output{{Place: unit("up")}},
		Env: []petri.Env{{Place: unit("frame"), Capacity: 4, Policy: petri.DropOldest}},
		Transitions: []petri.Transition{
			{Name: "unlock", In: arcs("closed"), Out: outs("open", "muting"), When: petri.After(time.Second)}, shut, send}}
	if sendFirst {
		n.Transitions[1], n.Transitions[2] = send, shut
	}
	return n
}

// TestPassing: a frame that waits may move in a marking in which the net never rests; the machine
// does it, and no proof overlooks it.
func TestPassing(t *testing.T) {
	prop := Never("muting && can(send)")
	for _, c := range []struct {
		first bool
		want  Outcome
		sent  int
	}{{true, Refuted, 1}, {false, Proved, 0}} {
		p := compile(t, lock(c.first))
		m := p.Start()
		if err := m.Inject(0, unit("frame").Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		if out := m.Advance(time.Second).Out; len(out) != c.sent {
			t.Errorf("the machine sends %d frames, want %d", len(out), c.sent)
		}
		v := checkNet(t, lock(c.first), Config{Certify: true}, prop).Results[0]
		if v.Outcome != c.want || c.want == Refuted && (!strings.Contains(v.Reason, "in passing") ||
			story(v.Witness) != "unlock shut") {
			t.Errorf("send first %v: %s (%s) %q, want %s", c.first, v.Outcome, v.Reason, story(v.Witness), c.want)
		}
		cert, model := certify(t, lock(c.first), prop)
		err := cert.Check(t.Context(), model, prop.Claim)
		if (err == nil) != (c.want == Proved) || err != nil && !errors.Is(err,
			check.ErrCertificate) {
			t.Errorf("send first %v: certificate: %v", c.first, err)
		}
	}
}
