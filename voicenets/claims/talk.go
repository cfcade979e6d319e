package claims

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/voicenets"
)

// pausedNow is the condition that the reply is held back.
const pausedNow = "(confirming || parked || delaying_reply)"

// playoutRules are about audio on its way to the peer.
func playoutRules(c voicenets.Config) rules {
	waits := "(reply_audio || unacked || unplayed || prompting || confirming || parked)"
	r := rules{part: "playout"}
	for _, l := range [][]claim{
		exactly("presume_played", "unacked", "Audio that is not acknowledged counts as played in the end."),
		exactly("presume_turn_complete", "model_turn && replying && !"+waits,
			"A model that falls silent has ended its turn."),
		{
			{"goes-on", fmt.Sprintf("replying && reply_audio && unacked < %d && !unplayed && !"+
				pausedNow+" && !ended", c.BudgetFrames),
				"Audio that may be played is handed over at once."},
			{"begins", "reply_audio && !replying && !parked && !ended", "A reply begins with its first audio."},
			{"marks", "replying && unacked && !reply_audio && !unplayed && !model_turn && !prompting && !" + pausedNow +
				" && !end_marked && !ended", "The end of a reply is marked as soon as it is known."},
			{"ends", "replying && !model_turn && !" + waits + " && !ended", "A reply ends when all of it was played."},
			{"marked", "end_marked && (!replying || unplayed || confirming || parked) && !ended",
				"The end is marked only of a reply that plays."},
			{"old", "(unacked[stale] || unplayed[stale] || reply_audio[stale]) && !ended",
				"No audio of an earlier turn is kept."},
		},
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "begins", doc: "A reply is the answer that was waited for.", on: "begin_reply begin_unrequested_reply",
			then: "replying && !reply_pending && !turn_end_pending || !replying", does: "+notify_reply[reply_started]"},
		{name: "model-turn", doc: "A reply belongs to the model's turn.", on: "begin_reply begin_unrequested_reply",
			when: "online",
			then: "model_turn || !online"},
		{name: "frame-down", doc: "What is handed over is not yet acknowledged.", on: "+unacked", does: "+audio_down"},
		{name: "frame-down-counted", doc: "What is handed over is counted.", on: "+audio_down", does: "+unacked"},
		{name: "frame-down-weighed", doc: "Nothing is handed over while speech delays the reply.", on: "+audio_down",
			then: "!delaying_reply"},
		{name: "again", doc: "What a pause took back is handed over first.", on: "play_again", does: "+audio_down",
			from: "unplayed"},
		{name: "acknowledged", doc: "An acknowledged frame returns its budget.", on: "+peer_ack[fresh]",
			when: "unacked == 1 && !reply_audio && !unplayed", then: "!unacked"},
		{name: "acknowledged-next", doc: "The next frame follows.", on: "+peer_ack[fresh]",
			when: "unacked && reply_audio && !unplayed && replying && !" + pausedNow, does: "+audio_down"},
		{name: "acknowledged-paused", doc: "What was played while the pause was on its way is not played again.",
			on: "+peer_ack[fresh]", when: "unplayed == 1 && (confirming || parked)", then: "!unplayed"},
		{name: "acknowledged-nothing", doc: "An acknowledgement of audio that was not handed over is ignored.",
			on:   "+peer_ack[fresh]",
			when: "!unacked && !unplayed", keeps: "replying reply_audio end_marked model_turn", does: "!+audio_down"},
		{name: "acknowledged-late", doc: "An acknowledgement of an earlier turn is ignored.", on: "+peer_ack[stale]",
			keeps: "unacked unplayed replying reply_audio end_marked model_turn", does: "!+audio_down"},
		{name: "presumed_played", doc: "Audio counts as played, and the host is notified.", on: "presume_played",
			when: "!reply_audio && !unplayed", then: "!unacked", does: "+presumed_played"},
		{name: "presumed-only", doc: "Nothing else is presumed.", on: "+presumed_played", does: "presume_played"},
		{name: "complete", doc: "A model that falls silent has ended its turn, and the reply ends.",
			on: "presume_turn_complete", then: "!model_turn || in_turn || reply_pending", does: "+notify_reply[reply_complete]"},
		{name: "complete-whole", doc: "A reply is complete when the model's turn is.", on: "+notify_reply[reply_complete]",
			then: "!model_turn || reply_pending"},
		{name: "pause", doc: "A pause takes back what was not played.", on: "+notify_reply[reply_paused]",
			when: "unacked == 1 && !unplayed", then: "unplayed == 1 && !unacked && !end_marked"},
		{name: "unplayed", doc: "What was taken back is acknowledged, handed over again, or dropped.", changed: "unplayed",
			does: "+peer_ack|+audio_down|+notify_reply"},
		{name: "unacked", doc: "What was handed over is acknowledged, presumed, taken back, or dropped.",
			changed: "unacked",
			does:    "+peer_ack|+audio_down|+notify_reply|+presumed_played"},
		{name: "mark", doc: "The end of a reply is marked when all of it was handed over.", on: "+mark",
			then: "replying && (parked || confirming || end_marked && !reply_audio && !unplayed && !model_turn && !prompting)"},
		{name: "mark-only", doc: "A mark is sent when the end is marked.", on: "+end_marked", does: "+mark"},
		{name: "replying", doc: "The peer is notified of each beginning and end of a reply.", changed: "replying",
			does: "+notify_reply"},
	}
	r.moves = append(r.moves, generationRules()...)
	return r
}

