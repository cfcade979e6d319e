package event

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

type unit = petri.Unit

type edge uint8

func (e edge) Key() petri.Key     { return petri.Key(e) }
func (e edge) KeyNames() []string { return []string{"start", "stop"} }

// frame is a payload of some generation.
type frame struct {
	gen petri.Gen
	pcm []int16
}

func (f *frame) Generation() petri.Gen { return f.gen }
func (f *frame) Size() int             { return len(f.pcm) }

const (
	edges  = petri.Place[edge]("edges")
	mic    = petri.Place[[]int16]("mic")
	chunk  = petri.Place[*frame]("chunk")
	quiet  = petri.Place[unit]("quiet")
	talk   = petri.Place[unit]("talk")
	held   = petri.Place[*frame]("held")
	up     = petri.Place[[]int16]("up")
	down   = petri.Place[*frame]("down")
	marked = petri.Place[edge]("marked")
	hangup = petri.Place[unit]("hangup")
	over   = petri.Place[unit]("over")
)

// line is a small call: edges open and close it, chunks of the model wait for quiet and become
// stale when the caller speaks, long ones are cut, frames go up.
func line(t testing.TB) *petri.Program {
	p, err := petri.Compile(&petri.Net{
		Name: "line",
		Env: []petri.Env{{Place: edges, Capacity: 3}, {Place: chunk, Capacity: 2}, {Place: hangup},
			{Place: mic, Capacity: 2, Policy: petri.DropOldest}},
		Out:  []petri.Output{{Place: up}, {Place: down}},
		Init: []petri.Token{quiet.Token(unit{})},
		Caps: []petri.Cap{{Place: held, Max: 4}},
		Transitions: []petri.Transition{
			{Name: "open", In: petri.Arcs{edges.Is(edge(0)), quiet}, Out: petri.And(talk, marked.Is(edge(1))), Bump: true},
			{Name: "close", In: petri.Arcs{edges.Is(edge(1)), talk}, Out: petri.And(quiet)},
			{Name: "forget", In: petri.Arcs{marked}, When: petri.After(70 * time.Millisecond)},
			{Name: "ignore", In: petri.Arcs{edges}, Read: petri.Arcs{marked}},
			{Name: "close_late", In: petri.Arcs{talk}, Out: petri.And(quiet), When: petri.After(200 * time.Millisecond)},
			{Name: "send", In: petri.Arcs{mic}, Read: petri.Arcs{talk}, Out: petri.And(up)},
			{Name: "hold", In: petri.Arcs{chunk}, Inhibit: petri.Arcs{held.AtLeast(3)},
				Out: petri.Free(petri.Arcs{held.Fresh()}, petri.Arcs{held.Fresh().Exactly(2)}),
				Action: func(f *petri.Firing) {
					c := chunk.Get(f)
					n := min(len(c.pcm)/4, 1)
					f.Choose(n)
					for range n + 1 {
						held.Put(f, &frame{gen: f.Gen(), pcm: c.pcm})
					}
				}},
			{Name: "drop", In: petri.Arcs{held.Stale()}, Priority: 1},
			{Name: "play", In: petri.Arcs{held.Fresh()}, Read: petri.Arcs{quiet}, Out: petri.And(down),
				When: petri.After(20 * time.Millisecond)},
			{Name: "end", In: petri.Arcs{hangup}, Out: petri.And(over)},
		},
		Final: over,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call runs the program on a random schedule of n injections and gives the store every event.
func call(t testing.TB, p *petri.Program, seed uint64, n int, s Store) {
	r := rand.New(rand.NewPCG(seed, 5))
	m := p.Start()
	at := time.Duration(0)
	for range n {
		at += time.Duration(r.IntN(4)*10) * time.Millisecond
		var tok petri.Token
		switch r.IntN(20) {
		case 0, 1, 2, 3:
			tok = edges.Token(edge(r.IntN(2)))
		case 4, 5, 6, 7, 8, 9:
			tok = chunk.Token(&frame{gen: m.Gen() - petri.Gen(r.IntN(2)), pcm: make([]int16, r.IntN(9))})
		case 10:
			if r.IntN(20) == 0 {
				tok = hangup.Token(unit{})
				break
			}
			fallthrough
		default:
			tok = mic.Token(make([]int16, 320))
		}
		_ = m.Inject(at, tok)
		ready := m.Advance(at)
		s.Append(ready.Events)
		if ready.Ended {
			return
		}
	}
	s.Append(m.Advance(at + 25*time.Millisecond).Events)
}
