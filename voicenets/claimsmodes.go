package voicenets

import "strings"

// withdrawn is the event that consent is taken back, which drops what is kept of the caller's.
const withdrawn = "|+drop_uplink"

// serverTurnRules are about turns that the model's own detector decides.
func serverTurnRules(c Config) rules {
	if c.manual() {
		return rules{}
	}
	interrupted := "+model_signal[interrupted]"
	cut := "discarding && !unplayed && !unacked && !reply_audio && !confirming && (!replying || prompting) || closing"
	r := rules{part: "turns", states: []claim{
		{"once", "confirming > 1 || model_turn > 1", "Nothing is so twice."},
	}, moves: []rule{
		{name: "interrupt", doc: "The model's detector interrupts a reply at once, and the peer drops what it has.",
			on: interrupted, when: "replying && !firm && !parked && !confirming", says: "+tell_reply[reply_cut] +clear",
			then: cut},
		{name: "interrupt-open", doc: "The end of a turn that was interrupted is owed.", on: interrupted,
			when: "replying && model_turn && !firm && !parked", says: "interrupt|interrupt_paused +owed_end"},
		{name: "interrupt-at-end", doc: "Of one that was complete no end is owed.", on: interrupted,
			when: "replying && !model_turn && !firm && !parked", says: "interrupt_at_end|interrupt_paused_at_end !+owed_end"},
		{name: "interrupt-nothing", doc: "Where nothing is played, or must be heard, nothing is interrupted.",
			on: interrupted, when: "!replying || firm || parked",
			keeps: "replying reply_audio model_turn owed_end discarding parked", says: "!+tell_reply !+clear"},
		{name: "clear", doc: "The peer drops what it has only of a reply that is paused or cut.", on: "+clear",
			says: "+tell_reply[reply_paused]|+tell_reply[reply_cut]"},
		{name: "cut", doc: "A reply is cut by the model's detector or by text.", on: "+tell_reply[reply_cut]",
			says: interrupted + "|+text_up", from: "replying"},
		{name: "speech", doc: "Speech says nothing to the model: it hears for itself.", on: "+speech_edge",
			says: "!+to_model[activity_start] !+to_model[activity_end] !+tell_reply[reply_cut]"},
	}}
	if !c.pauses() {
		r.moves = append(r.moves, rule{name: "no-pause", doc: "In half-duplex speech pauses nothing.", on: "+speech_edge",
			says: "!+tell_reply[reply_paused] !+clear"})
		return r
	}
	r.states = append(r.states, exactly("resume_unconfirmed", "confirming", "A pause is confirmed or ends.")...)
	r.states = append(r.states, claim{"quiet", "confirming && quiet && !ended", "A silent caller pauses nothing."})
	r.moves = append(r.moves,
		rule{name: "pause", doc: "Speech over a reply pauses it.", on: "+speech_edge[start]",
			when: "quiet && !deaf && replying && !parked && !firm", then: "confirming && !end_marked",
			says: "+tell_reply[reply_paused] +clear", keeps: "model_turn reply_audio owed_end discarding"},
		rule{name: "interrupt-paused", doc: "A reply that is paused is cleared already.", on: interrupted,
			when: "replying && !firm && !parked && confirming", says: "+tell_reply[reply_cut] !+clear",
			then: cut},
		rule{name: "resume", doc: "Speech that ends without an interruption was none: the reply goes on.",
			on: "+speech_edge[stop] end_speech_without_frames", when: "confirming && speaking", then: "!confirming",
			says: "+tell_reply[reply_resumed]"},
		rule{name: "resume-unconfirmed", doc: "So does a reply whose interruption does not come.", on: "resume_unconfirmed",
			then: "!confirming", says: "+tell_reply[reply_resumed]"},
		rule{name: "resume-only", doc: "A reply resumes that was paused.", on: "+tell_reply[reply_resumed]",
			from: "confirming || parked"},
		rule{name: "confirming", doc: "The peer hears of each pause, and of its end.", changed: "confirming",
			says: "+tell_reply"},
		rule{name: "paused", doc: "A reply is paused for speech or on hold.", on: "+tell_reply[reply_paused]",
			says: "+clear +speech_edge[start]|+hold[on]|+parked"})
	return r
}

