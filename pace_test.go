package voicegw

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace makes a peer wait that sends faster than four times real time, after a burst of ten seconds.
func TestPace(t *testing.T) {
	start := time.Unix(0, 0)
	p := newPace(start)
	for _, step := range []struct{ at, cost, want time.Duration }{
		{0, 10 * time.Second, 0},
		{0, time.Second, 250 * time.Millisecond},
		{250 * time.Millisecond, 0, 0},
		{time.Second, 3 * time.Second, 0},
		{time.Second, 4 * time.Second, time.Second},
		{time.Hour, 10 * time.Second, 0}, // no more than the burst was saved
		{time.Hour, 400 * time.Millisecond, 100 * time.Millisecond},
	} {
		if got := p.spend(start.Add(step.at), step.cost); got != step.want {
			t.Errorf("at %v %v cost a wait of %v, want %v", step.at, step.cost, got, step.want)
		}
	}
}

// TestTurnPermits gives a burst, then one permit in each gap; a wait takes nothing.
func TestTurnPermits(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, steps := range map[string][]struct {
		at   time.Duration
		n    int
		want time.Duration
	}{
		"burst": {{0, 3, 0}, {0, 1, 10 * time.Second}, {9 * time.Second, 1, time.Second},
			{10 * time.Second, 1, 0}},
		"wait takes nothing":           {{0, 3, 0}, {time.Second, 3, 29 * time.Second}, {10 * time.Second, 1, 0}},
		"saves no more than the burst": {{0, 1, 0}, {time.Hour, 3, 0}, {time.Hour, 1, 10 * time.Second}},
		"more than the burst":          {{0, 100, 0}, {0, 1, 10 * time.Second}, {30 * time.Second, 3, 0}},
		"none":                         {{0, 3, 0}, {0, 0, 0}},
	} {
		p := turnPermits{gap: 10 * time.Second, most: 3}
		for i, s := range steps {
			if got := p.take(start.Add(s.at), s.n); got != s.want {
				t.Errorf("%s, step %d: wait %v, want %v", name, i, got, s.want)
			}
		}
	}
}

// TestSleep waits its time, or until the context is done.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !sleep(t.Context(), time.Second) || time.Since(began) != time.Second {
			t.Errorf("it woke after %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if sleep(ctx, time.Minute) || time.Since(began) != 2*time.Second {
			t.Errorf("with its context done it woke after %v", time.Since(began))
		}
	})
}
