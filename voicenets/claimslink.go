package voicenets

import (
	"fmt"
	"strings"
)

// linkState are the places of the connection that tell where it stands.
const linkState = "dial_now dial_barred dial_credit dialling link/waiting closing online spent last_handle " +
	"served lost going_away"

// linkRules are about dialling and losing the connection to the model.
func linkRules(c Config) rules {
	tries := len(c.Backoff)
	r := rules{part: "link"}
	for _, l := range [][]claim{
		exactly("count_stable", "online && spent", "A connection that lasts makes the tries begin anew."),
		{
			{"one", "dial_now + dial_barred + dialling + link/waiting + closing + online + lost != 1 && !ended",
				"There is one connection."},
			{"dials", "(dial_now && dial_credit || dial_barred && !(held || protected) || " +
				"restoring && online && !(held || protected) || renewal && online) && !ended",
				"What is due is done at once, but for a dial behind too many others, and for what would tell what the caller " +
					"said on hold or during protected input."},
			{"waits", fmt.Sprintf("(link/waiting && !spent || spent > %d || (closing || link/waiting) && !served || "+
				"online && !served) && !ended", tries), "Who waits to dial again was connected before, and lost that."},
			{"cut-short", "model_turn && replying && !online && !ended", "A reply whose connection is gone has all it gets."},
			{"going", "(going_away > 1 || last_handle > 1 || served > 1) && !ended", "Wishes do not add up."},
		},
	} {
		r.states = append(r.states, l...)
	}
	for i := range c.Backoff {
		where := fmt.Sprintf("link/waiting && spent == %d", i+1)
		if i+1 == tries {
			where = fmt.Sprintf("link/waiting && spent >= %d", tries)
		}
		name := fmt.Sprintf("retry_%d", i+1)
		r.states = append(r.states, exactly(name, where, "Each try waits longer than the one before.")...)
		r.moves = append(r.moves, rule{name: name, doc: "After the wait the model is dialled.", on: name,
			when: "dial_credit && !(served && !last_handle && (held || protected))", then: "dialling", says: "+dial",
			keeps: "spent last_handle served"})
		r.moves = append(r.moves,
			rule{name: fmt.Sprintf("lose-%d", i), doc: "A lost connection is dialled again after a wait, and the peer told.",
				on: "+link_down", when: fmt.Sprintf("online && spent == %d", i), says: "+tell_mode[link_lost] !+dial !+leaving",
				then: fmt.Sprintf("link/waiting && spent == %d", i+1), keeps: "last_handle served"},
			rule{name: fmt.Sprintf("fail-%d", i), doc: "A dial that failed is tried again after a wait.",
				on: "+dialled[unreachable]", when: fmt.Sprintf("dialling && served && spent == %d", i), final: true,
				says: "!+dial !+leaving",
				then: fmt.Sprintf("link/waiting && spent == %d", i+1), keeps: "last_handle served"})
	}
	r.moves = append(r.moves, dialRules(tries)...)
	r.moves = append(r.moves, lossRules(tries)...)
	return r
}

