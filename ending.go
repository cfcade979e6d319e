package voicegw

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// ending is why a call ended, or is asked to end.
type ending struct {
	end     voicenets.End // as the net calls it
	reason  transport.Reason
	message string // for the caller; empty: the reason's own
	err     error  // nil for an ordinary end
}

// peerGone is the ending for a peer whose connection failed with err.
func peerGone(err error) *ending {
	w := &ending{end: voicenets.PeerLost, reason: transport.ReasonOf(err)}
	switch w.reason {
	case transport.ReasonCallerHungUp:
		w.end = voicenets.HungUp
	case transport.ReasonPeerStalled:
		w.end, w.err = voicenets.PeerStalled, err
	case transport.ReasonPeerLost:
	default:
		w.err = err // the peer violated the protocol and was sent this reason
	}
	return w
}

// peerStalled is the ending for a peer that has stopped reading.
func peerStalled() *ending {
	return &ending{end: voicenets.PeerStalled, reason: transport.ReasonPeerStalled, err: transport.ErrStalled}
}

// modelLost is the ending for a connection to the model that failed with err.
func modelLost(err error) *ending {
	return &ending{end: voicenets.ModelLost, reason: transport.ReasonModelLost, message: sentence(err), err: err}
}

// archiveLost is the ending for a call whose events must be stored and are not.
func archiveLost(err error) *ending {
	return &ending{end: voicenets.Done, reason: transport.ReasonRecordLost,
		err: fmt.Errorf("the events of the call are not stored: %w", err)}
}

// dialFailed is the ending for a dial with ctx that failed with err. ownLanguage says that the
// caller's hello chose the language.
func dialFailed(ctx context.Context, err error, ownLanguage bool) *ending {
	w := &ending{end: voicenets.ModelLost, reason: transport.ReasonModelLost, message: sentence(err),
		err: fmt.Errorf("dial the model: %w", err)}
	var ce *live.CloseError
	var se *live.SetupError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &ending{end: voicenets.GoingAway, reason: transport.ReasonGoingAway}
	case errors.As(err, &se) && se.Field == "Setup.Language" && ownLanguage:
		w.reason = transport.ReasonBadHello
		w.message = fmt.Sprintf("hello: language is %s; it must be %s", se.Value, se.Want)
	case errors.As(err, &se):
		w.reason, w.message = transport.ReasonModelRefused, "The gateway's model settings are wrong: "+sentence(err)
	case errors.Is(err, context.DeadlineExceeded):
		w.reason = transport.ReasonModelTimeout
	case errors.As(err, &ce):
		w.reason = dialReason(ce.Class)
	}
	return w
}

// dialReason is the reason for a dial that the model's side closed.
func dialReason(class live.Class) transport.Reason {
	switch class {
	case live.ClassTimeout:
		return transport.ReasonModelTimeout
	case live.ClassKey, live.ClassModel, live.ClassPayload:
		return transport.ReasonModelRefused
	}
	return transport.ReasonModelLost
}

// sentence is an error of the model's side as a sentence for the caller.
func sentence(err error) string {
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

// reasonOf is the reason that the peer gets for an end of the net.
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
