package claims

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/voicenets"
)

// linkState are the places that describe the state of the connection.
const linkState = "dial_now dial_blocked dial_credit dialling link/backing_off closing online retries_spent " +
	"last_handle " +
	"connected_before model_given_up going_away"

// linkRules are about dialling and losing the connection to the model.
func linkRules(c voicenets.Config) rules {
	tries := len(c.Backoff)
	r := rules{part: "link"}
	for _, l := range [][]claim{
		exactly("count_stable", "online && retries_spent", "A connection that lasts makes the tries begin anew."),
		{
			{"one", "dial_now + dial_blocked + dialling + link/backing_off + closing + online + model_given_up != 1 && !ended",
				"There is one connection."},
			{"dials", "(dial_now && dial_credit || dial_blocked && !(held || protected) || " +
				"restoring && online && !(held || protected) || renewal && online) && !ended",
				"A dial, restoration or renewal that is due is made at once. Exceptions are a dial over the limit of dials, and " +
					"one that would send the conversation on hold or during protected input."},
			{"waits",
				fmt.Sprintf("(link/backing_off && !retries_spent || retries_spent > %d || "+
					"(closing || link/backing_off || dial_blocked) && "+
					"!connected_before || "+
					"online && !connected_before) && !ended", tries), "Only a session that lost its connection waits to dial again."},
			{"cut-short", "model_turn && replying && !online && !ended", "A reply whose connection is gone has all it gets."},
			{"going", "(going_away > 1 || last_handle > 1 || connected_before > 1) && !ended",
				"Requests to replace a connection do not add up."},
		},
	} {
		r.states = append(r.states, l...)
	}
	for i := range c.Backoff {
		where := fmt.Sprintf("link/backing_off && retries_spent == %d", i+1)
		if i+1 == tries {
			where = fmt.Sprintf("link/backing_off && retries_spent >= %d", tries)
		}
		name := fmt.Sprintf("retry_%d", i+1)
		r.states = append(r.states, exactly(name, where, "Each try waits longer than the one before.")...)
		r.moves = append(r.moves, rule{name: name, doc: "After the wait the model is dialled.", on: name,
			when: "dial_credit && !(connected_before && !last_handle && (held || protected))", then: "dialling", does: "+dial",
			keeps: "retries_spent last_handle connected_before"})
		r.moves = append(r.moves,
			rule{name: fmt.Sprintf("lose-%d", i), doc: "The session dials again after a wait, and notifies the peer.",
				on: "+link_down", when: fmt.Sprintf("online && retries_spent == %d", i),
				does: "+notify_mode[link_lost] !+dial !+ending",
				then: fmt.Sprintf("link/backing_off && retries_spent == %d", i+1), keeps: "last_handle connected_before"},
			rule{name: fmt.Sprintf("fail-%d", i), doc: "A dial that failed is tried again after a wait.",
				on: "+dialled[unreachable]", when: fmt.Sprintf("dialling && connected_before && retries_spent == %d", i),
				final: true,
				does:  "!+dial !+ending",
				then:  fmt.Sprintf("link/backing_off && retries_spent == %d", i+1), keeps: "last_handle connected_before"})
	}
	r.moves = append(r.moves, dialRules(tries)...)
	r.moves = append(r.moves, lossRules(tries)...)
	return r
}

