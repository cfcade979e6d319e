package patterns_test

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Two sources answer a question, the second only if the first has not answered after two seconds.
// The first good answer counts, and cancels the other source.
func ExampleFirstK() {
	const question, interrupt = petri.Place[string]("question"), petri.Place[petri.Unit]("interrupt")
	const answered, failed = petri.Place[[]petri.Result[string]]("answered"), petri.Place[[]petri.Result[string]]("failed")
	var tiers [][]patterns.Lane[string, petri.Result[string]]
	var parts []*petri.Net
	tasks := patterns.Slots[string, string]("source", 2)
	for i, t := range tasks {
		lane := patterns.Lane[string, petri.Result[string]]{Job: petri.Place[string](fmt.Sprint("job", i)),
			Result: petri.Place[petri.Result[string]](fmt.Sprint("result", i)), InFlight: t.InFlight}
		tiers = append(tiers, []patterns.Lane[string, petri.Result[string]]{lane})
		parts = append(parts, patterns.Worker(fmt.Sprint("worker", i), lane.Job, t, lane.Result))
	}
	net, err := petri.Compose("agent", append(parts, patterns.FirstK("race",
		patterns.FirstKPorts[string, petri.Result[string]]{Request: question, Abort: interrupt, Reached: answered,
			Failed: failed}, 1, 2*time.Second, tiers...))...)
	if err != nil {
		fmt.Println(err)
		return
	}
	net.Env = []petri.Env{{Place: question}, {Place: interrupt}}
	net.Out = []petri.Output{{Place: answered}, {Place: failed}}
	program, err := petri.Compile(net)
	if err != nil {
		fmt.Println(err)
		return
	}

	m := program.Start()
	_ = m.Inject(0, question.Token("how far is the moon?"))
	for _, now := range []time.Duration{0, 2 * time.Second} {
		for _, out := range m.Advance(now).Out {
			fmt.Println("work:", out.Place(), out.Value(), "after", now)
		}
	}
	_ = m.Inject(3*time.Second, tasks[1].Done.Token(petri.Result[string]{Value: "400,000 km"}))
	for _, out := range m.Advance(3 * time.Second).Out {
		if out.Cancel() {
			fmt.Println("cancelled:", out.Place())
		} else if list, ok := answered.From(out); ok {
			fmt.Println("answer:", list[0].Value)
		}
	}
	// Output:
	// work: source0_start how far is the moon? after 0s
	// work: source1_start how far is the moon? after 2s
	// answer: 400,000 km
	// cancelled: source0_in_flight
}
