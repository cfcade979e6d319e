package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestInjectAccepted checks that a sender waits exactly while its place is full, and is refused once
// for it.
func TestInjectAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Start(compile(t, watchdog()), Config{Out: func(petri.Token) {}})
		if err != nil {
			t.Fatal(err)
		}
		const pings, room = 12, 5 // four at the place, and one that waits
		began := time.Now()
		for range pings {
			if err := r.InjectAccepted(t.Context(), ping.Token(petri.Unit{})); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != (pings-room)*300*time.Millisecond {
			t.Errorf("the last ping entered after %v", took)
		}
		if s := r.Stats(); s.Refused != pings-room {
			t.Errorf("%d attempts were refused, want one for each ping that waited", s.Refused)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := r.InjectAccepted(ctx, ping.Token(petri.Unit{})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sender who gives up got %v", err)
		}
		var waiter sync.WaitGroup
		waiter.Go(func() {
			if err := r.InjectAccepted(context.Background(), ping.Token(petri.Unit{})); !errors.Is(err, ErrClosed) {
				t.Errorf("at the end of the run a sender got %v", err)
			}
		})
		synctest.Wait()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		waiter.Wait()
	})
}

// TestInjectAcceptedRow checks that a row enters in order as its place has room, that a full place
// refuses it once for each time, and that a row enters together where there is room.
func TestInjectAcceptedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Start(compile(t, watchdog()), Config{Out: func(petri.Token) {}, Inbox: 12})
		if err != nil {
			t.Fatal(err)
		}
		var row []petri.Token
		for range 13 {
			row = append(row, ping.Token(petri.Unit{}))
		}
		if err := r.InjectAccepted(t.Context(), row...); !errors.Is(err, ErrInboxFull) {
			t.Errorf("a row longer than the inbox got %v", err)
		}
		began := time.Now()
		if err := r.InjectAccepted(t.Context(), row[:5]...); err != nil || time.Since(began) > 0 {
			t.Errorf("a row that has room got %v after %v", err, time.Since(began))
		}
		if err := r.InjectAccepted(t.Context(), row[:7]...); err != nil {
			t.Fatal(err)
		}
		const pings, room = 12, 5 // four at the place, and one that waits
		if took := time.Since(began); took != (pings-room)*300*time.Millisecond {
			t.Errorf("the last ping entered after %v", took)
		}
		if s := r.Stats(); s.Refused != pings-room {
			t.Errorf("the row was refused %d times, want once for each ping that waited", s.Refused)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := r.InjectAccepted(ctx, row[:2]...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sender who gives up got %v", err)
		}
		if err := r.InjectAccepted(t.Context(), ping.Token(petri.Unit{}), stranger()); !errors.Is(err, petri.ErrPlace) {
			t.Errorf("a row with a token for no place got %v", err)
		}
		if err := r.InjectAccepted(t.Context()); err != nil {
			t.Errorf("an empty row got %v", err)
		}
		mustClose(t, r)
	})
}

// stranger is a token that no net here takes.
func stranger() petri.Token { return petri.Place[petri.Unit]("nowhere").Token(petri.Unit{}) }

// TestInjectAcceptedWhileOthersFire checks the bound on refused attempts: firings that make no room
// at the place cost none, and room that others take costs one for each sender that still waits.
func TestInjectAcceptedWhileOthersFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustStart(t, gate(), Config{})
		mustInject(t, r, ping.Token(petri.Unit{}))
		refused := func(want uint64) {
			t.Helper()
			if s := r.Stats(); s.Refused != want {
				t.Errorf("%d attempts were refused after %d firings, want %d", s.Refused, s.Fired, want)
			}
		}
		const senders, ticks = 3, 1000
		for range ticks { // senders who give up leave one entry behind
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			if err := r.InjectAccepted(ctx, ping.Token(petri.Unit{})); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		refused(ticks)
		if n := len(r.rooms.full); n != 1 {
			t.Errorf("%d entries for one full place", n)
		}
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				if err := r.InjectAccepted(t.Context(), ping.Token(petri.Unit{})); err != nil {
					t.Error(err)
				}
			})
		}
		want := uint64(ticks + senders)
		for left := senders; left > 0; left-- {
			time.Sleep(ticks * time.Millisecond)
			refused(want)
			mustInject(t, r, stop.Token(petri.Unit{}))
			synctest.Wait()
			want += uint64(left - 1) // one enters
		}
		all.Wait()
		refused(want)
		mustClose(t, r)
	})
}

