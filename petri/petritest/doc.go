// Package petritest plays scripts on a net and compares what happens with what
// the script says. A script is a text file of steps, each with its full trace:
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
//	inject PLACE [VALUE] [@TIME]  put a token into an environment place
//	advance TIME                  let time pass; every timer fires when it is due
//	marking                       what lies where: slots in order of declaration
//	wake                          when the next timer is due
//	restart                       begin again with a new machine
//	play                          play a story on a new machine
//
// PLACE is a qualified name. VALUE is the name of a key for an enum, otherwise
// JSON; on the lines after the step it may have blanks that count. TIME is net
// time (1.5s), or relative to now (+20ms); an injection without one happens now.
// A step prints its events as petri.Program.Describe does, in order, and a line
// "out PLACE[=VALUE]" for each output after the events of its instant; then, if
// there was one, "error: ..." or "fault: ...". It has at most 10,000 events.
//
// A story is a table. Its lines say what comes, and when (without a time: when
// the line before is over), or begin with "given" and list tokens, PLACE or
// PLACE=VALUE, that are there. Its trace says what fires when and puts out what,
// or that nothing does, and which tokens lie in the net in the end:
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
// Run in a test; go test -rewrite writes the traces anew, to be read before they
// are committed. RunPart plays scripts on one part of a composition, whose ports
// the script fills and empties in place of the other parts.
package petritest
