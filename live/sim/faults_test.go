package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

func closeCode(err error) int {
	var e *live.CloseError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// TestDialFaults dials servers that refuse or fail.
func TestDialFaults(t *testing.T) {
	tests := []struct {
		name   string
		faults sim.Faults
		class  live.Class
		code   int
		words  string
	}{
		{"key", sim.Faults{RefuseKey: true}, live.ClassKey, 1007, "refused the API key"},
		{"401", sim.Faults{RefuseUpgrade: 401}, live.ClassKey, 401, "refused the API key"},
		{"503", sim.Faults{RefuseUpgrade: 503}, live.ClassBackend, 503, "service failed"},
		{"404", sim.Faults{RefuseUpgrade: 404}, live.ClassPayload, 404, "has no Gemini Live service at this address"},
		{"silent", sim.Faults{NoSetupComplete: true}, live.ClassTimeout, 0, "did not answer the setup within 10s"},
		{"backend", sim.Faults{CloseAt: &sim.CloseAt{Code: 1011, Reason: "Internal error encountered."}},
			live.ClassBackend, 1011, `"Internal error encountered."`},
		{"policy", sim.Faults{CloseAt: &sim.CloseAt{Code: 1008, Reason: "Operation is not implemented, or supported, " +
			"or enabled."}}, live.ClassModel, 1008, "is not available"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.faults.Connections = 1
			inWorld(t, sim.Config{Faults: test.faults}, func(w *world) {
				_, err := w.wire.Dial(w.t.Context(), live.Setup{})
				var e *live.CloseError
				if !errors.As(err, &e) || e.Class != test.class || e.Code != test.code ||
					!strings.Contains(err.Error(), test.words) {
					t.Errorf("error %v", err)
				}
				w.call(live.Setup{}).end() // the second connection is sound
			})
		})
	}
}

// TestLosses loses the connection during a reply.
func TestLosses(t *testing.T) {
	tests := []struct {
		name   string
		faults sim.Faults
		class  live.Class
		code   int
		after  time.Duration // about when the client knows
	}{
		{"TCP", sim.Faults{DropTCPAfterChunks: 3}, live.ClassNetwork, 1006, time.Second},
		{"half-open", sim.Faults{StallWritesAfterChunks: 3}, live.ClassTimeout, 1006, 50 * time.Second},
		{"close", sim.Faults{CloseAt: &sim.CloseAt{Messages: 1, Code: 1011, Reason: "Internal error encountered."}},
			live.ClassBackend, 1011, time.Second},
		{"oversize", sim.Faults{OversizeAfterChunks: 2}, live.ClassBackend, 1009, time.Second},
		{"go away", sim.Faults{GoAwayAt: 2 * time.Second, GoAwayTimeLeft: 9500 * time.Millisecond}, live.ClassBackend,
			1011, 12 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, sim.Config{Faults: test.faults}, func(w *world) {
				c := w.call(live.Setup{})
				c.text("Greet the caller.")
				e := c.lost()
				if e.Class != test.class || e.Code != test.code {
					t.Errorf("lost by %v (%v)", e, e.Class)
				}
				if d := time.Since(c.began); d > test.after+test.after/4 {
					t.Errorf("known after %v, want about %v", d, test.after)
				}
			})
		})
	}
}

// TestGoAway is announced with the time that is left.
func TestGoAway(t *testing.T) {
	faults := sim.Faults{GoAwayAt: time.Second, GoAwayTimeLeft: 9500 * time.Millisecond}
	inWorld(t, sim.Config{Faults: faults}, func(w *world) {
		c := w.call(live.Setup{})
		if m := first(t, c.after(2*time.Second), live.ServerGoAway); m.TimeLeft != 9500*time.Millisecond {
			t.Errorf("time left %v", m.TimeLeft)
		}
		c.end()
	})
}

