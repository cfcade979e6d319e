package voicenets

import (
	"fmt"
	"slices"
)

// paused is a condition: the reply is held back.
const pausedNow = "(confirming || parked || weighing)"

// playoutRules are about audio on its way to the peer.
func playoutRules(c Config) rules {
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
		{name: "begins", doc: "A reply is the answer that was waited for.", on: "begin_reply begin_unasked_reply",
			then: "replying && !owing && !owed_end || !replying", says: "+tell_reply[reply_started]"},
		{name: "model-turn", doc: "Who gives a reply has its turn.", on: "begin_reply begin_unasked_reply", when: "online",
			then: "model_turn || !online"},
		{name: "frame-down", doc: "What is handed over is not yet acknowledged.", on: "+unacked", says: "+audio_down"},
		{name: "frame-down-counted", doc: "What is handed over is counted.", on: "+audio_down", says: "+unacked"},
		{name: "frame-down-weighed", doc: "Nothing is handed over while speech before it is weighed.", on: "+audio_down",
			then: "!weighing"},
		{name: "again", doc: "What a pause took back is handed over first.", on: "play_again", says: "+audio_down",
			from: "unplayed"},
		{name: "acknowledged", doc: "An acknowledged frame returns its budget.", on: "+peer_ack[fresh]",
			when: "unacked == 1 && !reply_audio && !unplayed", then: "!unacked"},
		{name: "acknowledged-next", doc: "The next frame follows.", on: "+peer_ack[fresh]",
			when: "unacked && reply_audio && !unplayed && replying && !" + pausedNow, says: "+audio_down"},
		{name: "acknowledged-paused", doc: "What was played while the pause was on its way is not played again.",
			on: "+peer_ack[fresh]", when: "unplayed == 1 && (confirming || parked)", then: "!unplayed"},
		{name: "acknowledged-nothing", doc: "An acknowledgement of what was not handed over is none.",
			on:   "+peer_ack[fresh]",
			when: "!unacked && !unplayed", keeps: "replying reply_audio end_marked model_turn", says: "!+audio_down"},
		{name: "acknowledged-late", doc: "Nor is one of an earlier turn.", on: "+peer_ack[stale]",
			keeps: "unacked unplayed replying reply_audio end_marked model_turn", says: "!+audio_down"},
		{name: "presumed", doc: "Audio counts as played, and the host is told.", on: "presume_played",
			when: "!reply_audio && !unplayed", then: "!unacked", says: "+presumed"},
		{name: "presumed-only", doc: "Nothing else is presumed.", on: "+presumed", says: "presume_played"},
		{name: "complete", doc: "A model that falls silent has ended its turn, and the reply ends.",
			on: "presume_turn_complete", then: "!model_turn || in_turn || owing", says: "+tell_reply[reply_complete]"},
		{name: "complete-whole", doc: "A reply is complete when the model's turn is.", on: "+tell_reply[reply_complete]",
			then: "!model_turn || owing"},
		{name: "pause", doc: "A pause takes back what was not played.", on: "+tell_reply[reply_paused]",
			when: "unacked == 1 && !unplayed", then: "unplayed == 1 && !unacked && !end_marked"},
		{name: "unplayed", doc: "What was taken back is acknowledged, handed over again, or dropped.", changed: "unplayed",
			says: "+peer_ack|+audio_down|+tell_reply"},
		{name: "unacked", doc: "What was handed over is acknowledged, presumed, taken back, or dropped.", changed: "unacked",
			says: "+peer_ack|+audio_down|+tell_reply|+presumed"},
		{name: "mark", doc: "The end of a reply is marked when all of it was handed over.", on: "+mark",
			then: "replying && (parked || confirming || end_marked && !reply_audio && !unplayed && !model_turn && !prompting)"},
		{name: "mark-only", doc: "A mark is one on the wire.", on: "+end_marked", says: "+mark"},
		{name: "replying", doc: "The peer hears of each beginning and end of a reply.", changed: "replying",
			says: "+tell_reply"},
	}
	r.moves = append(r.moves, generationRules()...)
	return r
}