// generationRules are about the events that begin a generation and so make earlier audio old.
func generationRules() []rule {
	var out []rule
	for _, on := range []string{"+notify_reply[reply_complete]", "+notify_reply[reply_cut]", "+notify_reply[reply_lost]",
		"+play_prompt", "+text_up", "+to_model[activity_start]"} {
		when := ""
		if on == "+text_up" {
			when = "!in_turn"
		}
		out = append(out, rule{name: "generation" + on, doc: "A new generation makes earlier audio stale.", on: on,
			when: when, then: "!old_peer_ack[fresh]"})
	}
	return out
}

// modelRules are about what the model sends.
func modelRules(c voicenets.Config) rules {
	full := itoa(c.ReplyFramesMax)
	r := rules{part: "model"}
	for _, l := range [][]claim{
		exactly("forget_turn_end", "turn_end_pending && !replying", "The wait for the end of an earlier turn is bounded."),
		exactly("stop_discarding", "discarding && !in_turn", "Audio is discarded for a while after the caller's turn."),
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "audio", doc: "The model's audio is accepted.", on: "+model_audio",
			when: "!discarding && !in_turn && !prompting && !model_audio && reply_audio < " + full, does: "+reply_audio"},
		{name: "audio-discarded", doc: "Audio of an interrupted turn, or over the caller, is not.", on: "+model_audio",
			when: "discarding || in_turn", does: "!+reply_audio !+notify_reply", keeps: "reply_audio model_audio replying"},
		{name: "audio-waits", doc: "While a prompt of ours is given it waits.", on: "+model_audio",
			when: "prompting && !discarding && !in_turn", does: "!+reply_audio", then: "model_audio"},
		{name: "finished", doc: "After generation complete at most one turn end is pending.",
			on: "+model_signal[generation_complete]", when: "model_turn && !greeting_due",
			then: "!model_turn && (turn_end_pending || closing)",
			does: "!+to_model[activity_end]"},
		{name: "finished-nothing", doc: "Generation complete without a turn is ignored.",
			on:   "+model_signal[generation_complete]",
			when: "!model_turn", keeps: "turn_end_pending model_turn discarding"},
		{name: "settles", doc: "Turn complete ends the wait for a pending turn end.", on: "+model_signal[turn_complete]",
			when: "turn_end_pending",
			then: "!turn_end_pending && !discarding", keeps: "model_turn"},
		{name: "completes", doc: "The model's turn is over.", on: "+model_signal[turn_complete]",
			when: "model_turn && !turn_end_pending && !greeting_due", then: "!model_turn || in_turn"},
		{name: "completes-nothing", doc: "Turn complete without a turn is ignored.", on: "+model_signal[turn_complete]",
			when: "!model_turn && !turn_end_pending", keeps: "turn_end_pending model_turn discarding replying"},
		{name: "forgets", doc: "The wait for the end of an earlier turn ends.", on: "forget_turn_end",
			then: "!turn_end_pending", keeps: "discarding"},
		{name: "stops-discarding", doc: "Later audio belongs to the next turn.", on: "stop_discarding",
			then:  "!discarding",
			keeps: "turn_end_pending"},
		{name: "discards", doc: "Audio is discarded after a turn that was cut.", on: "+discarding",
			does: "+notify_reply[reply_cut]|+to_model[activity_start]|+text_up"},
		{name: "turn-end-pending", doc: "A turn end is pending after a turn was cut or has finished.",
			on:   "+turn_end_pending",
			does: "+notify_reply[reply_cut]|+to_model[activity_start]|+text_up|+model_signal[generation_complete]"},
		{name: "keeps-discarding", doc: "Discarding ends by signal, in time, or with the connection.",
			changed: "discarding",
			does: "+notify_reply[reply_cut]|+to_model|+text_up|+model_signal|stop_discarding|+dialled|+link_down|" +
				"+close_link"},
		{name: "keeps-turn-end", doc: "The wait for a turn end stops by signal, in time, or with the connection.",
			changed: "turn_end_pending",
			does:    "+notify_reply|+to_model|+text_up|+model_signal|forget_turn_end|+dialled|+link_down|+close_link"},
		{name: "model-turn", doc: "The model has its turn when it gets input or speaks.", on: "+model_turn",
			does: "+to_model|+text_up|+notify_reply[reply_started]|+turn_again|reach_deadline"},
	}
	if gatewayVAD(c) {
		r.moves = append(r.moves,
			rule{name: "interrupted", doc: "The model signals an interruption: no more of that turn comes.",
				on: "+model_signal[interrupted]", when: "discarding", then: "!discarding", keeps: "turn_end_pending model_turn"},
			rule{name: "interrupted-itself", doc: "An interruption that the gateway did not ask for is ignored.",
				on: "+model_signal[interrupted]", when: "!discarding", keeps: "turn_end_pending model_turn replying reply_audio"})
	}
	return r
}

