package claims

import (
	"strings"

	"github.com/voicegw/voicegw/voicenets"
)

// withdrawn is the event that the caller withdraws consent, which drops the kept caller input.
const withdrawn = "|+drop_uplink"

// serverTurnRules are about turns that the model's own detector decides (ModelVAD).
func serverTurnRules(c voicenets.Config) rules {
	if gatewayVAD(c) {
		return rules{}
	}
	interrupted := "+model_signal[interrupted]"
	cut := "discarding && !unplayed && !unacked && !reply_audio && !confirming && (!replying || prompting) || closing"
	r := rules{part: "turns", states: []claim{
		{"once", "confirming > 1 || model_turn > 1", "Each of these places holds at most one token."},
	}, moves: []rule{
		{name: "interrupt", doc: "The model's detector interrupts a reply at once, and the peer drops what it has.",
			on: interrupted, when: "replying && !firm && !parked && !confirming", does: "+notify_reply[reply_cut] +clear",
			then: cut},
		{name: "interrupt-open", doc: "The end of an interrupted turn is pending.", on: interrupted,
			when: "replying && model_turn && !firm && !parked", does: "interrupt|interrupt_paused +turn_end_pending"},
		{name: "interrupt-at-end", doc: "No turn end is pending after a turn that was complete.", on: interrupted,
			when: "replying && !model_turn && !firm && !parked",
			does: "interrupt_at_end|interrupt_paused_at_end !+turn_end_pending"},
		{name: "interrupt-nothing", doc: "Without a reply, or in an uninterruptible one, nothing is interrupted.",
			on: interrupted, when: "!replying || firm || parked",
			keeps: "replying reply_audio model_turn turn_end_pending discarding parked", does: "!+notify_reply !+clear"},
		{name: "clear", doc: "The peer drops what it has only of a reply that is paused or cut.", on: "+clear",
			does: "+notify_reply[reply_paused]|+notify_reply[reply_cut]"},
		{name: "cut", doc: "A reply is cut by the model's detector or by text.", on: "+notify_reply[reply_cut]",
			does: interrupted + "|+text_up", from: "replying"},
		{name: "speech", doc: "Speech signals nothing to the model, which has its own detector.", on: "+speech_edge",
			does: "!+to_model[activity_start] !+to_model[activity_end] !+notify_reply[reply_cut]"},
	}}
	if !pauses(c) {
		r.moves = append(r.moves, rule{name: "no-pause", doc: "In half-duplex speech pauses nothing.", on: "+speech_edge",
			does: "!+notify_reply[reply_paused] !+clear"})
		return r
	}
	r.states = append(r.states, exactly("resume_unconfirmed", "confirming", "A pause is confirmed or ends.")...)
	r.states = append(r.states, claim{"quiet", "confirming && quiet && !ended", "A silent caller pauses nothing."})
	r.moves = append(r.moves,
		rule{name: "pause", doc: "Speech over a reply pauses it.", on: "+speech_edge[start]",
			when: "quiet && !input_closed && replying && !parked && !firm", then: "confirming && !end_marked",
			does: "+notify_reply[reply_paused] +clear", keeps: "model_turn reply_audio turn_end_pending discarding"},
		rule{name: "interrupt-paused", doc: "A reply that is paused is cleared already.", on: interrupted,
			when: "replying && !firm && !parked && confirming", does: "+notify_reply[reply_cut] !+clear",
			then: cut},
		rule{name: "resume", doc: "Speech that ends without an interruption was none: the reply goes on.",
			on: "+speech_edge[stop] end_speech_without_frames", when: "confirming && speaking", then: "!confirming",
			does: "+notify_reply[reply_resumed]"},
		rule{name: "resume-unconfirmed", doc: "So does a reply whose interruption does not come.", on: "resume_unconfirmed",
			then: "!confirming", does: "+notify_reply[reply_resumed]"},
		rule{name: "resume-only", doc: "A reply resumes that was paused.", on: "+notify_reply[reply_resumed]",
			from: "confirming || parked"},
		rule{name: "confirming", doc: "The peer is notified of each pause, and of its end.", changed: "confirming",
			does: "+notify_reply"},
		rule{name: "paused", doc: "A reply is paused for speech or on hold.", on: "+notify_reply[reply_paused]",
			does: "+clear +speech_edge[start]|+hold[on]|+parked"})
	return r
}