// generationRules are about what makes all before it old.
func generationRules() []rule {
	var out []rule
	for _, on := range []string{"+tell_reply[reply_complete]", "+tell_reply[reply_cut]", "+tell_reply[reply_lost]",
		"+play_prompt", "+text_up", "+to_model[activity_start]"} {
		when := ""
		if on == "+text_up" {
			when = "!in_turn"
		}
		out = append(out, rule{name: "generation" + on, doc: "What begins anew makes all before it old.", on: on,
			when: when, then: "!old_peer_ack[fresh]"})
	}
	return out
}

// modelRules are about what the model sends.
func modelRules(c Config) rules {
	full := itoa(c.ReplyFramesMax)
	r := rules{part: "model"}
	for _, l := range [][]claim{
		exactly("forget_owed_end", "owed_end && !replying", "The end of an earlier turn is not waited for for ever."),
		exactly("stop_discarding", "discarding && !in_turn", "Audio is discarded for a while after the caller's turn."),
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "audio", doc: "The model's audio is accepted.", on: "+model_audio",
			when: "!discarding && !in_turn && !prompting && !model_audio && reply_audio < " + full, says: "+reply_audio"},
		{name: "audio-discarded", doc: "Audio of an interrupted turn, or over the caller, is not.", on: "+model_audio",
			when: "discarding || in_turn", says: "!+reply_audio !+tell_reply", keeps: "reply_audio model_audio replying"},
		{name: "audio-waits", doc: "While a prompt of ours is given it waits.", on: "+model_audio",
			when: "prompting && !discarding && !in_turn", says: "!+reply_audio", then: "model_audio"},
		{name: "finished", doc: "A model that has finished owes the end of its turn no more than once.",
			on: "+model_signal[generation_complete]", when: "model_turn && !greet",
			then: "!model_turn && (owed_end || closing)",
			says: "!+to_model[activity_end]"},
		{name: "finished-nothing", doc: "Who has no turn has finished none.", on: "+model_signal[generation_complete]",
			when: "!model_turn", keeps: "owed_end model_turn discarding"},
		{name: "settles", doc: "The end that was owed is settled.", on: "+model_signal[turn_complete]", when: "owed_end",
			then: "!owed_end && !discarding", keeps: "model_turn"},
		{name: "completes", doc: "The model's turn is over.", on: "+model_signal[turn_complete]",
			when: "model_turn && !owed_end && !greet", then: "!model_turn || in_turn"},
		{name: "completes-nothing", doc: "The end of a turn that is none is ignored.", on: "+model_signal[turn_complete]",
			when: "!model_turn && !owed_end", keeps: "owed_end model_turn discarding replying"},
		{name: "forgets", doc: "The end of an earlier turn is not waited for any more.", on: "forget_owed_end",
			then: "!owed_end", keeps: "discarding"},
		{name: "stops-discarding", doc: "What comes from now on is of the next turn.", on: "stop_discarding",
			then:  "!discarding",
			keeps: "owed_end"},
		{name: "discards", doc: "Audio is discarded after a turn that was cut.", on: "+discarding",
			says: "+tell_reply[reply_cut]|+to_model[activity_start]|+text_up"},
		{name: "owed", doc: "An end is owed by a turn that was cut or has finished.", on: "+owed_end",
			says: "+tell_reply[reply_cut]|+to_model[activity_start]|+text_up|+model_signal[generation_complete]"},
		{name: "keeps-discarding", doc: "Discarding ends by signal, in time, or with the connection.", changed: "discarding",
			says: "+tell_reply[reply_cut]|+to_model|+text_up|+model_signal|stop_discarding|+dialled|+link_down|+close_link"},
		{name: "keeps-owed", doc: "An end that is owed is settled, forgotten, or lost with the connection.",
			changed: "owed_end",
			says:    "+tell_reply|+to_model|+text_up|+model_signal|forget_owed_end|+dialled|+link_down|+close_link"},
		{name: "model-turn", doc: "The model has its turn when something is asked of it or it speaks.", on: "+model_turn",
			says: "+to_model|+text_up|+tell_reply[reply_started]|+turn_again|reach_deadline"},
	}
	if c.manual() {
		r.moves = append(r.moves,
			rule{name: "interrupted", doc: "The model tells that it stopped: no more of that turn comes.",
				on: "+model_signal[interrupted]", when: "discarding", then: "!discarding", keeps: "owed_end model_turn"},
			rule{name: "interrupted-itself", doc: "A model that interrupts itself is not heeded.",
				on: "+model_signal[interrupted]", when: "!discarding", keeps: "owed_end model_turn replying reply_audio"})
	}
	return r
}

