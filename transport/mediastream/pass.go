package mediastream

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	passLife = time.Minute // from the answer of /voice to the start of the stream
	passMax  = 10_000      // used passes that are remembered; at this limit every new pass is refused
)

// passes are short-lived proofs that /voice led a call to the stream. Twilio's signatures contain
// no time: a signed upgrade can be sent again, a pass counts once. Any process with the same auth
// token accepts a pass, and remembers the passes it accepted. The zero value is ready. Safe for
// concurrent use.
type passes struct {
	mu   sync.Mutex
	used map[string]time.Time // the end of each pass's life
}

// newPass makes a pass for one stream of a call.
func newPass(authToken, call string, now time.Time) string {
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce) // never fails
	stem := strconv.FormatInt(now.Add(passLife).Unix(), 36) + "." + hex.EncodeToString(nonce)
	return stem + "." + passMAC(authToken, call, stem)
}

// passMAC authenticates the call and the part of the pass before the MAC.
func passMAC(authToken, call, stem string) string {
	mac := hmac.New(sha256.New, []byte(authToken))
	mac.Write([]byte("voicegw stream\x00" + stem + "\x00" + call))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// take reports whether a pass is valid for a call, and uses it up.
func (p *passes) take(authToken, pass, call string, now time.Time) bool {
	at := strings.LastIndexByte(pass, '.')
	if authToken == "" || at < 0 {
		return false
	}
	stem := pass[:at]
	if subtle.ConstantTimeCompare([]byte(pass[at+1:]), []byte(passMAC(authToken, call, stem))) != 1 {
		return false
	}
	expiry, _, _ := strings.Cut(stem, ".")
	unix, err := strconv.ParseInt(expiry, 36, 64)
	until := time.Unix(unix, 0)
	if err != nil || now.After(until) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, end := range p.used {
		if now.After(end) {
			delete(p.used, old)
		}
	}
	if _, again := p.used[stem]; again || len(p.used) >= passMax {
		return false
	}
	if p.used == nil {
		p.used = map[string]time.Time{}
	}
	p.used[stem] = until
	return true
}
