package phone

import (
	"crypto/subtle"
	"net"
	"net/http"

	"github.com/voicegw/voicegw/transport/admission"
)

// Admit returns the refusal of a request that cannot be a carrier's stream, whoever sends it; nil
// if it can. It refuses requests with an Origin, because pages send one and carriers do not. It
// also refuses a host name that is not the server's.
func Admit(r *http.Request, hosts []string) error {
	switch {
	case r.Method != http.MethodGet:
		return admission.Refusal(http.StatusMethodNotAllowed, "a stream begins with GET")
	case len(r.Header.Values("Origin")) > 0:
		return admission.Refusal(http.StatusForbidden, "pages may not call here")
	}
	return admission.Names{Hosts: hosts}.Upgrade(r, " for carriers' media streams")
}

// SameSecret compares in a time that does not depend on where the two differ. An empty secret never
// matches.
func SameSecret(given, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// OnLoopback reports whether the connection of a request arrived at a loopback address of this
// machine.
func OnLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	host, _, err := net.SplitHostPort(local.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
