package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is the kind of an Error. The kinds are the same for all providers.
type Code string

// The kinds of errors. Those marked "again" are worth another attempt.
const (
	Unsupported     Code = "unsupported"     // the request asks for something that the provider does not have
	Invalid         Code = "invalid"         // the provider refused the request, such as the schema of a tool
	Unauthenticated Code = "unauthenticated" // the key is missing or wrong
	Forbidden       Code = "forbidden"       // the key may not use the model
	NotFound        Code = "not_found"       // there is no such model
	OutOfQuota      Code = "out_of_quota"    // the account has nothing left
	TimedOut        Code = "timed_out"       // again: the provider was silent for too long
	RateLimited     Code = "rate_limited"    // again: too many requests
	Failed          Code = "failed"          // again: the provider failed
	Overloaded      Code = "overloaded"      // again: the provider has no room
	Disconnected    Code = "disconnected"    // again: the connection failed or broke
	Incomplete      Code = "incomplete"      // again: the response ended too early
	Malformed       Code = "malformed"       // again: the response cannot be read
	MalformedCall   Code = "malformed_call"  // again: the arguments of a call are no JSON object
	TooLong         Code = "too_long"        // the response exceeds Limits
)

// again tells whether another attempt may succeed.
func (c Code) again() bool {
	switch c {
	case TimedOut, RateLimited, Failed, Overloaded, Disconnected, Incomplete, Malformed, MalformedCall:
		return true
	}
	return false
}

// Error is the failure of a request to a provider. Its text contains no key.
type Error struct {
	Provider   string
	Code       Code
	Status     int           // HTTP status; 0 if there was none
	Reason     string        // the provider's own code or type of the error
	Message    string        // the provider's words, at most 500 bytes
	RequestID  string        // the provider's id of the request
	RetryAfter time.Duration // how long the provider asks to wait; 0 if it does not say
	Retryable  bool          // another attempt may succeed
	Attempts   int           // how many attempts were made
	Err        error         // what happened on this side, if anything
}

// Error returns the failure as one line.
func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "provider: %s: %s", e.Provider, e.Code)
	if e.Status != 0 {
		fmt.Fprintf(&s, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s.WriteString(": " + e.Message)
	}
	if e.RequestID != "" {
		s.WriteString(" [request " + e.RequestID + "]")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&s, " after %d attempts", e.Attempts)
	}
	return s.String()
}

// Unwrap returns what happened on this side.
func (e *Error) Unwrap() error { return e.Err }

// newError returns an error of one kind.
func newError(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Retryable: code.again(), Message: fmt.Sprintf(format, args...)}
}

// asError returns an error as an *Error; one that is none is of the kind Malformed. It does not quote
// the text of such an error, because decoders quote what they read.
func asError(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		with := *e
		return &with
	}
	e := newError(Malformed, "the response cannot be read")
	e.Err = err
	return e
}

// reasons maps the words of providers to kinds. The first that is contained in a reason counts.
func reasons() []struct {
	word string
	code Code
} {
	return []struct {
		word string
		code Code
	}{
		{"insufficient_quota", OutOfQuota}, {"billing", OutOfQuota},
		{"overloaded", Overloaded}, {"unavailable", Overloaded},
		{"rate_limit", RateLimited}, {"resource_exhausted", RateLimited}, {"too_many_requests", RateLimited},
		{"authentication", Unauthenticated}, {"unauthenticated", Unauthenticated}, {"invalid_api_key", Unauthenticated},
		{"permission", Forbidden}, {"not_found", NotFound},
		{"timeout", TimedOut}, {"deadline_exceeded", TimedOut},
		{"invalid_function_call", MalformedCall}, {"error parsing tool call", MalformedCall},
		{"invalid", Invalid}, {"context_length_exceeded", Invalid}, {"failed_precondition", Invalid},
	}
}

// classify finds the kind of an error by its HTTP status, and without one, or for one that says little,
// by the provider's reason.
func classify(status int, reason string) Code {
	word := Failed
	for _, r := range reasons() {
		if strings.Contains(strings.ToLower(reason), r.word) {
			word = r.code
			break
		}
	}
	switch {
	case status == 0, status == http.StatusTooManyRequests && word == OutOfQuota, word == MalformedCall:
		return word
	case status == http.StatusUnauthorized:
		return Unauthenticated
	case status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return Forbidden
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return TimedOut
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusServiceUnavailable, status == 529: // 529: Anthropic's "overloaded"
		return Overloaded
	case status >= 500:
		return Failed
	}
	return Invalid
}

// parseFault reads an error that a provider wrote in a body or in an event: {"error": {...}},
// {"error": "text"}, or the fields alone. The fields are code, status, type, message and details.
func parseFault(status int, body []byte) *Error {
	body = bytes.Trim(body, "[] \r\n\t")
	var fields, inner map[string]json.RawMessage
	text := ""
	switch {
	case json.Unmarshal(body, &text) == nil:
	case json.Unmarshal(body, &fields) != nil: // a proxy's page
		text = string(body)
	case json.Unmarshal(fields["error"], &text) == nil:
	case json.Unmarshal(fields["error"], &inner) == nil && inner != nil:
		fields = inner
	}
	word := func(key string) (s string) {
		if json.Unmarshal(fields[key], &s) != nil {
			return ""
		}
		return s
	}
	kind, number := status, 0
	if json.Unmarshal(fields["code"], &number) == nil && status == 0 && number >= 400 && number < 600 {
		kind = number // in a stream; the HTTP status was a success
	}
	e := &Error{Status: status, Reason: firstOf(word("code"), word("status"), word("type")),
		Message: firstOf(word("message"), text)}
	e.Code = classify(kind, strings.Join([]string{word("code"), word("status"), word("type"), text}, " "))
	e.Retryable = e.Code.again()
	var details []struct {
		RetryDelay string `json:"retryDelay"` // google.rpc.RetryInfo
	}
	if json.Unmarshal(fields["details"], &details) == nil {
		for _, d := range details {
			if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
				e.RetryAfter = wait
			}
		}
	}
	return e
}

// responseError reads the error of a response with a status that is no success.
func responseError(resp *http.Response, body []byte, now time.Time) *Error {
	e := parseFault(resp.StatusCode, body)
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	e.RequestID = requestID(resp.Header)
	if wait := retryAfter(resp.Header, now); wait > 0 {
		e.RetryAfter = wait
	}
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		e.Retryable = true
	case "false":
		e.Retryable = false
	}
	return e
}

func requestID(h http.Header) string {
	return firstOf(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("X-Goog-Request-Id"))
}

// retryAfter reads how long to wait: milliseconds, seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// firstOf returns the first text that is not empty.
func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
