package voicegw

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Session is a call that runs, for the integrator's code. All methods are safe
// for concurrent use and do not block, but for Text, which waits for the net's
// answer; what they ask for, the net of the call decides. They return ErrOver once the call is over.
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

// Hold puts the call on hold or resumes it. On hold nothing the caller says
// goes up, and nothing is played.
func (s *Session) Hold(on bool) error { return s.inject(voicenets.Hold.Token(position(on))) }

// Consent notes that the caller agrees to be listened to, or no longer does.
// It needs Config.Net.Consent.
func (s *Session) Consent(on bool) error { return s.inject(voicenets.Consent.Token(position(on))) }

// Protect begins or ends protected input: nothing the caller says or presses
// goes to the model or into any record; digits go to Hooks.Digits.
func (s *Session) Protect(on bool) error { return s.inject(voicenets.Protect.Token(position(on))) }

// ErrTextLost says that a text will not go to the model; the error says why.
var ErrTextLost = errors.New("voicegw: the text does not go to the model")

// textWait is how long Text waits for the net's answer, which takes it
// microseconds.
const textWait = time.Second

// Text is said to the model in the caller's place, 1 to 4,000 characters; it
// answers as to a turn of the caller's. A text that waits for its turn when the
// call is put on hold, or protected input begins, goes when that is over. The
// error wraps ErrTextLost for one that the net dropped at once: on hold, during
// protected input, without consent, or behind voicenets.TypedMax that wait. Text
// must not be called by a store of Config.Watch.
func (s *Session) Text(text string) error {
	if n := utf8.RuneCountInString(text); n == 0 || n > transport.TextCharsMax || !utf8.ValidString(text) {
		return fmt.Errorf("voicegw: the text has %d characters; 1 to %d are possible", n, transport.TextCharsMax)
	}
	typed := &voicenets.Typed{Text: text, FromHost: true}
	ctx, cancel := context.WithTimeout(context.Background(), textWait)
	defer cancel()
	if err := s.failed(s.c.net.InjectWait(ctx, voicenets.CallerText.Token(typed))); err != nil {
		return err
	}
	if typed.Lost != voicenets.NotLost {
		return fmt.Errorf("%w: %s", ErrTextLost, whyLost(typed.Lost))
	}
	return nil
}

// whyLost is why a text does not go to the model, in words.
func whyLost(l voicenets.Loss) string {
	switch l {
	case voicenets.LostHeld:
		return "the call is on hold"
	case voicenets.LostProtected:
		return "input is protected"
	case voicenets.LostUnconsented:
		return "the caller has not agreed to be listened to"
	default:
		return fmt.Sprintf("%d texts wait already", voicenets.TypedMax)
	}
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

func (s *Session) inject(t petri.Token) error { return s.failed(s.c.net.Inject(t)) }

// failed is the error of an injection in the words of a Session.
func (s *Session) failed(err error) error {
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
