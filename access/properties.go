package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// World is what runs, closed for a proof: the quotas of one address, tenant and subject, and as many attempts as
// callers. Each caller may knock at any time or never, has a good token or a bad one, and hangs up whenever it likes;
// while it talks it spends bytes. Each quota limits something.
type World struct {
	Address, Tenant, Subject Limits
	Callers                  int // 1 to 9
}

// worldByteParts stands for byteParts in a World: the fewer, the fewer markings.
const worldByteParts = 2

func (w World) limits() [3]Limits { return [3]Limits{w.Address, w.Tenant, w.Subject} }

// Net is the closed net of the world.
func (w World) Net() (*petri.Net, error) { return w.net(Attempt) }

// net is Net with attempts that may be others.
func (w World) net(attempt func(name string) *petri.Net) (*petri.Net, error) {
	// Counters and attempts ask and answer one another, so each is the environment of the others.
	var around []*petri.Net
	for i, c := range counters() {
		l := w.limits()[i]
		around = append(around, quota(c, l, worldByteParts))
		if l.BytesPerMinute > 0 {
			around = append(around, spender(c))
		}
	}
	for i := range w.Callers {
		name := fmt.Sprintf("attempt%d", i+1)
		around = append(around, attempt(name), caller(fmt.Sprintf("caller%d", i+1), visitorOf(name)))
	}
	return petri.Close("world", &petri.Net{Name: "admission"}, around...)
}

// caller comes, shows a token, talks and hangs up.
func caller(name string, v visitor) *petri.Net {
	const (
		away    petri.Place[petri.Unit] = "away"
		waiting petri.Place[petri.Unit] = "waiting"
		shown   petri.Place[petri.Unit] = "shown"
		talking petri.Place[petri.Unit] = "talking"
		gone    petri.Place[petri.Unit] = "gone"
	)
	anytime := func(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
		return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
	}
	return &petri.Net{
		Name:  name,
		Ports: []petri.AnyPlace{v.knock, v.verdict, v.hangUp, v.checkToken, v.admit, v.turnAway},
		Init:  []petri.Token{away.Token(petri.Unit{})},
		Sinks: []petri.AnyPlace{away, gone},
		Transitions: []petri.Transition{
			anytime("come", petri.Arcs{away}, waiting, v.knock),
			{Name: "show_token", In: petri.Arcs{waiting, v.checkToken}, Out: petri.And(shown)},
			anytime("have_a_good_one", petri.Arcs{shown}, waiting, v.verdict.Is(Yes)),
			anytime("have_a_bad_one", petri.Arcs{shown}, waiting, v.verdict.Is(No)),
			{Name: "be_turned_away", In: petri.Arcs{waiting, v.turnAway}, Out: petri.And(gone)},
			{Name: "begin", In: petri.Arcs{waiting, v.admit}, Out: petri.And(talking)},
			anytime("hang_up", petri.Arcs{talking}, gone, v.hangUp),
		},
	}
}

// spender spends bytes at any time.
func spender(c counter) *petri.Net {
	const idle, asked petri.Place[petri.Unit] = "idle", "asked"
	return &petri.Net{
		Name:  c.name + "_spender",
		Ports: []petri.AnyPlace{c.spend, c.spent},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Sinks: []petri.AnyPlace{idle},
		Transitions: []petri.Transition{
			{Name: "spend", In: petri.Arcs{idle}, Out: petri.And(asked, c.spend), When: petri.Anytime()},
			{Name: "hear", In: petri.Arcs{asked, c.spent}, Out: petri.And(idle)},
		},
	}
}

// Properties are what the world keeps, whoever comes when and whenever timers fall due.
func (w World) Properties() []*verify.Property {
	list := []*verify.Property{verify.DeadlockFree(), verify.WithinCapacity()}
	never := func(name, doc, expr string) {
		p := verify.Never(expr)
		p.Name, p.Doc = name, doc
		list = append(list, p)
	}
	for i, c := range counters() {
		l := w.limits()[i]
		if l.Calls > 0 {
			never(c.name+"-limit", "No more calls than may hold a permit at one time.",
				fmt.Sprintf("%s/call_taken > %d", c.name, l.Calls))
			never(c.name+"-calls-conserved", "A permit is free or taken: none is lost and none is made.",
				fmt.Sprintf("%s/call_free + %[1]s/call_taken != %d", c.name, l.Calls))
			never(c.name+"-held", "As many permits are taken as attempts hold one: none is stranded.",
				fmt.Sprintf("%s/call_taken != %s", c.name, w.holders(i)))
		}
		if l.CallsPerMinute > 0 {
			never(c.name+"-starts-conserved", "A start is free or spent.",
				fmt.Sprintf("%s/start_free + %[1]s/start_spent != %d", c.name, l.CallsPerMinute))
		}
		if l.BytesPerMinute > 0 {
			never(c.name+"-bytes-conserved", "A part of the bytes is free or spent.",
				fmt.Sprintf("%s/bytes_free + %[1]s/bytes_spent != %d", c.name, worldByteParts))
		}
	}
	for i := range w.Callers {
		name := fmt.Sprintf("attempt%d", i+1)
		never(name+"-somewhere", "An attempt stands at exactly one place.", w.sum(name, allStages())+" != 1")
	}
	return list
}

func allStages() []petri.Place[petri.Unit] {
	return []petri.Place[petri.Unit]{outside, atAddress, atToken, atTenant, atSubject, inCall, over}
}

// sum adds places of an attempt.
func (w World) sum(attempt string, places []petri.Place[petri.Unit]) string {
	var terms []string
	for _, p := range places {
		terms = append(terms, attempt+"/"+string(p))
	}
	return strings.Join(terms, " + ")
}

// holders is how many attempts hold a permit of the i-th quota.
func (w World) holders(i int) string {
	stages := [][]petri.Place[petri.Unit]{{atToken, atTenant, atSubject, inCall}, {atSubject, inCall}, {inCall}}[i]
	var terms []string
	for n := range w.Callers {
		terms = append(terms, w.sum(fmt.Sprintf("attempt%d", n+1), stages))
	}
	return strings.Join(slices.Clip(terms), " + ")
}
