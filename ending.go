package voicegw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// ending is why a call is over, or is to be.
type ending struct {
	end     voicenets.End // the net's word for it
	reason  transport.Reason
	message string // for people; empty: the reason's own
	err     error  // nil: an ordinary end
}

// end asks the net to end the call. It never blocks and may be called by anyone,
// also by the net's loop.
func (c *call) end(e voicenets.End) { c.endWith(&ending{end: e, reason: reasonOf(e)}) }

// endWith asks the net to end the call, unless that was asked for before. From
// then on nothing new begins. What the call ends by is what the net says.
func (c *call) endWith(w *ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.goesOn() {
		return
	}
	c.wish = w
	c.stopDialling()
	if c.net != nil {
		c.over(w.end)
	}
}

// hungUp takes the net's word that the call is over, with the details of the
// first who asked for that end or of how the model was lost. It is called by the
// net's loop.
func (c *call) hungUp(e voicenets.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &ending{end: e, reason: reasonOf(e)}
	switch {
	case c.wish != nil && c.wish.end == e:
		w = c.wish
	case e == voicenets.ModelLost && c.last != nil:
		w = c.last
	}
	c.decide(w)
}

// decide says why the call is over, unless that is decided; mu is held.
func (c *call) decide(w *ending) {
	if c.why == nil {
		c.why = w
	}
	c.stopDialling()
}

// goesOn reports that nobody has ended the call or asked for its end; mu is
// held.
func (c *call) goesOn() bool { return c.wish == nil && c.why == nil }

// stopDialling gives up the dial under way, if any; mu is held.
func (c *call) stopDialling() {
	if c.giveUp != nil {
		c.giveUp()
	}
}

// over tells the net that the call is over; mu is held. A net with no room for
// that works off what is queued and ends.
func (c *call) over(e voicenets.End) {
	if errors.Is(c.net.Inject(voicenets.Over.Token(e)), runner.ErrInboxFull) {
		c.net.Stop()
	}
}

// broke ends the call by a fault of ours, whatever the net would say.
func (c *call) broke(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decide(&ending{end: voicenets.GoingAway, reason: transport.ReasonInternal, err: err})
	if c.net != nil {
		c.net.Stop()
	}
}

// failed remembers how the model was lost: the reason of the call's end, should
// the net not get it back. It reports whether the call still goes on.
func (c *call) failed(w *ending) (goesOn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goesOn() {
		c.last = w
	}
	return c.goesOn()
}

// ended returns why the call is over. A net that was stopped says nothing: then
// the end that was asked for counts, if there is one.
func (c *call) ended() *ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decide(cmp.Or(c.wish, &ending{end: voicenets.GoingAway, reason: transport.ReasonGoingAway}))
	return c.why
}

// part hands over what the peer shall still hear, and closes both sides. The
// net has ended, or never ran.
func (c *call) part() error {
	w := c.ended()
	if c.net != nil && w.reason != transport.ReasonPeerStalled && w.reason != transport.ReasonPeerLost {
		c.down.wait(lastWords)
	}
	err := c.peer.Close(w.reason, w.message)
	if l := c.newest(); l != nil {
		_ = l.conn.Close(1000, "the call is over")
	}
	switch {
	case w.err != nil:
		return fmt.Errorf("voicegw: call %s: %w", c.id, w.err)
	case errors.Is(err, transport.ErrStalled):
		return fmt.Errorf("voicegw: call %s: %w", c.id, err)
	}
	return nil
}

// peerGone asks for the end of the call for the reason its connection ended.
func (c *call) peerGone(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w := &ending{end: voicenets.PeerLost, reason: transport.ReasonOf(err)}
	switch w.reason {
	case transport.ReasonCallerHungUp:
		w.end = voicenets.HungUp
	case transport.ReasonPeerStalled:
		w.end, w.err = voicenets.PeerStalled, err
	case transport.ReasonPeerLost:
	default:
		w.err = err // the peer broke the protocol, and was told so
	}
	c.endWith(w)
}

// modelLost is the end of a call whose model was lost so.
func (c *call) modelLost(err error) *ending {
	return &ending{end: voicenets.ModelLost, reason: transport.ReasonModelLost, message: words(err), err: err}
}

// dialFailure puts a failed dial into a reason and words for people.
func (c *call) dialFailure(ctx context.Context, err error) *ending {
	w := &ending{end: voicenets.ModelLost, reason: transport.ReasonModelLost, message: words(err),
		err: fmt.Errorf("dial the model: %w", err)}
	var ce *live.CloseError
	var se *live.SetupError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &ending{end: voicenets.GoingAway, reason: transport.ReasonGoingAway}
	case errors.As(err, &se) && se.Field == "Setup.Language" && c.hello.Language != "":
		w.reason = transport.ReasonBadHello
		w.message = fmt.Sprintf("hello: language is %s; it must be %s", se.Value, se.Want)
	case errors.As(err, &se):
		w.reason, w.message = transport.ReasonModelRefused, "The gateway's model settings are wrong: "+words(err)
	case errors.Is(err, context.DeadlineExceeded):
		w.reason = transport.ReasonModelTimeout
	case errors.As(err, &ce):
		w.reason = dialReason(ce.Class)
	}
	return w
}

// dialReason is the reason for a dial that failed so.
func dialReason(class live.Class) transport.Reason {
	switch class {
	case live.ClassTimeout:
		return transport.ReasonModelTimeout
	case live.ClassKey, live.ClassModel, live.ClassPayload:
		return transport.ReasonModelRefused
	}
	return transport.ReasonModelLost
}

// words is an error of the model's side as a sentence for people.
func words(err error) string {
	text := err.Error()
	var ce *live.CloseError
	if errors.As(err, &ce) {
		text = ce.Message()
	}
	first, n := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// reasonOf is the word of the protocol for an end of the net.
func reasonOf(e voicenets.End) transport.Reason {
	switch e {
	case voicenets.HungUp:
		return transport.ReasonCallerHungUp
	case voicenets.PeerLost:
		return transport.ReasonPeerLost
	case voicenets.PeerStalled:
		return transport.ReasonPeerStalled
	case voicenets.ModelLost:
		return transport.ReasonModelLost
	case voicenets.MaxDuration:
		return transport.ReasonMaxDuration
	case voicenets.Transferred:
		return transport.ReasonTransferred
	case voicenets.CallerSilent:
		return transport.ReasonCallerSilent
	case voicenets.NoConsent:
		return transport.ReasonNoConsent
	case voicenets.Done:
		return transport.ReasonDone
	default:
		return transport.ReasonGoingAway
	}
}