// dialRules are about the results of a dial.
func dialRules(tries int) []rule {
	up := "+dialled[fresh] +dialled[resumed]"
	return []rule{
		{name: "connect", doc: "A new connection is used; nothing stays pending from the old one.", on: up,
			when: "dialling",
			then: "(online || closing) && connected_before && !dialling && !turn_end_pending && !discarding", does: "+use_link",
			keeps: "retries_spent last_handle"},
		{name: "reconnect", doc: "The peer is notified of a new connection.", on: up, when: "dialling && connected_before",
			does: "+notify_mode[link_back]"},
		{name: "first", doc: "The first connection is not announced.", on: up, when: "dialling && !connected_before",
			does: "!+notify_mode[link_back]"},
		{name: "use", doc: "A connection is used when it was dialled.", on: "+use_link", from: "dialling",
			does: "+dialled"},
		{name: "back", doc: "The peer is notified of a new connection only when there is one.", on: "+notify_mode[link_back]",
			does: "+use_link"},
		{name: "consent_due", doc: "The result of a dial that was not made is ignored.", on: "+dialled", when: "!dialling",
			keeps: linkState,
			does:  "!+use_link !+dial !+turn_again !+notify_mode"},
		{name: "no-model", doc: "A call whose first dial fails ends.", on: "+dialled[unreachable] +dialled[refused]",
			when: "dialling && !connected_before", final: true, then: "ended && model_given_up", does: "+hangup[model_lost]"},
		{name: "exhausted", doc: "After the last try the model is given up.", on: "+dialled[unreachable]",
			when: fmt.Sprintf("dialling && connected_before && retries_spent >= %d", tries), then: "model_given_up && farewell",
			does:  "+ending[model_lost]",
			keeps: "last_handle retries_spent"},
		{name: "refused-handle", doc: "A handle that is refused is dropped, and the model dialled without.",
			on: "+dialled[refused]", when: "dialling && connected_before && last_handle && dial_credit && !(held || protected)",
			then: "dialling && !last_handle", does: "+dial !+ending", keeps: "retries_spent"},
		{name: "turned-away", doc: "A refusal without a handle gives the model up.", on: "+dialled[refused]",
			when: "dialling && connected_before && !last_handle", then: "model_given_up && farewell",
			does:  "+ending[model_lost] !+dial",
			keeps: "retries_spent"},
		{name: "resumes", doc: "A dial resumes with the newest handle.", on: "dial_resuming",
			then: "last_handle && dialling",
			does: "+dial"},
		{name: "afresh", doc: "A dial without a handle begins anew.", on: "dial_afresh dial_first",
			then: "!last_handle && dialling", does: "+dial"},
		{name: "dial", doc: "The model is dialled at the start, after a wait, to replace a connection, without a handle.",
			on: "+dial", then: "dialling && !dial_now && !online"},
		{name: "dial-renews", doc: "A dial clears a pending renewal.", on: "+dial", then: "!renewal || ended"},
		{name: "uplink_held", doc: "A dial that may not send the conversation now is made again when it may.",
			on: "+dialled[withheld]", when: "dialling",
			keeps: "online retries_spent connected_before last_handle model_given_up closing",
			does:  "!+use_link !+notify_mode", then: "dialling || dial_now || dial_blocked"},
		{name: "handle", doc: "The newest handle is kept.", on: "+handle", when: "online", then: "last_handle == 1",
			keeps: "dial_now dial_blocked dialling link/backing_off closing online retries_spent connected_before " +
				"model_given_up going_away"},
		{name: "handle-old", doc: "A handle of a connection that is gone is not kept.", on: "+handle", when: "!online",
			keeps: "last_handle"},
		{name: "handle-only", doc: "A handle is kept until it is refused, or consent is withdrawn.", changed: "last_handle",
			does: "+handle|+dialled[refused]|+drop_uplink"},
	}
}

// creditRules limit how often the session dials the model.
func creditRules(c voicenets.Config) rules {
	r := rules{part: "dials", strict: true}
	r.states = exactly("regain_dial", fmt.Sprintf("dial_credit < %d", c.DialsMax),
		"Another dial may begin after a while.")
	r.moves = []rule{
		{name: "credit", doc: "Credits of dials are spent by dials, and come back with time.", changed: "dial_credit",
			does: "+dial|regain_dial"},
		{name: "regain", doc: "A dial that is due begins with the credit that comes back.", on: "regain_dial",
			when: "dial_now", then: "dialling && !dial_credit", does: "+dial", keeps: "retries_spent connected_before"},
		{name: "dial-late", doc: "Without a credit a dial waits for one.", on: "+dial", when: "!dial_credit",
			does: "regain_dial"},
	}
	for n := range c.DialsMax {
		r.moves = append(r.moves,
			rule{name: fmt.Sprintf("dial-spends-%d", n+1), doc: "A dial spends a credit.", on: "+dial",
				when: fmt.Sprintf("dial_credit == %d", n+1), then: fmt.Sprintf("dial_credit == %d", n)},
			rule{name: fmt.Sprintf("regain-%d", n), doc: "They come back one by one.", on: "regain_dial",
				when: fmt.Sprintf("dial_credit == %d && !dial_now", n), then: fmt.Sprintf("dial_credit == %d", n+1),
				does: "!+dial"})
	}
	return r
}

