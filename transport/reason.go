package transport

// Reason is why a call ended, or was refused. One table maps it to what each protocol sends: a
// name, close codes, an HTTP status and a text. The zero value is no reason at all.
type Reason uint8

// The reasons a call may end with. docs/protocol.md says when the gateway gives each one.
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
	ReasonPeerLost // the connection broke without a close; never on the wire
	ReasonTransferred
	ReasonCallerSilent
	ReasonNoConsent
	ReasonUnauthorized
	ReasonLimit
	ReasonRecordLost
	ReasonSuperseded
	ReasonNotResumable
	reasonCount
)

// reasonInfo is one row of the table of reasons in docs/protocol.md.
type reasonInfo struct {
	name     string
	code     int  // the close code of voicegw.v1
	standard int  // the nearest close code of RFC 6455 section 7.4.1
	status   int  // the HTTP status
	failure  bool // an `error` event precedes the `bye`
	message  string
}

// info returns the row of the reason in the table.
func (r Reason) info() reasonInfo {
	const ok, failure = false, true
	table := [reasonCount]reasonInfo{
		ReasonNone:         {"", 1011, 1011, 500, ok, "The call ended for an unknown reason."},
		ReasonCallerHungUp: {"caller_hung_up", 1000, 1000, 500, ok, "The caller hung up."},
		ReasonDone:         {"done", 1000, 1000, 500, ok, "The call is over."},
		ReasonGoingAway: {"going_away", 1001, 1001, 503, ok,
			"The server is shutting down. Call again in a moment."},
		ReasonBadAudio: {"bad_audio", 1007, 1007, 500, failure,
			"The audio sent is not 16-bit PCM of at most one second a message."},
		ReasonBadJSON: {"bad_json", 1007, 1007, 500, failure, "An event sent is not valid."},
		ReasonMessageTooBig: {"message_too_big", 1009, 1009, 500, failure,
			"A message sent is longer than the server takes."},
		ReasonInternal: {"internal", 1011, 1011, 500, failure,
			"The server made a mistake. It is not your fault; call again."},
		ReasonBusy: {"busy", 1013, 1013, 503, failure, "All lines are in use. Try again in a moment."},
		ReasonBadHello: {"bad_hello", 4000, 1007, 400, failure,
			"The server does not have what the hello asks for."},
		ReasonAudioBeforeReady: {"audio_before_ready", 4001, 1007, 500, failure,
			"Audio was sent before the server was ready."},
		ReasonSecondHello: {"second_hello", 4001, 1007, 500, failure, "A second hello was sent in one call."},
		ReasonEventBeforeHello: {"event_before_hello", 4001, 1007, 500, failure,
			"The first message of a call must be a hello."},
		ReasonModelRefused: {"model_refused", 4002, 1011, 500, failure, "The model refused the call."},
		ReasonModelTimeout: {"model_timeout", 4002, 1011, 500, failure, "The model did not answer in time."},
		ReasonModelLost:    {"model_lost", 4002, 1011, 500, failure, "The connection to the model was lost."},
		ReasonHelloTimeout: {"hello_timeout", 4003, 1008, 500, failure, "No hello came in time."},
		ReasonPeerStalled: {"peer_stalled", 4004, 1008, 500, failure,
			"Your side stopped taking what was sent to it."},
		ReasonIdleTimeout: {"idle_timeout", 4005, 1008, 500, failure,
			"Nothing was heard from your side for too long."},
		ReasonMaxDuration: {"max_duration", 4006, 1000, 500, ok, "The call reached its longest duration."},
		ReasonPeerLost:    {"peer_lost", 1006, 1006, 500, failure, "The connection was lost."},
		ReasonTransferred: {"transferred", 1000, 1000, 500, ok, "Somebody else takes the call."},
		ReasonCallerSilent: {"caller_silent", 1000, 1000, 500, ok,
			"Nothing was heard from the caller for too long."},
		ReasonNoConsent:    {"no_consent", 1000, 1000, 500, ok, "The caller did not agree to be listened to."},
		ReasonUnauthorized: {"unauthorized", 4007, 1008, 401, failure, "You may not make this call."},
		ReasonLimit: {"limit", 1013, 1013, 429, failure,
			"You have as many calls as you may. Try again later."},
		ReasonRecordLost: {"record_lost", 1011, 1011, 500, failure,
			"The call had to end because it can no longer be recorded."},
		ReasonSuperseded: {"superseded", 4008, 1008, 500, failure,
			"The call goes on over another connection."},
		ReasonNotResumable: {"not_resumable", 4009, 1008, 404, failure,
			"There is no call to go on with. Begin a new one."},
	}
	if r >= reasonCount {
		return table[ReasonNone]
	}
	return table[r]
}

// String returns the name on the wire (`caller_hung_up`), "" for an unknown reason.
func (r Reason) String() string { return r.info().name }

// Code returns the close code of voicegw.v1, 1000-1013 or 4000-4007. [ReasonPeerLost] has 1006,
// which is never sent.
func (r Reason) Code() int { return r.info().code }

// StandardCode returns the nearest close code of RFC 6455 section 7.4.1, for other protocols.
func (r Reason) StandardCode() int { return r.info().standard }

// Status returns the HTTP status of a request that is refused for this reason: 503 for busy and
// going away, 429 for a limit, 401 for unauthorized, 400 for a bad hello, 500 for any other.
func (r Reason) Status() int { return r.info().status }

// Message returns a sentence for people, for use when nothing more exact is known.
func (r Reason) Message() string { return r.info().message }

// Failure reports whether the far end gets an `error` event before the `bye`. It is false for the
// ordinary ends: hang-up, done, transferred, going away, longest duration, silence, no consent.
func (r Reason) Failure() bool { return r.info().failure }

// ParseReason returns the reason with this name on the wire, and whether there is one.
func ParseReason(name string) (Reason, bool) {
	for r := ReasonNone + 1; r < reasonCount; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return ReasonNone, false
}
