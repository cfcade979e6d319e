package live

import (
	"fmt"
	"strings"
	"time"
)

// Class is the kind of failure that ended a connection. It says what may help.
type Class uint8

// The classes of a CloseError.
const (
	ClassPayload Class = iota + 1 // the model refused a message: do not send the same again
	ClassKey                      // the model refused the API key: a person must correct it
	ClassModel                    // the model does not exist or lacks a feature: a person must correct it
	ClassBackend                  // the model's service failed: try once more, later
	ClassNetwork                  // the connection broke, or could not be opened: try again
	ClassEnded                    // a normal end, by either side
	ClassTimeout                  // no answer in time: try again
	ClassHandle                   // the model does not know Setup.Handle, or no longer: dial without it
)

var classes = [...]string{"", "payload", "key", "model", "backend", "network", "ended", "timeout", "handle"}

// String returns the name of the class, such as "backend".
func (c Class) String() string {
	if int(c) < len(classes) && c > 0 {
		return classes[c]
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// CloseError says why a connection ended or could not be opened.
type CloseError struct {
	// Code is the WebSocket close code (1006 if there was no close frame), the HTTP status of a
	// refused upgrade (below 1000), or 0.
	Code int
	// Reason is the text of the model, without the API key. It may be empty.
	Reason string
	// Class says what may help.
	Class Class
	// Err is the local cause, or nil.
	Err error

	phase phase
	host  string        // of the dial
	model string        // of the setup
	limit time.Duration // that was reached, for ClassTimeout
}

// phase is the stage in which a connection failed.
type phase uint8

const (
	phaseCall phase = iota
	phaseDial
	phaseSetup
)

// Error returns "live: " and Message.
func (e *CloseError) Error() string { return "live: " + e.Message() }

// Unwrap returns Err.
func (e *CloseError) Unwrap() error { return e.Err }

// Message says what happened, with the text of the model if there is one, and what may help. It is
// for people.
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
		return fmt.Sprintf("the model %q is not available", e.model)
	case ClassHandle:
		return "the model does not know the conversation to resume"
	case ClassPayload:
		return [...]string{"the model refused what was sent", e.host + " has no Gemini Live service at this address",
			"the model refused the setup"}[e.phase]
	case ClassBackend:
		return "the model's service failed"
	case ClassNetwork:
		return [...]string{"the connection to the model broke", "cannot reach the model at " + e.host,
			"the connection to the model broke before the setup was answered"}[e.phase]
	case ClassTimeout:
		return fmt.Sprintf([...]string{"the model sent nothing, or read nothing, for %v",
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
		return "check the settings: the model would refuse the same message again"
	case ClassBackend:
		// The service has one close code for all of these; only its text tells them apart. TestSetupRefused pins it.
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
		return "start a new one"
	case ClassTimeout:
		return "check the network, or try again"
	}
	return ""
}

// classify returns the class of a close by the model. The meaning of a code depends on the reason
// and on the phase. The texts are from reports about the service.
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

// classifyHTTP returns the class of a refused upgrade.
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