// lossRules are about connections that break.
func lossRules(tries int) []rule {
	return []rule{
		{name: "lose", doc: "A lost connection leaves no turn end pending.", on: "+link_down", when: "online || closing",
			then: "!turn_end_pending && !discarding && !renewal"},
		{name: "lose-request", doc: "A lost connection need not be replaced.", on: "+link_down", when: "online",
			then: "!going_away && !online"},
		{name: "lose-for-good", doc: "A connection that breaks too often gives the model up.", on: "+link_down",
			when: fmt.Sprintf("online && retries_spent >= %d", tries), then: "model_given_up && farewell",
			does: "+ending[model_lost] +notify_mode[link_lost]", keeps: "retries_spent last_handle"},
		{name: "replaced", doc: "One that was closed is replaced at once.", on: "+link_down", when: "closing && " +
			"dial_credit && !(!last_handle && (held || protected))",
			then: "dialling",
			does: "+dial !+notify_mode", keeps: "retries_spent last_handle connected_before going_away"},
		{name: "replaced-late", doc: "It is replaced when another dial may begin.", on: "+link_down",
			when: "closing && !dial_credit && !(!last_handle && (held || protected))", then: "dial_now",
			does:  "!+dial !+notify_mode",
			keeps: "retries_spent last_handle connected_before going_away"},
		{name: "replaced-after",
			doc: "It is not dialled while a hold or protected input keeps the conversation from leaving.",
			on:  "+link_down", when: "closing && !last_handle && (held || protected)", then: "dial_blocked",
			does: "!+dial !+notify_mode", keeps: "retries_spent last_handle connected_before going_away"},
		{name: "not-there", doc: "A loss without a connection is ignored.", on: "+link_down", when: "!online && !closing",
			keeps: linkState, does: "!+notify_mode !+dial !+ending"},
		{name: "retries_spent",
			doc:     "Tries are counted when a connection breaks or a dial fails, and reset when one lasts.",
			changed: "retries_spent", does: "+link_down|+dialled[unreachable]|count_stable"},
		{name: "stable", doc: "A connection that lasts makes the tries begin anew.", on: "count_stable",
			then:  "!retries_spent && online",
			keeps: "last_handle connected_before going_away"},
		{name: "online", doc: "The connection changes only by its reports.", changed: "online",
			does: "+use_link|+notify_mode[link_lost]"},
		{name: "gone", doc: "The peer is notified of a loss only when there is one.", on: "+notify_mode[link_lost]",
			from: "online || dialling",
			does: "+link_down|+close_link", then: "!online"},
		{name: "model_given_up", doc: "The model is given up when it cannot be reached.", changed: "model_given_up",
			final: true,
			does:  "+link_down|+dialled[unreachable]|+dialled[refused]"},
		{name: "closing", doc: "A connection that is closed is waited for.", changed: "closing",
			does: "+close_link|+link_down"},
		{name: "backing_off", doc: "The session waits to dial again only after a loss.", changed: "link/backing_off",
			does: "+link_down|+dialled[unreachable]|retry_1|retry_2|retry_3"},
	}
}

