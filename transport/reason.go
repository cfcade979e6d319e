package transport

// Reason is why a call ended, or was refused. Its wire name is String, its WebSocket close code is Code. The zero value
// is no reason at all.
type Reason uint8

// The reasons a call may end with. docs/protocol.md says when each is given.
const (
	ReasonNone Reason = iota
	ReasonCallerHungUp
	ReasonDone
	ReasonGoingAway
	ReasonBadAudio
	ReasonBadJSON
	ReasonMessageTooBig
	ReasonInternal
	ReasonBusy
	ReasonBadHello
	ReasonAudioBeforeReady
	ReasonSecondHello
	ReasonEventBeforeHello
	ReasonModelRefused
	ReasonModelTimeout
	ReasonModelLost
	ReasonHelloTimeout
	ReasonPeerStalled
	ReasonIdleTimeout
	ReasonMaxDuration
	ReasonPeerLost // the connection broke without a word; never on the wire
	ReasonTransferred
	ReasonCallerSilent
	ReasonNoConsent
	ReasonUnauthorized
	ReasonLimit
	ReasonRecordLost
	reasonCount
)

// reasonInfo is one line of the table of reasons in docs/protocol.md.
type reasonInfo struct {
	name    string
	code    int
	message string
}

// info returns the reason's line of the table. A switch instead of a map keeps the package without state.
func (r Reason) info() reasonInfo {
	switch r {
	case ReasonCallerHungUp:
		return reasonInfo{"caller_hung_up", 1000, "The caller hung up."}
	case ReasonDone:
		return reasonInfo{"done", 1000, "The call is over."}
	case ReasonGoingAway:
		return reasonInfo{"going_away", 1001, "The server is shutting down. Call again in a moment."}
	case ReasonBadAudio:
		return reasonInfo{"bad_audio", 1007, "The audio sent is not 16-bit PCM of at most one second a message."}
	case ReasonBadJSON:
		return reasonInfo{"bad_json", 1007, "An event sent is not valid."}
	case ReasonMessageTooBig:
		return reasonInfo{"message_too_big", 1009, "A message sent is longer than the server takes."}
	case ReasonInternal:
		return reasonInfo{"internal", 1011, "The server made a mistake. It is not your fault; call again."}
	case ReasonRecordLost:
		return reasonInfo{"record_lost", 1011, "The call had to end because it can no longer be recorded."}
	case ReasonBusy:
		return reasonInfo{"busy", 1013, "All lines are in use. Try again in a moment."}
	case ReasonTransferred:
		return reasonInfo{"transferred", 1000, "Somebody else takes the call."}
	case ReasonCallerSilent:
		return reasonInfo{"caller_silent", 1000, "Nothing was heard from the caller for too long."}
	case ReasonNoConsent:
		return reasonInfo{"no_consent", 1000, "The caller did not agree to be listened to."}
	case ReasonLimit:
		return reasonInfo{"limit", 1013, "You have as many calls as you may. Try again later."}
	default:
		return r.privateInfo()
	}
}

// privateInfo is the half of the table with close codes of our own, 4000 and up.
func (r Reason) privateInfo() reasonInfo {
	switch r {
	case ReasonBadHello:
		return reasonInfo{"bad_hello", 4000, "The server does not have what the hello asks for."}
	case ReasonAudioBeforeReady:
		return reasonInfo{"audio_before_ready", 4001, "Audio was sent before the server was ready."}
	case ReasonSecondHello:
		return reasonInfo{"second_hello", 4001, "A second hello was sent in one call."}
	case ReasonEventBeforeHello:
		return reasonInfo{"event_before_hello", 4001, "The first message of a call must be a hello."}
	case ReasonModelRefused:
		return reasonInfo{"model_refused", 4002, "The model refused the call."}
	case ReasonModelTimeout:
		return reasonInfo{"model_timeout", 4002, "The model did not answer in time."}
	case ReasonModelLost:
		return reasonInfo{"model_lost", 4002, "The connection to the model was lost."}
	case ReasonHelloTimeout:
		return reasonInfo{"hello_timeout", 4003, "No hello came in time."}
	case ReasonPeerStalled:
		return reasonInfo{"peer_stalled", 4004, "Your side stopped taking what was sent to it."}
	case ReasonIdleTimeout:
		return reasonInfo{"idle_timeout", 4005, "Nothing was heard from your side for too long."}
	case ReasonMaxDuration:
		return reasonInfo{"max_duration", 4006, "The call reached its longest duration."}
	case ReasonPeerLost:
		return reasonInfo{"peer_lost", 1006, "The connection was lost."}
	case ReasonUnauthorized:
		return reasonInfo{"unauthorized", 4007, "You may not make this call."}
	default:
		return reasonInfo{"", 1011, "The call ended for an unknown reason."}
	}
}

// String is the name on the wire (`caller_hung_up`), "" for an unknown reason.
func (r Reason) String() string { return r.info().name }

// Code is the WebSocket close code, 1000-1013 or 4000-4007. [ReasonPeerLost] has 1006, which is never sent.
func (r Reason) Code() int { return r.info().code }

// Message is a sentence for people, to be used where nothing more exact is known.
func (r Reason) Message() string { return r.info().message }

// Failure reports whether the far end is told with an `error` event before the `bye`: true for everything that is not
// an ordinary end (hang-up, done, transferred, going away, longest duration, silence, no consent).
func (r Reason) Failure() bool {
	switch r {
	case ReasonNone, ReasonCallerHungUp, ReasonDone, ReasonGoingAway, ReasonMaxDuration, ReasonTransferred,
		ReasonCallerSilent, ReasonNoConsent:
		return false
	}
	return true
}

// ParseReason returns the reason with this name on the wire, and whether there is one.
func ParseReason(name string) (Reason, bool) {
	for r := ReasonNone + 1; r < reasonCount; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return ReasonNone, false
}