// dialRules are about what becomes of a dial.
func dialRules(tries int) []rule {
	up := "+dialled[fresh] +dialled[resumed]"
	return []rule{
		{name: "connect", doc: "A connection is used, and what was owed by the old one forgotten.", on: up, when: "dialling",
			then: "(online || closing) && served && !dialling && !owed_end && !discarding", says: "+use_link",
			keeps: "spent last_handle"},
		{name: "reconnect", doc: "The peer is told of a new connection.", on: up, when: "dialling && served",
			says: "+tell_mode[link_back]"},
		{name: "first", doc: "The first connection is no news.", on: up, when: "dialling && !served",
			says: "!+tell_mode[link_back]"},
		{name: "use", doc: "A connection is used when it was dialled.", on: "+use_link", from: "dialling", says: "+dialled"},
		{name: "back", doc: "The peer is told that the connection is back when it is.", on: "+tell_mode[link_back]",
			says: "+use_link"},
		{name: "unasked", doc: "What nobody dialled is ignored.", on: "+dialled", when: "!dialling", keeps: linkState,
			says: "!+use_link !+dial !+turn_again !+tell_mode"},
		{name: "no-model", doc: "A call whose first dial fails ends.", on: "+dialled[unreachable] +dialled[turned_away]",
			when: "dialling && !served", final: true, then: "ended && lost", says: "+hangup[model_lost]"},
		{name: "exhausted", doc: "After the last try the model is given up.", on: "+dialled[unreachable]",
			when: fmt.Sprintf("dialling && served && spent >= %d", tries), then: "lost && parting",
			says:  "+leaving[model_lost]",
			keeps: "last_handle spent"},
		{name: "refused-handle", doc: "A handle that is refused is dropped, and the model dialled without.",
			on: "+dialled[turned_away]", when: "dialling && served && last_handle && dial_credit && !(held || protected)",
			then: "dialling && !last_handle", says: "+dial !+leaving", keeps: "spent"},
		{name: "turned-away", doc: "Who is turned away without a handle gives the model up.", on: "+dialled[turned_away]",
			when: "dialling && served && !last_handle", then: "lost && parting", says: "+leaving[model_lost] !+dial",
			keeps: "spent"},
		{name: "resumes", doc: "A dial resumes with the newest handle.", on: "dial_resuming",
			then: "last_handle && dialling",
			says: "+dial"},
		{name: "afresh", doc: "A dial without a handle begins anew.", on: "dial_afresh dial_first",
			then: "!last_handle && dialling", says: "+dial"},
		{name: "dial", doc: "The model is dialled at the start, after a wait, to replace a connection, without a handle.",
			on: "+dial", then: "dialling && !dial_now && !online"},
		{name: "dial-renews", doc: "A dial meets the wish for a new connection.", on: "+dial", then: "!renewal || ended"},
		{name: "withheld", doc: "A dial that may not tell the conversation now is made again when it may.",
			on: "+dialled[withheld]", when: "dialling", keeps: "online spent served last_handle lost closing",
			says: "!+use_link !+tell_mode", then: "dialling || dial_now || dial_barred"},
		{name: "handle", doc: "The newest handle is kept.", on: "+handle", when: "online", then: "last_handle == 1",
			keeps: "dial_now dial_barred dialling link/waiting closing online spent served lost going_away"},
		{name: "handle-old", doc: "One of a connection that is gone is not.", on: "+handle", when: "!online",
			keeps: "last_handle"},
		{name: "handle-only", doc: "A handle is kept until it is refused, or consent is withdrawn.", changed: "last_handle",
			says: "+handle|+dialled[turned_away]|+drop_uplink"},
	}
}

// creditRules are about how often the model is dialled.
func creditRules(c Config) rules {
	r := rules{part: "dials", strict: true}
	r.states = exactly("regain_dial", fmt.Sprintf("dial_credit < %d", c.DialsMax),
		"Another dial may begin after a while.")
	r.moves = []rule{
		{name: "credit", doc: "Credits of dials are spent by dials, and come back with time.", changed: "dial_credit",
			says: "+dial|regain_dial"},
		{name: "regain", doc: "A dial that is due begins with the credit that comes back.", on: "regain_dial",
			when: "dial_now", then: "dialling && !dial_credit", says: "+dial", keeps: "spent served"},
		{name: "dial-late", doc: "Without a credit a dial waits for one.", on: "+dial", when: "!dial_credit",
			says: "regain_dial"},
	}
	for n := range c.DialsMax {
		r.moves = append(r.moves,
			rule{name: fmt.Sprintf("dial-spends-%d", n+1), doc: "A dial spends a credit.", on: "+dial",
				when: fmt.Sprintf("dial_credit == %d", n+1), then: fmt.Sprintf("dial_credit == %d", n)},
			rule{name: fmt.Sprintf("regain-%d", n), doc: "They come back one by one.", on: "regain_dial",
				when: fmt.Sprintf("dial_credit == %d && !dial_now", n), then: fmt.Sprintf("dial_credit == %d", n+1),
				says: "!+dial"})
	}
	return r
}

