package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/petri"
)

// frail is a disk that can fail.
type frail struct {
	disk
	err error
}

func (f *frail) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *frail) fail() {
	f.mu.Lock()
	f.err = errors.New("disk full")
	f.mu.Unlock()
	f.notify()
}

// TestFailedStoreFailsTheWait checks that a durable output whose events are not stored is never
// handed over, that the outputs behind it are, and that the owner gets the reason.
func TestFailedStoreFailsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var d frail
		var failures []error
		r := mustStart(t, relay(true), Config{Out: w.Out, Store: &d,
			StoreFailed: func(err error) { failures = append(failures, err) }})
		mustInject(t, r, in.Token(1))              // events 2, 3
		mustInject(t, r, in.Token(2))              // events 4, 5
		mustInject(t, r, ping.Token(petri.Unit{})) // events 6, 7
		d.sync(3)
		synctest.Wait()
		d.fail()
		synctest.Wait()
		got := places(&w)
		if got != "out pong" || len(failures) != 1 || !errors.Is(failures[0], ErrStore) || !errors.Is(failures[0], d.err) {
			t.Errorf("%s; failures %v", got, failures)
		}
		mustInject(t, r, in.Token(3)) // fails at once
		mustInject(t, r, ping.Token(petri.Unit{}))
		if got := places(&w); got != "out pong pong" || !slices.Equal(w.heard(), []int{1}) || len(failures) != 1 {
			t.Errorf("%s, heard %v; failures %v", got, w.heard(), failures)
		}
		if s := r.Stats(); s.Discarded != 2 || s.Outputs != 3 {
			t.Errorf("%d outputs, %d discarded", s.Outputs, s.Discarded)
		}
		mustClose(t, r)
	})
}

// TestSilentStoreFails checks that a store that never reports anything has failed after StoreWait,
// whether or not anything else happens.
func TestSilentStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var d disk
		failures := make(chan error, 1)
		r := mustStart(t, relay(true), Config{Out: w.Out, Store: &d, StoreWait: time.Second,
			StoreFailed: func(err error) { failures <- err }})
		time.Sleep(time.Minute) // nothing waits yet
		mustInject(t, r, in.Token(1))
		d.sync(0)
		synctest.Wait()
		mustInject(t, r, in.Token(2))
		time.Sleep(500 * time.Millisecond)
		mustInject(t, r, in.Token(3))
		err := <-failures
		if now := r.in.elapsed(); now != time.Minute+time.Second || !errors.Is(err, ErrStore) ||
			!strings.Contains(err.Error(), "not stored within 1s") {
			t.Errorf("%v at %v", err, now)
		}
		synctest.Wait()
		d.sync(0) // too late
		synctest.Wait()
		if got := w.heard(); !slices.Equal(got, []int{1}) {
			t.Errorf("heard %v", got)
		}
		mustClose(t, r)
	})
}

// TestFailedStoreWithoutOwner checks that a net with durable outputs ends, and that one without
// continues and logs the failure.
func TestFailedStoreWithoutOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d frail
		r := mustStart(t, relay(true), Config{Store: &d})
		d.fail()
		<-r.Done()
		if !errors.Is(r.Err(), ErrStore) || !errors.Is(r.Err(), d.err) {
			t.Errorf("got %v", r.Err())
		}
		core, logs := observer.New(zapcore.ErrorLevel)
		var w world
		var other frail
		r = mustStart(t, relay(false), Config{Store: &other, Out: w.Out, Logger: zap.New(core)})
		other.fail()
		mustInject(t, r, in.Token(1))
		if logs.FilterMessage("store failed").Len() != 1 || len(w.heard()) != 1 {
			t.Errorf("heard %v, logs %v", w.heard(), logs.All())
		}
		mustClose(t, r)
	})
}
