// Package petritest tests nets with scripts. A script is a text file of steps, each with its
// complete trace. Run plays a script on a net and compares the traces.
//
//	# A press rings, once.
//	inject press @10ms
//	----
//	0s started
//	10ms injected press
//	10ms fired ring
//	out bell
//
//	advance 2s
//	----
//	510ms fired quieten
//
//	marking
//	----
//	idle 1
//
// The steps are:
//
//	inject PLACE [VALUE] [@TIME]  puts a token into an environment place
//	advance TIME                  advances time and fires every timer when it is due
//	marking                       prints the tokens, slot by slot in order of declaration
//	wake                          prints when the next timer is due
//	restart                       begins again with a new machine
//	play                          plays a story on a new machine
//
// PLACE is a qualified name. VALUE is the name of a key if the colour is an enum, and JSON
// otherwise; to keep its blanks, write it on the lines after the step. TIME is a net time (1.5s) or
// relative to now (+20ms). An injection without a time happens now.
//
// The trace of a step lists its events, in the format of petri.Program.Describe, and after the
// events of each instant a line "out PLACE[=VALUE]" for each output. If the step fails, the trace
// ends with "error: ..." or "fault: ...". A step may have at most 10,000 events.
//
// A story is a table. Each of its lines has a time and a token; without a time, the token comes
// when the line before is over. A line that begins with "given" lists tokens to inject before the
// story, as PLACE or PLACE=VALUE. The trace shows which transition fires when and what it puts out,
// or that nothing fires, and finally the tokens that are left in the net:
//
//	play
//	10ms  press
//	20ms  press
//	1s
//	----
//	10ms    ring                          bell
//	20ms    nothing
//	510ms   quieten
//	510ms   ring                          bell
//	rests rings
//
// Call Run in a test. The command go test -rewrite writes the traces anew; read them before you
// commit them. RunPart plays scripts on one part of a composition: the script fills and empties the
// ports of the part in place of the other parts.
package petritest