// lossRules are about connections that break.
func lossRules(tries int) []rule {
	return []rule{
		{name: "lose", doc: "What a lost connection owed is forgotten.", on: "+link_down", when: "online || closing",
			then: "!owed_end && !discarding && !renewal"},
		{name: "lose-wish", doc: "A lost connection need not be replaced.", on: "+link_down", when: "online",
			then: "!going_away && !online"},
		{name: "lose-for-good", doc: "One that breaks once too often is given up.", on: "+link_down",
			when: fmt.Sprintf("online && spent >= %d", tries), then: "lost && parting",
			says: "+leaving[model_lost] +tell_mode[link_lost]", keeps: "spent last_handle"},
		{name: "replaced", doc: "One that was closed is replaced at once.", on: "+link_down", when: "closing && " +
			"dial_credit && !(!last_handle && (held || protected))",
			then: "dialling",
			says: "+dial !+tell_mode", keeps: "spent last_handle served going_away"},
		{name: "replaced-late", doc: "It is replaced when another dial may begin.", on: "+link_down",
			when: "closing && !dial_credit", then: "dial_now", says: "!+dial !+tell_mode",
			keeps: "spent last_handle served going_away"},
		{name: "not-there", doc: "What is not there is not lost.", on: "+link_down", when: "!online && !closing",
			keeps: linkState, says: "!+tell_mode !+dial !+leaving"},
		{name: "spent", doc: "Tries are counted when a connection breaks or a dial fails, and forgotten when one lasts.",
			changed: "spent", says: "+link_down|+dialled[unreachable]|count_stable"},
		{name: "stable", doc: "A connection that lasts makes the tries begin anew.", on: "count_stable",
			then:  "!spent && online",
			keeps: "last_handle served going_away"},
		{name: "online", doc: "The connection comes and goes by what is told of it.", changed: "online",
			says: "+use_link|+tell_mode[link_lost]"},
		{name: "gone", doc: "The peer is told of a loss when there is one.", on: "+tell_mode[link_lost]",
			from: "online || dialling",
			says: "+link_down|+close_link", then: "!online"},
		{name: "lost", doc: "The model is given up when it cannot be reached.", changed: "lost", final: true,
			says: "+link_down|+dialled[unreachable]|+dialled[turned_away]"},
		{name: "closing", doc: "A connection that is closed is waited for.", changed: "closing",
			says: "+close_link|+link_down"},
		{name: "waiting", doc: "Nobody waits to dial again but after a loss.", changed: "link/waiting",
			says: "+link_down|+dialled[unreachable]|retry_1|retry_2|retry_3"},
	}
}