// textRules are about what is typed.
func textRules(c Config) rules {
	forbidden := "(held || protected || unconsented)"
	free := "!" + forbidden + " && !typed && !in_turn"
	r := rules{part: "text", states: []claim{
		{"waits", "typed && !(replying && (firm || parked)) && !(model_turn && firm) && !" + forbidden + " && !ended",
			"What is typed waits only for what must be heard, and while it may not leave."},
	}, moves: []rule{
		{name: "closed-states", doc: "On hold, during protected input and without consent no text goes up.", on: "+text_up",
			then: "!" + forbidden},
		{name: "in-turn", doc: "What is typed while the caller speaks belongs to that turn.", on: "+caller_text",
			when: "in_turn && !typed && !" + forbidden, says: "+text_up !+to_model", keeps: "in_turn owing model_turn"},
		{name: "quiet", doc: "In quiet it is a turn.", on: "+caller_text", when: free + " && !replying && !model_turn",
			says: "+text_up +owing !+tell_reply[reply_cut]", then: "owing && model_turn", keeps: "owed_end discarding"},
		{name: "before-reply", doc: "Before a reply it takes its place.", on: "+caller_text",
			when: free + " && !replying && model_turn && !firm", says: "+text_up +owing !+tell_reply[reply_cut]",
			then: "owing && model_turn && owed_end", keeps: "discarding"},
		{name: "over", doc: "Over a reply it interrupts that, and the peer drops what it has.", on: "+caller_text",
			when: free + " && replying && !confirming && !parked && !firm && !model_audio",
			says: "+text_up +tell_reply[reply_cut] +clear +owing",
			then: "owing && model_turn && !unacked && !unplayed || closing"},
		{name: "in-pause", doc: "During a pause it interrupts the reply, which is cleared already.", on: "+caller_text",
			when: free + " && replying && confirming && !parked && !firm && !model_audio",
			says: "+text_up +tell_reply[reply_cut] !+clear +owing", then: "owing && model_turn && !confirming && !unplayed"},
		{name: "open", doc: "More of a turn that was interrupted may come.", on: "+caller_text",
			when: free + " && replying && model_turn && !parked && !firm",
			then: "discarding == 1 && owed_end == 1 || replying"},
		{name: "at-end", doc: "Of one that was complete nothing more comes.", on: "+caller_text",
			when: free + " && replying && !model_turn && !parked && !firm && !model_audio", keeps: "discarding owed_end"},
		{name: "only", doc: "Text goes up that was typed or pressed.", on: "+text_up",
			says: "+caller_text|+caller_digit|time_out_entry|+hold|+protect|+consent|+typed|+tell_reply|+tell_mode"},
		{name: "deadline", doc: "What is typed has a deadline of its own.", on: "+text_up", when: "!in_turn",
			then: "!reply_owed"},
		{name: "untold", doc: "What comes after a reply that was cut short takes its place.", on: "+text_up",
			when: "!in_turn",
			then: "!untold || cut_short"},
		{name: "said", doc: "What is typed is said for certain.", on: "+text_up",
			then: "said || replying"},
		{name: "speech", doc: "Who typed has not yet been heard to speak.", on: "+text_up", when: "unheard && !in_turn",
			then: "!unheard"},
	}}
	return r
}