// restoreRules are about what the session tells a new connection about the caller's turn.
func restoreRules(c voicenets.Config) rules {
	up := "+dialled[fresh] +dialled[resumed]"
	r := rules{part: "restore", states: []claim{
		{"cut-repeated",
			"cut_unreported && online && reply_pending && !(replying || held || protected || unconsented) && !ended",
			"A new connection gets the turn whose reply was cut short at once."},
		{"cut-known", "reply_cut_short && !cut_unreported && !ended",
			"The turn of a reply that is cut short was not repeated yet."},
	}, moves: []rule{
		{name: "open", doc: "A new connection gets the caller's open turn from its start.", on: up,
			when: "dialling && in_turn && !(held || protected || unconsented)",
			does: "+turn_again restore_open_turn !restore_closed_turn", keeps: "in_turn reply_pending model_turn"},
		{name: "closed", doc: "A new connection gets the turn that waits for its reply.", on: up,
			when: "dialling && !in_turn && reply_pending && !replying && !(held || protected || unconsented)",
			does: "+turn_again restore_closed_turn !restore_open_turn",
			then: "reply_pending && model_turn"},
		{name: "nothing", doc: "A new connection gets no other turn.", on: up,
			when: "dialling && !in_turn && (!reply_pending || replying)",
			does: "!restore_open_turn !restore_closed_turn !repeat_cut_turn"},
		{name: "waits", doc: "On hold and during protected input it gets the turn later.", on: up,
			when: "dialling && (held || protected)", then: "restoring || closing"},
		{name: "closed-states", doc: "On hold, during protected input and without consent no turn is repeated.",
			on: "+turn_again", then: "!(held || protected || unconsented)"},
		{name: "again",
			doc: "A turn is repeated only to a new connection, when its reply was cut short, or when a hold " +
				"or protected input is over.", on: "+turn_again", does: "+use_link|+notify_reply[reply_lost]|+release_uplink"},
		{name: "again-once", doc: "A new connection gets a turn once.", on: "restore_closed_turn",
			does: "!repeat_cut_turn", then: "!cut_unreported"},
		{name: "again-there", doc: "A turn is repeated only on a connection.", on: "+turn_again", then: "online || closing"},
		{name: "again-turn", doc: "A repeated turn opens the model's turn.", on: "repeat_cut_turn", then: "model_turn"},
		{name: "cut-kept", doc: "Without a connection the turn of a reply that was cut short is kept for the next.",
			on: "+notify_reply[reply_lost]", when: "!online", then: "cut_unreported && reply_pending || in_turn || unconsented"},
		{name: "cut", doc: "A reply is cut short by a connection that is lost or replaced while the model gives it.",
			on: "+reply_cut_short", does: "+link_down|+close_link|+notify_reply[reply_started]"},
		{name: "cut-end", doc: "The end of such a reply is reported as a loss, and its turn waits for a reply again.",
			on:   "+notify_reply[reply_lost]",
			when: "!unconsented", from: "reply_cut_short || replying",
			then: "!reply_cut_short && (reply_pending || in_turn || unconsented)",
			does: "+reply_pending"},
		{name: "whole", doc: "A reply that was cut short is never reported complete.", on: "+notify_reply[reply_complete]",
			from: "!reply_cut_short"},
	}}
	if !gatewayVAD(c) {
		r.states = append(r.states, claim{"backlog-sent",
			"backlog_due && online && !(held || protected || unconsented) && !ended",
			"The backlog is sent as soon as it may be."})
		r.moves = append(r.moves, rule{name: "backlog", on: "restore_backlog",
			doc:  "The backlog of the time without a connection is sent to the new one.",
			does: "+turn_again", then: "!backlog_due"})
	}
	return r
}

// keptRules are about what the session keeps in case a reply is cut short.
func keptRules() rules {
	return rules{part: "restore", strict: true, states: []claim{
		{"kept", "reply_pending && last_turn != 1 && !ended", "A turn that waits for its reply is kept."},
	}}
}