// textRules are about typed text.
func textRules(c voicenets.Config) rules {
	forbidden := "(held || protected || unconsented)"
	free := "!" + forbidden + " && !pending_text && !in_turn"
	r := rules{part: "text", states: []claim{
		{"waits", "pending_text && !(replying && (firm || parked)) && !(model_turn && firm) && !" + forbidden + " && !ended",
			"Typed text waits only for an uninterruptible reply, and while it may not leave."},
	}, moves: []rule{
		{name: "closed-states", doc: "On hold, during protected input and without consent no text goes up.", on: "+text_up",
			then: "!" + forbidden},
		{name: "in-turn", doc: "What is typed while the caller speaks belongs to that turn.", on: "+caller_text",
			when: "in_turn && !pending_text && !" + forbidden, does: "+text_up !+to_model",
			keeps: "in_turn reply_pending model_turn"},
		{name: "quiet", doc: "In quiet it is a turn.", on: "+caller_text", when: free + " && !replying && !model_turn",
			does: "+text_up +reply_pending !+notify_reply[reply_cut]", then: "reply_pending && model_turn",
			keeps: "turn_end_pending discarding"},
		{name: "for-reply", doc: "While a reply is pending it takes the place of that turn, which is kept with it.",
			on: "+caller_text", when: free + " && !replying && !model_turn && reply_pending", does: "type_for_reply"},
		{name: "before-reply", doc: "Before a reply it takes its place.", on: "+caller_text",
			when: free + " && !replying && model_turn && !firm", does: "+text_up +reply_pending !+notify_reply[reply_cut]",
			then: "reply_pending && model_turn && turn_end_pending", keeps: "discarding"},
		{name: "over", doc: "Over a reply it interrupts that, and the peer drops what it has.", on: "+caller_text",
			when: free + " && replying && !confirming && !parked && !firm && !model_audio",
			does: "+text_up +notify_reply[reply_cut] +clear +reply_pending",
			then: "reply_pending && model_turn && !unacked && !unplayed || closing"},
		{name: "in-pause", doc: "During a pause it interrupts the reply, which is cleared already.", on: "+caller_text",
			when: free + " && replying && confirming && !parked && !firm && !model_audio",
			does: "+text_up +notify_reply[reply_cut] !+clear +reply_pending",
			then: "reply_pending && model_turn && !confirming && !unplayed"},
		{name: "open", doc: "More of a turn that was interrupted may come.", on: "+caller_text",
			when: free + " && replying && model_turn && !parked && !firm",
			then: "discarding == 1 && turn_end_pending == 1 || replying"},
		{name: "at-end", doc: "Of one that was complete nothing more comes.", on: "+caller_text",
			when:  free + " && replying && !model_turn && !parked && !firm && !model_audio",
			keeps: "discarding turn_end_pending"},
		{name: "only", doc: "Text goes up that was typed, pressed or requested.", on: "+text_up",
			does: "make_request|+caller_text|+caller_digit|time_out_entry|+hold|+protect|+consent|+pending_text|+notify_reply|" +
				"+notify_mode"},
		{name: "deadline", doc: "What is typed has a deadline of its own.", on: "+text_up", when: "!in_turn",
			then: "!reply_overdue"},
		{name: "cut_unreported", doc: "What comes after a reply that was cut short takes its place.", on: "+text_up",
			when: "!in_turn",
			then: "!cut_unreported || reply_cut_short"},
		{name: "unanswered", doc: "Typed text counts as confirmed input.", on: "+text_up",
			then: "unanswered || replying"},
		{name: "speech", doc: "Typed text ends pending speech.", on: "+text_up",
			when: "pending_speech && !in_turn",
			then: "!pending_speech"},
	}}
	return r
}