// turnRules are about the caller's turns, with our own detector.
func turnRules(c Config) rules {
	if !c.manual() || c.Hints {
		return rules{}
	}
	r := rules{part: "turns"}
	inTurn := "in_turn"
	if c.Adaptive {
		inTurn = "in_turn && !lingering"
	}
	if c.pauses() {
		r.states = append(r.states, exactly("resume_unconfirmed", "confirming", "A pause is confirmed or ends.")...)
		r.states = append(r.states, exactly("weigh_no_longer", "weighing", "Speech is not weighed for ever.")...)
	}
	r.states = append(r.states,
		claim{"weighs", "weighing && !unheard && !ended", "A reply is kept back only while there is speech to weigh."},
		claim{"opens", "unheard && !replying && !model_turn && !owing && !reply_owed && !ended",
			"Speech opens a turn where nothing is played or owed."},
		claim{"certain", "unheard[certain] && (owing || model_turn) && !replying && !firm && !ended",
			"Speech that is certain opens its turn."},
		claim{"quiet", "(unheard || confirming || " + inTurn + ") && quiet && !ended",
			"A silent caller holds no turn and pauses nothing."},
		claim{"said", "said && !(owing || in_turn || speaking || cut_short || reply_owed) && !ended",
			"What was said for certain is remembered until it is answered."},
		claim{"once", "in_turn > 1 || confirming > 1 || unheard > 1 || weighing > 1 || said > 1 || model_turn > 1",
			"Nothing is so twice."},
	)
	r.moves = append(speechBegins(), speechEnds()...)
	if !c.Adaptive {
		r.moves = append(r.moves, speechEndsTurn()...)
	}
	if !c.pauses() {
		r.moves = slices.DeleteFunc(r.moves, func(m rule) bool {
			return slices.Contains([]string{"pause", "weigh", "barge-in-late"}, m.name)
		})
		r.moves = append(r.moves, rule{name: "no-pause", doc: "In half-duplex speech pauses nothing.", on: "+speech_edge",
			says: "!+tell_reply[reply_paused] !+tell_reply[reply_cut] !+clear"})
	}
	return r
}

// speechBegins are claims about speech that begins and is confirmed.
func speechBegins() []rule {
	start, confirm := "+speech_edge[start]", "+speech_edge[confirm]"
	return []rule{
		{name: "start", doc: "Speech in quiet opens a turn.", on: start,
			when: "quiet && !deaf && !in_turn && !replying && !model_turn && !owing && !reply_owed", then: "in_turn && !unheard",
			says: "+to_model[activity_start] !+clear"},
		{name: "pause", doc: "Speech over a reply pauses it, and nothing goes to the model.", on: start,
			when: "quiet && !deaf && replying && !parked && !firm", then: "confirming && !in_turn && !end_marked",
			says: "+tell_reply[reply_paused] +clear !+to_model", keeps: "model_turn reply_audio owed_end discarding"},
		{name: "weigh", doc: "Speech before a reply that is owed keeps that back, and nothing goes to the model.", on: start,
			when: "quiet && !deaf && !replying && owing", then: "weighing && unheard[supposed] && !in_turn", says: "!+to_model",
			keeps: "owing model_turn reply_audio"},
		{name: "barge-in", doc: "Confirmed speech interrupts a paused reply, which is cleared already.", on: confirm,
			when: "speaking && confirming", says: "+tell_reply[reply_cut] +to_model[activity_start] !+clear",
			then: "in_turn && !confirming && !unplayed && !unacked && !reply_audio && !prompting && !replying"},
		{name: "barge-in-late", doc: "Over a reply that plays on it clears that.", on: confirm,
			when: "speaking && unheard && replying && !firm && !parked && !confirming",
			says: "+tell_reply[reply_cut] +to_model[activity_start] +clear",
			then: "in_turn && !unheard && !unplayed && !unacked && !reply_audio && !prompting && !replying"},
		{name: "barge-in-open", doc: "More of a turn that was interrupted may come.", on: "+tell_reply[reply_cut]",
			when: "model_turn && replying && speaking", then: "discarding && owed_end && (!model_turn || owing)"},
		{name: "barge-in-end", doc: "Of one that was complete nothing more comes.", on: "+tell_reply[reply_cut]",
			when: "!model_turn && speaking && !model_audio", keeps: "discarding owed_end"},
		{name: "cut-in", doc: "Confirmed speech takes the place of the turn that waits for its reply.", on: confirm,
			when: "speaking && unheard && owing && !replying && !firm", then: "in_turn && !owing && !unheard && !reply_audio",
			says: "+to_model[activity_start]"},
		{name: "cut-in-open", doc: "More of its reply may come.", on: confirm,
			when: "speaking && unheard && owing && model_turn && !replying && !firm",
			then: "in_turn && discarding && owed_end && !model_turn"},
		{name: "confirm-nothing", doc: "A turn that is open needs no confirmation.", on: confirm,
			when:  "speaking && in_turn",
			keeps: "in_turn model_turn owing discarding owed_end", says: "!+to_model !+tell_reply"},
	}
}