// rotationRules are about connections that are replaced while they work.
func rotationRules(c voicenets.Config) rules {
	busy := "(" + strings.Join(append([]string{"in_turn", "model_turn", "reply_pending", "speaking"},
		runningToolNames(c)...), " || ") + ")"
	r := rules{part: "rotation"}
	for _, l := range [][]claim{
		exactly("age_link", "online && !going_away", "A connection grows old."),
		exactly("rotate_in_wait", "online && going_away[later] && !"+anyOf("replying", "in_turn", "speaking", running(c)),
			"A request to replace the connection is met soon between replies, and never during a reply."),
		exactly("rotate_soon", "online && going_away[soon]", "An urgent request is met in time, quiet or not."),
		exactly("rotate_later", "online && going_away[later]", "A request is met in time, quiet or not."),
		{{"in-quiet", "online && going_away && !" + busy + " && !ended",
			"A quiet moment is taken to replace a connection."}},
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "close", doc: "A connection that is replaced is closed, and the peer is notified.", on: "+close_link",
			then: "closing && !online && !turn_end_pending && !discarding && !going_away",
			does: "+notify_mode[link_lost] !+dial"},
		{name: "close-keeps", doc: "That counts as no loss.", on: "+close_link",
			when:  "online && !(consent || last_handle)",
			keeps: "retries_spent last_handle connected_before"},
		{name: "reasons", doc: "A connection is replaced on request, or because the model is silent.", on: "+close_link",
			does: "rotate_in_quiet|rotate_in_wait|rotate_soon|rotate_later|renew"},
		{name: "renewal-only", doc: "A connection is replaced without a request only when its renewal is due.", on: "renew",
			when: "!renewal", does: "+renewal"},
		{name: "quiet", doc: "A rotation in quiet happens only in quiet.", on: "rotate_in_quiet", then: "!" + busy},
		{name: "soon", doc: "The wait is over.", on: "rotate_in_wait rotate_soon rotate_later",
			does: "+close_link", then: "closing"},
		{name: "renewal", doc: "A silent model gets a new connection.", on: "+renewal",
			does: "+close_link" + withdrawn + " renew_link" + withdrawn},
		{name: "later", doc: "A request of the model is kept until it is quiet.", on: "+go_away[later]",
			when: "online && !going_away && " + busy, then: "going_away[later] == 1", does: "!+close_link"},
		{name: "note_go_away_soon", doc: "An urgent request replaces another.", on: "+go_away[soon]",
			when: "online && " + busy,
			then: "going_away[soon] == 1 && going_away == 1", does: "!+close_link"},
		{name: "quiet-request", doc: "In quiet a request is met at once.", on: "+go_away", when: "online && !" + busy,
			does: "+close_link",
			then: "closing || online"},
		{name: "again", doc: "A repeated request does not postpone the first.", on: "+go_away[later]", when: "going_away",
			keeps: "going_away online closing"},
		{name: "soon-again", doc: "A repeated request does not postpone an urgent one.", on: "+go_away[soon]",
			when: "going_away[soon]",
			does: "!+going_away"},
		{name: "not-there", doc: "A request without a connection is ignored.", on: "+go_away", when: "!online",
			keeps: linkState,
			does:  "!+close_link"},
		{name: "age", doc: "An old connection is to be replaced.", on: "age_link", when: busy,
			then: "online && going_away[later] == 1 && going_away == 1"},
		{name: "age-quiet", doc: "In quiet it is replaced at once.", on: "age_link", when: "!" + busy, then: "closing",
			does: "+close_link"},
		{name: "going",
			doc:     "A request to replace a connection comes from the model or from age, and ends with the connection.",
			changed: "going_away", does: "+go_away|age_link|+link_down|+close_link"},
	}
	return r
}

