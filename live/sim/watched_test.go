package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// TestWatch tells what happens, in its order: the setup, the caller's audio, the reply, and its end
// when the caller speaks again.
func TestWatch(t *testing.T) {
	var kinds []sim.WatchedKind
	heard := 0
	cfg := sim.Config{Watch: func(w sim.Watched) { // by the connection's goroutine; the bubble waits for it
		if w.Connection != 1 {
			t.Errorf("it happens on connection %d, want 1", w.Connection)
		}
		heard += len(w.PCM) / 2
		if n := len(kinds); n == 0 || kinds[n-1] != w.Kind {
			kinds = append(kinds, w.Kind)
		}
	}}
	inWorld(t, cfg, func(w *world) {
		c := w.call(live.Setup{})
		said := audiotest.Speech("long").Samples
		c.turn(said)
		c.after(time.Second)
		over := audiotest.Speech("over").Samples
		c.turn(over)
		c.after(10 * time.Second)
		c.end()
		if heard < len(said)+len(over) {
			t.Errorf("%d samples are watched, of %d", heard, len(said)+len(over))
		}
	})
	want := []sim.WatchedKind{sim.WatchedReady, sim.WatchedAudio, sim.WatchedReply,
		sim.WatchedInterrupted, sim.WatchedAudio, sim.WatchedReply}
	if !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}
