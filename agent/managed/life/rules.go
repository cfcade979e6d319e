package life

import (
	"fmt"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
)

// rules are what each input and each end of a turn does, as claims about moves: the input, and all that
// fires at once after it. They name inputs by the transitions of the world and the worker.
func rules(c Config) []*verify.Property {
	var list []*verify.Property
	for _, group := range [][]claim.Move{inputRules(), resultRules(c), interruptRules(), endRules(), wakeRules(),
		retryRules(c)} {
		for _, m := range group {
			list = append(list, verify.EachMove(m))
		}
	}
	for _, s := range []struct{ name, doc, never string }{
		{"nothing waits in vain", "an idle session that is not paused has no message", "idle && message && !paused"},
		{"results continue", "a parked session that is not paused waits for a call", "parked && !awaited && !paused"},
		{"inputs are taken", "inputs other than messages wait only for the beginning",
			"!asleep && !over && (result || interrupt || archive || fail) || pause || resume || wake"},
		{"calls are of a park", "calls are awaited only while the session is parked", "awaited && !parked"},
		{"a retry is of a turn", "failed attempts are counted only while their turn is open",
			"retries_spent && !running && !backing_off && !over"},
		{"a turn works or is stopped", "each turn that works is in flight or is being stopped, and no other is",
			"!over && working != turn_in_flight + stopping"},
		{"a retry is due", "a retry that is not held by a pause can begin",
			"backing_off && !paused" + noneCan("retry", len(c.Backoff))},
		{"a park times out", "calls that wait can time out, if there is a time-out",
			"parked && awaited" + noneCan("expire", c.timeouts())},
		{"the end cancels", "no turn is in flight or being stopped after the end", "over && (turn_in_flight || stopping)"},
	} {
		p := verify.Loosely(s.never)
		p.Name, p.Doc = s.name, s.doc
		list = append(list, p)
	}
	return list
}

// phaseKept are the places that only a change of phase changes.
var phaseKept = []string{"asleep", "idle", "running", "parked", "backing_off", "over", "stopping", "turn_in_flight",
	"retries_spent"}

// kept are the phase and more places.
func kept(more ...string) []string { return append(more, phaseKept...) }

// silent are the events that must not happen where clients hear nothing and no turn begins.
var silent = []string{"!+said", "!+turn"}

func inputRules() []claim.Move {
	return []claim.Move{
		{Name: "a message begins a turn", Doc: "a message begins a turn if the session is idle and not paused",
			On: []string{"send_message"}, When: "idle && !paused", Does: []string{"+turn[with_message]", "!+said"}},
		{Name: "a message waits", Doc: "a message waits, and changes nothing, unless the session is idle and not paused",
			On: []string{"send_message"}, When: "!idle || paused", Does: silent, Keeps: kept("paused", "awaited", "result")},
		{Name: "pause holds", Doc: "a pause changes nothing else", On: []string{"send_pause"}, Then: "paused",
			Does: silent, Keeps: kept("awaited", "message", "result")},
		{Name: "resume ends a pause", Doc: "a resume ends the pause and tells nothing", On: []string{"send_resume"},
			Then: "!paused", Does: []string{"!+said"}, Keeps: []string{"awaited", "result", "asleep", "backing_off"}},
		{Name: "resume continues with results", Doc: "a turn whose calls have their results goes on after the pause",
			On: []string{"send_resume"}, When: "parked && !awaited && paused", Does: []string{"+turn[with_results]"}},
		{Name: "resume continues with a message", Doc: "a message that waits begins a turn after the pause",
			On: []string{"send_resume"}, When: "idle && message && paused", Does: []string{"+turn[with_message]"}},
		{Name: "only resume resumes", Doc: "a pause ends only by a resume", Changed: "paused", When: "paused",
			Does: []string{"send_resume"}},
		{Name: "archive ends", Doc: "an archive ends the session and is told", On: []string{"send_archive"},
			When: "!asleep", Final: true, Then: "over", Does: []string{"+said[archived]", "!+turn"}},
		{Name: "fail ends", Doc: "a failure ends the session and is told", On: []string{"send_fail"},
			When: "!asleep", Final: true, Then: "over", Does: []string{"+said[terminated]", "!+turn"}},
		{Name: "only an end ends", Doc: "the session ends by an archive, a failure, or a turn that breaks",
			On: []string{"+over"}, Final: true, When: "!archive && !fail",
			Does: []string{"send_archive|send_fail|deliver_failed|deliver_cancelled"}},
		{Name: "before the beginning", Doc: "an input before the beginning waits for it",
			On: []string{"send_message|send_result|send_interrupt|send_archive|send_fail"}, When: "asleep",
			Then: "asleep", Does: silent, Keeps: []string{"paused"}},
		{Name: "a result before the beginning", Doc: "a result before the beginning is kept for it",
			On: []string{"send_result"}, When: "asleep", Then: "asleep && result"},
	}
}

