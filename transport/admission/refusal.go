package admission

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// refusal is a refusal with its own HTTP status.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return r.why }

// Refusal makes an error that [Refuse] answers with this status. Its text, made as by fmt.Sprintf,
// is sent to the client.
func Refusal(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// Status returns the HTTP status of a refusal and its text for the client: those of [Refusal], of a
// *transport.Refused, or of a refused hello. Any other error is internal; its text is not sent.
func Status(err error) (status int, why string) {
	var own *refusal
	var refused *transport.Refused
	var field *transport.FieldError
	switch {
	case errors.As(err, &own):
		return own.status, own.why
	case errors.As(err, &refused):
		return refused.Status(), refused.Text()
	case errors.As(err, &field):
		return transport.ReasonBadHello.Status(), field.Error()
	}
	return transport.ReasonInternal.Status(), transport.ReasonInternal.Message()
}

// Refuse answers a request with the status and the text of err, and with the headers that the
// status needs, unless the endpoint has set its own: Allow, Upgrade, WWW-Authenticate, Retry-After.
func Refuse(w http.ResponseWriter, err error) {
	status, why := Status(err)
	refusalHeaders(w, err, status)
	http.Error(w, why, status)
}

// RefuseWith is Refuse with a body in the form of the endpoint's protocol; Content-Type is set.
func RefuseWith(w http.ResponseWriter, err error, body []byte) {
	status, _ := Status(err)
	refusalHeaders(w, err, status)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// refusalHeaders sets the headers that the status of a refusal needs.
func refusalHeaders(w http.ResponseWriter, err error, status int) {
	set := func(key, value string) {
		if w.Header().Get(key) == "" {
			w.Header().Set(key, value)
		}
	}
	switch status {
	case http.StatusMethodNotAllowed:
		set("Allow", http.MethodGet)
	case http.StatusUpgradeRequired:
		set("Upgrade", "websocket")
		set("Connection", "Upgrade")
	case http.StatusUnauthorized:
		set("WWW-Authenticate", "Bearer")
	}
	var refused *transport.Refused
	if errors.As(err, &refused) && refused.RetryAfter > 0 { // in whole seconds, at least one
		set("Retry-After", strconv.Itoa(int((refused.RetryAfter+time.Second-1)/time.Second)))
	}
}
