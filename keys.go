package voicegw

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/voicenets"
)

// Keys are keys of a telephone, by which callers decide without the host's code. Each is one of 0 to 9, *, #
// and A to D, or "": none. A key that decides something goes neither to the model nor to a hook.
type Keys struct {
	// Consent gives consent, while the call waits for that. It needs Config.Net.Consent.
	Consent string
	// Protect begins protected input: see Session.Protect. ProtectEnd ends what Protect began, and completes the digits
	// for Hooks.Digits; it may be the same key. Until it is pressed, no digit goes to the model, whatever the host asks
	// for meanwhile. Neither does speech, until the host ends the protection.
	Protect, ProtectEnd string
}

// phoneKeys are the keys of a telephone.
const phoneKeys = "0123456789*#ABCD"

// check reports what is wrong with keys.
func (k *Keys) check(consent bool) error {
	for name, key := range map[string]string{"Consent": k.Consent, "Protect": k.Protect, "ProtectEnd": k.ProtectEnd} {
		if len(key) > 1 || !strings.Contains(phoneKeys, key) {
			return fmt.Errorf("voicegw: Config.Keys.%s is %.20q; one of %s is possible", name, key, phoneKeys)
		}
	}
	switch {
	case k.Consent != "" && !consent:
		return fmt.Errorf("voicegw: Config.Keys.Consent is %q; it needs Config.Net.Consent", k.Consent)
	case (k.Protect == "") != (k.ProtectEnd == ""):
		return fmt.Errorf("voicegw: Config.Keys.Protect is %q and ProtectEnd %q; each needs the other", k.Protect,
			k.ProtectEnd)
	case k.Consent != "" && k.Consent == k.Protect:
		return fmt.Errorf("voicegw: Config.Keys.Consent and Protect are both %q; they must differ", k.Consent)
	}
	return nil
}

// decidingKeys takes the keys by which a caller decides. One goroutine uses it.
type decidingKeys struct {
	Keys
	unconsented func() bool // the call waits for consent
	protecting  bool        // Protect was pressed, and ProtectEnd was not
}

// take does what a key decides, and reports whether it decided something.
func (k *decidingKeys) take(ctx context.Context, r *peerReader, key string) bool {
	switch {
	case !k.protecting && key == k.Consent && k.unconsented():
		r.toggle(ctx, voicenets.Consent.Token(voicenets.On))
	case k.protecting && key == k.ProtectEnd:
		k.protecting = false
		r.in.inject(ctx, voicenets.CallerDigit.Token(&voicenets.Digits{Last: true}))
		r.toggle(ctx, voicenets.Protect.Token(voicenets.Off))
	case !k.protecting && key == k.Protect:
		k.protecting = true
		r.toggle(ctx, voicenets.Protect.Token(voicenets.On))
	case k.protecting:
		r.in.inject(ctx, voicenets.Protect.Token(voicenets.On)) // the host may have ended it
		return false
	default:
		return false
	}
	return true
}
