package mediastream

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/transport/phone"
)

// signatureHeader holds Twilio's signature of a request.
const signatureHeader = "X-Twilio-Signature"

// signature computes Twilio's signature of a request: HMAC-SHA1, under the account's auth token, of
// the address as it was called and the names and values of the form, sorted by name
// (https://www.twilio.com/docs/usage/security).
func signature(authToken, address string, form url.Values) []byte {
	mac := hmac.New(sha1.New, []byte(authToken))
	mac.Write([]byte(address))
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.AppendEncode(nil, mac.Sum(nil))
}

// signed reports whether a request carries the signature for one of its addresses. It takes the
// same time for every signature.
func signed(r *http.Request, authToken string, addresses []string, form url.Values) bool {
	given := r.Header.Values(signatureHeader)
	if authToken == "" || len(given) != 1 {
		return false
	}
	ok := 0
	for _, a := range addresses {
		ok |= subtle.ConstantTimeCompare([]byte(given[0]), signature(authToken, a, form))
	}
	return ok == 1
}

// secretGiven reports whether a request shows the secret: as a bearer token or as the password of
// basic authentication.
func secretGiven(r *http.Request, secret string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, given, ok = r.BasicAuth()
	}
	return ok && phone.SameSecret(given, secret)
}