// restoreRules are about what a new connection is told of the caller's turn.
func restoreRules(c Config) rules {
	up := "+dialled[fresh] +dialled[resumed]"
	r := rules{part: "restore", states: []claim{
		{"cut-told", "untold && online && owing && !(replying || held || protected || unconsented) && !ended",
			"A new connection is told of a turn whose answer was cut short as soon as there is one."},
		{"cut-known", "cut_short && !untold && !ended", "Nobody was told yet of a turn whose answer is cut short."},
	}, moves: []rule{
		{name: "open", doc: "A new connection gets the caller's open turn from its start.", on: up,
			when: "dialling && in_turn && !(held || protected || unconsented)",
			says: "+turn_again restore_open_turn !restore_closed_turn", keeps: "in_turn owing model_turn"},
		{name: "closed", doc: "A new connection gets the turn that waits for its reply.", on: up,
			when: "dialling && !in_turn && owing && !replying && !(held || protected || unconsented)",
			says: "+turn_again restore_closed_turn !restore_open_turn",
			then: "owing && model_turn"},
		{name: "nothing", doc: "It is told no other turn.", on: up, when: "dialling && !in_turn && (!owing || replying)",
			says: "!restore_open_turn !restore_closed_turn !tell_cut_turn"},
		{name: "waits", doc: "On hold and during protected input it is told later.", on: up,
			when: "dialling && (held || protected)", then: "restoring || closing"},
		{name: "closed-states", doc: "On hold, during protected input and without consent nothing is told again.",
			on: "+turn_again", then: "!(held || protected || unconsented)"},
		{name: "again", doc: "A turn is told again only to a new connection, when its reply was cut short, or when a hold " +
			"or protected input is over.", on: "+turn_again", says: "+use_link|+tell_reply[reply_lost]|+release_uplink"},
		{name: "again-once", doc: "A new connection is told of a turn once.", on: "restore_closed_turn",
			says: "!tell_cut_turn", then: "!untold"},
		{name: "again-there", doc: "It is told on a connection alone.", on: "+turn_again", then: "online || closing"},
		{name: "again-turn", doc: "Who is told of a turn has its own.", on: "tell_cut_turn", then: "model_turn"},
		{name: "cut-kept", doc: "Without a connection the turn of a reply that was cut short is kept for the next.",
			on: "+tell_reply[reply_lost]", when: "!online", then: "untold && owing || in_turn || unconsented"},
		{name: "cut", doc: "A reply is cut short by a connection that is lost or replaced while the model gives it.",
			on: "+cut_short", says: "+link_down|+close_link|+tell_reply[reply_started]"},
		{name: "cut-end", doc: "The end of such a reply is told as one, and its turn waits for an answer again.",
			on:   "+tell_reply[reply_lost]",
			when: "!unconsented", from: "cut_short || replying", then: "!cut_short && (owing || in_turn || unconsented)",
			says: "+owing"},
		{name: "whole", doc: "A reply that was cut short is never called complete.", on: "+tell_reply[reply_complete]",
			from: "!cut_short"},
	}}
	if !c.manual() {
		r.states = append(r.states, claim{"backlog-told",
			"untold_audio && online && !(held || protected || unconsented) && !ended", "It is told as soon as it may be."})
		r.moves = append(r.moves, rule{name: "backlog", on: "restore_backlog",
			doc:  "What came while there was no connection is told to the new one.",
			says: "+turn_again", then: "!untold_audio"})
	}
	return r
}

// keptRules are about what is kept in case a reply is cut short.
func keptRules() rules {
	return rules{part: "restore", strict: true, states: []claim{
		{"kept", "owing && last_turn != 1 && !ended", "A turn that waits for its reply is kept."},
	}}
}

