package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the header with the signature of a request.
const SignatureHeader = "X-Voicegw-Signature"

// Sign returns the signature of a body that is sent at a time: t=SECONDS,v1=HEX, where HEX is the HMAC-SHA256 of
// SECONDS, a dot and the body.
func Sign(secret []byte, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(sum(secret, t, body))
}

func sum(secret []byte, t string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify reports what is wrong with the signature of a body, nil if nothing is. A signature that is older or newer than
// tolerance is wrong, because somebody may send a request again.
func Verify(secret []byte, signature string, body []byte, now time.Time, tolerance time.Duration) error {
	t, rest, ok := strings.Cut(signature, ",")
	seconds, isTime := strings.CutPrefix(t, "t=")
	v1, signed := strings.CutPrefix(rest, "v1=")
	if !ok || !isTime || !signed {
		return errors.New("webhook: the signature is not t=SECONDS,v1=HEX")
	}
	got, err := hex.DecodeString(v1)
	at, errTime := strconv.ParseInt(seconds, 10, 64)
	if err != nil || errTime != nil {
		return errors.New("webhook: the signature is not t=SECONDS,v1=HEX")
	}
	if !hmac.Equal(got, sum(secret, seconds, body)) {
		return errors.New("webhook: the signature is wrong")
	}
	if age := now.Sub(time.Unix(at, 0)); age.Abs() > tolerance {
		return fmt.Errorf("webhook: the signature is %v old; at most %v are possible", age, tolerance)
	}
	return nil
}