// endpointingRules are about turns that linger after the end of speech.
func endpointingRules(c Config) rules {
	if !c.Adaptive || !c.manual() {
		return rules{}
	}
	levels := patienceLevel(0).KeyNames()
	r := rules{part: "endpointing", states: []claim{
		{"open", "lingering && !in_turn && !ended", "Only an open turn lingers."},
		{"pauses", "in_turn && quiet && !lingering && !ended", "A turn without speech lingers."},
		{"over", "lingering && speaking && !ended", "Speech that goes on ends the wait."},
		{"patience", "lingering && patience != 1 || patience > 1 || lingering > 1",
			"There is one level of patience, and one wait."},
		{"hurried", "hurried && !ended", "A turn that was cut off too soon is learned from at once."},
	}, moves: []rule{
		{name: "go-on", doc: "Speech within that time goes on with the turn.", on: "+speech_edge[start]",
			when: "lingering && quiet && !deaf", then: "in_turn && !lingering", says: "!+to_model"},
		{name: "end", doc: "Then the turn waits for its reply.", on: "end_turn_" + strings.Join(levels, " end_turn_"),
			then: "!lingering && !in_turn", says: "+to_model[activity_end] +owing +model_turn"},
		{name: "end-only", doc: "Nothing else ends a turn.", on: "+to_model[activity_end]",
			says: "end_turn_" + strings.Join(levels, "|end_turn_") + withdrawn},
	}}
	cutIn := "cut_in_before_reply cut_in_for_reply"
	for i, name := range levels {
		here := "patience[" + name + "]"
		over := rule{name: "linger-" + name, doc: "The end of speech does not end the turn yet.",
			on: "+speech_edge[stop] end_speech_without_frames", when: "in_turn && speaking && " + here,
			then: "in_turn && lingering", says: "!+to_model"}
		if c.Linger[i] == 0 {
			over.doc, over.then, over.says = "The end of speech ends the turn.", "!in_turn", "+to_model[activity_end] +owing"
		} else {
			r.states = append(r.states, exactly("end_turn_"+name, "lingering && "+here, "How long depends on the patience.")...)
		}
		r.moves = append(r.moves, over)
		learned := "cut_in_before_reply|cut_in_for_reply|unlearn_" + strings.Join(levels[1:], "|unlearn_")
		r.moves = append(r.moves, rule{name: "learned-" + name, doc: "Patience changes by callers who go on, and with time.",
			changed: here, says: learned})
		next := here
		if i+1 < len(levels) {
			next = "patience[" + levels[i+1] + "]"
			r.states = append(r.states, exactly("unlearn_"+levels[i+1], next, "Patience wears off.")...)
			r.moves = append(r.moves, rule{name: "unlearn-" + levels[i+1], doc: "It wears off level by level.",
				on: "unlearn_" + levels[i+1], then: here})
		}
		r.moves = append(r.moves, rule{name: "learn-" + name, doc: "A caller who goes on is given more time next.", on: cutIn,
			when: here, then: next})
	}
	return r
}

// consentRules are about a caller who must agree to be listened to.
func consentRules(c Config) rules {
	if !c.Consent {
		return rules{}
	}
	r := rules{part: "consent"}
	r.states = append(exactly("give_up_on_consent", "considering", "An answer is not waited for for ever."),
		claim{"asks", "unasked && online && !prompt_due && !replying && !ended",
			"Consent is asked for as soon as it may be."},
		claim{"until", "(unasked || considering) && !unconsented && !ended", "It is asked for until it is given."},
		claim{"nothing", "unconsented && (in_turn || owing || typed || caller_text || lingering || unheard || weighing) && " +
			"!ended", "Without consent nothing of the caller's is kept."},
		claim{"once", "unconsented > 1 || unasked + considering > 1", "It is asked for once."})
	r.moves = []rule{
		{name: "ask", doc: "The caller is asked, and told so.", on: "+tell_mode[consent_asked]",
			says: "ask_consent +prompt_due[ask_consent]", then: "considering && !unasked"},
		{name: "ask-only", doc: "Nothing else asks.", on: "+considering +prompt_due[ask_consent]",
			says: "+tell_mode[consent_asked]"},
		{name: "given", doc: "The caller agrees, and is told so.", on: "+consent[on]", when: "unconsented",
			then: "!(unconsented || unasked || considering || prompt_due[ask_consent])", says: "+tell_mode[consent_given]"},
		{name: "given-again", doc: "Consent that is given is not given again.", on: "+consent[on]", when: "!unconsented",
			keeps: "deaf in_turn typed owing last_handle", says: "!+tell_mode !+drop_uplink"},
		{name: "refused", doc: "Without consent there is none to take back.", on: "+consent[off]", when: "unconsented",
			keeps: "unconsented unasked considering", says: "!+drop_uplink !+tell_mode"},
		{name: "withdrawn", doc: "Consent that is taken back drops what is kept of the caller's.", on: "+consent[off]",
			when: "!unconsented", says: "+drop_uplink",
			then: "unconsented && deaf && withheld && (unasked || considering) && " +
				"!(in_turn || owing || typed || digits && !protected || last_handle)"},
		{name: "withdrawn-turn", doc: "The model is told that the open turn is over.", on: "+consent[off]",
			when: "!unconsented && in_turn", says: "+to_model[activity_end]"},
		{name: "withdrawn-quiet", doc: "No other turn is ended.", on: "+consent[off]", when: "!in_turn",
			says: "!+to_model[activity_end] !+to_model[activity_start]"},
		{name: "withdrawn-link", doc: "The connection that heard the caller is replaced.", on: "+consent[off]",
			when: "!unconsented && online", says: "+close_link", then: "closing"},
		{name: "withdrawn-later", doc: "Without one the next is asked for.", on: "+consent[off]",
			when: "!unconsented && !online", then: "renewal"},
		{name: "drop-only", doc: "Nothing else drops the queue.", on: "+drop_uplink", says: "+consent[off]"},
		{name: "switch-only", doc: "Only the caller gives consent, and takes it back.", changed: "unconsented",
			says: "+consent"},
		{name: "no-answer", doc: "A call without an answer is left.", on: "give_up_on_consent", then: "!considering",
			says: "+leaving[no_consent]"},
		{name: "no-answer-only", doc: "It is left for no other reason than that.", on: "+leaving[no_consent]",
			says: "give_up_on_consent"},
	}
	return r
}