// speechEnds are claims about speech that ends, and what is told of it.
func speechEnds() []rule {
	stop := "+speech_edge[stop]"
	return []rule{
		{name: "resume", doc: "Speech that ends unconfirmed was no interruption: the reply goes on.",
			on: stop + " end_speech_without_frames", when: "confirming && speaking", then: "!confirming",
			says: "+tell_reply[reply_resumed]|+tell_reply[reply_complete]|+tell_reply[reply_lost] " +
				"!+to_model[activity_start] !+tell_reply[reply_cut]"},
		{name: "forget", doc: "So was speech that had no turn.", on: stop + " end_speech_without_frames",
			when: "unheard && speaking", then: "!unheard && !weighing", says: "!+to_model[activity_start]"},
		{name: "resume-unconfirmed", doc: "A pause that is not confirmed ends, and the speech goes on unheard.",
			on: "resume_unconfirmed", then: "!confirming && (unheard || in_turn)",
			says: "+tell_reply[reply_resumed] !+to_model[activity_end]"},
		{name: "weigh-no-longer", doc: "A reply is not kept back any longer.", on: "weigh_no_longer", then: "!weighing"},
		{name: "resume-only", doc: "A reply resumes that was paused.", on: "+tell_reply[reply_resumed]",
			from: "confirming || parked"},
		{name: "activity", doc: "A turn is opened by speech.", on: "+to_model[activity_start]",
			says: "+in_turn +speech_edge|+model_signal|+tell_reply|+tell_mode|presume_turn_complete|forget_owed_end|" +
				"+dialled|+link_down"},
		{name: "in-turn", doc: "A turn is opened and ended at the model.", changed: "in_turn", says: "+to_model"},
		{name: "confirming", doc: "The peer hears of each pause, and of its end.", changed: "confirming",
			says: "+tell_reply"},
		{name: "paused", doc: "A reply is paused for speech or on hold.", on: "+tell_reply[reply_paused]",
			says: "+clear +speech_edge[start]|+hold[on]|+parked"},
		{name: "clear", doc: "The peer drops what it has only of a reply that is paused or cut.", on: "+clear",
			says: "+tell_reply[reply_paused]|+tell_reply[reply_cut]"},
		{name: "cut", doc: "A reply is cut by confirmed speech or by text.", on: "+tell_reply[reply_cut]",
			says: "+confirmed|+text_up", from: "replying"},
		{name: "said-until", doc: "It is forgotten when nothing waits for an answer to it.", changed: "said", when: "said",
			then: "!(owing || in_turn || speaking || cut_short || reply_owed)"},
		{name: "said", doc: "Confirmed speech and text are said for certain.", on: "+confirmed +text_up",
			then: "said || !speaking"},
	}
}

