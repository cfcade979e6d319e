package claims

import (
	"fmt"
	"strconv"

	"github.com/voicegw/voicegw/voicenets"
)

func itoa(n int) string { return strconv.Itoa(n) }

// speechRules are about silence and speech of the caller.
func speechRules(c voicenets.Config) rules {
	r := rules{part: "speech"}
	r.states = append(exactly("end_speech_without_frames", "speaking", "Speech ends when its frames stop coming."),
		claim{"heartbeat", "(speaking && heartbeat != 1 || quiet && heartbeat) && !ended",
			"While speech is open, and only then, a sign of frames is waited for."},
		claim{"input_closed", "speaking && input_closed && !ended", "Speech ends as soon as the input gate closes."},
		claim{"edges", "(speech_began || speech_confirmed || speech_ended) && !ended",
			"An edge of speech is for this moment alone."})
	r.moves = []rule{
		{name: "start", doc: "Speech opens in quiet, while the input gate is open.", on: "+speech_edge[start]",
			when: "quiet && !input_closed", does: "+speech_began +notify_speech[speech_heard]", then: "speaking && !quiet"},
		{name: "start-ignored", doc: "A second start, or one with the input gate closed, is ignored.",
			on:   "+speech_edge[start]",
			when: "speaking || input_closed", does: "!+speech_began !+notify_speech", keeps: "speaking quiet"},
		{name: "more", doc: "Speech that goes on stays open.", on: "+speech_edge[more] +speech_edge[confirm]",
			when: "speaking", does: "!+notify_speech +heartbeat", keeps: "speaking quiet"},
		{name: "more-in-quiet", doc: "An edge of speech that is not open is ignored.",
			on: "+speech_edge[more] +speech_edge[confirm] +speech_edge[stop]", when: "quiet",
			does: "!+notify_speech !+speech_confirmed", keeps: "speaking quiet"},
		{name: "confirm", doc: "A confirmation is passed on to the part that decides about turns.",
			on:   "+speech_edge[confirm]",
			when: "speaking", does: "+speech_confirmed"},
		{name: "confirm-only", doc: "Nothing else confirms speech.", on: "+speech_confirmed",
			does: "+speech_edge[confirm]|+hint[real_speech]"},
		{name: "stop", doc: "The peer is notified of the end of speech.", on: "+speech_edge[stop]", when: "speaking",
			then: "quiet",
			does: "+speech_ended +notify_speech[speech_over] !+frames_ended"},
		{name: "no-frames", doc: "Speech without frames ends, and the detector is reset.", on: "end_speech_without_frames",
			then: "quiet && !speaking", does: "+speech_ended +notify_speech[speech_over] +frames_ended"},
		{name: "over", doc: "Speech ends by its edge, without frames, or when the input gate closes.",
			on: "+notify_speech[speech_over]", does: "+speech_ended +speech_edge[stop]|+frames_ended", from: "speaking"},
		{name: "frames-ended", doc: "The detector is reset only when the session ended its speech.", on: "+frames_ended",
			does: "+notify_speech[speech_over] !+speech_edge[stop] end_speech_without_frames|+input_closed"},
		{name: "changed", doc: "The peer is notified of each beginning and end of speech.", changed: "speaking",
			does: "+notify_speech"},
	}
	return r
}

