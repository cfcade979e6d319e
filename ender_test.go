package voicegw

import (
	"errors"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// TestEnder: the net decides how a call ends, and the details come from whoever asked first for
// that end. A fault of the gateway counts whatever the net decides, unless that was before.
func TestEnder(t *testing.T) {
	bye := &ending{end: voicenets.HungUp, reason: transport.ReasonCallerHungUp}
	lost := modelLost(errors.New("gone"))
	again := modelLost(errors.New("gone again"))
	badJSON := &ending{end: voicenets.PeerLost, reason: transport.ReasonBadJSON}
	fault := errors.New("boom")
	for name, test := range map[string]struct {
		do   func(e *ender)
		want transport.Reason
		same *ending // nil: any with that reason
	}{
		"nothing asked": {func(*ender) {}, transport.ReasonGoingAway, nil},
		"asked":         {func(e *ender) { e.ask(bye) }, transport.ReasonCallerHungUp, bye},
		"first asked":   {func(e *ender) { e.ask(badJSON); e.ask(bye) }, transport.ReasonBadJSON, badJSON},
		"net agrees":    {func(e *ender) { e.ask(badJSON); e.hungUp(voicenets.PeerLost) }, transport.ReasonBadJSON, badJSON},
		"net decides":   {func(e *ender) { e.ask(bye); e.hungUp(voicenets.MaxDuration) }, transport.ReasonMaxDuration, nil},
		"asked too late": {func(e *ender) { e.hungUp(voicenets.MaxDuration); e.ask(bye) },
			transport.ReasonMaxDuration, nil},
		"net decides once": {func(e *ender) { e.hungUp(voicenets.Done); e.hungUp(voicenets.MaxDuration) },
			transport.ReasonDone, nil},
		"model lost": {func(e *ender) { e.modelLost(lost); e.hungUp(voicenets.ModelLost) },
			transport.ReasonModelLost, lost},
		"model lost last": {func(e *ender) { e.modelLost(lost); e.modelLost(again); e.hungUp(voicenets.ModelLost) },
			transport.ReasonModelLost, again},
		"model was lost": {func(e *ender) { e.modelLost(lost); e.hungUp(voicenets.HungUp) },
			transport.ReasonCallerHungUp, nil},
		"lost, then asked": {func(e *ender) { e.modelLost(lost); e.ask(bye) }, transport.ReasonCallerHungUp, bye},
		"fault":            {func(e *ender) { e.ask(bye); e.fail(fault) }, transport.ReasonInternal, nil},
		"fault, too late":  {func(e *ender) { e.hungUp(voicenets.Done); e.fail(fault) }, transport.ReasonDone, nil},
		"fault, then asked": {func(e *ender) { e.fail(fault); e.ask(bye); e.hungUp(voicenets.HungUp) },
			transport.ReasonInternal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := 0
			e := newEnder(func() { stopped++ })
			test.do(e)
			got := e.ending()
			if got.reason != test.want || test.same != nil && got != test.same {
				t.Errorf("it ended by %+v, want %v", got, test.want)
			}
			if e.ending() != got {
				t.Error("the ending changed")
			}
			if stopped == 0 {
				t.Error("the model may still be dialled")
			}
		})
	}
}

// TestEnderStopsDialling as soon as an end is asked for, and not when the model is lost: the net
// may replace the connection.
func TestEnderStopsDialling(t *testing.T) {
	stopped := 0
	e := newEnder(func() { stopped++ })
	if !e.modelLost(modelLost(errors.New("gone"))) || stopped != 0 {
		t.Error("a call whose model is lost does not go on")
	}
	e.drain()
	e.drain() // again
	if stopped != 0 {
		t.Error("a call that is drained does not go on")
	}
	select {
	case <-e.draining:
	default:
		t.Error("nobody learns that the call is drained")
	}
	e.askFor(voicenets.Done)
	if stopped != 1 {
		t.Error("the model may still be dialled")
	}
	if e.modelLost(modelLost(errors.New("gone"))) {
		t.Error("a call that is to end goes on")
	}
}
