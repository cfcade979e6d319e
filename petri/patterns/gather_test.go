package patterns_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

const (
	request   = petri.Place[[]string]("request")
	refused   = petri.Place[[]string]("refused")
	newTurn   = petri.Place[petri.Unit]("new_turn")
	peek      = petri.Place[petri.Unit]("peek")
	found     = petri.Place[*patterns.Collection[petri.Result[string]]]("found")
	partial   = petri.Place[*patterns.Collection[petri.Result[string]]]("partial")
	collector = petri.Place[*patterns.Collection[petri.Result[string]]]("collector")
)

// jobsMax is how many jobs a batch of searching may have.
const jobsMax = 16

// searching is a batch of three workers and a subnet that reads its collector.
func searching(t testing.TB) (*desk, []petri.Task[string, string]) {
	job, result := petri.Place[string]("job"), petri.Place[petri.Result[string]]("result")
	tasks := patterns.Slots[string, string]("search", 3)
	var workers []*petri.Net
	var inFlight []petri.Place[petri.Unit]
	for i, task := range tasks {
		workers = append(workers, patterns.Worker(fmt.Sprint("worker", i), job, task, result))
		inFlight = append(inFlight, task.InFlight)
	}
	ports := patterns.GatherPorts[string, petri.Result[string]]{Request: request, Abort: newTurn, Collector: collector,
		Complete: found, Refused: refused}
	batch := patterns.Gather("search", ports, jobsMax, job, result, inFlight...)
	reader := &petri.Net{Name: "reader", Ports: []petri.AnyPlace{peek, collector, partial},
		Transitions: []petri.Transition{
			{Name: "show", In: petri.Arcs{peek}, Read: petri.Arcs{collector}, Out: petri.And(partial.Passing(collector))},
			{Name: "nothing_to_show", In: petri.Arcs{peek}, Inhibit: petri.Arcs{collector}}}}
	return open(t, envs(request, newTurn, peek), []petri.AnyPlace{found, partial, refused}, nil,
		append(workers, batch, reader)...), tasks
}

func TestGather(t *testing.T) {
	d, tasks := searching(t)
	d.put(request.Token([]string{"a", "b", "c", "d"}))
	if len(d.flying) != 3 {
		t.Fatalf("%d of 4 jobs in flight, three workers", len(d.flying))
	}
	finish(d, tasks[1], ok("B"))
	finish(d, tasks[0], failed[string]())
	d.put(peek.Token(unit()))
	if p := take(d, partial); len(p) != 1 || p[0].Expected != 4 || len(p[0].Results) != 2 || p[0].Results[0].Value != "B" {
		t.Errorf("partial %+v", p)
	}
	finish(d, tasks[1], ok("D"))
	if got := take(d, found); got != nil {
		t.Errorf("complete too early: %+v", got)
	}
	finish(d, tasks[2], ok("C"))
	got := take(d, found)
	if len(got) != 1 || len(got[0].Results) != 4 || got[0].Results[1].Outcome != petri.Failed {
		t.Errorf("found %+v", got)
	}
	d.put(peek.Token(unit()))
	if p := take(d, partial); p != nil {
		t.Errorf("a collector after the end: %+v", p)
	}
}

func TestGatherAbort(t *testing.T) {
	d, tasks := searching(t)
	d.put(request.Token([]string{"a", "b", "c", "d", "e"}))
	finish(d, tasks[0], ok("A"))
	d.put(newTurn.Token(unit()))
	if len(d.lost) != 3 {
		t.Errorf("%d of 3 tasks were cancelled", len(d.lost))
	}
	d.put(request.Token([]string{"x"}))
	if len(d.flying) != 3 {
		t.Fatalf("work started before a worker was free: %v", d.flying)
	}
	finish(d, tasks[2], ok("stale"))
	finish(d, tasks[2], ok("X"))
	got := take(d, found)
	if len(got) != 1 || len(got[0].Results) != 1 || got[0].Results[0].Value != "X" {
		t.Errorf("found %+v", got)
	}
}

func TestGatherSizes(t *testing.T) {
	d, _ := searching(t)
	d.put(request.Token(nil))
	if got := take(d, found); len(got) != 1 || len(got[0].Results) != 0 {
		t.Errorf("an empty batch: %+v", got)
	}
	d.put(request.Token(make([]string, jobsMax+1)))
	if got := take(d, refused); len(got) != 1 {
		t.Errorf("too many jobs: %v", got)
	}
}

// TestGatherRandomly checks, on random schedules, that each batch completes once with its own
// results, unless it is aborted.
func TestGatherRandomly(t *testing.T) {
	for seed := range 200 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		d, tasks := searching(t)
		batch, running := 0, false
		for range 60 {
			switch rng.IntN(8) {
			case 0:
				d.put(newTurn.Token(unit()))
				running = false
			case 1, 2:
				if !running {
					batch++
					running = true
					d.put(request.Token(strings.Split(strings.Repeat(fmt.Sprint(batch, ","), rng.IntN(6)), ",")))
				}
			case 3:
				d.put(peek.Token(unit()))
			default:
				finishAny(d, rng, func(in string) petri.Result[string] { return ok(in) }, tasks...)
			}
			for _, c := range take(d, found) {
				if !running || len(c.Results) != c.Expected {
					t.Fatalf("seed %d: completed %+v, running %v", seed, c, running)
				}
				for _, r := range c.Results {
					if r.Value != "" && r.Value != fmt.Sprint(batch) {
						t.Fatalf("seed %d: batch %d got %+v", seed, batch, r)
					}
				}
				running = false
			}
		}
	}
}