// TestRooms checks when a sender who waits for its place is woken, and that the steps of the loop
// until then allocate nothing.
func TestRooms(t *testing.T) {
	n := gate()
	n.Env, n.Final = append(n.Env, petri.Env{Place: over}), over
	m := compile(t, n).Start()
	place := &m.Program().Places()[m.Program().Place(ping.String())]
	inject := func(token petri.Token) {
		t.Helper()
		if err := m.Inject(0, token); err != nil {
			t.Fatal(err)
		}
	}
	open := func(room <-chan struct{}) bool {
		select {
		case <-room:
			return true
		default:
			return false
		}
	}
	var w rooms
	inject(ping.Token(petri.Unit{}))
	room := w.wait(m, place)
	if n := testing.AllocsPerRun(1000, func() { w.review(m) }); n != 0 || open(room) {
		t.Errorf("full: %v allocations, woken: %v", n, open(room))
	}
	inject(stop.Token(petri.Unit{}))
	if w.review(m); !open(room) {
		t.Error("a sender waits although its place has room")
	}
	if !open(w.wait(m, place)) {
		t.Error("a sender whose place has had room since waits")
	}
	inject(ping.Token(petri.Unit{}))
	room = w.wait(m, place)
	inject(over.Token(petri.Unit{}))
	if w.review(m); !open(room) || len(w.full) != 0 {
		t.Errorf("a sender waits although the net has ended, %d entries are left", len(w.full))
	}
}

// gate passes on one ping for each stop, and ticks every millisecond.
func gate() *petri.Net {
	return &petri.Net{
		Name: "gate",
		Env:  []petri.Env{{Place: ping, Capacity: 1}, {Place: stop}},
		Out:  []petri.Output{{Place: pong}},
		Init: []petri.Token{waiting.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "pass", In: petri.Arcs{ping, stop}, Out: petri.And(pong)},
			{Name: "tick", In: petri.Arcs{waiting}, Out: petri.And(waiting), When: petri.After(time.Millisecond)},
		},
	}
}

