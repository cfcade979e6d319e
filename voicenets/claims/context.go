package claims

// contextRules are about notes for the model and requests to speak.
func contextRules() rules {
	forbidden := "(held || protected || unconsented)"
	busy := "(replying || model_turn || in_turn || reply_pending)"
	return rules{part: "context", states: []claim{
		{"requested", "pending_request && !" + busy + " && !pending_text && !prompt_due && !" + forbidden + " && !ended",
			"A request to speak waits only for what is said, typed or played before, and while it may not leave."},
		{"requests", "pending_request > 4 && !ended", "Four requests wait at most."},
		{"known", "notes_due && online && !" + busy + " && !turn_end_pending && !discarding && !" + forbidden + " && !ended",
			"The model gets notes as soon as it is idle."},
		{"note", "note && !ended", "A note is taken or lost at once."},
		{"request", "request && !ended", "A request is taken or lost at once."},
	}, moves: []rule{
		{name: "note", doc: "A note goes up, and changes nothing of what is said.", on: "+note",
			when: "!" + forbidden, does: "+note_up !+text_up !+clear !+notify_reply !+text_lost",
			keeps: "in_turn reply_pending model_turn replying reply_audio unacked unanswered discarding turn_end_pending"},
		{name: "note-closed", doc: "On hold, during protected input and without consent no note goes up.", on: "+note",
			when: forbidden, does: "+text_lost !+note_up"},
		{name: "note-only", doc: "Nothing else goes up as a note.", on: "+note_up", does: "+note", then: "!" + forbidden},
		{name: "request", doc: "In quiet a request is a turn.", on: "+request", when: "!" + forbidden + " && !" + busy +
			" && !pending_text && !prompt_due && !pending_request", does: "+text_up +reply_pending !+notify_reply[reply_cut]",
			then: "reply_pending && model_turn"},
		{name: "request-waits", doc: "A request interrupts nothing.", on: "+request", when: busy,
			does:  "!+text_up !+notify_reply !+clear",
			keeps: "in_turn reply_pending model_turn replying reply_audio unacked discarding turn_end_pending"},
		{name: "request-closed", doc: "On hold, during protected input and without consent no request is taken.",
			on: "+request", when: forbidden, does: "+text_lost !+text_up", keeps: "pending_request"},
	}}
}
