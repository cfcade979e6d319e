package voicegw

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Session controls a running call from the host's code. The net of the call decides what becomes of
// each request. All methods are safe for concurrent use. Only Text, Context and Prompt, which wait for
// the net's answer, and Send block; Hold and Protect wait for at most a second while the caller moves
// the same switch. They return ErrOver once the call is over.
type Session struct {
	id     string
	hello  transport.Hello
	labels map[string]string
	prog   *petri.Program
	began  time.Time
	net    *runner.Runner // set before anybody gets the session
	in     *injector      // into net
	peer   *peerWriter
	hold   *holdSwitch
	model  *modelWriter
	feed   event.Feed // of the net's events

	protection protection
}

// newCallID makes the id of a call: unguessable, because people and logs quote it.
func newCallID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "c-" + hex.EncodeToString(b[:])
}

// ErrOver means that the call is over.
var ErrOver = errors.New("voicegw: the call is over")

// ErrNotInNet means that the session's net lacks this part; see Config.Net.
var ErrNotInNet = errors.New("voicegw: the session's net does not have this")

// ErrStalled means that the net of a call does not answer: a store blocks it, or the machine is overloaded.
var ErrStalled = errors.New("voicegw: the call does not answer")

// ID returns the id of the call, as in logs and in the message ready.
func (s *Session) ID() string { return s.id }

// Hello returns what the peer asked for.
func (s *Session) Hello() transport.Hello { return s.hello }

// Labels returns the labels of the call's Plan, which must not be changed.
func (s *Session) Labels() map[string]string { return s.labels }

// Done returns a channel that is closed when the call is over.
func (s *Session) Done() <-chan struct{} { return s.net.Done() }

// Hold puts the call on hold or resumes it. On hold nothing that the caller says goes to the model,
// and nothing is played.
func (s *Session) Hold(on bool) error { return s.hold.ask(on, s.inject) }

// Mute mutes the caller's microphone, or unmutes it, as the caller's own button does: the last of both counts.
func (s *Session) Mute(on bool) error { return s.inject(voicenets.PeerMute.Token(position(on))) }

// Consent records that the caller consents to being heard, or withdraws consent. It needs
// Config.Net.Consent.
func (s *Session) Consent(on bool) error { return s.inject(voicenets.Consent.Token(position(on))) }

// Protect begins or ends protected input. Nothing that the caller says or presses meanwhile goes to
// the model or into an archive; digits go to Hooks.Digits. A store of Config.Watch must not call Hold or Protect.
func (s *Session) Protect(on bool) error { return s.protection.ask(on, s.inject) }

// ErrTextLost means that a text does not go to the model. The error that wraps it says why.
var ErrTextLost = errors.New("voicegw: the text does not go to the model")

// textWait is how long Text waits for the net, which answers within microseconds.
const textWait = time.Second

// Text sends the model a text of 1 to 4,000 characters as a turn of the caller. If the text has to
// wait and a hold or protected input begins, the model gets it afterwards. The error wraps
// ErrTextLost if the net drops the text at once: on hold, during protected input, without consent,
// or behind voicenets.TypedMax others that wait. A store of Config.Watch must not call Text.
func (s *Session) Text(text string) error {
	typed := &voicenets.Typed{Text: text, FromHost: true}
	return s.say(context.Background(), typed, voicenets.CallerText.Token(typed))
}

// Context lets the model know a text of 1 to 4,000 characters without asking it to answer. role
// names the speaker of the text. The input gate holds for it as for Text. The model gets it when it
// is idle, in the caller's turn if one is open, or with the next turn: see docs/embedding.md. At
// most 64 texts and 32 KiB wait. The error wraps ErrTextLost as that of Text does.
func (s *Session) Context(ctx context.Context, role transport.Role, text string) error {
	if !role.Valid() {
		return fmt.Errorf("voicegw: the role is %.20q; user, system and assistant are possible", role)
	}
	note := &voicenets.Typed{Text: text, Role: string(role), FromHost: true}
	if err := checkTyped(text); err != nil {
		return err
	}
	if !s.model.reserve(text) {
		return fmt.Errorf("%w: %s", ErrTextLost, whyLost(voicenets.LostFull))
	}
	return s.say(ctx, note, voicenets.Note.Token(note))
}

// Prompt asks the model to speak, as a text of 1 to 4,000 characters says, as soon as nothing is
// played and no turn of the caller waits for its reply. It interrupts nothing. The model takes the
// text for the caller's, so the text itself should say that it is not. The input gate holds for it
// as for Text. Prompt returns when the request is accepted. The error wraps ErrTextLost as that of
// Text does; at most voicenets.RequestsMax requests wait.
func (s *Session) Prompt(ctx context.Context, text string) error {
	typed := &voicenets.Typed{Text: text, Request: true, FromHost: true}
	return s.say(ctx, typed, voicenets.Request.Token(typed))
}

// checkTyped refuses a text of a wrong length.
func checkTyped(text string) error {
	if n := utf8.RuneCountInString(text); n == 0 || n > transport.TextCharsMax || !utf8.ValidString(text) {
		return fmt.Errorf("voicegw: the text has %d characters; 1 to %d of UTF-8 are possible", n,
			transport.TextCharsMax)
	}
	return nil
}

// say injects a text and waits until the net has taken or lost it.
func (s *Session) say(ctx context.Context, typed *voicenets.Typed, token petri.Token) error {
	if err := checkTyped(typed.Text); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, textWait)
	defer cancel()
	if err := s.failed(s.in.tryWait(ctx, token)); err != nil {
		return err
	}
	if typed.Lost != voicenets.NotLost {
		return fmt.Errorf("%w: %s", ErrTextLost, whyLost(typed.Lost))
	}
	return nil
}

// whyLost says why a text does not go to the model.
func whyLost(l voicenets.Loss) string {
	switch l {
	case voicenets.LostHeld:
		return "the call is on hold"
	case voicenets.LostProtected:
		return "input is protected"
	case voicenets.LostUnconsented:
		return "the caller has not agreed to be listened to"
	default:
		return "too many texts wait already"
	}
}

// Hint passes on what a recognizer of the host thinks of the caller's speech over a reply. It needs
// Config.Net.Hints.
func (s *Session) Hint(o voicenets.Opinion) error { return s.inject(voicenets.Hint.Token(o)) }

// HandOff transfers the call: the peer gets the address, which its endpoint understands, and the
// call ends here.
func (s *Session) HandOff(address string) error {
	if err := checkAddress(address); err != nil {
		return fmt.Errorf("voicegw: %w", err)
	}
	return s.inject(voicenets.HandOff.Token(&voicenets.Target{Address: address}))
}

// HangUp ends the call.
func (s *Session) HangUp() error { return s.inject(voicenets.Over.Token(voicenets.Done)) }

func (s *Session) inject(t petri.Token) error { return s.failed(s.in.try(t)) }

// failed returns the error of a Session for an error of an injection.
func (s *Session) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case isOver(err):
		return ErrOver
	case errors.Is(err, petri.ErrPlace):
		return ErrNotInNet
	case errors.Is(err, runner.ErrInboxFull), errors.Is(err, runner.ErrStalled):
		return fmt.Errorf("%w: %w", ErrStalled, err)
	}
	return fmt.Errorf("voicegw: call %s: %w", s.id, err)
}

func position(on bool) voicenets.Switch {
	if on {
		return voicenets.On
	}
	return voicenets.Off
}

// sessionKey is the key of the session in a context.
type sessionKey struct{}

// SessionOf returns the session of a tool's context: the call in which the model called the tool.
func SessionOf(ctx context.Context) (*Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(*Session)
	return s, ok
}