func resultRules(c Config) []claim.Move {
	on, takes := []string{"send_result"}, "take_result|take_last_result"
	if c.Eager {
		takes = "take_last_result"
	}
	list := []claim.Move{
		{Name: "the last result", Doc: "the last result continues the turn", On: on, When: "awaited == 1 && !paused",
			Does: []string{"+turn[with_results]", "!+said"}},
		{Name: "the last result in a pause", Doc: "the last result is taken in a pause, and no turn begins", On: on,
			When: "awaited == 1 && paused", Then: "!awaited && !result", Does: silent, Keeps: kept("message")},
		{Name: "a result for nothing", Doc: "a result that nothing waits for is dropped", On: on,
			When: "idle || running || backing_off || parked && !awaited", Then: "!result", Does: silent,
			Keeps: kept("awaited", "message", "paused")},
		{Name: "a call needs its result", Doc: "no call is taken as answered without a result",
			On: []string{takes}, When: "!result", Does: on},
		{Name: "a time-out", Doc: "the time-out ends the wait for all calls", On: []string{"expire"},
			From: "parked && awaited", Then: "!awaited", Does: []string{"+said[expired]"}},
		{Name: "a time-out continues", Doc: "the time-out continues the turn", On: []string{"expire"}, When: "!paused",
			Does: []string{"+turn[with_results]"}},
		{Name: "a time-out in a pause", Doc: "the time-out in a pause begins no turn", On: []string{"expire"}, When: "paused",
			Then: "parked", Does: []string{"!+turn"}},
	}
	if c.Eager {
		return append(list, claim.Move{Name: "any result", Doc: "each result continues the turn", On: on,
			When: "awaited && !paused", Does: []string{"+turn[with_results]", "!+said"}},
			claim.Move{Name: "any result in a pause", Doc: "a result in a pause lets the turn go on behind it", On: on,
				When: "awaited && paused", Then: "parked && !awaited && !result", Does: silent, Keeps: kept("message")})
	}
	for n := 2; n <= c.calls; n++ {
		list = append(list, claim.Move{Name: fmt.Sprintf("one result of %d", n),
			Doc: "a result while others are missing is taken, and the rest is told", On: on,
			When: fmt.Sprintf("awaited == %d", n), Then: fmt.Sprintf("awaited == %d && !result", n-1),
			Does: []string{"+said[idle_waiting]", "!+turn"}, Keeps: kept("message", "paused")})
	}
	return list
}

