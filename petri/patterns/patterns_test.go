package patterns_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

const (
	request = petri.Place[[]string]("request")
	refused = petri.Place[[]string]("refused")
	newTurn = petri.Place[petri.Unit]("new_turn")
	peek    = petri.Place[petri.Unit]("peek")
	found   = petri.Place[*patterns.Collection[petri.Result[string]]]("found")
	partial = petri.Place[*patterns.Collection[petri.Result[string]]]("partial")
	gather  = petri.Place[*patterns.Collection[petri.Result[string]]]("collector")
)

func unit() petri.Unit { return petri.Unit{} }

// searching is a batch of three workers and a subnet that reads its collector.
func searching(t testing.TB) (*desk, []petri.Task[string, string]) {
	tasks := patterns.Slots[string, string]("search", 3)
	batch := patterns.Batch("search", patterns.BatchPorts[string, petri.Result[string]]{
		Request: request, Abort: newTurn, Collector: gather, Complete: found, Refused: refused}, tasks...)
	reader := &petri.Net{Name: "reader", Ports: []petri.AnyPlace{peek, gather, partial}, Transitions: []petri.Transition{
		{Name: "show", In: petri.Arcs{peek}, Read: petri.Arcs{gather}, Out: petri.And(partial.Passing(gather))},
		{Name: "nothing_to_show", In: petri.Arcs{peek}, Inhibit: petri.Arcs{gather}}}}
	return open(t, envs(request, newTurn, peek), []petri.AnyPlace{found, partial, refused}, nil, batch, reader), tasks
}