// TestStalledReads lets a client send into a connection nobody reads.
func TestStalledReads(t *testing.T) {
	inWorld(t, sim.Config{Faults: sim.Faults{StallReadsAfterMessages: 3}}, func(w *world) {
		c := w.call(live.Setup{})
		var err error
		n := 0
		for ; err == nil && n < 1000; n++ {
			err = c.conn.SendAudio(w.t.Context(), make([]int16, 320))
		}
		var e *live.CloseError
		if !errors.As(err, &e) || e.Class != live.ClassTimeout || !strings.Contains(err.Error(), "for 5s") {
			t.Errorf("after %d messages: %v; want the write to be given up after 5s", n, err)
		}
		c.lost()
	})
}

// TestMisbehaviour is what a client must live with.
func TestMisbehaviour(t *testing.T) {
	empty := []string{"usage", "turn_complete", "resumption"}
	sound := slices.Concat([]string{"resumption", "audio", "generation_complete"}, empty)
	tests := []struct {
		name   string
		faults sim.Faults
		want   []string // greeted
		cut    []string // greeted, and interrupted after 1 s
	}{
		{"none", sim.Faults{}, sound, slices.Concat([]string{"resumption", "audio", "interrupted"}, empty)},
		{"garbage", sim.Faults{GarbageAfterChunks: 1},
			slices.Concat([]string{"resumption", "audio", "malformed", "audio", "generation_complete"}, empty), nil},
		{"phantom", sim.Faults{PhantomAfterChunks: 2},
			slices.Concat([]string{"resumption", "audio", "interrupted", "audio", "generation_complete"}, empty), nil},
		{"freeze", sim.Faults{FreezeAfterChunks: 2}, []string{"resumption", "audio"}, []string{"resumption", "audio"}},
		{"freeze after interrupted", sim.Faults{FreezeAfterInterrupted: true}, sound,
			[]string{"resumption", "audio", "interrupted"}},
		{"no turn complete", sim.Faults{NoTurnComplete: true}, []string{"resumption", "audio", "generation_complete"},
			[]string{"resumption", "audio", "interrupted", "resumption"}},
		{"late audio", sim.Faults{LateAudioChunks: 2}, sound,
			slices.Concat([]string{"resumption", "audio", "interrupted", "audio"}, empty)},
		{"audio with interrupted", sim.Faults{AudioWithInterrupted: true}, sound,
			slices.Concat([]string{"resumption", "audio", "interrupted", "audio"}, empty)},
		{"never resumable", sim.Faults{NeverResumable: true},
			[]string{"resumption", "audio", "generation_complete", "usage", "turn_complete"}, nil},
		{"unknown fields", sim.Faults{UnknownFields: true}, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, sim.Config{Faults: test.faults}, func(w *world) {
				c := w.call(live.Setup{})
				c.text("Greet the caller.")
				if got := c.after(10 * time.Second); test.want != nil {
					wantKinds(t, got, test.want...)
				} else if !slices.Contains(kinds(got), "unknown") || !slices.Contains(kinds(got), "turn_complete") {
					t.Errorf("messages %v", kinds(got))
				}
				c.end()
				if test.cut == nil {
					return
				}
				c = w.call(live.Setup{})
				c.text("Greet the caller.")
				time.Sleep(time.Second)
				c.start()
				wantKinds(t, c.after(10*time.Second), test.cut...)
				c.end()
			})
		})
	}
}

// TestEmptyTurns answers the first turns without audio.
func TestEmptyTurns(t *testing.T) {
	inWorld(t, sim.Config{Faults: sim.Faults{EmptyTurns: 2}}, func(w *world) {
		c := w.call(live.Setup{})
		for i := range 3 {
			c.turn(speech("over"))
			if got := c.after(5 * time.Second); (len(pcmOf(got)) > 0) != (i == 2) {
				t.Errorf("turn %d: %v", i, kinds(got))
			}
		}
		c.end()
	})
}