// endpointingRules are about turns that stay open for a while after speech ends.
func endpointingRules(c voicenets.Config) rules {
	if !c.Adaptive || !gatewayVAD(c) {
		return rules{}
	}
	levels := voicenets.Patience(0).KeyNames()
	r := rules{part: "endpointing", states: []claim{
		{"open", "lingering && !in_turn && !ended", "Only an open turn lingers."},
		{"pauses", "in_turn && quiet && !lingering && !ended", "A turn without speech lingers."},
		{"over", "lingering && speaking && !ended", "Speech that goes on ends the wait."},
		{"patience", "lingering && patience != 1 || patience > 1 || lingering > 1",
			"There is one level of patience, and one wait."},
		{"ended_early", "ended_early && !ended", "A turn that was cut off too soon is learned from at once."},
	}, moves: []rule{
		{name: "go-on", doc: "Speech within that time goes on with the turn.", on: "+speech_edge[start]",
			when: "lingering && quiet && !input_closed", then: "in_turn && !lingering", does: "!+to_model"},
		{name: "end", doc: "Then the turn waits for its reply.", on: "end_turn_" + strings.Join(levels, " end_turn_"),
			then: "!lingering && !in_turn", does: "+to_model[activity_end] +reply_pending +model_turn"},
		{name: "end-only", doc: "Nothing else ends a turn.", on: "+to_model[activity_end]",
			does: "end_turn_" + strings.Join(levels, "|end_turn_") + withdrawn},
	}}
	cutIn := "cut_in_before_reply cut_in_for_reply"
	for i, name := range levels {
		here := "patience[" + name + "]"
		over := rule{name: "linger-" + name, doc: "The end of speech does not end the turn yet.",
			on: "+speech_edge[stop] end_speech_without_frames", when: "in_turn && speaking && " + here,
			then: "in_turn && lingering", does: "!+to_model"}
		if c.Linger[i] == 0 {
			over.doc, over.then, over.does = "The end of speech ends the turn.", "!in_turn",
				"+to_model[activity_end] +reply_pending"
		} else {
			r.states = append(r.states, exactly("end_turn_"+name, "lingering && "+here,
				"How long depends on the patience.")...)
		}
		r.moves = append(r.moves, over)
		learned := "cut_in_before_reply|cut_in_for_reply|unlearn_" + strings.Join(levels[1:], "|unlearn_")
		r.moves = append(r.moves,
			rule{name: "learned-" + name, doc: "Patience changes by callers who go on, and with time.",
				changed: here, does: learned})
		next := here
		if i+1 < len(levels) {
			next = "patience[" + levels[i+1] + "]"
			r.states = append(r.states, exactly("unlearn_"+levels[i+1], next, "Patience wears off.")...)
			r.moves = append(r.moves, rule{name: "unlearn-" + levels[i+1], doc: "It wears off level by level.",
				on: "unlearn_" + levels[i+1], then: here})
		}
		r.moves = append(r.moves, rule{name: "learn-" + name, doc: "A caller who goes on is given more time next.",
			on:   cutIn,
			when: here, then: next})
	}
	return r
}

// consentRules are about a caller who must consent before the gateway captures audio.
func consentRules(c voicenets.Config) rules {
	if !c.Consent {
		return rules{}
	}
	r := rules{part: "consent"}
	r.states = append(exactly("give_up_on_consent", "consent_pending", "The wait for an answer is bounded."),
		claim{"asks", "consent_due && online && !prompt_due && !replying && !ended",
			"Consent is asked for as soon as it may be."},
		claim{"until", "(consent_due || consent_pending) && !unconsented && !ended", "It is asked for until it is given."},
		claim{"nothing",
			"unconsented && (in_turn || reply_pending || pending_text || pending_request || caller_text || lingering || " +
				"pending_speech || " +
				"delaying_reply) && " +
				"!ended", "Without consent nothing of the caller's is kept."},
		claim{"once", "unconsented > 1 || consent_due + consent_pending > 1", "It is asked for once."})
	r.moves = []rule{
		{name: "ask", doc: "The caller is asked, and the peer is notified.", on: "+notify_mode[consent_asked]",
			does: "ask_consent +prompt_due[ask_consent]", then: "consent_pending && !consent_due"},
		{name: "ask-only", doc: "Nothing else asks.", on: "+consent_pending +prompt_due[ask_consent]",
			does: "+notify_mode[consent_asked]"},
		{name: "given", doc: "The caller agrees, and the peer is notified.", on: "+consent[on]", when: "unconsented",
			then: "!(unconsented || consent_due || consent_pending || prompt_due[ask_consent])",
			does: "+notify_mode[consent_given]"},
		{name: "given-again", doc: "Consent that is given is not given again.", on: "+consent[on]", when: "!unconsented",
			keeps: "input_closed in_turn pending_text reply_pending last_handle", does: "!+notify_mode !+drop_uplink"},
		{name: "refused", doc: "Without consent there is nothing to withdraw.", on: "+consent[off]", when: "unconsented",
			keeps: "unconsented consent_due consent_pending", does: "!+drop_uplink !+notify_mode"},
		{name: "withdrawn", doc: "Consent that is taken back drops what is kept of the caller's.", on: "+consent[off]",
			when: "!unconsented", does: "+drop_uplink",
			then: "unconsented && input_closed && uplink_held && (consent_due || consent_pending) && " +
				"!(in_turn || reply_pending || pending_text || pending_request || entry && !protected || last_handle)"},
		{name: "withdrawn-turn", doc: "The open turn is ended at the model.", on: "+consent[off]",
			when: "!unconsented && in_turn", does: "+to_model[activity_end]"},
		{name: "withdrawn-quiet", doc: "No other turn is ended.", on: "+consent[off]", when: "!in_turn",
			does: "!+to_model[activity_end] !+to_model[activity_start]"},
		{name: "withdrawn-link", doc: "The connection that got the caller's input is replaced.", on: "+consent[off]",
			when: "!unconsented && online", does: "+close_link", then: "closing"},
		{name: "withdrawn-later", doc: "Without one the next is asked for.", on: "+consent[off]",
			when: "!unconsented && !online", then: "renewal"},
		{name: "drop-only", doc: "Nothing else drops the queue.", on: "+drop_uplink", does: "+consent[off]"},
		{name: "switch-only", doc: "Only the caller gives consent, and takes it back.", changed: "unconsented",
			does: "+consent"},
		{name: "no-answer", doc: "A call without an answer is ended.", on: "give_up_on_consent", then: "!consent_pending",
			does: "+ending[no_consent]"},
		{name: "no-answer-only", doc: "It is ended for no other reason.", on: "+ending[no_consent]",
			does: "give_up_on_consent"},
	}
	return r
}