// callRules are about the beginning and the end of a call.
func callRules(c voicenets.Config) rules {
	busy := "(in_turn || model_turn || reply_pending || replying || speaking)"
	r, parts := rules{part: "call"}, ""
	if c.Prompts.Has(voicenets.Goodbye) { // otherwise a drain may end the call in the same move
		parts = "farewell || ending || call/draining || online || dialling"
	}
	for _, l := range [][]claim{
		exactly("end_longest_call", "!ended", "A call always ends at its longest duration."),
		exactly("end_drain_in_time", "call/draining", "A drain ends the call at the latest when its time is over."),
		exactly("end_farewell_in_time", "farewell", "A farewell ends at the latest when its time is over."),
		{
			{"leaves", "ending && !ended", "A request to end the call is met at once."},
			{"parts", "farewell && !prompt_due && !replying && !ended", "The call ends when the farewell has been played."},
			{"drains", "call/draining && !farewell && !" + busy + " && !ended",
				"A draining call ends at the first quiet moment."},
			{"one-farewell", "farewell > 1 || call/draining > 1", "There is one farewell."},
		},
	} {
		r.states = append(r.states, l...)
	}
	end := func(name, on, reason, more string) rule {
		return rule{name: name, on: on, doc: "The call ends at once, for this reason.", final: true, then: "ended",
			does: "+call_ended +hangup" + reason + more}
	}
	r.moves = []rule{
		end("over", "+over", "", ""), end("hand-off", "+hand_off", "[transferred]", " +transfer"),
		end("longest", "end_longest_call", "[max_duration]", ""), end("leave-now", "end_drain_in_time", "[going_away]", ""),
		end("part-at-last", "end_farewell_in_time", "", ""), end("end_farewell", "end_farewell", "", ""),
		{name: "ends", doc: "A call ends only on request, at its longest, after its farewell, or without a first connection.",
			final: true, on: "+call_ended",
			does: "+hangup +over|+hand_off|end_longest_call|end_drain_in_time|end_farewell|end_farewell_in_time|" +
				"+dialled[unreachable]|+dialled[refused]"},
		{name: "hangup", doc: "The line is closed only with the call.", final: true, on: "+hangup", then: "ended"},
		{name: "transfer", doc: "A transfer needs a request.", final: true, on: "+transfer", does: "+hand_off"},
		{name: "part-said", doc: "The farewell ends when nothing is left to play.", final: true, on: "end_farewell",
			then: "!prompt_due && !replying && (!reply_overdue || speaking || in_turn || held)",
			from: parts},
		{name: "drain-busy", doc: "A drain waits for a quiet moment.", on: "+drain",
			when: "!call/draining && !farewell && " + busy, then: "call/draining == 1", does: "!+ending", keeps: "farewell"},
		{name: "drain-quiet", doc: "A drain in quiet begins the farewell.", on: "+drain",
			when: "!call/draining && !farewell && !" + busy, then: "farewell[going_away] && !call/draining",
			does: "+ending[going_away]"},
		{name: "drain-again", doc: "A second drain changes nothing.", on: "+drain", when: "call/draining || farewell",
			keeps: "call/draining farewell prompt_due", does: "!+ending"},
		{name: "draining", doc: "A drain begins on request, and ends with the farewell.", changed: "call/draining",
			does: "+drain|+ending[going_away]"},
		{name: "leave-drain", doc: "An ending with the reason going_away comes only from a drain.", on: "+ending[going_away]",
			from: "!farewell",
			then: "!call/draining && farewell && !(in_turn || reply_pending || speaking || replying && prompt_due)",
			does: "end_drain_in_quiet"},
		{name: "farewell", doc: "A call that ends plays the goodbye.",
			on:   "+ending[going_away] +ending[caller_silent] +ending[no_consent]",
			when: "!farewell", does: "+prompt_due[goodbye]", then: "farewell && !farewell[model_lost]"},
		{name: "farewell-model-lost", doc: "A call that loses the model plays the fallback.", on: "+ending[model_lost]",
			when: "!farewell", does: "+prompt_due[fallback]", then: "farewell[model_lost] == 1"},
		{name: "leave-once", doc: "A second farewell changes nothing.", on: "+ending", when: "farewell",
			keeps: "farewell", does: "!+prompt_due"},
		{name: "farewell", doc: "A farewell begins only when the call is to end.", changed: "farewell", does: "+ending"},
	}
	if c.Prompts.Has(voicenets.Fallback) {
		r.moves = append(r.moves,
			rule{name: "fallback-before-end", doc: "The fallback is played before the call ends, unless the caller speaks.",
				final: true, on: "+ending[model_lost]", then: "!ended",
				when: "!farewell && !in_turn" + and(!pauses(c), "!pending_speech")})
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
		{"greets", "greeting_due && online && !" + forbidden + " && !ended",
			"The greeting is asked for as soon as it may be."},
		{"greeting-late", "greeting_due && in_turn && !ended", "A caller who speaks first is not greeted."},
		{"greeting-once", "greeting_due > 1", "There is one greeting."},
	}, moves: []rule{
		{name: "greeting_due", doc: "A greeting is a turn in the caller's place.", on: "+to_model[greet]",
			from: "greeting_due == 1",
			then: "!greeting_due && model_turn && reply_pending && online && !unconsented && !held && !in_turn && !replying " +
				"&& !prompt_due",
			does: "+reply_pending +unanswered !+text_up"},
		{name: "greeted", doc: "The greeting is asked for, or the caller came first.", changed: "greeting_due",
			does: "+to_model[greet]|+in_turn"},
	}}
}

