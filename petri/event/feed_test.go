package event_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

func numbered(from, n int) []petri.Event {
	var list []petri.Event
	for i := range n {
		list = append(list, petri.Event{Seq: uint64(from + i)})
	}
	return list
}

// TestFeed: a follower gets what comes after its Follow, in order, and the end.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var feed event.Feed
		feed.Append(numbered(1, 3))
		f, err := feed.Follow(100)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		go func() {
			for i := range 10 {
				time.Sleep(time.Millisecond)
				feed.Append(numbered(4+5*i, 5))
			}
			feed.End()
		}()
		next := uint64(4)
		for {
			events, over, err := f.Next(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if over {
				break
			}
			for _, e := range events {
				if e.Seq != next {
					t.Fatalf("event %d instead of %d", e.Seq, next)
				}
				next++
			}
		}
		if next != 54 || feed.Cut() != 0 || feed.Stored() < 1<<60 {
			t.Errorf("read up to %d, %d cut off", next, feed.Cut())
		}
		late, err := feed.Follow(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, over, err := late.Next(t.Context(), nil); !over || err != nil {
			t.Errorf("after the end: %v %v", over, err)
		}
	})
}

// TestFeedCutsOff: a follower that does not read is cut off and counted; the others get everything.
func TestFeedCutsOff(t *testing.T) {
	var feed event.Feed
	idle, err := feed.Follow(10)
	if err != nil {
		t.Fatal(err)
	}
	busy, err := feed.Follow(10)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for i := range 20 {
		feed.Append(numbered(1+i, 1))
		events, _, err := busy.Next(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		read += len(events)
	}
	if read != 20 || feed.Cut() != 1 {
		t.Errorf("the reader got %d events, %d were cut off", read, feed.Cut())
	}
	if _, _, err := idle.Next(t.Context(), nil); !errors.Is(err, event.ErrBehind) {
		t.Errorf("the one that does not read: %v", err)
	}
	busy.Close()
	feed.Append(numbered(21, 1))
	if _, over, err := busy.Next(t.Context(), nil); !over || err != nil {
		t.Errorf("closed: %v %v", over, err)
	}
}

func TestFeedLimits(t *testing.T) {
	var feed event.Feed
	for _, n := range []int{0, -1, 1<<16 + 1} {
		if _, err := feed.Follow(n); err == nil || !strings.Contains(err.Error(), "1 to 65536") {
			t.Errorf("%d: %v", n, err)
		}
	}
	var list []*event.Follower
	for range event.FollowersMax {
		f, err := feed.Follow(1)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	if _, err := feed.Follow(1); !errors.Is(err, event.ErrFollowers) {
		t.Errorf("one too many: %v", err)
	}
	list[0].Close()
	if _, err := feed.Follow(1); err != nil {
		t.Errorf("after one went: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := list[1].Next(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkFeedIdle is what each step of a call pays while nobody follows it.
func BenchmarkFeedIdle(b *testing.B) {
	var feed event.Feed
	events := numbered(1, 4)
	b.ReportAllocs()
	for b.Loop() {
		feed.Append(events)
	}
}
