// Package event stores the events of a run. A Store takes the events of one machine in order.
// Ring keeps the last events in memory, Archive writes them as JSON lines that Replay runs again,
// OTel turns them into spans, and Queue keeps a slow store from blocking the run.
//
//	ring := event.NewRing(4096)
//	archive := event.NewArchive(file, prog, event.ArchiveConfig{Run: "call 17"})
//	store := event.Tee(ring, archive)
//
// Events hold the keys and lengths of payloads, never the payloads. Package runner appends the
// events of a step before it hands over the outputs of that step.
package event
