package patterns_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

const (
	propose, tentative    = petri.Place[string]("propose"), petri.Place[string]("tentative")
	confirmed, rolledBack = petri.Place[string]("confirmed"), petri.Place[string]("rolled_back")
)

func TestOptimistic(t *testing.T) {
	check := patterns.Slots[string, petri.Unit]("check", 1)[0]
	lane, worker := newLane("checker", check)
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