// turnRules are about the caller's turns with the gateway's own detector (GatewayVAD).
func turnRules(c voicenets.Config) rules {
	if !gatewayVAD(c) || c.Hints {
		return rules{}
	}
	r := rules{part: "turns"}
	inTurn := "in_turn"
	if c.Adaptive {
		inTurn = "in_turn && !lingering"
	}
	if pauses(c) {
		r.states = append(r.states, exactly("resume_unconfirmed", "confirming", "A pause is confirmed or ends.")...)
		r.states = append(r.states, exactly("end_reply_delay_unconfirmed", "delaying_reply",
			"The wait for a confirmation of speech is bounded.")...)
	}
	r.states = append(r.states,
		claim{"weighs", "delaying_reply && !pending_speech && !ended",
			"A reply is delayed only while speech is pending."},
		claim{"opens", "pending_speech && !replying && !model_turn && !reply_pending && !reply_overdue && !ended",
			"Speech opens a turn where no reply is played or pending."},
		claim{"confirmed", "pending_speech[confirmed] && (reply_pending || model_turn) && !replying && !firm && !ended",
			"Confirmed speech opens its turn."},
		claim{"quiet", "(pending_speech || confirming || " + inTurn + ") && quiet && !ended",
			"A silent caller holds no turn and pauses nothing."},
		claim{"unanswered",
			"unanswered && !(reply_pending || in_turn || speaking || reply_cut_short || reply_overdue) && !ended",
			"Confirmed input stays unanswered until it is answered."},
		claim{"once",
			"in_turn > 1 || confirming > 1 || pending_speech > 1 || delaying_reply > 1 || unanswered > 1 || model_turn > 1",
			"Each of these places holds at most one token."},
	)
	r.moves = append(speechBegins(), speechEnds()...)
	if !c.Adaptive {
		r.moves = append(r.moves, speechEndsTurn()...)
	}
	if !pauses(c) {
		r.moves = slices.DeleteFunc(r.moves, func(m rule) bool {
			return slices.Contains([]string{"pause", "weigh", "barge-in-late"}, m.name)
		})
		r.moves = append(r.moves, rule{name: "no-pause", doc: "In half-duplex speech pauses nothing.", on: "+speech_edge",
			does: "!+notify_reply[reply_paused] !+notify_reply[reply_cut] !+clear"})
	}
	return r
}

