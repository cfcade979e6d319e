package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// mute is a line that goes nowhere.
type mute struct{ acks int }

func (*mute) send(int, int) error                     { return nil }
func (m *mute) ack(uint64, int64, string, bool) error { m.acks++; return nil }
func (*mute) run(*caller) error                       { return nil }
func (*mute) close()                                  {}

// interrupter returns a caller who has spoken over a reply for 400 ms, and the time on the caller's clock.
func interrupter(t *testing.T) (c *caller, now time.Time) {
	t.Helper()
	now = time.Unix(1000, 0)
	c = newCaller(&mute{}, 1, 0)
	c.clears = true
	tick := func() {
		now = now.Add(frames(1))
		if err := c.tick(now, now); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 { // the detector learns the silence
		tick()
	}
	c.phase, c.spokeAt, c.turn.over = awaiting, now, 40
	for range 100 {
		c.audio(now, 1)
	}
	for c.phase != speaking {
		tick()
	}
	if over := now.Sub(c.heardAt); over != frames(40) {
		t.Fatalf("the caller speaks after %v of the reply, want %v", over, frames(40))
	}
	for range 20 {
		tick()
	}
	return c, now
}

// TestInterruption times a clear from the frame by which the detector knows, and the silence from the
// first frame of speech. A clear that does not come is an error.
func TestInterruption(t *testing.T) {
	t.Parallel()
	c, now := interrupter(t)
	began, knew := c.overAt, c.detector.at
	if !knew.After(began) || knew.Sub(began) > frames(15) {
		t.Fatalf("the detector knows %v after the caller began", knew.Sub(began))
	}
	now = now.Add(7 * time.Millisecond)
	if err := c.clear(now, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.clear(now.Add(time.Second), 1); err != nil { // of something else
		t.Fatal(err)
	}
	if want := []measured{{now, now.Sub(knew)}}; !slices.Equal(c.found.clears, want) {
		t.Errorf("clears %v, want %v", c.found.clears, want)
	}
	if want := []measured{{now, now.Sub(began)}}; !slices.Equal(c.found.silence, want) {
		t.Errorf("silences %v, want %v", c.found.silence, want)
	}
	c.begin(false, now)
	if len(c.found.errors) > 0 {
		t.Errorf("errors of a caller who was heard: %q", c.found.errors)
	}
	c, now = interrupter(t)
	c.begin(false, now)
	if len(c.found.errors) != 1 || !strings.Contains(c.found.errors[0], "no clear came") {
		t.Errorf("errors of a caller who was not heard: %q", c.found.errors)
	}
}

// TestPatience wants an error for a reply that does not come, and a late frame for one with a gap.
func TestPatience(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	c := newCaller(&mute{}, 1, 0)
	c.phase, c.spokeAt = awaiting, now
	c.decide(now.Add(patience))
	if len(c.found.errors) > 0 {
		t.Errorf("too early: %q", c.found.errors)
	}
	c.decide(now.Add(patience + 1))
	if len(c.found.errors) != 1 || !strings.Contains(c.found.errors[0], "no reply") {
		t.Errorf("errors %q", c.found.errors)
	}
	c.audio(now, 1)
	gap := now.Add(200 * time.Millisecond)
	c.audio(gap, 1)
	c.audio(gap, 1)
	if want := []time.Time{gap}; !slices.Equal(c.found.late, want) {
		t.Errorf("late at %v, want %v", c.found.late, want)
	}
}

// TestConclusion adds up what calls found while it was measured, and takes the relay's off.
func TestConclusion(t *testing.T) {
	t.Parallel()
	from := time.Unix(1000, 0)
	before, in := from.Add(-1), from.Add(time.Second)
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	c := &caller{found: findings{late: []time.Time{before, in, in}, errors: []string{"broken"}, frames: 100, tardy: 3,
		clears:  []measured{{before, ms(1)}, {in, ms(5)}},
		silence: []measured{{before, ms(1)}, {in, ms(40)}},
		waits:   []wait{{from.Add(-ms(100)), in}, {before, before}}}}
	relay := &side{name: "relay", idle: &usage{}, found: found{cpu: 8, bytes: 100, up: []time.Duration{ms(10)},
		down: []time.Duration{ms(2)}}}
	gateway := &side{name: gatewayName, idle: &usage{}, found: found{cpu: 12, bytes: 500, up: []time.Duration{ms(13)},
		down: []time.Duration{ms(9)}}}
	r := &run{cfg: Config{Rounds: 2}, report: &Report{}, sides: []*side{relay, gateway}}
	r.collect(gateway, &placed{callers: []*caller{c}}, nil, from, from.Add(2*time.Second))
	r.conclude()
	got := r.report
	if got.LateFrames != 2 || got.Errors != 1 || !strings.Contains(got.ErrorMessages[0], "gateway, call 1: broken") {
		t.Errorf("%d late frames, %d errors: %q", got.LateFrames, got.Errors, got.ErrorMessages)
	}
	if up, down := got.Added.Up.P99, got.Added.Down.P50; up != 3 || down != 7 {
		t.Errorf("%v ms are added up, %v down; want 3 and 7", up, down)
	}
	if n, s, e := got.InterruptedToClear, got.SpeechToSilence, got.EndToFirstAudio; n.N != 1 || n.P50 != 5 ||
		s.N != 1 || s.P50 != 40 || e.N != 1 || e.P50 != 1100 {
		t.Errorf("%+v to the clear, %+v to silence, %+v to the reply", n, s, e)
	}
	if *got.Gateway.CPU != 6 || *got.Relay.CPU != 4 || *got.Ratio.CPU != 1.5 || *got.Ratio.Memory != 5 {
		t.Errorf("%v and %v ms, ratios %v and %v", *got.Gateway.CPU, *got.Relay.CPU, *got.Ratio.CPU, *got.Ratio.Memory)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "3 % of the frames of the callers to the gateway") {
		t.Errorf("notes %q", got.Notes)
	}
}

// TestDecider is strict over a reply if the gateway detects speech: a faint voice that the model hears does not count.
func TestDecider(t *testing.T) {
	t.Parallel()
	const faint = 0.007 // of a voice: the model takes it for speech, a strict detector does not
	knows := func(strict bool) (n int) {
		d := newDecider()
		d.strict = strict
		d.voice = &voice{quiet: d.voice.quiet}
		for tone := range toneCount {
			d.voice.frames[0][tone] = voiceFrame(audio.DetectorRateHz, tone, faint)
			d.voice.frames[1][tone] = d.voice.quiet
		}
		for range 50 {
			d.hear(time.Time{}, 0, silence, false)
		}
		for ; d.at.IsZero() && n < toneCount; n++ {
			d.hear(time.Unix(1000, 0), n, n, true)
		}
		return n
	}
	if model, gateway := knows(false), knows(true); model < 1 || model >= gateway {
		t.Errorf("the model knows after %d frames, the gateway after %d", model, gateway)
	}
}
