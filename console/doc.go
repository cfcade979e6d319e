// Package console lets an operator watch the calls of a gateway: what each one is doing, why it is
// silent, and how its net moves. It shows running calls and archived ones in the same view.
//
//	h, err := console.New(console.Config{Gateway: gw, Archives: os.DirFS("archives"), Net: find})
//	http.Handle("/console/", http.StripPrefix("/console", h))
//
// A recorder follows the events of one call. It turns them into spans of a timeline, turns with their
// latencies, silences with their causes, and the kinds of event that move the tokens of the net. All
// of this follows from the events alone, so an archive shows what the running call showed.
//
// Whoever reaches the handler sees the calls, so put it behind your own authorization.
package console
