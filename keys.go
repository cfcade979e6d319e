package voicegw

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// Keys are keys of a telephone, by which callers decide without the host's code. Each is one of 0 to 9, *, #
// and A to D, or "": none. A key that decides something goes neither to the model nor to a hook.
type Keys struct {
	// Consent gives consent, while the call waits for that. It needs Config.Net.Consent.
	Consent string
	// Protect begins protected input: see Session.Protect. ProtectEnd ends what Protect began, and completes the digits
	// for Hooks.Digits; it may be the same key. Until it is pressed, no digit goes to the model, whatever the host asks
	// for meanwhile. Neither does speech, until the host ends the protection. What the host protects, no key exposes.
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

// protection joins the two that protect input, the host and the caller's keys, into the one switch of the net. Safe
// for concurrent use, except in the net's loop.
type protection struct {
	switchLock      // held while injecting, so that the net gets digits and positions in their order
	on         bool // the position of the switch
	host       bool // the host asked for it
}

// ask injects what the host asks for. What the caller's keys protect is open then, until the next digit.
func (p *protection) ask(on bool, inject func(petri.Token) error) error {
	if err := p.lockSoon(); err != nil {
		return err
	}
	defer p.unlock()
	if err := inject(voicenets.Protect.Token(position(on))); err != nil {
		return err
	}
	p.on, p.host = on, on
	return nil
}

// decidingKeys takes the keys of a telephone. One goroutine uses it.
type decidingKeys struct {
	Keys
	unconsented func() bool // the call waits for consent
	protection  *protection
	protecting  bool // Protect was pressed, and ProtectEnd was not
}

// decision is what a key decides.
type decision int

const (
	decidesNothing decision = iota
	decidesConsent
	decidesProtect
	decidesProtectEnd
)

// decides returns what a key decides. A digit of protected input is no consent, whoever protects it.
func (k *decidingKeys) decides(key string, protecting bool) decision {
	switch {
	case protecting && key == k.ProtectEnd:
		return decidesProtectEnd
	case !protecting && key == k.Protect:
		return decidesProtect
	case !protecting && !k.protection.on && key == k.Consent && k.unconsented():
		return decidesConsent
	}
	return decidesNothing
}

// turns returns how many entries of digits keys end. Those that decide something end none.
func (k *decidingKeys) turns(keys string) (n int) {
	k.protection.lock()
	defer k.protection.unlock()
	protecting := k.protecting
	for i := range len(keys) {
		switch k.decides(keys[i:i+1], protecting) {
		case decidesProtect:
			protecting = true
		case decidesProtectEnd:
			protecting = false
		case decidesNothing:
			n += strings.Count(keys[i:i+1], "#")
		}
	}
	return n
}

// press does what a key decides. A key that decides nothing is a digit for the net; # ends an entry.
func (k *decidingKeys) press(ctx context.Context, r *peerReader, key string) {
	p := k.protection
	p.lock()
	defer p.unlock()
	protect := func(on bool) {
		if p.on != on {
			p.on = on
			r.toggle(ctx, voicenets.Protect.Token(position(on)))
		}
	}
	switch k.decides(key, k.protecting) {
	case decidesConsent:
		r.toggle(ctx, voicenets.Consent.Token(voicenets.On))
	case decidesProtect:
		k.protecting = true
		protect(true)
	case decidesProtectEnd:
		k.protecting = false
		if p.on { // else the host ended it, and there is no digit since
			r.in.inject(ctx, voicenets.CallerDigit.Token(&voicenets.Digits{Last: true}))
		}
		protect(p.host)
	default:
		if k.protecting {
			protect(true) // the host may have ended it
		}
		r.in.inject(ctx, voicenets.CallerDigit.Token(&voicenets.Digits{Text: key, Last: key == "#"}))
	}
}
