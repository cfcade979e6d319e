package life

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Limits of the proof that Prove makes. TestProveWhole proves the same with CallsMax and QueueMax.
const (
	proofCalls = 3
	proofQueue = 2
)

// Prove proves what every session keeps, with the net closed by an environment that sends every input at
// any time, a turn that takes any time and ends in any way, and waits of any length. The session goes on
// in any State. Up to three calls and two messages wait, so that the proof takes less than a second. The claims are:
//
//   - one phase: the session is asleep, idle, running, parked, backing off or over, one of them;
//   - one turn: at most one turn runs, and only while the session is running;
//   - told: clients hear that the session is idle, or that a turn will be retried, only while no turn works;
//   - no message lost: a message that waits is taken only by the turn that it begins;
//   - parks end, retries end, turns can stop: from wherever the session is parked, backs off or runs, it
//     can come to rest or to its end, by an interrupt if by nothing else;
//   - usable: from everywhere the session can begin another turn, unless it is over;
//   - pause: a turn begins while the session is paused only to go on where the process stopped;
//   - the end: nothing fires once the session is over;
//   - capacity: no place overflows, and no chain of firings at one instant is endless;
//   - each input, each end of a turn and each beginning does what rules.go says, and nothing else that it
//     names;
//   - every transition fires somewhere.
//
// The claims of the form "can" assume that whatever can happen again and again happens once.
// Unknown is not success: see verify.ClosuresReport.Outcome.
func Prove(ctx context.Context, c Config, v verify.Config) (*verify.ClosuresReport, error) {
	c.calls, c.queue, c.anytime = proofCalls, proofQueue, true
	n, err := Net(c)
	if err != nil {
		return nil, err
	}
	return prove(ctx, c, n, v)
}

func prove(ctx context.Context, c Config, n *petri.Net, v verify.Config) (*verify.ClosuresReport, error) {
	closed, err := closing(n)
	if err != nil {
		return nil, fmt.Errorf("life: close the net: %w", err)
	}
	prog, err := petri.Compile(closed)
	if err != nil {
		return nil, fmt.Errorf("life: close the net: %w", err)
	}
	return verify.RunClosures(ctx, v, verify.Closure{Name: "hostile", Program: prog, Props: claims(c)})
}

// closing closes a net with the environment.
func closing(n *petri.Net) (*petri.Net, error) {
	return petri.Close("hostile", n, world(), worker(), listener())
}

// Places of the automata.
const (
	working petri.Place[petri.Unit] = "working" // a turn works
	wrong   petri.Place[petri.Unit] = "wrong"   // the session was told to be idle while a turn works
)

// world sends every input at any time.
func world() *petri.Net {
	n := &petri.Net{Name: "world", Ports: []petri.AnyPlace{Wake, Message, Result, Interrupt, Pause, Resume, Archive, Fail}}
	send := func(name string, out petri.AnyArc) {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "send_" + name, Out: petri.And(out),
			When: petri.Anytime()})
	}
	for p := range Phase(len(phases)) {
		send("wake_"+p.String(), Wake.Is(p))
	}
	for _, p := range []petri.Place[petri.Unit]{Message, Result, Interrupt, Pause, Resume, Archive, Fail} {
		send(p.String(), p)
	}
	return n
}

// worker answers turns: with a result of any kind, at any time.
func worker() *petri.Net {
	n := &petri.Net{Name: "worker", Ports: []petri.AnyPlace{Turn.Start, Turn.Done, working},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{Turn.Start}, Out: petri.And(working), Priority: 90}}}
	for _, o := range []petri.Outcome{petri.Succeeded, petri.Failed, petri.Cancelled} {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "deliver_" + o.String(), In: petri.Arcs{working},
			Out: petri.And(Turn.Done.Is(o)), When: petri.Anytime()})
	}
	return n
}

// listener hears what clients hear. While a turn works, they must not hear that the session is idle, or that
// the turn will be retried.
func listener() *petri.Net {
	return &petri.Net{Name: "listener", Ports: []petri.AnyPlace{Said, working}, Caps: []petri.Cap{{Place: wrong, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "hear_too_soon", In: petri.Arcs{Said.Is(IdleEnded, IdleWaiting, IdleExhausted, IdleStopped, Rescheduled)},
				Read: petri.Arcs{working}, Reset: petri.Arcs{wrong}, Out: petri.And(wrong), Priority: 101},
			{Name: "hear", In: petri.Arcs{Said}, Priority: 100},
		}}
}

// claims are what Prove claims.
func claims(c Config) []*verify.Property {
	phases := []petri.Place[petri.Unit]{asleep, idle, running, parked, over}
	if len(c.Backoff) > 0 {
		phases = append(phases, backingOff)
	}
	var names []string
	for _, p := range phases {
		names = append(names, p.String())
	}
	named := func(p *verify.Property, name, doc string) *verify.Property {
		p.Name, p.Doc = name, doc
		return p
	}
	rest := "idle || over"
	list := []*verify.Property{
		named(verify.Never(strings.Join(names, " + ")+" != 1"), "one phase", "the session is in one phase"),
		named(verify.Never("(working || turn_in_flight) && !running && !over"), "one turn",
			"a turn runs only while the session is running"),
		named(verify.Bounded(working.String(), 1), "single turn", "at most one turn runs"),
		named(verify.Never(wrong.String()), "told", "the session is told to be idle only when no turn works"),
		named(taken(Message, "begin_with_message"), "no message lost", "a message is taken only by the turn that it begins"),
		named(verify.LeadsTo("parked", rest), "parks end", "a session that is parked can come to rest"),
		named(verify.LeadsTo("running", rest), "turns can stop", "a session that runs can come to rest"),
		named(verify.LeadsTo("!over", "running || over"), "usable", "a session can begin another turn, unless it is over"),
		verify.EachMove(claim.Move{Name: "pause", Doc: "no turn begins while the session is paused",
			On: []string{"+turn"}, When: "paused", Does: []string{"resume|wake_running|wake_backing_off"}}),
		verify.WithinCapacity(Message.String(), Result.String(), Interrupt.String(), Pause.String(), Resume.String(),
			Archive.String(), Fail.String(), Wake.String()),
		verify.EndStops(over.String()),
	}
	if len(c.Backoff) > 0 {
		list = append(list, named(verify.LeadsTo("backing_off", rest), "retries end",
			"a session that backs off can come to rest"))
	}
	return append(list, rules(c)...)
}

// taken claims that one transition alone takes tokens of a place.
func taken(p petri.Place[petri.Unit], by string) *verify.Property {
	check := func(_ context.Context, pass *verify.Pass) (verify.Verdict, error) {
		for _, t := range pass.Program.Transitions() {
			for _, a := range t.Arcs {
				takes := (a.Kind == petri.InArc || a.Kind == petri.ResetArc) &&
					pass.Program.Places()[a.Place].Name == p.String()
				if takes && !netmodel.NamedBy([]string{by}, t.Name) {
					return verify.Refuted.By("structure", 0, "%s takes a token of %s", t.Name, p), nil
				}
			}
		}
		return verify.Proved.By("structure", 0, "%s alone takes tokens of %s", by, p), nil
	}
	return &verify.Property{Claim: claim.Structural{}, Check: check}
}
