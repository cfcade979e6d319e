package voicegw

import (
	"cmp"
	"errors"
	"sync"

	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// ender brings a call to its end. Anyone may ask for an end; the net decides when the call is over
// and by which end. All methods are safe for concurrent use, also in the net's loop, and do not
// block.
type ender struct {
	stopDialling func() // called with mu held, once the call is to end

	mu      sync.Mutex
	in      *injector // nil until the net runs
	asked   *ending   // the first end that was asked for
	lost    *ending   // how the model was lost last
	decided *ending   // by the net, or by a fault; nil while the call runs

	draining chan struct{} // closed: the net is to end the call at a quiet moment
}

func newEnder(stopDialling func()) *ender {
	return &ender{stopDialling: stopDialling, draining: make(chan struct{})}
}

// attach gives the ender the way into the net, which has begun to run. An end that was asked for
// before reaches the net now.
func (e *ender) attach(in *injector) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.in = in
	if w := cmp.Or(e.decided, e.asked); w != nil {
		e.injectOver(w.end)
	}
}

// askFor asks for an end without details of its own.
func (e *ender) askFor(end voicenets.End) { e.ask(&ending{end: end, reason: reasonOf(end)}) }

// ask asks the net to end the call. Only the first request counts. From then on the model is not
// dialled again.
func (e *ender) ask(w *ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked != nil || e.decided != nil {
		return
	}
	e.asked = w
	e.stopDialling()
	if e.in != nil {
		e.injectOver(w.end)
	}
}

// drain asks the net to end the call at a quiet moment.
func (e *ender) drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.draining:
	default:
		close(e.draining)
	}
}

// hungUp takes the net's decision that the call is over. The details come from whoever asked for
// this end, or from how the model was lost.
func (e *ender) hungUp(end voicenets.End) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := &ending{end: end, reason: reasonOf(end)}
	switch {
	case e.asked != nil && e.asked.end == end:
		w = e.asked
	case end == voicenets.ModelLost && e.lost != nil:
		w = e.lost
	}
	e.decide(w)
}

// fail ends the call by a fault of the gateway, whatever the net would decide.
func (e *ender) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken(err)
}

// broken is fail; mu is held.
func (e *ender) broken(err error) {
	e.decide(&ending{end: voicenets.GoingAway, reason: transport.ReasonInternal, err: err})
	if e.in != nil {
		e.in.net.Stop()
	}
}

// modelLost notes how the model was lost: the reason of the call's end if the net cannot replace
// the connection. It reports whether the call goes on.
func (e *ender) modelLost(w *ending) (goesOn bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	goesOn = e.asked == nil && e.decided == nil
	if goesOn {
		e.lost = w
	}
	return goesOn
}

// ending returns why the call ended. A net that was stopped decides nothing: then the end that was
// asked for counts.
func (e *ender) ending() *ending {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.decide(cmp.Or(e.asked, &ending{end: voicenets.GoingAway, reason: transport.ReasonGoingAway}))
	return e.decided
}

// decide fixes the ending, unless it is fixed already; mu is held.
func (e *ender) decide(w *ending) {
	if e.decided == nil {
		e.decided = w
	}
	e.stopDialling()
}

// injectOver sends the net the end; mu is held. A net whose inbox is full processes what is queued
// and stops. A net that does not take the end would never stop: that is a fault.
func (e *ender) injectOver(end voicenets.End) {
	err := e.in.try(voicenets.Over.Token(end))
	switch {
	case err == nil, isOver(err):
	case errors.Is(err, runner.ErrInboxFull):
		e.in.net.Stop()
	default:
		e.broken(err)
	}
}