// callerSilenceRules are about a caller who gives no sign.
func callerSilenceRules(c voicenets.Config) rules {
	if c.RepromptAfter == 0 {
		return rules{}
	}
	alive := anyOf("unanswered", "replying", "input_closed", "entry", running(c))
	clock := anyOf(alive, "prompt_due", "ending", "silence_noticed")
	busy := anyOf(alive, "model_turn", "reply_pending", "in_turn", "prompt_due", "ending", "answer_expected")
	r := rules{part: "caller_silence"}
	for _, l := range [][]claim{
		exactly("notice_silence", "online && !reprompted && !"+clock, "A silent caller is noticed."),
		exactly("notice_silence_again", "online && reprompted && !"+clock,
			"A caller who stays silent after the question is noticed again."),
		{
			{"asks", "silence_noticed && quiet && online && !" + busy + " && !ended",
				"A silent caller is asked, or the call is ended, at once."},
			{"alive", "silence_noticed && " + alive + " && !ended", "A caller who gives input is not silent."},
			{"answered", "reprompted && (unanswered || entry) && !ended", "An answer ends the question."},
			{"once", "silence_noticed > 1 || reprompted > 1 || answer_expected > 1",
				"Each of these places holds at most one token."},
		},
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "ask", doc: "The caller is asked by a prompt.", on: "reprompt", does: "+prompt_due[reprompt]",
			then: "reprompted && !silence_noticed", from: "quiet && !reprompted || speaking"},
		{name: "ask-only", doc: "Nothing else asks.", on: "+reprompted +prompt_due[reprompt]", does: "reprompt"},
		{name: "leave", doc: "The call ends when the caller was asked and stays silent.", on: "give_up_on_caller",
			from: "reprompted",
			does: "+ending[caller_silent]"},
		{name: "leave-only", doc: "No other call ends so.", on: "+ending[caller_silent]", does: "give_up_on_caller"},
		{name: "reprompted", doc: "A caller who answers may be asked again later.", changed: "reprompted",
			does: "reprompt|forget_reprompt|forget_reprompt_on_entry|+notify_reply[reply_started]"},
		{name: "silence_noticed", doc: "Silence is noticed only in time.", on: "+silence_noticed",
			does: "notice_silence|notice_silence_again"},
	}
	if gatewayVAD(c) {
		r.states = append(r.states, exactly("stop_expecting_answer", "answer_expected",
			"A reply is waited for for a while.")...)
		r.states = append(r.states, claim{"noise", "reply_pending && silence_noticed && quiet && !" + anyOf(alive,
			"answer_expected") + " && !ended",
			"A turn that may have been a noise does not keep a silent caller from being asked."})
		r.moves = append(r.moves,
			rule{name: "noise", doc: "Such a turn is given up, and the peer is notified.", on: "give_up_on_noise",
				then: "!reply_pending && !model_turn", does: "+notify_mode[no_reply]"},
			rule{name: "answer_expected", doc: "A reply is waited for after a turn.", on: "+answer_expected",
				does: "+to_model[activity_end]",
				then: "answer_expected"},
			rule{name: "awaits", doc: "Each turn is.", on: "+to_model[activity_end]", then: "answer_expected || unconsented"})
	}
	return r
}
