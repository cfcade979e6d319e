// Package event keeps what happened in a run: a Store takes the events of one
// machine in order, and decorators around it decide where they go.
//
//	ring := event.NewRing(4096)                  // the last 4,096, fixed memory
//	file := event.NewArchive(w, event.Header{})  // JSON lines, can be replayed
//	store := event.Tee(ring, event.NewZap(log, prog), file)
//
// Events hold keys and lengths of payloads, never payloads. Package runner
// appends the events of a step before it hands over what the step put out.
package event