// speechBegins lists claims about speech that begins and is confirmed.
func speechBegins() []rule {
	start, confirm := "+speech_edge[start]", "+speech_edge[confirm]"
	return []rule{
		{name: "start", doc: "Speech in quiet opens a turn.", on: start,
			when: "quiet && !input_closed && !in_turn && !replying && !model_turn && !reply_pending && !reply_overdue",
			then: "in_turn && !pending_speech",
			does: "+to_model[activity_start] !+clear"},
		{name: "pause", doc: "Speech over a reply pauses it, and nothing goes to the model.", on: start,
			when: "quiet && !input_closed && replying && !parked && !firm", then: "confirming && !in_turn && !end_marked",
			does: "+notify_reply[reply_paused] +clear !+to_model", keeps: "model_turn reply_audio turn_end_pending discarding"},
		{name: "weigh", doc: "Speech before a pending reply delays it, and nothing goes to the model.",
			on:    start,
			when:  "quiet && !input_closed && !replying && reply_pending",
			then:  "delaying_reply && pending_speech[tentative] && !in_turn",
			does:  "!+to_model",
			keeps: "reply_pending model_turn reply_audio"},
		{name: "barge-in", doc: "Confirmed speech interrupts a paused reply, which is cleared already.", on: confirm,
			when: "speaking && confirming", does: "+notify_reply[reply_cut] +to_model[activity_start] !+clear",
			then: "in_turn && !confirming && !unplayed && !unacked && !reply_audio && !prompting && !replying"},
		{name: "barge-in-late", doc: "Confirmed speech over a reply that plays on clears it.", on: confirm,
			when: "speaking && pending_speech && replying && !firm && !parked && !confirming",
			does: "+notify_reply[reply_cut] +to_model[activity_start] +clear",
			then: "in_turn && !pending_speech && !unplayed && !unacked && !reply_audio && !prompting && !replying"},
		{name: "barge-in-open", doc: "More of a turn that was interrupted may come.", on: "+notify_reply[reply_cut]",
			when: "model_turn && replying && speaking",
			then: "discarding && turn_end_pending && (!model_turn || reply_pending)"},
		{name: "barge-in-end", doc: "Of one that was complete nothing more comes.", on: "+notify_reply[reply_cut]",
			when: "!model_turn && speaking && !model_audio", keeps: "discarding turn_end_pending"},
		{name: "cut-in", doc: "Confirmed speech takes the place of the turn that waits for its reply.", on: confirm,
			when: "speaking && pending_speech && reply_pending && !replying && !firm",
			then: "in_turn && !reply_pending && !pending_speech && !reply_audio",
			does: "+to_model[activity_start]"},
		{name: "cut-in-open", doc: "More of its reply may come.", on: confirm,
			when: "speaking && pending_speech && reply_pending && model_turn && !replying && !firm",
			then: "in_turn && discarding && turn_end_pending && !model_turn"},
		{name: "confirm-nothing", doc: "A turn that is open needs no confirmation.", on: confirm,
			when:  "speaking && in_turn",
			keeps: "in_turn model_turn reply_pending discarding turn_end_pending", does: "!+to_model !+notify_reply"},
	}
}

