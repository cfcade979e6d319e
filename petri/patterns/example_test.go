package patterns_test

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Two sources answer a question. The fast one answers first, but its answer counts only after the
// deadline.
func ExampleRace() {
	slow := patterns.Slots[string, string]("slow", 1)[0]
	fast := patterns.Slots[string, string]("fast", 1)[0]
	race := patterns.Race("race", patterns.RacePorts[string, string]{
		Request: "question", Interrupt: "interrupt", Default: "cached", Response: "response",
	}, patterns.RaceTimes{Deadline: 2 * time.Second, LastCall: 5 * time.Second}, slow, fast)

	net, err := petri.Compose("agent", race)
	if err != nil {
		fmt.Println(err)
		return
	}
	net.Env = []petri.Env{{Place: petri.Place[string]("question")}, {Place: petri.Place[petri.Unit]("interrupt")}}
	net.Out = []petri.Output{{Place: petri.Place[string]("response")}}
	net.Init = []petri.Token{petri.Place[string]("cached").Token("I am not sure")}
	program, err := petri.Compile(net)
	if err != nil {
		fmt.Println(err)
		return
	}

	m := program.Start()
	_ = m.Inject(0, petri.Place[string]("question").Token("how far is the moon?"))
	for _, out := range m.Advance(0).Out {
		fmt.Println("work:", out.Place(), out.Value())
	}
	_ = m.Inject(time.Second, fast.Done.Token(petri.Result[string]{Value: "400,000 km"}))
	for _, out := range m.Advance(3 * time.Second).Out {
		if out.Cancel() {
			fmt.Println("cancelled:", out.Place())
		} else {
			fmt.Println("answer:", out.Value())
		}
	}
	// Output:
	// work: slow0_start how far is the moon?
	// work: fast0_start how far is the moon?
	// answer: 400,000 km
	// cancelled: slow0_in_flight
}

// Three votes are cast. Two are enough.
func ExampleQuorum() {
	const open, vote = petri.Place[petri.Unit]("open"), petri.Place[string]("vote")
	const reached = petri.Place[[]string]("reached")
	net := patterns.Quorum("quorum", 2, open, vote, reached)
	net.Env = []petri.Env{{Place: vote, Capacity: 3}}
	net.Out = []petri.Output{{Place: reached}}
	net.Init = []petri.Token{open.Token(petri.Unit{})}
	program, err := petri.Compile(net)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := program.Start()
	for _, v := range []string{"ann", "bob", "cid"} {
		_ = m.Inject(0, vote.Token(v))
	}
	for _, out := range m.Advance(0).Out {
		fmt.Println(out.Value())
	}
	// Output: [ann bob]
}