func TestBatch(t *testing.T) {
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

func TestBatchAbort(t *testing.T) {
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

func TestBatchSizes(t *testing.T) {
	d, _ := searching(t)
	d.put(request.Token(nil))
	if got := take(d, found); len(got) != 1 || len(got[0].Results) != 0 {
		t.Errorf("an empty batch: %+v", got)
	}
	d.put(request.Token(make([]string, patterns.MaxJobs+1)))
	if got := take(d, refused); len(got) != 1 {
		t.Errorf("too many jobs: %v", got)
	}
}

// TestBatchRandomly checks, on random schedules, that each batch completes once with its own
// results, unless it is aborted.
func TestBatchRandomly(t *testing.T) {
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

// reply is a chunk of a turn.
type reply struct {
	turn petri.Gen
	text string
}

func (r reply) Generation() petri.Gen { return r.turn }

const (
	chunk, tool    = petri.Place[reply]("chunk"), petri.Place[reply]("tool")
	history, waste = petri.Place[reply]("history"), petri.Place[reply]("waste")
)

func TestCommit(t *testing.T) {
	d := open(t, envs(chunk, tool, newTurn), []petri.AnyPlace{history, waste}, nil,
		patterns.NewTurn("turns", newTurn),
		patterns.Commit("chunks", chunk, history, waste), patterns.Commit("tools", tool, history, waste))
	d.put(chunk.Token(reply{0, "a"}), newTurn.Token(unit()), chunk.Token(reply{0, "b"}), tool.Token(reply{0, "c"}),
		tool.Token(reply{1, "d"}), newTurn.Token(unit()), chunk.Token(reply{1, "e"}))
	if got := fmt.Sprint(take(d, history), take(d, waste)); got != "[{0 a} {1 d}] [{0 b} {0 c} {1 e}]" {
		t.Errorf("committed and discarded: %s", got)
	}
	if err := patterns.Unguarded(d.m.Program(), "history"); err != nil {
		t.Error(err)
	}
}

func TestUnguarded(t *testing.T) {
	careless := &petri.Net{Name: "careless", Ports: []petri.AnyPlace{tool, history},
		Transitions: []petri.Transition{{Name: "store", In: petri.Arcs{tool}, Out: petri.And(history)}}}
	d := open(t, envs(chunk, tool, newTurn), []petri.AnyPlace{history, waste}, nil,
		patterns.NewTurn("turns", newTurn), patterns.Commit("chunks", chunk, history, waste), careless)
	err := patterns.Unguarded(d.m.Program(), "history")
	if want := "patterns: check commit sites of net session: careless/store may commit stale tokens; " +
		"narrow their inputs with Fresh"; fmt.Sprint(err) != want {
		t.Errorf("Unguarded: %v, want %s", err, want)
	}
	if err := patterns.Unguarded(d.m.Program(), "nowhere"); err == nil {
		t.Error("a place that is not there was accepted")
	}
}

const (
	question  = petri.Place[string]("question")
	interrupt = petri.Place[petri.Unit]("interrupt")
	cached    = petri.Place[string]("cached")
	response  = petri.Place[string]("response")
)

// racing is a race of two sources with a deadline of 2 s and a default at 5 s.
func racing(t testing.TB) (d *desk, slow, fast petri.Task[string, string]) {
	slow, fast = patterns.Slots[string, string]("slow", 1)[0], patterns.Slots[string, string]("fast", 1)[0]
	race := patterns.Race("race", patterns.RacePorts[string, string]{
		Request: question, Interrupt: interrupt, Default: cached, Response: response},
		patterns.RaceTimes{Deadline: 2 * time.Second, LastCall: 5 * time.Second}, slow, fast)
	d = open(t, envs(question, interrupt), []petri.AnyPlace{response}, []petri.Token{cached.Token("default")}, race)
	return d, slow, fast
}

func TestRace(t *testing.T) {
	type on = func(d *desk, slow, fast petri.Task[string, string])
	for _, c := range []struct {
		name string
		play on
		want string
		at   time.Duration
	}{
		{"slow in time", func(d *desk, slow, fast petri.Task[string, string]) {
			finish(d.at(ms), fast, ok("fast"))
			finish(d.at(1999*ms), slow, ok("slow"))
		}, "[slow]", 1999 * ms},
		{"fast at the deadline", func(d *desk, _, fast petri.Task[string, string]) {
			finish(d.at(ms), fast, ok("fast"))
			d.at(3 * time.Second)
		}, "[fast]", 3 * time.Second},
		{"fast after the deadline", func(d *desk, _, fast petri.Task[string, string]) {
			finish(d.at(2500*ms), fast, ok("fast"))
		}, "[fast]", 2500 * ms},
		{"slow fails, fast at once", func(d *desk, slow, fast petri.Task[string, string]) {
			finish(d.at(ms), fast, ok("fast"))
			finish(d.at(2*ms), slow, failed[string]())
		}, "[fast]", 2 * ms},
		{"slow after the deadline", func(d *desk, slow, _ petri.Task[string, string]) {
			finish(d.at(2500*ms), slow, ok("slow"))
		}, "[slow]", 2500 * ms},
		{"both fail", func(d *desk, slow, fast petri.Task[string, string]) {
			finish(d.at(ms), slow, failed[string]())
			finish(d.at(ms), fast, failed[string]())
			d.at(4999 * ms)
			if got := take(d, response); got != nil {
				d.t.Errorf("before last call: %v", got)
			}
			d.at(5 * time.Second)
		}, "[default]", 5 * time.Second},
		{"interrupted", func(d *desk, _, _ petri.Task[string, string]) {
			d.at(ms).put(interrupt.Token(unit()))
			d.at(time.Minute)
		}, "[]", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, slow, fast := racing(t)
			d.put(question.Token("q"))
			c.play(d, slow, fast)
			if got := fmt.Sprint(take(d, response)); got != c.want || d.now != c.at {
				t.Errorf("%s at %v, want %s at %v", got, d.now, c.want, c.at)
			}
			if n := len(d.flying); n != len(d.lost) {
				t.Errorf("%d tasks in flight, %d cancelled", n, len(d.lost))
			}
		})
	}
}

// TestRaceRandomly checks, on random schedules, that each race gives at most one response, to its
// own question, and none after an interruption. A race without interruption gives exactly one.
func TestRaceRandomly(t *testing.T) {
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		d, slow, fast := racing(t)
		race, running := 0, false
		for range 80 {
			switch rng.IntN(6) {
			case 0:
				d.put(interrupt.Token(unit()))
				running = false
			case 1:
				if !running {
					race++
					running = true
					d.put(question.Token(fmt.Sprint(race)))
				}
			case 2:
				d.at(d.now + time.Duration(rng.IntN(3000))*ms)
			default:
				finishAny(d, rng, func(in string) petri.Result[string] {
					if rng.IntN(3) == 0 {
						return failed[string]()
					}
					return ok(in)
				}, slow, fast)
			}
			for _, r := range take(d, response) {
				if !running || r != "default" && r != fmt.Sprint(race) {
					t.Fatalf("seed %d: response %q to race %d, running %v", seed, r, race, running)
				}
				running = false
			}
		}
		d.at(d.now + 5*time.Second)
		if got := take(d, response); running != (len(got) == 1) {
			t.Fatalf("seed %d: left alone: %v, running %v", seed, got, running)
		}
	}
}

func TestFirstWins(t *testing.T) {
	opened, a, b := petri.Place[petri.Unit]("open"), petri.Place[string]("a"), petri.Place[string]("b")
	d := open(t, envs(opened, a, b), []petri.AnyPlace{response}, nil, patterns.FirstWins("first", opened, response, a, b))
	d.put(a.Token("too early"), opened.Token(unit()), b.Token("first"), a.Token("second"), b.Token("third"))
	d.put(opened.Token(unit()), a.Token("again"))
	if got := fmt.Sprint(take(d, response)); got != "[first again]" {
		t.Errorf("won: %s", got)
	}
}

func TestQuorum(t *testing.T) {
	opened, vote := petri.Place[petri.Unit]("open"), petri.Place[string]("vote")
	reached := petri.Place[[]string]("reached")
	d := open(t, envs(opened, vote), []petri.AnyPlace{reached}, nil, patterns.Quorum("quorum", 2, opened, vote, reached))
	d.put(vote.Token("early"), opened.Token(unit()), vote.Token("a"), vote.Token("b"), vote.Token("c"))
	d.put(opened.Token(unit()), vote.Token("d"))
	if got := fmt.Sprint(take(d, reached)); got != "[[a b]]" {
		t.Errorf("reached: %s", got)
	}
}

const (
	propose, tentative    = petri.Place[string]("propose"), petri.Place[string]("tentative")
	confirmed, rolledBack = petri.Place[string]("confirmed"), petri.Place[string]("rolled_back")
)

func TestOptimistic(t *testing.T) {
	check := patterns.Slots[string, petri.Unit]("check", 1)[0]
	lane, worker := patterns.NewLane("checker", check)
	d := open(t, envs(propose, interrupt), []petri.AnyPlace{tentative, confirmed, rolledBack}, nil, worker,
		patterns.Optimistic("optimistic", patterns.OptimisticPorts[string]{Propose: propose, Abort: interrupt,
			Tentative: tentative, Confirmed: confirmed, RolledBack: rolledBack}, 100*ms, lane))
	expect := func(what, tent, conf, back string) {
		t.Helper()
		got := fmt.Sprint(take(d, tentative), take(d, confirmed), take(d, rolledBack))
		if want := fmt.Sprintf("[%s] [%s] [%s]", tent, conf, back); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	d.put(propose.Token("a"), propose.Token("b"))
	expect("at once", "a", "", "")
	finish(d, check, ok(unit()))
	expect("accepted, and the next", "b", "a", "")
	finish(d, check, failed[petri.Unit]())
	expect("rejected", "", "", "b")
	d.put(propose.Token("c"))
	d.at(100 * ms)
	expect("too slow", "c", "", "c")
	d.put(propose.Token("d"))
	expect("the check is still busy", "d", "", "")
	finish(d, check, ok(unit()))
	expect("its late verdict is not d's", "", "", "")
	finish(d, check, ok(unit()))
	expect("d's own", "", "d", "")
	d.put(propose.Token("e"), interrupt.Token(unit()))
	d.at(time.Minute)
	finish(d, check, ok(unit()))
	expect("aborted", "e", "", "")
}