// inputGateRules are about the input gate: hold, mute and protected input.
func inputGateRules(c voicenets.Config) rules {
	closed := "(muted || held || protected || unconsented)"
	r := rules{part: "input_gate", states: []claim{
		{"opens", "input_closed && !" + closed + " && !ended", "The input gate opens again."},
		{"closes",
			"(" + closed + " && input_closed != 1 || input_closed > 1 || muted > 1 || held > 1 || protected > 1) && !ended",
			"The input gate is closed once, for all reasons together."},
		{"parks", "(held && !parked && !confirming || parked && !held || parked > 1) && !ended",
			"Playout is parked on hold."},
		{"text", "(pending_text || pending_request) && unconsented && !ended", "Without consent no text is kept."},
		{"text-max", "pending_text > 4 && !ended", "Four texts wait at most."},
		{"queue",
			"(uplink_held && !(held || protected || unconsented) || (held || protected) && !uplink_held || uplink_held " +
				"> 1) && !ended",
			"The queue to the model is held on hold and during protected input, and goes on after."},
	}}
	for _, s := range []struct{ sw, state, on, off string }{
		{"hold", "held", "hold_started", "hold_ended"}, {"protect", "protected", "protect_started", "protect_ended"},
	} {
		r.moves = append(r.moves,
			rule{name: s.sw, doc: "The switch is turned on, and the peer is notified.", on: "+" + s.sw + "[on]",
				when: "!" + s.state,
				then: s.state + " && input_closed", does: "+notify_mode[" + s.on + "] !+notify_mode[" + s.off + "]"},
			rule{name: "un" + s.sw, doc: "The switch is turned off, and the peer is notified.", on: "+" + s.sw + "[off]",
				when: s.state,
				then: "!" + s.state, does: "+notify_mode[" + s.off + "] !+notify_mode[" + s.on + "]"},
			rule{name: s.sw + "-again", doc: "What is on is not turned on again.", on: "+" + s.sw + "[on]", when: s.state,
				keeps: s.state + " input_closed parked muted pending_text in_turn", does: "!+notify_mode !+clear"},
			rule{name: "un" + s.sw + "-again", doc: "What is off is not turned off again.", on: "+" + s.sw + "[off]",
				when: "!" + s.state, keeps: s.state + " input_closed parked muted pending_text in_turn",
				does: "!+notify_mode !+notify_reply"},
			rule{name: s.sw + "-only", doc: "Nothing but its switch does that.", changed: s.state, does: "+" + s.sw},
		)
	}
	r.moves = append(r.moves,
		rule{name: "mute", doc: "The microphone is muted.", on: "+peer_mute[on]", then: "muted == 1 && input_closed"},
		rule{name: "unmute", doc: "It is not muted any more.", on: "+peer_mute[off]", then: "!muted"},
		rule{name: "mute-only", doc: "Nothing but its switch mutes the microphone.", changed: "muted", does: "+peer_mute"},
		rule{name: "hold-only", doc: "Muting and protecting are no holds.", on: "+peer_mute +protect +consent",
			keeps: "held parked"},
		rule{name: "mute-text", doc: "A mute is one of the microphone: text stays.", on: "+peer_mute",
			keeps: "pending_text caller_text"},
		rule{name: "text-dropped", doc: "Text is dropped on hold, during protected input and without consent.",
			on: "+caller_text", when: "held || protected || unconsented", does: "!+pending_text !+text_up +text_lost",
			keeps: "pending_text in_turn reply_pending model_turn replying"},
		rule{name: "text-taken", doc: "Text is taken where it may be.", on: "+caller_text",
			when: "!(held || protected || unconsented) && pending_text < 4", does: "+pending_text !+text_lost"},
		rule{name: "text-held", doc: "Text that comes on hold is lost to the hold.", on: "+caller_text",
			when: "held && !protected && !unconsented", does: "drop_text_held"},
		rule{name: "text-protected", doc: "Text that comes during protected input is lost to that.", on: "+caller_text",
			when: "protected && !held && !unconsented", does: "drop_text_protected"},
		rule{name: "text-lost", doc: "Only text that came is reported lost.", on: "+text_lost",
			does: "+caller_text|+caller_digit|time_out_entry|+note|+request"},
		rule{name: "release", doc: "The queue goes on with the end of what held it.", on: "+release_uplink",
			then: "!(held || protected || unconsented)", does: "+hold[off]|+protect[off]|+consent[on]"},
		rule{name: "park", doc: "A hold takes back what was not played, and notifies the peer.", on: "+hold[on]",
			when: "replying && !held && !confirming", does: "+notify_reply[reply_paused] +clear",
			then: "parked && !end_marked"},
		rule{name: "park-paused", doc: "A reply that is paused already is not paused again.", on: "+hold[on]",
			when: "(confirming && !speaking || !replying) && !held", does: "!+clear !+notify_reply[reply_paused]"},
		rule{name: "unpark", doc: "After a hold a reply goes on, and the peer is notified.", on: "+hold[off]",
			when: "replying && parked", does: "+notify_reply[reply_resumed]"},
		rule{name: "unpark-nothing", doc: "After a hold without a reply the peer gets no notice of one.", on: "+hold[off]",
			when: "!replying", does: "!+notify_reply[reply_resumed] !+clear"},
	)
	return r
}