// speechEndsTurn are claims about turns that end with speech.
func speechEndsTurn() []rule {
	stop := "+speech_edge[stop]"
	return []rule{
		{name: "end", doc: "The end of speech ends the turn, which waits for its reply.",
			on:   stop + " end_speech_without_frames",
			when: "in_turn && speaking", then: "!in_turn", says: "+to_model[activity_end] +owing +model_turn"},
		{name: "end-deaf", doc: "So does a closed ear.", on: "+deaf", when: "in_turn && speaking", then: "!in_turn",
			says: "+to_model[activity_end]"},
	}
}

// promptRules are about audio of our own.
func promptRules(c Config) rules {
	if c.Prompts == 0 {
		return rules{}
	}
	due := "prompt_due"
	if c.Prompts.Has(Notify) { // which waits for the connection
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
			says: "+tell_reply[reply_started] +replying"},
		{name: "prompting", doc: "Nothing else is a prompt.", on: "+prompting", says: "+play_prompt"},
		{name: "begin-goodbye", doc: "A farewell is one that was due.", on: "begin_prompt_goodbye",
			says: "+play_prompt +prompt_due[goodbye]|+tell_reply|+tell_speech|+hold|+to_model"},
		{name: "frame", doc: "A frame of the prompt that is given is played.", on: "+prompt_audio[fresh]",
			when: "prompting && reply_audio < " + itoa(c.ReplyFramesMax) + " && !prompt_audio", says: "+reply_audio"},
		{name: "frame-late", doc: "One of none, or of an earlier one, is not.", on: "+prompt_audio[fresh]",
			when: "!prompting",
			says: "!+reply_audio", keeps: "reply_audio replying"},
		{name: "end", doc: "The end of a prompt is its end.", on: "+prompt_end[fresh]", when: "prompting",
			then: "!prompting || replying"},
		{name: "ends", doc: "With nothing left to play the reply is over.", on: "+prompt_end[fresh]",
			when: "prompting && !reply_audio && !unacked && !unplayed && !model_turn && !model_audio && !" + pausedNow,
			says: "+tell_reply[reply_complete]"},
		{name: "end-old", doc: "The end of an earlier prompt is not that of this.", on: "+prompt_end[stale]",
			keeps: "prompting replying prompt_due", says: "!+tell_reply"},
		{name: "end-nothing", doc: "Where no prompt is given none ends.", on: "+prompt_end[fresh]", when: "!prompting",
			keeps: "replying prompt_due model_turn", says: "!+tell_reply"},
		{name: "due", doc: "A prompt is given, or dropped because somebody speaks.", changed: "prompt_due",
			says: "+play_prompt|+tell_mode|+leaving|+to_model[activity_start]|+tell_reply[reply_started]|+prompt_due"},
		{name: "given", doc: "A prompt ends when it is given, or is cut.", changed: "prompting",
			says: "+play_prompt|+prompt_end|+tell_reply[reply_cut]"},
	}}
	return r
}