// speechEnds lists claims about speech that ends, and about its notices.
func speechEnds() []rule {
	stop := "+speech_edge[stop]"
	return []rule{
		{name: "resume", doc: "Speech that ends unconfirmed was no interruption: the reply goes on.",
			on: stop + " end_speech_without_frames", when: "confirming && speaking", then: "!confirming",
			does: "+notify_reply[reply_resumed]|+notify_reply[reply_complete]|+notify_reply[reply_lost] " +
				"!+to_model[activity_start] !+notify_reply[reply_cut]"},
		{name: "forget", doc: "Speech that ends unconfirmed without a turn is dropped.",
			on:   stop + " end_speech_without_frames",
			when: "pending_speech && speaking", then: "!pending_speech && !delaying_reply", does: "!+to_model[activity_start]"},
		{name: "resume-unconfirmed", doc: "A pause that is not confirmed ends, and the speech stays pending.",
			on: "resume_unconfirmed", then: "!confirming && (pending_speech || in_turn)",
			does: "+notify_reply[reply_resumed] !+to_model[activity_end]"},
		{name: "weigh-no-longer", doc: "A reply is not kept back any longer.", on: "end_reply_delay_unconfirmed",
			then: "!delaying_reply"},
		{name: "resume-only", doc: "A reply resumes that was paused.", on: "+notify_reply[reply_resumed]",
			from: "confirming || parked"},
		{name: "activity", doc: "A turn is opened by speech.", on: "+to_model[activity_start]",
			does: "+in_turn +speech_edge|+model_signal|+notify_reply|+notify_mode|presume_turn_complete|forget_turn_end|" +
				"+dialled|+link_down"},
		{name: "in-turn", doc: "A turn is opened and ended at the model.", changed: "in_turn", does: "+to_model"},
		{name: "confirming", doc: "The peer is notified of each pause, and of its end.", changed: "confirming",
			does: "+notify_reply"},
		{name: "paused", doc: "A reply is paused for speech or on hold.", on: "+notify_reply[reply_paused]",
			does: "+clear +speech_edge[start]|+hold[on]|+parked"},
		{name: "clear", doc: "The peer drops what it has only of a reply that is paused or cut.", on: "+clear",
			does: "+notify_reply[reply_paused]|+notify_reply[reply_cut]"},
		{name: "cut", doc: "A reply is cut by confirmed speech or by text.", on: "+notify_reply[reply_cut]",
			does: "+speech_confirmed|+text_up", from: "replying"},
		{name: "said-until", doc: "Confirmed input stops being unanswered when no reply to it is pending.",
			changed: "unanswered",
			when:    "unanswered",
			then:    "!(reply_pending || in_turn || speaking || reply_cut_short || reply_overdue)"},
		{name: "unanswered", doc: "Confirmed speech and text are unanswered input.", on: "+speech_confirmed +text_up",
			then: "unanswered || !speaking"},
	}
}

// speechEndsTurn lists claims about turns that end with speech.
func speechEndsTurn() []rule {
	stop := "+speech_edge[stop]"
	return []rule{
		{name: "end", doc: "The end of speech ends the turn, which waits for its reply.",
			on:   stop + " end_speech_without_frames",
			when: "in_turn && speaking", then: "!in_turn", does: "+to_model[activity_end] +reply_pending +model_turn"},
		{name: "end-input-closed", doc: "Closing the input gate ends the turn too.", on: "+input_closed",
			when: "in_turn && speaking", then: "!in_turn",
			does: "+to_model[activity_end]"},
	}
}

