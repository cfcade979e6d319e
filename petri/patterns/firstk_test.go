package patterns_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

const (
	question  = petri.Place[string]("question")
	interrupt = petri.Place[petri.Unit]("interrupt")

	reached = petri.Place[[]petri.Result[string]]("reached")
	gaveUp  = petri.Place[[]petri.Result[string]]("gave_up")
)

// firstK is a race of lanes whose numbers in each tier are given. The next tier starts after 100 ms.
func firstK(t testing.TB, k int, tiers ...int) (*desk, []petri.Task[string, string]) {
	var lanes [][]patterns.Lane[string, petri.Result[string]]
	var tasks []petri.Task[string, string]
	var parts []*petri.Net
	for i, n := range tiers {
		var tier []patterns.Lane[string, petri.Result[string]]
		for _, task := range patterns.Slots[string, string](fmt.Sprint("tier", i, "_"), n) {
			lane, worker := newLane(fmt.Sprint("worker", len(tasks)), task)
			tier, tasks, parts = append(tier, lane), append(tasks, task), append(parts, worker)
		}
		lanes = append(lanes, tier)
	}
	parts = append(parts, patterns.FirstK("first", patterns.FirstKPorts[string, petri.Result[string]]{
		Request: question, Abort: interrupt, Reached: reached, Failed: gaveUp}, k, 100*ms, lanes...))
	return open(t, envs(question, interrupt), []petri.AnyPlace{reached, gaveUp}, nil, parts...), tasks
}

// values are the values of results.
func values(lists [][]petri.Result[string]) (out []string) {
	for _, l := range lists {
		for _, r := range l {
			out = append(out, r.Value)
		}
	}
	return out
}

// TestTiers checks when each tier of a race starts, and that the winner cancels the others.
func TestTiers(t *testing.T) {
	d, tasks := firstK(t, 1, 2, 1, 1)
	flying := func(when string, want int) {
		t.Helper()
		if len(d.flying)-len(d.lost) != want {
			t.Errorf("%s: %d tasks in flight and %d cancelled, want %d at work", when, len(d.flying), len(d.lost), want)
		}
	}
	d.put(question.Token("q"))
	flying("at once", 2)
	d.at(99 * ms)
	flying("before patience ends", 2)
	d.at(100 * ms)
	flying("when it ends", 3)
	finish(d, tasks[0], failed[string]())
	finish(d, tasks[1], failed[string]())
	flying("two tiers have failed in part", 1)
	finish(d, tasks[2], failed[string]())
	flying("both tiers have failed", 1)
	finish(d, tasks[3], ok("late"))
	if got := fmt.Sprint(values(take(d, reached))); got != "[late]" {
		t.Errorf("reached %s", got)
	}

	d.put(question.Token("q"))
	finish(d, tasks[1], ok("first"))
	flying("the other is cancelled", 0)
	finish(d, tasks[0], ok("second"))
	d.at(d.now + 1000*ms)
	if got := fmt.Sprint(values(take(d, reached)), take(d, gaveUp)); got != "[first] []" {
		t.Errorf("%s; the late result has an effect", got)
	}
}

// TestQuorumOfLanes checks that the K-th result decides, and that a quorum out of reach is given up.
func TestQuorumOfLanes(t *testing.T) {
	d, tasks := firstK(t, 2, 3)
	d.put(question.Token("q"))
	finish(d, tasks[2], ok("c"))
	if got := take(d, reached); got != nil {
		t.Errorf("after one: %v", got)
	}
	finish(d, tasks[0], ok("a"))
	if got := fmt.Sprint(values(take(d, reached))); got != "[c a]" || len(d.lost) != 1 {
		t.Errorf("%s, %d cancelled", got, len(d.lost))
	}
	finish(d, tasks[1], ok("b"))
	d.put(question.Token("q"))
	finish(d, tasks[0], failed[string]())
	finish(d, tasks[1], failed[string]())
	if got := take(d, gaveUp); len(got) != 1 || len(got[0]) != 2 || len(d.lost) != 1 {
		t.Errorf("gave up %v, %d cancelled", got, len(d.lost))
	}
}

// TestFirstKRandomly checks, on random schedules, that every race that is not aborted is decided
// exactly once, by its own results.
func TestFirstKRandomly(t *testing.T) {
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		k := 1 + rng.IntN(2)
		d, tasks := firstK(t, k, 2, 1)
		race, running := 0, false
		for range 80 {
			switch rng.IntN(7) {
			case 0:
				d.put(interrupt.Token(unit()))
				running = false
			case 1, 2:
				if !running {
					race++
					running = true
					d.put(question.Token(fmt.Sprint(race)))
				}
			case 3:
				d.at(d.now + 60*ms)
			default:
				finishAny(d, rng, func(in string) petri.Result[string] {
					if rng.IntN(3) == 0 {
						return failed[string]()
					}
					return ok(in)
				}, tasks...)
			}
			won, lost := take(d, reached), take(d, gaveUp)
			if len(won)+len(lost) > 1 || !running && len(won)+len(lost) > 0 {
				t.Fatalf("seed %d: race %d, running %v: %v %v", seed, race, running, won, lost)
			}
			if len(won) == 1 && (len(won[0]) != k ||
				slices.ContainsFunc(won[0], func(r petri.Result[string]) bool { return r.Value != fmt.Sprint(race) })) {
				t.Fatalf("seed %d: race %d of %d got %v", seed, race, k, won)
			}
			running = running && len(won)+len(lost) == 0
			if !running && len(d.flying) != len(d.lost) {
				t.Fatalf("seed %d: work goes on after race %d", seed, race)
			}
		}
	}
}
