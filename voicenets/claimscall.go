package voicenets

import (
	"fmt"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// speechRules are about quiet and speech.
func speechRules(c Config) rules {
	r := rules{part: "speech"}
	r.states = append(exactly("end_speech_without_frames", "speaking", "Speech ends when its frames stop coming."),
		claim{"heartbeat", "(speaking && heartbeat != 1 || quiet && heartbeat) && !ended",
			"While speech is open, and only then, a sign of frames is waited for."},
		claim{"deaf", "speaking && deaf && !ended", "Speech is over as soon as nobody may listen."},
		claim{"edges", "(began || confirmed || \"ended\") && !ended", "An edge of speech is for this moment alone."})
	r.moves = []rule{
		{name: "start", doc: "Speech opens in quiet, if somebody may listen.", on: "+speech_edge[start]",
			when: "quiet && !deaf", says: "+began +tell_speech[speech_heard]", then: "speaking && !quiet"},
		{name: "start-ignored", doc: "A second start, or one that nobody may hear, is none.", on: "+speech_edge[start]",
			when: "speaking || deaf", says: "!+began !+tell_speech", keeps: "speaking quiet"},
		{name: "more", doc: "Speech that goes on stays open.", on: "+speech_edge[more] +speech_edge[confirm]",
			when: "speaking", says: "!+tell_speech +heartbeat", keeps: "speaking quiet"},
		{name: "more-in-quiet", doc: "An edge of speech that is not open is ignored.",
			on: "+speech_edge[more] +speech_edge[confirm] +speech_edge[stop]", when: "quiet",
			says: "!+tell_speech !+confirmed", keeps: "speaking quiet"},
		{name: "confirm", doc: "A confirmation is passed on to who decides about turns.", on: "+speech_edge[confirm]",
			when: "speaking", says: "+confirmed"},
		{name: "confirm-only", doc: "Nothing else confirms speech.", on: "+confirmed",
			says: "+speech_edge[confirm]|+hint[real_speech]"},
		{name: "stop", doc: "The end of speech is told.", on: "+speech_edge[stop]", when: "speaking", then: "quiet",
			says: "+ended +tell_speech[speech_over] !+frames_ended"},
		{name: "no-frames", doc: "Speech without frames ends, and the detector is told.", on: "end_speech_without_frames",
			then: "quiet && !speaking", says: "+ended +tell_speech[speech_over] +frames_ended"},
		{name: "over", doc: "Speech ends by its edge, without frames, or when nobody may listen.",
			on: "+tell_speech[speech_over]", says: "+ended +speech_edge[stop]|+frames_ended", from: "speaking"},
		{name: "frames-ended", doc: "The detector is told only when its speech was ended for it.", on: "+frames_ended",
			says: "+tell_speech[speech_over] !+speech_edge[stop] end_speech_without_frames|+deaf"},
		{name: "changed", doc: "The peer hears of each beginning and end of speech.", changed: "speaking",
			says: "+tell_speech"},
	}
	return r
}

// callRules are about the beginning and the end of a call.
func callRules(c Config) rules {
	busy := "(in_turn || model_turn || owing || replying || speaking)"
	r, parts := rules{part: "call"}, ""
	if c.Prompts.Has(Goodbye) { // without one a drain may end the call in the same move
		parts = "parting || leaving || call/draining || online || dialling"
	}
	for _, l := range [][]claim{
		exactly("end_longest_call", "!ended", "A call always ends at its longest duration."),
		exactly("leave_now", "call/draining", "A drain ends the call at the latest when its time is over."),
		exactly("part_at_last", "parting", "A farewell ends at the latest when its time is over."),
		{
			{"leaves", "leaving && !ended", "A wish to leave is acted on at once."},
			{"parts", "parting && !prompt_due && !replying && !ended", "The call ends when the last words are said."},
			{"drains", "call/draining && !parting && !" + busy + " && !ended",
				"A call that is to shut down leaves at the first quiet moment."},
			{"one-farewell", "parting > 1 || call/draining > 1", "There is one farewell."},
		},
	} {
		r.states = append(r.states, l...)
	}
	end := func(name, on, reason, more string) rule {
		return rule{name: name, on: on, doc: "The call ends at once, for this reason.", final: true, then: "ended",
			says: "+call_ended +hangup" + reason + more}
	}
	r.moves = []rule{
		end("over", "+over", "", ""), end("hand-off", "+hand_off", "[transferred]", " +transfer"),
		end("longest", "end_longest_call", "[max_duration]", ""), end("leave-now", "leave_now", "[going_away]", ""),
		end("part-at-last", "part_at_last", "", ""), end("part", "part", "", ""),
		{name: "ends", doc: "A call ends only by wish, at its longest, after its farewell, or without a first connection.",
			final: true, on: "+call_ended", says: "+hangup +over|+hand_off|end_longest_call|leave_now|part|part_at_last|" +
				"+dialled[unreachable]|+dialled[turned_away]"},
		{name: "hangup", doc: "The line is closed only with the call.", final: true, on: "+hangup", then: "ended"},
		{name: "transfer", doc: "The caller is transferred only by wish.", final: true, on: "+transfer", says: "+hand_off"},
		{name: "part-said", doc: "The call parts when nothing is left to say.", final: true, on: "part",
			then: "!prompt_due && !replying && (!reply_owed || speaking || in_turn || held)",
			from: parts},
		{name: "drain-busy", doc: "A drain waits for a quiet moment.", on: "+drain",
			when: "!call/draining && !parting && " + busy, then: "call/draining == 1", says: "!+leaving", keeps: "parting"},
		{name: "drain-quiet", doc: "A drain in quiet leaves.", on: "+drain",
			when: "!call/draining && !parting && !" + busy, then: "parting[going_away] && !call/draining",
			says: "+leaving[going_away]"},
		{name: "drain-again", doc: "A second drain changes nothing.", on: "+drain", when: "call/draining || parting",
			keeps: "call/draining parting prompt_due", says: "!+leaving"},
		{name: "draining", doc: "A drain is asked for, and ends in leaving.", changed: "call/draining",
			says: "+drain|+leaving[going_away]"},
		{name: "leave-drain", doc: "The call goes away because it was told to.", on: "+leaving[going_away]",
			from: "!parting", then: "!call/draining && parting && !(in_turn || owing || speaking || replying && prompt_due)",
			says: "leave_in_quiet"},
		{name: "farewell", doc: "Who leaves says goodbye.",
			on:   "+leaving[going_away] +leaving[caller_silent] +leaving[no_consent]",
			when: "!parting", says: "+prompt_due[goodbye]", then: "parting && !parting[model_lost]"},
		{name: "sorry", doc: "Who loses the model says sorry.", on: "+leaving[model_lost]", when: "!parting",
			says: "+prompt_due[fallback]", then: "parting[model_lost] == 1"},
		{name: "leave-once", doc: "Who has taken leave does not do so again.", on: "+leaving", when: "parting",
			keeps: "parting", says: "!+prompt_due"},
		{name: "parting", doc: "A farewell is that of a call that leaves.", changed: "parting", says: "+leaving"},
	}
	if c.Prompts.Has(Fallback) {
		r.moves = append(r.moves, rule{name: "sorry-said", doc: "It is said before the call ends, unless the caller speaks.",
			final: true, on: "+leaving[model_lost]", then: "!ended",
			when: "!parting && !in_turn" + and(!c.pauses(), "!unheard")})
	}
	if c.Greeting {
		r.add(greetingRules())
	}
	return r
}

func (r *rules) add(more rules) {
	r.states, r.moves = append(r.states, more.states...), append(r.moves, more.moves...)
}

// greetingRules are about the turn that begins the conversation.
func greetingRules() rules {
	forbidden := "(unconsented || held || in_turn || model_turn || replying || prompt_due)"
	return rules{states: []claim{
		{"greets", "greet && online && !" + forbidden + " && !ended", "The greeting is asked for as soon as it may be."},
		{"greeting-late", "greet && in_turn && !ended", "Who speaks first is not greeted."},
		{"greeting-once", "greet > 1", "There is one greeting."},
	}, moves: []rule{
		{name: "greet", doc: "A greeting is a turn in the caller's place.", on: "+to_model[greet]", from: "greet == 1",
			then: "!greet && model_turn && owing && online && !unconsented && !held && !in_turn && !replying && !prompt_due",
			says: "+owing +said !+text_up"},
		{name: "greeted", doc: "The greeting is asked for, or the caller came first.", changed: "greet",
			says: "+to_model[greet]|+in_turn"},
	}}
}

// earsRules are about hold, mute and protected input.
func earsRules(c Config) rules {
	closed := "(muted || held || protected || unconsented)"
	r := rules{part: "ears", states: []claim{
		{"opens", "deaf && !" + closed + " && !ended", "The ear opens again."},
		{"closes", "(" + closed + " && deaf != 1 || deaf > 1 || muted > 1 || held > 1 || protected > 1) && !ended",
			"The ear is closed or open."},
		{"parks", "(held && !parked && !confirming || parked && !held || parked > 1) && !ended",
			"Playout is parked on hold."},
		{"text", "typed && unconsented && !ended", "Without consent no text is kept."},
		{"text-max", "typed > 4 && !ended", "Four texts wait at most."},
		{"queue", "(withheld && !(held || protected || unconsented) || (held || protected) && !withheld || withheld " +
			"> 1) && !ended",
			"The queue to the model is held on hold and during protected input, and goes on after."},
	}}
	for _, s := range []struct{ sw, state, on, off string }{
		{"hold", "held", "hold_started", "hold_ended"}, {"protect", "protected", "protect_started", "protect_ended"},
	} {
		r.moves = append(r.moves,
			rule{name: s.sw, doc: "The switch is turned on, and the peer told.", on: "+" + s.sw + "[on]", when: "!" + s.state,
				then: s.state + " && deaf", says: "+tell_mode[" + s.on + "] !+tell_mode[" + s.off + "]"},
			rule{name: "un" + s.sw, doc: "The switch is turned off, and the peer told.", on: "+" + s.sw + "[off]",
				when: s.state,
				then: "!" + s.state, says: "+tell_mode[" + s.off + "] !+tell_mode[" + s.on + "]"},
			rule{name: s.sw + "-again", doc: "What is on is not turned on again.", on: "+" + s.sw + "[on]", when: s.state,
				keeps: s.state + " deaf parked muted typed in_turn", says: "!+tell_mode !+clear"},
			rule{name: "un" + s.sw + "-again", doc: "What is off is not turned off again.", on: "+" + s.sw + "[off]",
				when: "!" + s.state, keeps: s.state + " deaf parked muted typed in_turn", says: "!+tell_mode !+tell_reply"},
			rule{name: s.sw + "-only", doc: "Nothing but its switch does that.", changed: s.state, says: "+" + s.sw},
		)
	}
	r.moves = append(r.moves,
		rule{name: "mute", doc: "The microphone is muted.", on: "+peer_mute[on]", then: "muted == 1 && deaf"},
		rule{name: "unmute", doc: "It is not muted any more.", on: "+peer_mute[off]", then: "!muted"},
		rule{name: "mute-only", doc: "Nothing but its switch mutes the microphone.", changed: "muted", says: "+peer_mute"},
		rule{name: "hold-only", doc: "Muting and protecting are no holds.", on: "+peer_mute +protect +consent",
			keeps: "held parked"},
		rule{name: "mute-text", doc: "A mute is one of the microphone: text stays.", on: "+peer_mute",
			keeps: "typed caller_text"},
		rule{name: "text-dropped", doc: "Text is dropped on hold, during protected input and without consent.",
			on: "+caller_text", when: "held || protected || unconsented", says: "!+typed !+text_up +text_lost",
			keeps: "typed in_turn owing model_turn replying"},
		rule{name: "text-taken", doc: "Text is taken where it may be.", on: "+caller_text",
			when: "!(held || protected || unconsented) && typed < 4", says: "+typed !+text_lost"},
		rule{name: "text-lost", doc: "Text is called lost that is.", on: "+text_lost",
			says: "+caller_text|+caller_digit|time_out_entry"},
		rule{name: "release", doc: "The queue goes on with the end of what held it.", on: "+release_uplink",
			then: "!(held || protected || unconsented)", says: "+hold[off]|+protect[off]|+consent[on]"},
		rule{name: "park", doc: "A hold takes back what is played, and tells the peer.", on: "+hold[on]",
			when: "replying && !held && !confirming", says: "+tell_reply[reply_paused] +clear", then: "parked && !end_marked"},
		rule{name: "park-paused", doc: "A reply that is paused already is not paused again.", on: "+hold[on]",
			when: "(confirming && !speaking || !replying) && !held", says: "!+clear !+tell_reply[reply_paused]"},
		rule{name: "unpark", doc: "After a hold a reply goes on, and the peer is told.", on: "+hold[off]",
			when: "replying && parked", says: "+tell_reply[reply_resumed]"},
		rule{name: "unpark-nothing", doc: "After a hold without a reply nothing is told of one.", on: "+hold[off]",
			when: "!replying", says: "!+tell_reply[reply_resumed] !+clear"},
	)
	return r
}

// toolRules are about calls of functions.
func toolRules(c Config) rules {
	r := rules{part: "tools"}
	for i := range c.ToolSlots {
		run, free, drain := fmt.Sprintf("running_%d", i), fmt.Sprintf("free_%d", i), fmt.Sprintf("draining_%d", i)
		now := fmt.Sprintf("current_%d", i)
		slot := fmt.Sprintf("[%d]", i)
		timeOut := fmt.Sprintf("time_out_call_%d", i)
		r.states = append(r.states, exactly(timeOut, run, "A call that takes too long is timed out.")...)
		r.states = append(r.states,
			claim{"current" + slot, "(" + now + " && !" + run + " || " + now + " > 1) && !ended",
				"Only a call that runs is of the caller's turn."},
			claim{"cancelled" + slot, fmt.Sprintf("(unwanted_%d || sought_%d) && !ended", i, i),
				"What is cancelled is found at once."})
		r.moves = append(r.moves,
			rule{name: "return" + slot, doc: "A function that returns is answered.", on: "+tool_done" + slot, when: run,
				then: free + " && !" + run, says: "+tool_reply !+stop_tool"},
			rule{name: "return-late" + slot, doc: "One that nobody waits for only frees its slot.", on: "+tool_done" + slot,
				when: drain, then: free + " && !" + drain, says: "!+tool_reply"},
			rule{name: "return-unasked" + slot, doc: "A result nobody asked for is ignored.", on: "+tool_done" + slot,
				when: free, keeps: free + " " + run + " " + drain, says: "!+tool_reply !+stop_tool"},
			rule{name: "runs" + slot, doc: "A call that was started runs on.", on: "start_call_" + itoa(i), when: "online",
				then: run + " && " + now},
			rule{name: "timely" + slot, doc: "A result may be spoken while the caller has begun no other turn.",
				on: "+tool_done" + slot, when: run + " && " + now, then: "!" + now, says: fmt.Sprintf("answer_call_%d", i)},
			rule{name: "late" + slot, doc: "Behind another turn it may not.", on: "+tool_done" + slot,
				when: run + " && !" + now, says: fmt.Sprintf("answer_call_late_%d", i)},
			rule{name: "outdated" + slot, doc: "A turn of the caller makes results late.",
				on: "+in_turn type_when_quiet type_before_reply type_over_reply type_over_reply_at_end type_in_pause " +
					"type_in_pause_at_end", then: "!" + now},
			rule{name: "current" + slot, doc: "Nothing else does.", changed: now,
				says: "+start_tool|+tool_reply|+stop_tool|+in_turn|+text_up"},
			rule{name: "cancel" + slot, doc: "The call that is cancelled is stopped and not answered.",
				on: "cancel_call_" + itoa(i), from: run, then: drain + " && !" + run + " && !" + now,
				says: "+tool_cancelled +stop_tool !+tool_reply"},
			rule{name: "cancel-only" + slot, doc: "A call that is not the cancelled one goes on.", on: "+tool_cancelled",
				changed: run, says: "cancel_call_" + itoa(i)},
			rule{name: "cancel-nothing" + slot, doc: "What does not run is not cancelled.", on: "+tool_cancelled",
				when: "!" + run, keeps: free + " " + run + " " + drain, says: "!+tool_reply"},
			rule{name: "time-out" + slot, doc: "A call that takes too long is stopped, and the model told.", on: timeOut,
				then: drain + " && !" + run, says: "+stop_tool +tool_reply"},
			rule{name: "lost" + slot, doc: "A call is stopped with its connection, and not answered.",
				on: "+link_down rotate_soon rotate_later", when: run + " && online", then: drain + " && !" + run,
				says: "!+tool_reply"},
			rule{name: "started" + slot, doc: "What runs was called by the model.", on: "+" + run,
				says: "+tool_called +start_tool", from: free},
			rule{name: "changed" + slot, doc: "A call ends in one of four ways.", changed: run,
				says: "+start_tool|+tool_reply|" +
					"+stop_tool|bump"},
		)
	}
	r.moves = append(r.moves,
		rule{name: "start", doc: "A call starts its function.", on: "+start_tool", says: "+tool_called"},
		rule{name: "stop", doc: "A function is stopped when nobody wants its result.", on: "+stop_tool",
			says: "+tool_cancelled|+tool_reply|+link_down|+close_link|+tool_called|+dialled"},
		rule{name: "others", doc: "Results of what never ran are ignored.",
			on: "ignore_unknown_result", says: "!+tool_reply !+stop_tool"})
	if c.ToolSlots == 1 {
		r.moves = append(r.moves,
			rule{name: "call", doc: "The model's call runs where there is room.", on: "+tool_called", when: "free_0",
				says: "+start_tool !+tool_reply", then: "!free_0"},
			rule{name: "call-refused", doc: "Where there is none it is told so.", on: "+tool_called", when: "!free_0",
				says: "+tool_reply !+start_tool", keeps: "running_0 draining_0 free_0"},
			rule{name: "reply", doc: "The model gets a reply to what it called.", on: "+tool_reply",
				says: "+tool_done|time_out_call_0|+tool_called"})
	}
	return r
}
