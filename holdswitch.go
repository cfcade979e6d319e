package voicegw

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// switchLock is a mutex that the host and the caller take to move one switch. The caller may hold it for as
// long as the inbox of the net is full; the host does not wait that long.
type switchLock chan struct{}

// switchWait is how long the host waits for a switch that the caller is moving.
const switchWait = time.Second

func newSwitchLock() switchLock { return make(switchLock, 1) }

func (l switchLock) lock()   { l <- struct{}{} }
func (l switchLock) unlock() { <-l }

// lockSoon locks within switchWait. The error wraps ErrStalled.
func (l switchLock) lockSoon() error {
	t := time.NewTimer(switchWait)
	defer t.Stop()
	select {
	case l <- struct{}{}:
		return nil
	case <-t.C:
		return fmt.Errorf("%w: the caller moves the same switch, and the net has not taken that for %v", ErrStalled,
			switchWait)
	}
}

// holdSwitch joins the two reasons why a call is on hold into the one switch of the net: the host or
// the caller asked for it, or the caller has no connection. Safe for concurrent use, except in the
// net's loop.
type holdSwitch struct {
	switchLock // held while injecting, so that the net gets the positions in their order
	asked      bool
	away       bool
}

// ask injects what the host asks for. While the caller is away the call stays on hold, and the
// position counts when the caller is back.
func (h *holdSwitch) ask(on bool, inject func(petri.Token) error) error {
	if err := h.lockSoon(); err != nil {
		return err
	}
	defer h.unlock()
	if !h.away {
		if err := inject(voicenets.Hold.Token(position(on))); err != nil {
			return err
		}
	}
	h.asked = on
	return nil
}

// press injects what the caller asks for.
func (h *holdSwitch) press(on bool, inject func(petri.Token)) {
	h.lock()
	defer h.unlock()
	h.asked = on
	inject(voicenets.Hold.Token(position(h.away || on)))
}

// lose injects that the caller has lost the connection, or is back.
func (h *holdSwitch) lose(away bool, inject func(petri.Token)) {
	h.lock()
	defer h.unlock()
	h.away = away
	inject(voicenets.Hold.Token(position(away || h.asked)))
}