// rotationRules are about connections that are replaced while they work.
func rotationRules(c Config) rules {
	busy := "(" + strings.Join(append([]string{"in_turn", "model_turn", "owing", "speaking"}, names(runningSlots(c))...),
		" || ") + ")"
	r := rules{part: "rotation"}
	for _, l := range [][]claim{
		exactly("age_link", "online && !going_away", "A connection grows old."),
		exactly("rotate_in_wait", "online && going_away[later] && !"+anyOf("replying", "in_turn", "speaking", c.running()),
			"A wish is met soon while nobody hears anything, and never in a reply that is being given."),
		exactly("rotate_soon", "online && going_away[soon]", "An urgent wish is met in time, quiet or not."),
		exactly("rotate_later", "online && going_away[later]", "A wish is met in time, quiet or not."),
		{{"in-quiet", "online && going_away && !" + busy + " && !ended",
			"A quiet moment is taken to replace a connection."}},
	} {
		r.states = append(r.states, l...)
	}
	r.moves = []rule{
		{name: "close", doc: "A connection is replaced in order: closed, and the peer told.", on: "+close_link",
			then: "closing && !online && !owed_end && !discarding && !going_away", says: "+tell_mode[link_lost] !+dial"},
		{name: "close-keeps", doc: "That counts as no loss.", on: "+close_link", when: "online && !(consent || last_handle)",
			keeps: "spent last_handle served"},
		{name: "reasons", doc: "A connection is replaced for a wish, or because the model is silent.", on: "+close_link",
			says: "rotate_in_quiet|rotate_in_wait|rotate_soon|rotate_later|renew"},
		{name: "quiet", doc: "A quiet moment is one.", on: "rotate_in_quiet", then: "!" + busy},
		{name: "soon", doc: "The wait is over.", on: "rotate_in_wait rotate_soon rotate_later",
			says: "+close_link", then: "closing"},
		{name: "renewal", doc: "A silent model gets a new connection.", on: "+renewal",
			says: "+close_link" + withdrawn + " renew_link" + withdrawn},
		{name: "later", doc: "The model's wish is kept until it is quiet.", on: "+go_away[later]",
			when: "online && !going_away && " + busy, then: "going_away[later] == 1", says: "!+close_link"},
		{name: "hurry", doc: "An urgent wish comes before another.", on: "+go_away[soon]", when: "online && " + busy,
			then: "going_away[soon] == 1 && going_away == 1", says: "!+close_link"},
		{name: "quiet-wish", doc: "In quiet a wish is met at once.", on: "+go_away", when: "online && !" + busy,
			says: "+close_link",
			then: "closing || online"},
		{name: "again", doc: "A wish that is known is not put off.", on: "+go_away[later]", when: "going_away",
			keeps: "going_away online closing"},
		{name: "soon-again", doc: "Nor is an urgent one put off.", on: "+go_away[soon]", when: "going_away[soon]",
			says: "!+going_away"},
		{name: "not-there", doc: "What is not there does not go away.", on: "+go_away", when: "!online", keeps: linkState,
			says: "!+close_link"},
		{name: "age", doc: "An old connection is to be replaced.", on: "age_link", when: busy,
			then: "online && going_away[later] == 1 && going_away == 1"},
		{name: "age-quiet", doc: "In quiet it is replaced at once.", on: "age_link", when: "!" + busy, then: "closing",
			says: "+close_link"},
		{name: "going", doc: "A wish to be replaced comes from the model or from age, and ends with the connection.",
			changed: "going_away", says: "+go_away|age_link|+link_down|+close_link"},
	}
	return r
}