// modelSilenceRules are about a model that gives no reply.
func modelSilenceRules(c voicenets.Config) rules {
	quiet := "!" + anyOf("replying", "speaking", "in_turn", "held", "protected", "prompt_due", running(c))
	r := rules{part: "model_silence"}
	for _, l := range [][]claim{
		exactly("nudge", "reply_pending && online && !nudged && "+quiet,
			"A silent model is asked again, unless there is a good reason."),
		exactly("renew_link", "reply_pending && online && nudged && !renewed && "+quiet, "Then it gets a new connection."),
		exactly("play_fallback", "reply_pending && renewed && "+quiet, "Then the caller gets a fallback prompt."),
		exactly("reach_deadline", "reply_pending", "Every turn has a deadline that nothing stops."),
		{
			{"forgets", "(nudged || renewed) && !reply_pending && !ended", "Stages are of the turn that waits."},
			{"empty-turn", "reply_pending && nudged && !model_turn && !ended",
				"A second empty turn of the model counts as its reply."},
			{"overdue", "reply_overdue && !reply_pending && !ended", "Only a pending reply is overdue."},
			{"stages", "nudged > 1 || renewed > 1 || reply_pending > 1 || reply_overdue > 1", "Each stage is reached once."},
		},
	} {
		r.states = append(r.states, l...)
	}
	forbidden := "(replying || speaking || in_turn || held)"
	r.moves = []rule{
		{name: "nudge", doc: "The model is asked again, and its turn is open.", on: "nudge",
			then: "nudged && model_turn && reply_pending",
			does: "+to_model[nudge] !+notify_mode[no_reply]", keeps: "online renewed reply_overdue"},
		{name: "nudge-only", doc: "Nothing else asks again.", on: "+to_model[nudge] +nudged", does: "nudge"},
		{name: "renew", doc: "A new connection is made.", on: "renew_link",
			then: "renewed && closing && nudged && reply_pending", does: "+close_link !+notify_mode[no_reply]"},
		{name: "renew-only", doc: "Nothing else is that stage.", on: "+renewed", does: "renew_link"},
		{name: "speak", doc: "The caller gets a prompt in the model's place, and the peer is notified.", on: "play_fallback",
			then: "!nudged && !renewed" + and(c.Prompts.Has(voicenets.Fallback), "!reply_pending && !model_turn"),
			does: "+notify_mode[no_reply] +prompt_due[fallback]"},
		{name: "deadline", doc: "At the deadline the caller gets a prompt, and the peer is notified.", on: "reach_deadline",
			when: "unanswered && !" + forbidden,
			then: "!reply_overdue && !nudged && !renewed" + and(c.Prompts.Has(voicenets.Fallback),
				"!reply_pending && !model_turn"),
			does: "+notify_mode[no_reply] +prompt_due[fallback]"},
		{name: "deadline-waits", doc: "While no prompt may be played the deadline waits.", on: "reach_deadline",
			when: "(speaking || in_turn || held) && !replying", then: "reply_pending && reply_overdue == 1",
			does: "!+notify_mode[no_reply]"},
		{name: "deadline-late", doc: "A reply that is being played ends first.", on: "reach_deadline", when: "replying",
			then: "reply_pending && reply_overdue", does: "!+notify_mode[no_reply]"},
		{name: "empty", doc: "An empty turn is one only after the model was asked again.", on: "accept_empty_turn",
			from: "nudged"},
		{name: "overdue", doc: "Only the deadline makes a reply overdue.", on: "+reply_overdue", does: "reach_deadline"},
		{name: "connected_before", doc: "An overdue reply ends with a notice or a reply.", changed: "reply_overdue",
			does: "reach_deadline|+notify_mode[no_reply]|+notify_reply|+to_model|+text_up" + withdrawn},
		{name: "no-reply", doc: "Notice that there is no reply is given of a turn that waits.", on: "+notify_mode[no_reply]",
			from: "reply_pending || reply_overdue", then: "!nudged && !renewed"},
		{name: "reply-comes", doc: "It is not given when the reply begins at that moment.", on: "+notify_mode[no_reply]",
			does: "!begin_reply !begin_unrequested_reply"},
		{name: "fallback", doc: "The fallback prompt is played only then, or when the model is lost.",
			on: "+prompt_due[fallback]", does: "+notify_mode[no_reply]|+ending[model_lost]"},
		{name: "fallback-ends-turn", doc: "A fallback prompt ends the model's turn.",
			on:   "play_fallback play_fallback_at_deadline",
			then: "!nudged && !renewed && !reply_overdue" + and(c.Prompts.Has(voicenets.Fallback), "!model_turn")},
		{name: "fallback-at-once", doc: "The fallback prompt is played at once.", on: "play_fallback",
			when: "!parked && !pending_speech", does: "+play_prompt|skip_prompt"},
		{name: "reprompted", doc: "A turn waits on through nudges and new connections.", changed: "reply_pending",
			does: "+notify_reply|+notify_mode[no_reply]|+to_model|+text_up|reach_deadline" + withdrawn},
	}
	if gatewayVAD(c) {
		r.moves = append(r.moves, rule{name: "deadline-noise",
			doc: "For a turn that may have been a noise the peer is notified, without a prompt.",
			on:  "reach_deadline", when: "!unanswered && !greeting_due && !" + forbidden,
			does: "+notify_mode[no_reply] !+prompt_due[fallback]",
			then: "!reply_pending && !reply_overdue && !model_turn && !nudged && !renewed"})
	}
	return r
}