// digitRules are about keys of the phone.
func digitRules(c Config) rules {
	r := rules{part: "digits"}
	for _, l := range [][]claim{
		exactly("time_out_entry", "digits", "An entry ends when no key follows."),
		{
			{"one", "digits + entered > 1 && !ended", "There is one entry."},
			{"goes", "entered && !ended", "An entry that is complete goes at once."},
			{"unconsented", "digits && unconsented && !protected && !ended", "Without consent no entry is kept."},
			{"protected", "(entry_protected && !protected || protected && !entry_protected || entry_protected > 1) && !ended",
				"An entry that began before protected input, or during it, is dropped."},
		},
	} {
		r.states = append(r.states, l...)
	}
	open := "!(protected || held || unconsented)"
	r.moves = []rule{
		{name: "first", doc: "The first key begins an entry.", on: "+caller_digit[more]", when: "!digits && " + open,
			then: "digits[more] == 1", says: "!+collected !+text_up begin_entry"},
		{name: "first-protected", doc: "So it does during protected input.", on: "+caller_digit[more]",
			when: "!digits && protected", then: "digits[more] == 1", says: "!+collected !+text_up begin_entry_protected"},
		{name: "more", doc: "Others add to it.", on: "+caller_digit[more]", when: "digits && " + open,
			then: "digits[more] == 1", says: "!+collected !+text_up add_digit"},
		{name: "more-protected", doc: "During protected input, too.", on: "+caller_digit[more]", when: "digits && protected",
			then: "digits[more] == 1", says: "!+collected !+text_up add_digit_protected"},
		{name: "last", doc: "The last key completes it: a turn of text.", on: "+caller_digit[last]",
			when: "!typed && " + open, then: "!digits && !entered", says: "+text_up !+collected"},
		{name: "last-protected", doc: "During protected input it goes to the host alone.", on: "+caller_digit[last]",
			when: "protected", then: "!digits && !entered", says: "+collected !+text_up"},
		{name: "held", doc: "On hold, or without consent, a key is dropped.", on: "+caller_digit",
			when: "!protected && (held || unconsented)", keeps: "digits entered typed", says: "!+collected !+text_up"},
		{name: "whole", doc: "An entry is all of its keys.", on: "+entered",
			says: "complete_entry|complete_entry_protected|" +
				"complete_with_one|complete_with_one_protected|time_out_entry"},
		{name: "time-out-waits", doc: "An entry that is complete on hold waits with other text.", on: "time_out_entry",
			when: "!typed && held && !(protected || unconsented)", then: "!digits && typed == 1", says: "!+text_up !+collected"},
		{name: "time-out", doc: "An entry without an end is complete after a pause.", on: "time_out_entry",
			when: "!typed && !(protected || held || unconsented)", then: "!digits && !entered", says: "+text_up"},
		{name: "time-out-protected", doc: "During protected input the host gets it.", on: "time_out_entry",
			when: "protected",
			then: "!digits && !entered", says: "+collected !+text_up"},
		{name: "collected", doc: "The host gets what was entered during protected input.", on: "+collected",
			from: "protected || entered", says: "+caller_digit|time_out_entry"},
		{name: "switch", doc: "When protected input begins or ends an entry is dropped.",
			on: "+tell_mode[protect_started] +tell_mode[protect_ended]", then: "!digits && !entered && !caller_digit",
			says: "!+collected"},
		{name: "changed", doc: "An entry changes by keys, in time, with protected input, or with consent.", changed: "digits",
			says: "+caller_digit|time_out_entry|+protect|+drop_uplink"},
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

// frameRules are about what passes without a trace: the caller's audio, and
// transcripts.
func frameRules(c Config) rules {
	r := rules{part: "frames", strict: true}
	for _, l := range [][]claim{
		exactly("show_caller", "!unconsented && !ended", "What the caller said is shown."),
		exactly("drop_unconsented_words", "unconsented", "Without consent it is not."),
		exactly("show_model", "replying && !discarding && !prompting"+and(c.manual(), "!in_turn"),
			"So is what the model says in a reply."),
		exactly("show_words_alone", "!replying && !model_turn && !discarding"+and(c.manual(), "!in_turn"),
			"What it says without one is shown when its turn is over; until then it waits."),
		exactly("drop_words_over_caller", "in_turn && !discarding", "What it says over the caller is not."),
		exactly("drop_unheard_words", "discarding", "What nobody hears is not."),
		exactly("drop_unheard_frame", "deaf", "Nothing that is heard with a closed ear is kept."),
		exactly("drop_frame_over_reply", "replying && !deaf", "In half-duplex nothing that is heard over a reply is."),
		exactly("send_frame_up", "online && !deaf"+and(c.manual(), "in_turn")+and(c.HalfDuplex, "!replying"),
			"What the caller says goes up."),
		exactly("keep_frame", "!online && !deaf"+and(c.manual(), "in_turn")+and(c.HalfDuplex && !c.manual(), "!replying"),
			"Without a connection it is kept."),
		exactly("trim_pre_roll", "quiet && !in_turn && !deaf", "In quiet a little is kept."),
	} {
		r.states = append(r.states, l...)
	}
	return r
}
