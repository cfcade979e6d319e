package event_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// A run is recorded, and its archive replayed.
func Example() {
	const press, lit = petri.Place[petri.Unit]("press"), petri.Place[petri.Unit]("lit")
	prog, err := petri.Compile(&petri.Net{
		Name: "lamp",
		Env:  []petri.Env{{Place: press}},
		Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{press}, Inhibit: petri.Arcs{lit}, Out: petri.And(lit)},
			{Name: "darken", In: petri.Arcs{lit}, When: petri.After(30 * time.Second)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	ring := event.NewRing(100)
	store := event.Tee(ring, event.NewArchive(&file, prog, event.ArchiveConfig{Run: "hall"}))

	m := prog.Start()
	_ = m.Inject(time.Second, press.Token(petri.Unit{}))
	store.Append(m.Advance(time.Minute).Events)

	for _, e := range ring.Events(nil) {
		fmt.Println(prog.Describe(e))
	}
	n, err := event.Replay(prog, &file)
	fmt.Println(n, "events replayed:", err)
	// Output:
	// 0s started
	// 1s injected press
	// 1s fired light
	// 31s fired darken
	// 4 events replayed: <nil>
}
