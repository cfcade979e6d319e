package voicegw

import (
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// holdSwitch joins the two reasons why a call is on hold into the one switch of the net: the host or
// the caller asked for it, or the caller has no connection. The zero value is off. Safe for
// concurrent use, except in the net's loop.
type holdSwitch struct {
	mu    sync.Mutex // held while injecting, so that the net gets the positions in their order
	asked bool
	away  bool
}

// ask injects what the host or the caller asks for. While the caller is away the call stays on hold,
// and the position counts when the caller is back.
func (h *holdSwitch) ask(on bool, inject func(petri.Token) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.away {
		if err := inject(voicenets.Hold.Token(position(on))); err != nil {
			return err
		}
	}
	h.asked = on
	return nil
}

// lose injects that the caller has lost the connection, or is back.
func (h *holdSwitch) lose(away bool, inject func(petri.Token)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = away
	inject(voicenets.Hold.Token(position(away || h.asked)))
}
