package event_test

import (
	"bytes"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// A run is archived, and its archive replayed.
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

// The events of a run become a span of OpenTelemetry. Config.Watch of a gateway makes such a store
// for each call.
func ExampleNewOTel() {
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
	spans := tracetest.NewSpanRecorder() // in production: an exporter
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("lamp")
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	store := event.NewOTel(tracer, prog, event.OTelConfig{Run: "hall", Start: start})

	m := prog.Start()
	_ = m.Inject(time.Second, press.Token(petri.Unit{}))
	store.Append(m.Advance(time.Minute).Events)
	store.Close(time.Minute)

	for _, s := range spans.Ended() {
		fmt.Println(s.Name(), "for", s.EndTime().Sub(s.StartTime()))
		for _, e := range s.Events() {
			fmt.Println(" ", e.Time.Sub(start), e.Name)
		}
	}
	// Output:
	// net lamp for 1m0s
	//   1s light
	//   31s darken
}