func interruptRules() []claim.Move {
	on := []string{"send_interrupt"}
	return []claim.Move{
		{Name: "interrupt a turn", Doc: "an interrupt stops the turn; the session runs until it has stopped", On: on,
			When: "running", Then: "running && stopping && !turn_in_flight", Does: silent,
			Keeps: []string{"message", "paused", "result", "retries_spent"}},
		{Name: "interrupt a wait", Doc: "an interrupt ends a park or a retry, and that is told", On: on,
			When: "parked || backing_off", Then: "!awaited && !retries_spent && !parked && !backing_off",
			Does: []string{"+said[idle_stopped]", "!+said[undisturbed]"}, Keeps: []string{"paused"}},
		{Name: "a message behind an interrupt", Doc: "a message that waits begins a turn behind the interrupt", On: on,
			When: "(parked || backing_off) && message && !paused", Does: []string{"+turn[with_message]"}},
		{Name: "no turn behind an interrupt", Doc: "without a message no turn begins behind the interrupt", On: on,
			When: "!message || paused", Does: []string{"!+turn"}},
		{Name: "interrupt nothing", Doc: "an interrupt of an idle session changes nothing, and that is told", On: on,
			When: "idle", Does: []string{"+said[undisturbed]", "!+said[idle_stopped]", "!+turn"},
			Keeps: kept("message", "paused", "awaited")},
	}
}

func endRules() []claim.Move {
	done := []string{"deliver_succeeded|deliver_failed|deliver_cancelled"}
	return []claim.Move{
		{Name: "an answer", Doc: "a turn that ends with an answer is told", On: []string{"+concluded[ended]"},
			Then: "!retries_spent && !parked && !backing_off", Does: []string{"+said[idle_ended]"}},
		{Name: "a failed turn", Doc: "a turn that has failed is told, and the session goes on",
			On: []string{"+concluded[failed]"}, Then: "!retries_spent && !parked && !backing_off",
			Does: []string{"+said[idle_exhausted]"}},
		{Name: "a park", Doc: "a turn that waits for calls parks, and that is told unless all have their results",
			On: []string{"+concluded[waiting]"}, When: "!paused", Then: "parked && awaited || running",
			Does: []string{"park_turn", "+said[idle_waiting]|+turn[with_results]"}},
		{Name: "a park in a pause", Doc: "a turn that parks in a pause does not go on", On: []string{"+concluded[waiting]"},
			When: "paused", Then: "parked", Does: []string{"!+turn"}},
		{Name: "the next message", Doc: "behind a turn that is over a message that waits begins the next", On: []string{
			"+concluded[ended]|+concluded[failed]"}, When: "message && !paused", Does: []string{"+turn[with_message]"}},
		{Name: "a broken turn", Doc: "a turn without a result, which nobody has stopped, ends the session",
			On: []string{"deliver_failed|deliver_cancelled"}, When: "turn_in_flight && !over", Final: true, Then: "over",
			Does: []string{"+said[terminated]", "!+turn"}},
		{Name: "a stopped turn", Doc: "a turn that was stopped is told as stopped, however it ends", On: done,
			When: "stopping && !over", Then: "!stopping && !retries_spent && !parked && !backing_off",
			Does: []string{"+said[idle_stopped]", "!+said[idle_ended]"}, Keeps: []string{"paused"}},
		{Name: "a message behind a stopped turn", Doc: "behind a stopped turn a message that waits begins the next",
			On: done, When: "stopping && message && !paused && !over", Does: []string{"+turn[with_message]"}},
		{Name: "each end counts", Doc: "each result of a turn is taken", On: done, When: "!over", Final: true,
			Then: "!turn_done"},
		{Name: "a new turn has no past", Doc: "a new turn and one that goes on begin with no failed attempt", On: []string{
			"+turn[with_message]|+turn[with_results]"}, Then: "!retries_spent && running && turn_in_flight"},
	}
}