// modelSilenceRules are about a model that gives no reply.
func modelSilenceRules(c Config) rules {
	quiet := "!" + anyOf("replying", "speaking", "in_turn", "held", "protected", "prompt_due", c.running())
	r := rules{part: "model_silence"}
	for _, l := range [][]claim{
		exactly("nudge", "owing && online && !nudged && "+quiet,
			"A silent model is asked again, unless there is a good reason."),
		exactly("renew_link", "owing && online && nudged && !renewed && "+quiet, "Then it gets a new connection."),
		exactly("speak_for_model", "owing && renewed && "+quiet, "Then it is spoken for."),
		exactly("reach_deadline", "owing", "Every turn has a deadline that nothing stops."),
		{
			{"forgets", "(nudged || renewed) && !owing && !ended", "Stages are of the turn that waits."},
			{"empty-turn", "owing && nudged && !model_turn && !ended",
				"Who answers nothing twice is taken to have nothing to say."},
			{"overdue", "reply_owed && !owing && !ended", "A reply that comes at last is one."},
			{"stages", "nudged > 1 || renewed > 1 || owing > 1 || reply_owed > 1", "Each stage is reached once."},
		},
	} {
		r.states = append(r.states, l...)
	}
	forbidden := "(replying || speaking || in_turn || held)"
	r.moves = []rule{
		{name: "nudge", doc: "The model is asked again, and its turn is open.", on: "nudge",
			then: "nudged && model_turn && owing",
			says: "+to_model[nudge] !+tell_mode[no_reply]", keeps: "online renewed reply_owed"},
		{name: "nudge-only", doc: "Nothing else asks again.", on: "+to_model[nudge] +nudged", says: "nudge"},
		{name: "renew", doc: "A new connection is made.", on: "renew_link", then: "renewed && closing && nudged && owing",
			says: "+close_link !+tell_mode[no_reply]"},
		{name: "renew-only", doc: "Nothing else is that stage.", on: "+renewed", says: "renew_link"},
		{name: "speak", doc: "The caller gets a prompt in the model's place, and is told.", on: "speak_for_model",
			then: "!nudged && !renewed" + and(c.Prompts.Has(Fallback), "!owing && !model_turn"),
			says: "+tell_mode[no_reply] +prompt_due[fallback]"},
		{name: "deadline", doc: "At the deadline the caller gets a prompt, and is told.", on: "reach_deadline",
			when: "said && !" + forbidden,
			then: "!reply_owed && !nudged && !renewed" + and(c.Prompts.Has(Fallback), "!owing && !model_turn"),
			says: "+tell_mode[no_reply] +prompt_due[fallback]"},
		{name: "deadline-waits", doc: "Where nothing may be said it waits.", on: "reach_deadline",
			when: "(speaking || in_turn || held) && !replying", then: "owing && reply_owed == 1",
			says: "!+tell_mode[no_reply]"},
		{name: "deadline-late", doc: "What is being played is heard first.", on: "reach_deadline", when: "replying",
			then: "owing && reply_owed", says: "!+tell_mode[no_reply]"},
		{name: "empty", doc: "An empty turn is one only after the model was asked again.", on: "accept_empty_turn",
			from: "nudged"},
		{name: "overdue", doc: "What is overdue comes from the deadline alone.", on: "+reply_owed", says: "reach_deadline"},
		{name: "served", doc: "What is overdue is said, or a reply came.", changed: "reply_owed",
			says: "reach_deadline|+tell_mode[no_reply]|+tell_reply|+to_model|+text_up" + withdrawn},
		{name: "no-reply", doc: "Notice that there is no reply is given of a turn that waits.", on: "+tell_mode[no_reply]",
			from: "owing || reply_owed", then: "!nudged && !renewed"},
		{name: "reply-comes", doc: "Nor of one whose reply begins at that moment.", on: "+tell_mode[no_reply]",
			says: "!begin_reply !begin_unasked_reply"},
		{name: "fallback", doc: "The model is spoken for only then, or when it is lost.", on: "+prompt_due[fallback]",
			says: "+tell_mode[no_reply]|+leaving[model_lost]"},
		{name: "spoken-for", doc: "Whoever is spoken for at a deadline does not speak.",
			on:   "speak_for_model speak_at_deadline",
			then: "!nudged && !renewed && !reply_owed" + and(c.Prompts.Has(Fallback), "!model_turn")},
		{name: "spoken-now", doc: "The prompt in the model's place is given at once.", on: "speak_for_model",
			when: "!parked && !unheard", says: "+play_prompt|skip_prompt"},
		{name: "asked", doc: "A turn waits on through nudges and new connections.", changed: "owing",
			says: "+tell_reply|+tell_mode[no_reply]|+to_model|+text_up|reach_deadline" + withdrawn},
	}
	if c.manual() {
		r.moves = append(r.moves, rule{name: "deadline-noise",
			doc: "Of a turn that may have been a noise the peer is told, and nobody else.",
			on:  "reach_deadline", when: "!said && !greet && !" + forbidden, says: "+tell_mode[no_reply] !+prompt_due[fallback]",
			then: "!owing && !reply_owed && !model_turn && !nudged && !renewed"})
	}
	return r
}
