package phone

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport/httpdoor"
)

// NoStream is the status and the reason for which a request is no stream of a carrier's whoever sends it, 0 when it may
// be one. Pages are refused: a carrier sends no Origin. So is a request by another name than those of the server.
func NoStream(r *http.Request, hosts []string) (status int, why string) {
	status, why = httpdoor.Names{Hosts: hosts, Origins: []string{"*"}}.Refusal(r)
	switch {
	case r.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, "a stream begins with GET"
	case len(r.Header.Values("Origin")) > 0:
		return http.StatusForbidden, "pages may not call here"
	case status != 0:
		return status, why
	case !httpdoor.HasToken(r.Header, "Upgrade", "websocket"):
		return http.StatusUpgradeRequired, "this is a WebSocket endpoint for carriers' media streams"
	}
	return 0, ""
}

// SameSecret compares in a time that does not depend on where the two differ. An empty secret is never given.
func SameSecret(given, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// OnLoopback reports whether the connection of a request came in on an address of this machine alone.
func OnLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	host, _, err := net.SplitHostPort(local.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// Cut makes UTF-8 of at most lenMax bytes of what came from outside.
func Cut(s string, lenMax int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= lenMax {
		return s
	}
	for lenMax > 0 && !utf8.RuneStart(s[lenMax]) {
		lenMax--
	}
	return s[:lenMax]
}