// callerSilenceRules are about a caller of whom nothing is heard.
func callerSilenceRules(c Config) rules {
	if c.RepromptAfter == 0 {
		return rules{}
	}
	alive := anyOf("said", "replying", "deaf", "digits", c.running())
	clock := anyOf(alive, "prompt_due", "leaving", "missed")
	busy := anyOf(alive, "model_turn", "owing", "in_turn", "prompt_due", "leaving", "awaited")
	r := rules{part: "caller_silence"}
	for _, l := range [][]claim{
		exactly("miss_caller", "online && !asked && !"+clock, "A caller who gives no sign is missed."),
		exactly("miss_caller_again", "online && asked && !"+clock, "So is one who was asked."),
		{
			{"asks", "missed && quiet && online && !" + busy + " && !ended", "Who is missed is asked, or left, at once."},
			{"alive", "missed && " + alive + " && !ended", "A caller who gives a sign is missed no more."},
			{"heard", "asked && (said || digits) && !ended", "Who answers was there."},
			{"once", "missed > 1 || asked > 1 || awaited > 1", "Nothing is so twice."},
		},
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "ask", doc: "The caller is asked by a prompt.", on: "ask_whether_there", says: "+prompt_due[reprompt]",
			then: "asked && !missed", from: "quiet && !asked || speaking"},
		{name: "ask-only", doc: "Nothing else asks.", on: "+asked +prompt_due[reprompt]", says: "ask_whether_there"},
		{name: "leave", doc: "Who was asked and gives no sign is left.", on: "give_up_on_caller", from: "asked",
			says: "+leaving[caller_silent]"},
		{name: "leave-only", doc: "Nobody else is left so.", on: "+leaving[caller_silent]", says: "give_up_on_caller"},
		{name: "asked", doc: "Who answers is asked anew another time.", changed: "asked",
			says: "ask_whether_there|hear_again|get_digits_again|+tell_reply[reply_started]"},
		{name: "missed", doc: "A caller is missed in time, and until something happens.", on: "+missed",
			says: "miss_caller|miss_caller_again"},
	}
	if c.manual() {
		r.states = append(r.states, exactly("await_no_longer", "awaited", "A reply is waited for for a while.")...)
		r.states = append(r.states, claim{"noise", "owing && missed && quiet && !" + anyOf(alive, "awaited") + " && !ended",
			"A turn that may have been a noise does not keep a silent caller from being asked."})
		r.moves = append(r.moves,
			rule{name: "noise", doc: "Such a turn is given up, and the peer told.", on: "give_up_on_noise",
				then: "!owing && !model_turn", says: "+tell_mode[no_reply]"},
			rule{name: "awaited", doc: "A reply is waited for after a turn.", on: "+awaited", says: "+to_model[activity_end]",
				then: "awaited"},
			rule{name: "awaits", doc: "Each turn is.", on: "+to_model[activity_end]", then: "awaited || unconsented"})
	}
	return r
}
