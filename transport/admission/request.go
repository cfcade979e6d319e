package admission

import (
	"net"
	"net/http"
	"strings"

	"github.com/voicegw/voicegw/transport"
)

// Upgrade returns the refusal of a request that may not be upgraded to a WebSocket, nil if it may.
// For a request that does not ask for a WebSocket, hint follows "this is a WebSocket endpoint" in
// the answer.
func (n Names) Upgrade(r *http.Request, hint string) error {
	if r.Method != http.MethodGet {
		return Refusal(http.StatusMethodNotAllowed, "method %s: a call begins with GET", transport.Cut(r.Method, cutBytes))
	}
	if err := n.Request(r); err != nil {
		return err
	}
	if !HasToken(r.Header, "Upgrade", "websocket") {
		return Refusal(http.StatusUpgradeRequired, "this is a WebSocket endpoint%s", hint)
	}
	return nil
}

// HasToken reports whether a header that is a list of tokens contains this one, in any case.
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

// Remote returns the network address of the far end, without its port.
func Remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return transport.Cut(host, transport.AddressLenMax)
}

// Bearer returns the bearer token of a request, "" for none (RFC 6750 section 2.1); it ignores
// other schemes. ok is false when there is more than one Authorization header, or the token is
// empty or too long.
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
