package voicegw

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Session is a call that runs, for the integrator's code. All methods are safe
// for concurrent use and do not block; what they ask for, the net of the call
// decides. They return ErrOver once the call is over.
type Session struct{ c *call }

// ErrOver says that a call is over.
var ErrOver = errors.New("voicegw: the call is over")

// ErrNotInNet says that the session's net has no such part: see Config.Net.
var ErrNotInNet = errors.New("voicegw: the session's net does not have this")

// ID is the call's name, as in logs and the peer's ready.
func (s *Session) ID() string { return s.c.id }

// Hello is what the far end asked for.
func (s *Session) Hello() transport.Hello { return s.c.hello }

// Done is closed when the call is over.
func (s *Session) Done() <-chan struct{} { return s.c.net.Done() }

// Hold puts the call on hold or takes it back. On hold nothing the caller says
// goes up, and nothing is played.
func (s *Session) Hold(on bool) error { return s.inject(voicenets.Hold.Token(position(on))) }

// Consent notes that the caller agrees to be listened to, or no longer does.
// It needs Config.Net.Consent.
func (s *Session) Consent(on bool) error { return s.inject(voicenets.Consent.Token(position(on))) }

// Protect begins or ends protected input: nothing the caller says or presses
// goes to the model or into any record; digits go to Hooks.Digits.
func (s *Session) Protect(on bool) error { return s.inject(voicenets.Protect.Token(position(on))) }

// Text is said to the model in the caller's place, 1 to 4,000 characters; it
// answers as to a turn of the caller's.
func (s *Session) Text(text string) error {
	if n := utf8.RuneCountInString(text); n == 0 || n > transport.TextCharsMax || !utf8.ValidString(text) {
		return fmt.Errorf("voicegw: the text has %d characters; 1 to %d are possible", n, transport.TextCharsMax)
	}
	return s.inject(voicenets.CallerText.Token(&voicenets.Typed{Text: text}))
}

// Hint says what a recogniser thinks of the caller's speech over a reply. It
// needs Config.Net.Hints.
func (s *Session) Hint(o voicenets.Opinion) error { return s.inject(voicenets.Hint.Token(o)) }

// HandOff gives the call to somebody else: the peer is told the address, which
// its door understands, and the call ends here.
func (s *Session) HandOff(address string) error {
	if address == "" || len(address) > transport.AddressLenMax || strings.ContainsAny(address, "\r\n") {
		return fmt.Errorf("voicegw: the address has %d bytes; 1 to %d without line breaks are possible", len(address),
			transport.AddressLenMax)
	}
	return s.inject(voicenets.HandOff.Token(&voicenets.Target{Address: address}))
}

// HangUp ends the call.
func (s *Session) HangUp() error { return s.inject(voicenets.Over.Token(voicenets.Done)) }

func (s *Session) inject(t petri.Token) error {
	err := s.c.net.Inject(t)
	switch {
	case err == nil:
		return nil
	case isClosed(err):
		return ErrOver
	case errors.Is(err, petri.ErrPlace):
		return ErrNotInNet
	}
	return fmt.Errorf("voicegw: call %s: %w", s.c.id, err)
}

func position(on bool) voicenets.Switch {
	if on {
		return voicenets.On
	}
	return voicenets.Off
}

// sessionKey is the key of a context's session.
type sessionKey struct{}

// SessionOf is the session of a tool's context: the call in which the model
// called it.
func SessionOf(ctx context.Context) (*Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(*Session)
	return s, ok
}
