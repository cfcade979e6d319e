package console

import "strings"

// goals are the transitions that could end a silence, by base name.
var goals = set("nudge renew_link play_fallback play_fallback_at_deadline begin_reply send_frame " +
	"play_again unpark_reply restore_closed_turn restore_open_turn ask_for_greeting ask_consent reprompt notice_silence " +
	"unblock_dial dial_afresh dial_resuming dial_first start_turn make_request end_reply begin_prompt_ask_consent " +
	"begin_prompt_filler begin_prompt_fallback begin_prompt_reprompt begin_prompt_goodbye begin_prompt_notify " +
	"play_filler type_when_quiet rotate_in_quiet")

// housekeeping are timers that explain no silence, by base name.
var housekeeping = set("regain_dial age_link end_longest_call count_stable end_speech_without_frames presume_played " +
	"unlearn_patient unlearn_very_patient")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// does says what a transition does, by its qualified name.
func does(name string) string {
	if s, ok := deeds[base(name)]; ok {
		return s
	}
	return strings.ReplaceAll(base(name), "_", " ")
}

var deeds = map[string]string{
	"nudge":                       "asks the model again",
	"renew_link":                  "replaces the connection to the model and repeats the turn",
	"play_fallback":               "plays the fallback prompt",
	"play_fallback_at_deadline":   "plays the fallback prompt",
	"reach_deadline":              "gives up waiting for a reply",
	"begin_reply":                 "begins the reply",
	"begin_unrequested_reply":     "begins a reply that nobody asked for",
	"send_frame":                  "hands a frame of the reply to the caller",
	"play_again":                  "hands over again what a pause took back",
	"unpark_reply":                "resumes the reply after a hold",
	"restore_closed_turn":         "repeats the caller's turn to the new connection",
	"restore_open_turn":           "repeats the caller's open turn to the new connection",
	"repeat_cut_turn":             "asks the model to go on with the reply that was cut short",
	"ask_for_greeting":            "asks the model to greet the caller",
	"ask_consent":                 "asks the caller for consent",
	"give_up_on_consent":          "ends the call, because the caller does not consent",
	"reprompt":                    "asks whether the caller is still there",
	"notice_silence":              "notices that the caller is silent",
	"notice_silence_again":        "notices that the caller is still silent",
	"stop_expecting_answer":       "stops expecting an answer",
	"unblock_dial":                "lets the dial begin",
	"dial_afresh":                 "dials the model for a new conversation",
	"dial_resuming":               "dials the model to resume the conversation",
	"dial_first":                  "dials the model",
	"retry":                       "dials the model again",
	"start_turn":                  "opens the caller's turn",
	"make_request":                "asks the model to speak",
	"end_reply":                   "ends the reply",
	"resume_unconfirmed":          "resumes the reply, because no speech was confirmed",
	"end_reply_delay_unconfirmed": "lets the reply begin, because no speech was confirmed",
	"presume_turn_complete":       "ends the reply, because the model stopped sending",
	"forget_turn_end":             "stops waiting for the model's end of an earlier turn",
	"stop_discarding":             "takes the model's audio as the next reply again",
	"time_out_call":               "stops waiting for the function",
	"play_filler":                 "plays the filler prompt",
	"time_out_entry":              "ends the entry of digits",
	"end_turn_brisk":              "ends the caller's turn",
	"end_turn_patient":            "ends the caller's turn",
	"end_turn_very_patient":       "ends the caller's turn",
	"rotate_in_quiet":             "replaces the connection at a quiet moment",
	"rotate_in_wait":              "replaces the connection while a turn waits",
	"rotate_soon":                 "replaces the connection, which is about to end",
	"rotate_later":                "replaces the connection at the latest",
	"end_drain_in_time":           "ends the call, because the gateway shuts down",
	"end_farewell_in_time":        "ends the call, because the farewell takes too long",
	"release_uplink":              "sends the model what waits for it",
	"type_when_quiet":             "sends the model the caller's text",
}

// placeWords says what a token at a place means, by the qualified name of the place.
func placeWords(name string) string {
	s, ok := meanings[base(name)]
	if !ok {
		return name
	}
	return s + " (" + name + ")"
}

var meanings = map[string]string{
	"held":             "the hold",
	"protected":        "the protected input",
	"unconsented":      "the missing consent",
	"tool_running":     "a function that runs",
	"speaking":         "the caller's speech",
	"quiet":            "the caller's silence",
	"in_turn":          "the caller's open turn",
	"reply_pending":    "a turn that waits for its reply",
	"replying":         "a reply that is being played",
	"reply_audio":      "audio of a reply",
	"unacked":          "audio that was handed over and not acknowledged",
	"unplayed":         "audio that a pause took back",
	"confirming":       "the pause",
	"parked":           "the hold, which parks playout",
	"delaying_reply":   "a sound that may be the caller's",
	"model_turn":       "the model's turn",
	"online":           "a connection to the model",
	"renewal":          "a connection that is due to be replaced",
	"prompt_due":       "a prompt that waits",
	"prompting":        "a prompt that is being played",
	"unanswered":       "input of the caller that has no answer",
	"input_closed":     "the closed input gate",
	"entry":            "an entry of digits",
	"ending":           "the end of the call",
	"reprompted":       "the reprompt before",
	"nudged":           "the model having been asked again",
	"renewed":          "the connection having been replaced",
	"reply_cut_short":  "a reply that was cut short",
	"last_handle":      "a handle to resume with",
	"dial_credit":      "a credit for a dial",
	"connected_before": "an earlier connection",
	"going_away":       "a connection that is to be replaced",
	"answer_expected":  "an answer that may still come",
	"discarding":       "audio of an interrupted reply",
	"pending_text":     "a text that waits",
	"pending_request":  "a request to speak",
	"silence_noticed":  "a silence that was noticed",
	"firm":             "a reply that must not be interrupted",
}
