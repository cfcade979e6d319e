package httpdoor

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// NoUpgrade is the HTTP status and the reason for which a request is not upgraded to a WebSocket, 0 when it may be.
func (n Names) NoUpgrade(r *http.Request) (status int, why string) {
	if r.Method != http.MethodGet {
		return http.StatusMethodNotAllowed, fmt.Sprintf("method %s: a call begins with GET", Cut(r.Method))
	}
	if status, why = n.Refusal(r); status == 0 && !HasToken(r.Header, "Upgrade", "websocket") {
		return http.StatusUpgradeRequired, "this is a WebSocket endpoint"
	}
	return status, why
}

// HasToken reports whether a header that is a list of tokens has this one, in whatever case.
func HasToken(h http.Header, key, token string) bool {
	for _, line := range h.Values(key) {
		for t := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// Remote is the network address of the far end, without its port.
func Remote(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// Bearer is the bearer token of a request, "" for none (RFC 6750 section 2.1); what another scheme shows is none of a
// door's business. ok is false when there is more than one Authorization, or a token that is empty or too long.
func Bearer(h http.Header) (token string, ok bool) {
	all := h.Values("Authorization")
	if len(all) == 0 {
		return "", true
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	switch token = strings.TrimSpace(token); {
	case len(all) > 1:
		return "", false
	case !strings.EqualFold(scheme, "Bearer"):
		return "", true
	case token == "" || len(token) > transport.TokenLenMax:
		return "", false
	}
	return token, true
}

// Refuse answers a request with an error that a person can read, and the headers that its status wants.
func Refuse(w http.ResponseWriter, status int, why string) {
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodGet)
	case http.StatusUpgradeRequired:
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
	case http.StatusUnauthorized:
		if w.Header().Get("WWW-Authenticate") == "" { // a door may want something else
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	http.Error(w, why, status)
}

// RefuseLine answers a request that got no line, with the status of the *transport.Refused and when to come again. Any
// other error is a mistake of ours and is not told.
func RefuseLine(w http.ResponseWriter, err error) {
	refused := &transport.Refused{Reason: transport.ReasonInternal}
	errors.As(err, &refused)
	if after := refused.RetryAfter; after > 0 { // whole seconds, at least one
		w.Header().Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
	}
	Refuse(w, refused.Status(), refused.Text())
}
