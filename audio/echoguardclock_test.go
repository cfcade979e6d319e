package audio

import (
	"testing"
	"time"
)

// TestCaptureClock: arrivals of frames, and when the clock says that they were captured. All times
// are in ms.
func TestCaptureClock(t *testing.T) {
	steady := func(from, n, delay int) (at []int) { // frames captured from on
		for i := range n {
			at = append(at, from+20*i+delay)
		}
		return at
	}
	for _, test := range []struct {
		name   string
		arrive []int
		alive  []int
		want   int // of the last frame
	}{
		{name: "in time", arrive: steady(20, 100, 0), want: 2000},
		{name: "later than at first", arrive: append(steady(20, 10, 0), steady(220, 90, 100)...), want: 2100},
		{name: "earlier than at first", arrive: append(steady(20, 10, 100), steady(220, 90, 0)...), want: 2000},
		{name: "one late", arrive: append(steady(20, 50, 0), 1150), want: 1020},
		{name: "a long gap", arrive: append(steady(20, 50, 0), steady(20000, 2, 0)...), want: 20020},
		{name: "a gap, first frame", arrive: append(steady(20, 50, 0), 3000), want: 3000},
		{name: "a gap, third frame", arrive: append(steady(20, 50, 0), steady(3000, 3, 0)...), want: 3040},
		{name: "a stall", arrive: append(steady(20, 50, 0), 3000, 3000, 3000, 3000), want: 1080},
		{name: "a stall that ends slowly", arrive: append(steady(20, 50, 0), 3000, 3005, 3010, 3015), want: 1080},
		{name: "after a stall", arrive: append(append(steady(20, 50, 0), atOnce(3000, 100)...), steady(3020, 3, 0)...),
			want: 3060},
		{name: "longer than a stall", arrive: append(steady(20, 50, 0), 11000, 11000, 11000), want: 11000},
		{name: "a gap that shows", arrive: append(steady(20, 50, 0), 3000, 3000, 3000, 3000), alive: []int{1100, 1200},
			want: 3000},
		{name: "a stall that brings something else first", arrive: append(steady(20, 50, 0), 3000, 3000, 3000, 3000),
			alive: []int{2999}, want: 1080},
	} {
		var c captureClock
		got := time.Duration(0)
		for _, at := range test.arrive {
			for len(test.alive) > 0 && test.alive[0] < at {
				c.alive(time.Duration(test.alive[0]) * time.Millisecond)
				test.alive = test.alive[1:]
			}
			now := time.Duration(at) * time.Millisecond
			if got = c.captured(now); got > now {
				t.Fatalf("%s: a frame that came at %v was captured at %v", test.name, now, got)
			}
		}
		if want := time.Duration(test.want) * time.Millisecond; got != want {
			t.Errorf("%s: the last frame was captured at %v, want %v", test.name, got, want)
		}
	}
}

// atOnce is n frames that come at once.
func atOnce(at, n int) (list []int) {
	for range n {
		list = append(list, at)
	}
	return list
}