// TestInjectBlocking checks that senders wait while the inbox is full, and that no token is lost.
func TestInjectBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, got := make(chan struct{}), 0
		r, err := Start(compile(t, relay(false)), Config{Inbox: 2, Out: func(petri.Token) { <-hold; got++ }})
		if err != nil {
			t.Fatal(err)
		}
		const senders, each = 4, 50
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				for n := range each {
					if err := r.InjectBlocking(t.Context(), in.Token(n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.InjectBlocking(ctx, in.Token(0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sender who gives up got %v", err)
		}
		if err := r.InjectBlocking(ctx, out.Token(0)); !errors.Is(err, petri.ErrPlace) {
			t.Errorf("a token for an output place got %v", err)
		}
		close(hold)
		all.Wait()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got != senders*each {
			t.Errorf("%d of %d tokens came through", got, senders*each)
		}
		if err := r.InjectBlocking(t.Context(), in.Token(0)); !errors.Is(err, ErrClosed) {
			t.Errorf("behind the end a sender got %v", err)
		}
	})
}

// TestInjectRow: a row of tokens enters at one time, waits until all of it has room, and enters whole
// or not at all.
func TestInjectRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inbox = 4
		held, w := make(chan struct{}), &world{}
		r := mustStart(t, relay(false), Config{Inbox: inbox, Store: w, Out: func(t petri.Token) { <-held; w.Out(t) }})
		for i := range inbox { // the loop holds the first
			if err := r.Inject(in.Token(i)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		row := []petri.Token{in.Token(4), in.Token(5)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.InjectBlocking(ctx, row...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a row without room got %v", err)
		}
		if err := r.InjectBlocking(t.Context(), make([]petri.Token, inbox+1)...); err == nil {
			t.Error("tokens of no place were taken")
		}
		long := slices.Repeat(row, inbox)
		if err := r.InjectBlocking(t.Context(), long...); !errors.Is(err, ErrInboxFull) {
			t.Errorf("a row that never has room got %v", err)
		}
		var sender sync.WaitGroup
		sender.Go(func() {
			if err := r.InjectBlocking(t.Context(), row...); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(held)
		sender.Wait()
		mustClose(t, r)
		if got := w.heard(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("%v came out", got)
		}
		if err := r.InjectBlocking(t.Context()); err != nil {
			t.Errorf("an empty row got %v", err)
		}
		at := map[time.Duration]int{}
		for _, e := range w.events {
			if e.Kind == petri.Injected {
				at[e.At]++
			}
		}
		if at[time.Second] != 2 {
			t.Errorf("tokens entered at %v, want the two of the row at 1s", at)
		}
	})
}

// TestInjectQuietly checks that a token waits, with its time, until something else wakes the loop: the
// next injection, a timer, or one that finds the inbox full.
func TestInjectQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inbox = 3
		w := &world{}
		r := mustStart(t, relay(false), Config{Inbox: inbox, Store: w, Out: w.Out})
		synctest.Wait()
		quietly := func(n int) error {
			err := r.InjectQuietly(in.Token(n))
			synctest.Wait()
			return err
		}
		heard := func(want ...int) {
			t.Helper()
			if got := w.heard(); !slices.Equal(got, want) {
				t.Errorf("%v came out, want %v", got, want)
			}
		}
		for n := range 2 {
			if err := quietly(n); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		heard()
		mustInject(t, r, in.Token(2))
		heard(0, 1, 2)
		at := map[time.Duration]int{}
		for _, e := range w.events {
			if e.Kind == petri.Injected {
				at[e.At]++
			}
		}
		if at[0] != 1 || at[time.Second] != 1 || at[2*time.Second] != 1 {
			t.Errorf("tokens entered at %v, want one each second", at)
		}
		for n := range inbox {
			if err := quietly(3 + n); err != nil {
				t.Fatal(err)
			}
		}
		heard(0, 1, 2)
		if err := quietly(6); !errors.Is(err, ErrInboxFull) {
			t.Errorf("a token without room got %v", err)
		}
		heard(0, 1, 2, 3, 4, 5)
		var unknown *petri.InjectError
		if err := r.InjectQuietly(stranger()); !errors.As(err, &unknown) {
			t.Errorf("a token of no place got %v", err)
		}
		if err := quietly(7); err != nil {
			t.Fatal(err)
		}
		mustClose(t, r)
		heard(0, 1, 2, 3, 4, 5, 7)
		if err := quietly(8); !errors.Is(err, ErrClosed) {
			t.Errorf("a token after the end got %v", err)
		}
	})
}

// TestQuietTokensMeetTimers checks that a timer fires before a quiet token that came after it was due,
// and after one that came before.
func TestQuietTokensMeetTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		r := mustStart(t, watchdog(), Config{Store: w, Out: func(petri.Token) {}})
		mustInject(t, r, ping.Token(petri.Unit{}))
		time.Sleep(100 * time.Millisecond)
		if err := r.InjectQuietly(ping.Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(450 * time.Millisecond)
		if err := r.InjectQuietly(ping.Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		var fired []time.Duration
		for _, e := range w.events {
			if e.Kind == petri.Fired && r.prog.FiringName(e) == "fire" {
				fired = append(fired, e.At)
			}
		}
		want := []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 900 * time.Millisecond}
		if !slices.Equal(fired, want) {
			t.Errorf("timers fired at %v, want %v", fired, want)
		}
		mustClose(t, r)
	})
}