// promptRules are about the gateway's own audio.
func promptRules(c voicenets.Config) rules {
	if c.Prompts == 0 {
		return rules{}
	}
	due := "prompt_due"
	if c.Prompts.Has(voicenets.Notify) { // a notice waits for the connection
		due = "(prompt_due > prompt_due[notify] || prompt_due && online)"
	}
	r := rules{part: "prompts", states: []claim{
		{"begins", due + " && !(replying || parked || in_turn || speaking) && !ended",
			"A prompt is given as soon as it may be."},
		{"late", "prompt_due[fallback] && (replying || in_turn) && !ended", "A prompt whose time is over is dropped."},
		{"one", "prompt_due > 1 || prompting > 1", "There is one prompt."},
	}, moves: []rule{
		{name: "begin", doc: "A prompt is a reply, and not one over the caller, or on hold.", on: "+play_prompt",
			then: "replying && prompting && !speaking && !in_turn && !held",
			does: "+notify_reply[reply_started] +replying"},
		{name: "prompting", doc: "Nothing else is a prompt.", on: "+prompting", does: "+play_prompt"},
		{name: "begin-goodbye", doc: "A farewell is one that was due.", on: "begin_prompt_goodbye",
			does: "+play_prompt +prompt_due[goodbye]|+notify_reply|+notify_speech|+hold|+to_model"},
		{name: "frame", doc: "A frame of the prompt that is given is played.", on: "+prompt_audio[fresh]",
			when: "prompting && reply_audio < " + itoa(c.ReplyFramesMax) + " && !prompt_audio", does: "+reply_audio"},
		{name: "frame-late", doc: "A frame of another prompt is not played.", on: "+prompt_audio[fresh]",
			when: "!prompting",
			does: "!+reply_audio", keeps: "reply_audio replying"},
		{name: "end", doc: "The end of a prompt is its end.", on: "+prompt_end[fresh]", when: "prompting",
			then: "!prompting || replying"},
		{name: "ends", doc: "With nothing left to play the reply is over.", on: "+prompt_end[fresh]",
			when: "prompting && !reply_audio && !unacked && !unplayed && !model_turn && !model_audio && !" + pausedNow,
			does: "+notify_reply[reply_complete]"},
		{name: "end-old", doc: "The end of an earlier prompt is not that of this.", on: "+prompt_end[stale]",
			keeps: "prompting replying prompt_due", does: "!+notify_reply"},
		{name: "end-nothing", doc: "The end of a prompt that is not played is ignored.", on: "+prompt_end[fresh]",
			when:  "!prompting",
			keeps: "replying prompt_due model_turn", does: "!+notify_reply"},
		{name: "due", doc: "A due prompt is played, or dropped because the caller or the model speaks.",
			changed: "prompt_due",
			does:    "+play_prompt|+notify_mode|+ending|+to_model[activity_start]|+notify_reply[reply_started]|+prompt_due"},
		{name: "given", doc: "A prompt ends when it is given, or is cut.", changed: "prompting",
			does: "+play_prompt|+prompt_end|+notify_reply[reply_cut]"},
	}}
	return r
}