func wakeRules() []claim.Move {
	wakes := []string{"send_wake_idle|send_wake_running|send_wake_parked|send_wake_backing_off"}
	calm := "asleep && !archive && !fail && !interrupt"
	return []claim.Move{
		{Name: "wake", Doc: "the session begins once it knows where", On: wakes, When: "asleep", Final: true,
			Then: "!asleep"},
		{Name: "wake again", Doc: "it begins only once", On: wakes, When: "!asleep", Does: silent,
			Keeps: kept("message", "paused", "awaited", "result")},
		{Name: "wake idle", Doc: "an idle session goes on idle", On: []string{"send_wake_idle"},
			When: calm + " && (!message || paused)", Then: "idle", Does: silent},
		{Name: "wake running", Doc: "a turn goes on where the process stopped", On: []string{"send_wake_running"}, When: calm,
			Then: "running && turn_in_flight", Does: []string{"+turn[recovered]", "!+said"}},
		{Name: "wake parked", Doc: "a parked session waits on", On: []string{"send_wake_parked"}, When: calm,
			Then: "parked || running", Does: []string{"!+turn[with_message]", "!+turn[again]", "!+turn[recovered]"}},
		{Name: "wake ended", Doc: "an end that waits for the beginning ends the session", On: wakes,
			When: "asleep && (archive || fail)", Final: true, Then: "over"},
		{Name: "the end comes first", Doc: "nothing else that waits for the beginning comes before an end", On: wakes,
			When: "asleep && (archive || fail)", Final: true, Does: []string{"+said[archived]|+said[terminated]",
				"!+said[idle_waiting]", "!+said[idle_stopped]", "!+said[undisturbed]", "!interrupt_turn",
				"!take_last_result", "!+turn[with_message]", "!+turn[with_results]"}},
		{Name: "wake stopped", Doc: "an interrupt that waits for the beginning does not wait on", On: wakes,
			When: "asleep && interrupt", Does: []string{"+said[idle_stopped]|+said[undisturbed]|interrupt_turn"}},
	}
}

func retryRules(c Config) []claim.Move {
	n := len(c.Backoff)
	list := []claim.Move{
		{Name: "no more retries", Doc: "an attempt that fails after all retries is told, and the session goes on",
			On: []string{"+concluded[retry]"}, When: fmt.Sprintf("retries_spent >= %d", n),
			Then: "!retries_spent && !backing_off", Does: []string{"+said[idle_exhausted]", "!+said[rescheduled]"}},
		{Name: "the message behind no more retries", Doc: "behind them a message that waits begins the next turn",
			On: []string{"+concluded[retry]"}, When: fmt.Sprintf("retries_spent >= %d && message && !paused", n),
			Does: []string{"+turn[with_message]"}},
	}
	for k := 1; k <= n; k++ {
		list = append(list, claim.Move{Name: fmt.Sprintf("reschedule %d", k), Doc: "a failed attempt is tried again later",
			On: []string{"+concluded[retry]"}, When: fmt.Sprintf("retries_spent == %d", k-1),
			Then: fmt.Sprintf("backing_off && retries_spent == %d", k), Does: []string{"+said[rescheduled]", "!+turn"}},
			claim.Move{Name: fmt.Sprintf("retry %d", k), Doc: "a retry has its own wait, and begins the turn again",
				On: []string{fmt.Sprintf("retry_%d", k)}, From: fmt.Sprintf("backing_off && !paused && retries_spent == %d", k),
				Then: "running && turn_in_flight", Does: []string{"+turn[again]", "!+said"},
				Keeps: []string{"retries_spent", "message", "paused"}})
	}
	if n > 0 {
		list = append(list, claim.Move{Name: "wake backing off", Doc: "a retry that was due later is due later",
			On: []string{"send_wake_backing_off"}, When: "asleep && !archive && !fail && !interrupt",
			Then: "backing_off && retries_spent", Does: silent})
	}
	return list
}

// timeouts is how many time-outs a park has.
func (c *Config) timeouts() int {
	if c.ParkTimeout > 0 {
		return 1
	}
	return 0
}

// noneCan is the condition that none of n transitions can fire: T_1 to T_n, or T. It is false if n is 0.
func noneCan(t string, n int) string {
	text := ""
	for i := range n {
		name := t
		if t == "retry" {
			name = fmt.Sprintf("retry_%d", i+1)
		}
		text += fmt.Sprintf(" && !can(%s)", name)
	}
	if n == 0 {
		return " && over"
	}
	return text
}
