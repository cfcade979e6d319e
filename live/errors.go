package live

import (
	"fmt"
	"strings"
	"time"
)

// Class says what kind of failure ended a connection, and so what may help.
type Class uint8

// The classes of a CloseError.
const (
	ClassPayload Class = iota + 1 // the model refused what we sent: never send the same again
	ClassKey                      // the model refused the API key: only a person can help
	ClassModel                    // the model does not exist or cannot do this: only a person can help
	ClassBackend                  // the model's service failed: worth one more try, later
	ClassNetwork                  // the connection broke or never came about: worth another try
	ClassEnded                    // an orderly end, by the model or by us
	ClassTimeout                  // no answer in time: worth another try
	ClassHandle                   // the model does not know Setup.Handle, or no longer: dial without it
)

var classes = [...]string{"", "payload", "key", "model", "backend", "network", "ended", "timeout", "handle"}

// String names the class, as in "backend".
func (c Class) String() string {
	if int(c) < len(classes) && c > 0 {
		return classes[c]
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// CloseError says how a connection ended, or why it never came about.
type CloseError struct {
	// Code is the WebSocket close code (1006 when the connection just broke), the HTTP status when the upgrade was
	// refused (below 1000), or 0 when there was neither.
	Code int
	// Reason is the other side's own text, which may be empty, with the API key blotted out.
	Reason string
	Class  Class
	// Err is the cause on our side, if any; errors.Is sees through it.
	Err error

	phase phase
	host  string        // whom we dialled
	model string        // which model we asked for
	limit time.Duration // which limit was reached, for ClassTimeout
}

// phase is how far a connection had come.
type phase uint8

const (
	phaseCall phase = iota
	phaseDial
	phaseSetup
)

// Error is "live: " and the Message.
func (e *CloseError) Error() string { return "live: " + e.Message() }

// Unwrap returns Err.
func (e *CloseError) Unwrap() error { return e.Err }

// Message says for people what happened, in the other side's own words where there are any, and what may help.
func (e *CloseError) Message() string {
	var b strings.Builder
	b.WriteString(e.what())
	if detail := e.detail(); detail != "" {
		b.WriteString(" (" + detail + ")")
	}
	if advice := e.advice(); advice != "" {
		b.WriteString("; " + advice)
	}
	return b.String()
}

func (e *CloseError) what() string {
	switch e.Class {
	case ClassKey:
		if e.phase == phaseDial && e.Code == 0 {
			return "there is no access token for the model"
		}
		return "the model refused the API key"
	case ClassModel:
		return fmt.Sprintf("the model %q cannot be had", e.model)
	case ClassHandle:
		return "the model does not know the conversation that was to go on"
	case ClassPayload:
		return [...]string{"the model refused what was sent", e.host + " has no Gemini Live service at this address",
			"the model refused the setup"}[e.phase]
	case ClassBackend:
		return "the model's service failed"
	case ClassNetwork:
		return [...]string{"the connection to the model broke", "cannot reach the model at " + e.host,
			"the connection to the model broke before the setup was answered"}[e.phase]
	case ClassTimeout:
		return fmt.Sprintf([...]string{"the model was silent or stopped reading for %v",
			e.host + " did not answer within %v", "the model did not answer the setup within %v"}[e.phase], e.limit)
	}
	return "the conversation with the model has ended"
}

func (e *CloseError) detail() string {
	var parts []string
	switch {
	case e.Code >= 1000:
		parts = append(parts, fmt.Sprintf("close %d", e.Code))
	case e.Code > 0:
		parts = append(parts, fmt.Sprintf("HTTP %d", e.Code))
	}
	if e.Reason != "" {
		parts = append(parts, fmt.Sprintf("%q", e.Reason))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

func (e *CloseError) advice() string {
	switch e.Class {
	case ClassKey:
		return "check that the key is complete, has not expired and may use the Gemini API"
	case ClassModel:
		return "name a model that supports bidiGenerateContent"
	case ClassPayload:
		if e.phase == phaseDial {
			return "check the base URL"
		}
		return "check the settings; the same message would be refused again"
	case ClassBackend:
		if strings.Contains(strings.ToLower(e.Reason), "quota") {
			return "the quota of the key is used up: wait, or raise it"
		}
		return "try again in a moment"
	case ClassNetwork:
		if e.phase == phaseDial {
			return "check the network, the base URL and any proxy"
		}
		return "try again"
	case ClassHandle:
		return "begin a new one"
	case ClassTimeout:
		return "check the network, or try again"
	}
	return ""
}

// classify sorts a close of the model. What a code means depends on the reason, and on whether the setup was accepted.
// The texts are those the service has been seen to use.
func classify(code int, reason string, p phase) Class {
	text := strings.ToLower(reason)
	switch {
	case code == 1000 || code == 1001:
		return ClassEnded
	case containsAny(text, "api key", "api_key", "unregistered callers", "unauthenticated", "authentication",
		"permission denied", "permission_denied", "does not have permission"):
		return ClassKey
	case code == 1006:
		return ClassNetwork
	case containsAny(text, "is not found for api version", "not supported for bidigeneratecontent"):
		return ClassModel
	case code == 1011 || containsAny(text, "quota", "deadline expired", "unavailable"):
		return ClassBackend
	case code == 1008 && p == phaseSetup:
		return ClassModel
	case code == 1008:
		return ClassBackend
	case code == 1003 || code == 1007 || code == 1009:
		return ClassPayload
	}
	return ClassBackend
}

// classifyHTTP sorts a refused upgrade.
func classifyHTTP(status int) Class {
	switch {
	case status == 401 || status == 403:
		return ClassKey
	case status == 429 || status >= 500:
		return ClassBackend
	}
	return ClassPayload
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