// digitRules are about keys of the phone.
func digitRules(c voicenets.Config) rules {
	r := rules{part: "digits"}
	for _, l := range [][]claim{
		exactly("time_out_entry", "entry", "An entry ends when no key follows."),
		{
			{"one", "entry + entry_complete > 1 && !ended", "There is one entry."},
			{"goes", "entry_complete && !ended", "An entry that is complete goes at once."},
			{"unconsented", "entry && unconsented && !protected && !ended", "Without consent no entry is kept."},
			{"protected", "(entry_protected && !protected || protected && !entry_protected || entry_protected > 1) && !ended",
				"An entry that began before protected input, or during it, is dropped."},
		},
	} {
		r.states = append(r.states, l...)
	}
	open := "!(protected || held || unconsented)"
	r.moves = []rule{
		{name: "first", doc: "The first key begins an entry.", on: "+caller_digit[more]", when: "!entry && " + open,
			then: "entry[more] == 1", does: "!+collected !+text_up begin_entry"},
		{name: "first-protected", doc: "So it does during protected input.", on: "+caller_digit[more]",
			when: "!entry && protected", then: "entry[more] == 1", does: "!+collected !+text_up begin_entry_protected"},
		{name: "more", doc: "Others add to it.", on: "+caller_digit[more]", when: "entry && " + open,
			then: "entry[more] == 1", does: "!+collected !+text_up add_digit"},
		{name: "more-protected", doc: "During protected input, too.", on: "+caller_digit[more]",
			when: "entry && protected",
			then: "entry[more] == 1", does: "!+collected !+text_up add_digit_protected"},
		{name: "last", doc: "The last key completes it: a turn of text.", on: "+caller_digit[last]",
			when: "!pending_text && " + open, then: "!entry && !entry_complete", does: "+text_up !+collected"},
		{name: "last-protected", doc: "During protected input it goes to the host alone.", on: "+caller_digit[last]",
			when: "protected", then: "!entry && !entry_complete", does: "+collected !+text_up"},
		{name: "held", doc: "On hold, or without consent, a key is dropped.", on: "+caller_digit",
			when: "!protected && (held || unconsented)", keeps: "entry entry_complete pending_text",
			does: "!+collected !+text_up"},
		{name: "whole", doc: "An entry is all of its keys.", on: "+entry_complete",
			does: "complete_entry|complete_entry_protected|" +
				"complete_with_one|complete_with_one_protected|time_out_entry"},
		{name: "time-out-waits", doc: "An entry that is complete on hold waits with other text.", on: "time_out_entry",
			when: "!pending_text && held && !(protected || unconsented)", then: "!entry && pending_text == 1",
			does: "!+text_up !+collected"},
		{name: "time-out", doc: "An entry without an end is complete after a pause.", on: "time_out_entry",
			when: "!pending_text && !(protected || held || unconsented)", then: "!entry && !entry_complete", does: "+text_up"},
		{name: "time-out-protected", doc: "During protected input the host gets it.", on: "time_out_entry",
			when: "protected",
			then: "!entry && !entry_complete", does: "+collected !+text_up"},
		{name: "collected", doc: "The host gets what was entered during protected input.", on: "+collected",
			from: "protected || entry_complete", does: "+caller_digit|time_out_entry"},
		{name: "switch", doc: "When protected input begins or ends an entry is dropped.",
			on: "+notify_mode[protect_started] +notify_mode[protect_ended]", then: "!entry && !entry_complete && !caller_digit",
			does: "!+collected"},
		{name: "changed", doc: "An entry changes by keys, in time, with protected input, or with consent.",
			changed: "entry",
			does:    "+caller_digit|time_out_entry|+protect|+drop_uplink"},
	}
	return r
}

// and adds a condition if it applies.
func and(applies bool, condition string) string {
	if !applies {
		return ""
	}
	return " && " + condition
}

// frameRules are about payload that leaves no trace in markings: the caller's audio, and
// transcripts.
func frameRules(c voicenets.Config) rules {
	r := rules{part: "frames", strict: true}
	for _, l := range [][]claim{
		exactly("show_caller", "!unconsented && !ended", "The caller's transcript is shown."),
		exactly("drop_unconsented_transcript", "unconsented", "Without consent the caller's transcript is not shown."),
		exactly("show_model", "replying && !discarding && !prompting"+and(gatewayVAD(c), "!in_turn"),
			"The model's transcript of a reply is shown."),
		exactly("show_text_reply", "!replying && !model_turn && !discarding"+and(gatewayVAD(c), "!in_turn"),
			"The model's transcript without a reply is shown when its turn is over; until then it waits."),
		exactly("drop_transcript_over_caller", "in_turn && !discarding",
			"The model's transcript during the caller's turn is not shown."),
		exactly("drop_discarded_transcript", "discarding", "A transcript of discarded audio is not shown."),
		exactly("drop_frame_input_closed", "input_closed", "No frame is kept while the input gate is closed."),
		exactly("drop_frame_over_reply", "replying && !input_closed",
			"In half-duplex no frame is kept during a reply."),
		exactly("send_frame_up", "online && !input_closed"+and(gatewayVAD(c), "in_turn")+and(c.HalfDuplex, "!replying"),
			"The caller's frames go up."),
		exactly("keep_frame", "!online && !input_closed"+and(gatewayVAD(c), "in_turn")+and(c.HalfDuplex && !gatewayVAD(c),
			"!replying"),
			"Without a connection the caller's frames are kept."),
		exactly("trim_pre_roll", "quiet && !in_turn && !input_closed", "In quiet only the pre-roll is kept."),
	} {
		r.states = append(r.states, l...)
	}
	return r
}
