package monitor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
)

type edge uint8

func (e edge) Key() petri.Key     { return petri.Key(e) }
func (e edge) KeyNames() []string { return []string{"start", "stop"} }

// frame is a payload of some generation.
type frame struct{ gen petri.Gen }

func (f *frame) Generation() petri.Gen { return f.gen }

const (
	edges  = petri.Place[edge]("edges")
	mic    = petri.Place[[]int16]("mic")
	chunk  = petri.Place[*frame]("chunk")
	quiet  = petri.Place[petri.Unit]("quiet")
	talk   = petri.Place[petri.Unit]("talk")
	held   = petri.Place[*frame]("held")
	up     = petri.Place[[]int16]("up")
	down   = petri.Place[*frame]("down")
	free   = petri.Place[petri.Unit]("free")
	late   = petri.Place[petri.Unit]("late")
	hangup = petri.Place[petri.Unit]("hangup")
	over   = petri.Place[petri.Unit]("over")
)

func lookUp() petri.Task[petri.Unit, int] {
	return petri.Task[petri.Unit, int]{Start: "start", InFlight: "in_flight", Done: "done"}
}

// line has what the voice nets have not: free choices, a task that is cancelled, places that drop and refuse, all of a
// place taken, intervals that share their start.
func line(tb testing.TB) *petri.Program {
	tb.Helper()
	task := lookUp()
	p, err := petri.Compile(&petri.Net{
		Name: "line",
		Env: []petri.Env{{Place: edges, Capacity: 3}, {Place: chunk, Capacity: 2}, {Place: hangup},
			{Place: mic, Capacity: 2, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: up}, {Place: down}},
		Init:  []petri.Token{quiet.Token(petri.Unit{}), free.Token(petri.Unit{})},
		Caps:  []petri.Cap{{Place: held, Max: 4}, {Place: late, Max: 9}},
		Tasks: []petri.AnyTask{task},
		Transitions: []petri.Transition{
			{Name: "open", In: petri.Arcs{edges.Is(edge(0)), quiet}, Out: petri.And(talk), Bump: true},
			{Name: "close", In: petri.Arcs{edges.Is(edge(1)), talk}, Out: petri.And(quiet)},
			{Name: "close_late", In: petri.Arcs{talk}, Out: petri.And(quiet), When: petri.After(90 * ms)},
			{Name: "send", In: petri.Arcs{mic}, Read: petri.Arcs{talk}, Out: petri.And(up)},
			{Name: "hold", In: petri.Arcs{chunk}, Inhibit: petri.Arcs{held.AtLeast(3)},
				Out:    petri.Free(petri.Arcs{held.Fresh()}, petri.Arcs{down.Fresh()}),
				Action: hold},
			{Name: "drop", In: petri.Arcs{held.Stale()}, Priority: 1},
			{Name: "play", In: petri.Arcs{held.Fresh()}, Read: petri.Arcs{quiet}, Out: petri.And(down),
				When: petri.After(20 * ms)},
			{Name: "look_up", In: petri.Arcs{free}, Read: petri.Arcs{talk}, Out: petri.And(task.Start, task.InFlight)},
			{Name: "found", In: petri.Arcs{task.Done, task.InFlight}, Out: petri.And(free)},
			{Name: "too_late", In: petri.Arcs{task.Done, late.All()}, Inhibit: petri.Arcs{task.InFlight}, Out: petri.And(free)},
			{Name: "time_out", In: petri.Arcs{task.InFlight}, Out: petri.And(late), When: petri.After(50 * ms)},
			{Name: "end", In: petri.Arcs{hangup}, Out: petri.And(over)},
		},
		Final: over,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// hold holds every other chunk.
func hold(f *petri.Firing) {
	c := chunk.Get(f)
	f.Choose(int(f.Seq() % 2))
	if f.Branch() == 0 {
		held.Put(f, &frame{gen: f.Gen()})
		return
	}
	down.Put(f, &frame{gen: max(f.Gen(), c.gen)})
}

// randomLine runs the line on a random schedule.
func randomLine(tb testing.TB, p *petri.Program, seed uint64, n int) []petri.Event {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	m := p.Start()
	log := slices.Clone(m.Advance(0).Events)
	at := time.Duration(0)
	for range n {
		at += time.Duration(r.IntN(4)*10) * ms
		var tok petri.Token
		switch k := r.IntN(200); {
		case k < 60:
			tok = edges.Token(edge(r.IntN(2)))
		case k < 110:
			tok = chunk.Token(&frame{gen: m.Gen()})
		case k < 140:
			tok = lookUp().Done.Token(petri.Result[int]{Outcome: petri.Outcome(r.IntN(3))})
		case k < 141:
			tok = hangup.Token(petri.Unit{})
		default:
			tok = mic.Token(make([]int16, 320))
		}
		if err := m.Inject(at, tok); err != nil && !errors.Is(err, petri.ErrFull) {
			tb.Fatal(err)
		}
		ready := m.Advance(at)
		log = append(log, ready.Events...)
		if ready.Ended {
			break
		}
	}
	return log
}

// TestRandomLine holds monitor and machine together, and finds most changes to a log.
func TestRandomLine(t *testing.T) {
	p := line(t)
	kinds := map[petri.EventKind]int{}
	for seed := range uint64(60) {
		log := randomLine(t, p, seed, 300)
		for _, e := range log {
			kinds[e.Kind]++
		}
		m, err := monitor.New(p, verify.Never("talk && quiet"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(m.Append(log), m.End()); err != nil {
			var v *monitor.Violation
			errors.As(err, &v)
			t.Fatalf("seed %d: %v\n%s", seed, v, v.Story)
		}
		r := rand.New(rand.NewPCG(seed, 3))
		for range 30 {
			i := r.IntN(len(log) - 1)
			if missing(t, p, log, i) == nil && changes(log[i]) {
				t.Errorf("seed %d: %s is missing, and nobody noticed", seed, p.Describe(log[i]))
			}
		}
	}
	for k := petri.Started; k < petri.Faulted; k++ {
		if kinds[k] == 0 {
			t.Errorf("no event is %v", k)
		}
	}
}

// changes reports whether a run cannot go on without an event as if nothing were.
func changes(e petri.Event) bool { return e.Kind == petri.Fired || e.Kind == petri.TaskCancelled }

// missing is what a monitor says of a log without one event.
func missing(t *testing.T, p *petri.Program, log []petri.Event, i int) error {
	t.Helper()
	m, err := monitor.New(p)
	if err != nil {
		t.Fatal(err)
	}
	rest := slices.Clone(log[i+1:])
	for j := range rest {
		rest[j].Seq--
	}
	return errors.Join(m.Append(log[:i]), m.Append(rest), m.End())
}

// TestTasks: the end of a task that a firing cancels must be reported, once.
func TestTasks(t *testing.T) {
	p := line(t)
	var log []petri.Event
	i := -1
	for seed := uint64(0); i < 0; seed++ {
		log = randomLine(t, p, seed, 300)
		i = slices.IndexFunc(log, func(e petri.Event) bool { return e.Kind == petri.TaskCancelled })
	}
	want := "was cancelled, which the log does not report"
	if err := missing(t, p, log, i); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("not reported: %v", err)
	}
	twice := slices.Insert(slices.Clone(log), i, log[i])
	for j := i + 1; j < len(twice); j++ {
		twice[j].Seq++
	}
	m, err := monitor.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Append(twice); err == nil || !strings.Contains(err.Error(), "no task at in_flight was cancelled") {
		t.Errorf("reported twice: %v", err)
	}
}

// TestStore: a live run is watched through a store, and goes on.
func TestStore(t *testing.T) {
	p := line(t)
	m, err := monitor.New(p, verify.Never("talk"))
	if err != nil {
		t.Fatal(err)
	}
	var found []*monitor.Violation
	var store event.Store = monitor.NewStore(m, func(v *monitor.Violation) { found = append(found, v) })
	ring := event.NewRing(10)
	both := event.Tee(ring, store)
	log := randomLine(t, p, 1, 300)
	for part := range slices.Chunk(log, 5) {
		both.Append(part)
	}
	if len(found) != 1 || found[0].Property != "never talk" || both.Stored() != uint64(len(log)) {
		t.Errorf("%d violations, %d of %d stored", len(found), both.Stored(), len(log))
	}
}

func BenchmarkAppend(b *testing.B) {
	p := line(b)
	log := randomLine(b, p, 7, 300)
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		m, err := monitor.New(p, verify.Never("talk && quiet"))
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Append(log); err != nil {
			b.Fatal(err)
		}
		events += len(log)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// TestAppendAllocates nothing for an event that is right.
func TestAppendAllocates(t *testing.T) {
	w := scripted(t)
	m := watch(t, w, verify.Never("speaking && quiet"))
	if err := m.Append(w.log[:20]); err != nil {
		t.Fatal(err)
	}
	next := 20
	if n := testing.AllocsPerRun(150, func() {
		if err := m.Append(w.log[next : next+1]); err != nil {
			t.Error(err)
		}
		next++
	}); n > 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// A recorded run is held to the net: here somebody removed the arrival that began the talk.
func Example() {
	type unit = petri.Place[petri.Unit]
	const ring, idle, talking = unit("ring"), unit("idle"), unit("talking")
	prog, err := petri.Compile(&petri.Net{
		Name: "phone",
		Env:  []petri.Env{{Place: ring}},
		Init: []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "answer", In: petri.Arcs{ring, idle}, Out: petri.And(talking)},
			{Name: "hang_up", In: petri.Arcs{talking}, Out: petri.And(idle), When: petri.After(time.Minute)},
		},
	})
	if err != nil {
		panic(err)
	}
	run := prog.Start()
	_ = run.Inject(time.Second, ring.Token(petri.Unit{}))
	log := run.Advance(2 * time.Minute).Events

	m, _ := monitor.New(prog, verify.Mutex("idle", "talking"))
	fmt.Println(m.Append(log))

	forged, _ := monitor.New(prog)
	log[1], log[2] = log[2], log[3]
	log[1].Seq--
	err = forged.Append(log[:2])
	var v *monitor.Violation
	errors.As(err, &v)
	fmt.Print(v, "\n", v.Story)
	// Output:
	// <nil>
	// monitor: net phone: event 2: answer is not enabled
	//      1 0s started
	//        marking: idle
	//      2 1s fired answer
	//        answer is not enabled
}