// toolRules are about calls of functions.
func toolRules(c voicenets.Config) rules {
	r := rules{part: "tools"}
	for i := range c.ToolSlots {
		run, free, drain := fmt.Sprintf("tool_running_%d", i), fmt.Sprintf("slot_free_%d", i),
			fmt.Sprintf("tool_draining_%d", i)
		now := fmt.Sprintf("tool_current_%d", i)
		slot := fmt.Sprintf("[%d]", i)
		timeOut := fmt.Sprintf("time_out_call_%d", i)
		r.states = append(r.states, exactly(timeOut, run, "A call that takes too long is timed out.")...)
		r.states = append(r.states,
			claim{"current" + slot, "(" + now + " && !" + run + " || " + now + " > 1) && !ended",
				"Only a call that runs is of the caller's turn."},
			claim{"cancelled" + slot, fmt.Sprintf("(cancel_found_%d || cancel_search_%d) && !ended", i, i),
				"What is cancelled is found at once."})
		r.moves = append(r.moves,
			rule{name: "return" + slot, doc: "A function that returns is answered.", on: "+tool_done" + slot, when: run,
				then: free + " && !" + run, does: "+tool_reply !+stop_tool"},
			rule{name: "return-late" + slot, doc: "A result that is no longer awaited only frees its slot.",
				on:   "+tool_done" + slot,
				when: drain, then: free + " && !" + drain, does: "!+tool_reply"},
			rule{name: "return-unasked" + slot, doc: "A result without a call is ignored.", on: "+tool_done" + slot,
				when: free, keeps: free + " " + run + " " + drain, does: "!+tool_reply !+stop_tool"},
			rule{name: "runs" + slot, doc: "A call that was started runs on.", on: "start_call_" + itoa(i), when: "online",
				then: run + " && " + now},
			rule{name: "timely" + slot, doc: "A result may be answered while the caller has begun no other turn.",
				on: "+tool_done" + slot, when: run + " && " + now, then: "!" + now, does: fmt.Sprintf("answer_call_%d", i)},
			rule{name: "late" + slot, doc: "Behind another turn it may not.", on: "+tool_done" + slot,
				when: run + " && !" + now, does: fmt.Sprintf("answer_call_late_%d", i)},
			rule{name: "outdated" + slot, doc: "A turn of the caller makes results late.",
				on: "+in_turn type_when_quiet type_before_reply type_over_reply type_over_reply_at_end type_in_pause " +
					"type_in_pause_at_end", then: "!" + now},
			rule{name: "current" + slot, doc: "Nothing else does.", changed: now,
				does: "+start_tool|+tool_reply|+stop_tool|+in_turn|+text_up"},
			rule{name: "cancel" + slot, doc: "The call that is cancelled is stopped and not answered.",
				on: "cancel_call_" + itoa(i), from: run, then: drain + " && !" + run + " && !" + now,
				does: "+tool_cancelled +stop_tool !+tool_reply"},
			rule{name: "cancel-only" + slot, doc: "A call that is not the cancelled one goes on.", on: "+tool_cancelled",
				changed: run, does: "cancel_call_" + itoa(i)},
			rule{name: "cancel-nothing" + slot, doc: "What does not run is not cancelled.", on: "+tool_cancelled",
				when: "!" + run, keeps: free + " " + run + " " + drain, does: "!+tool_reply"},
			rule{name: "time-out" + slot, doc: "A call that takes too long is stopped, and the model gets a result.",
				on:   timeOut,
				then: drain + " && !" + run, does: "+stop_tool +tool_reply"},
			rule{name: "model_given_up" + slot, doc: "A call is stopped with its connection, and not answered.",
				on: "+link_down rotate_soon rotate_later", when: run + " && online", then: drain + " && !" + run,
				does: "!+tool_reply"},
			rule{name: "started" + slot, doc: "What runs was called by the model.", on: "+" + run,
				does: "+tool_called +start_tool", from: free},
			rule{name: "changed" + slot, doc: "A call ends in one of four ways.", changed: run,
				does: "+start_tool|+tool_reply|" +
					"+stop_tool|bump"},
		)
	}
	r.moves = append(r.moves,
		rule{name: "start", doc: "A call starts its function.", on: "+start_tool", does: "+tool_called"},
		rule{name: "stop", doc: "A function is stopped when its result is not needed.", on: "+stop_tool",
			does: "+tool_cancelled|+tool_reply|+link_down|+close_link|+tool_called|+dialled"},
		rule{name: "others", doc: "Results of what never ran are ignored.",
			on: "ignore_unknown_result", does: "!+tool_reply !+stop_tool"})
	if c.ToolSlots == 1 {
		r.moves = append(r.moves,
			rule{name: "call", doc: "The model's call runs where there is room.", on: "+tool_called", when: "slot_free_0",
				does: "+start_tool !+tool_reply", then: "!slot_free_0"},
			rule{name: "call-refused", doc: "Without a free slot the call is refused.", on: "+tool_called", when: "!slot_free_0",
				does: "+tool_reply !+start_tool", keeps: "tool_running_0 tool_draining_0 slot_free_0"},
			rule{name: "reply", doc: "The model gets a reply to what it called.", on: "+tool_reply",
				does: "+tool_done|time_out_call_0|+tool_called"})
	}
	return r
}
