// Package bench measures what calls cost a gateway. [Run] places calls that speak, pause and
// interrupt by a seeded schedule, against a gateway and, alternating, against the raw relay of
// package bench/relay, which carries the same bytes to the same model without any logic. What a
// [Report] says is the difference between the two.
//
//	report, err := bench.Run(ctx, bench.Config{Transport: bench.WebSocket, Calls: 40,
//		Gateway: gateway, Relay: relay, Model: model})
//
// A caller's voice carries a tone in each frame that numbers it. [Model], the embedded model with a
// clock, hears the number, so the way of each frame is timed on any transport and through any codec.
// Gateway, relay and model are processes of their own; the command `voicegw bench` starts them. All
// processes must share one clock, so they must run on one machine.
package bench
