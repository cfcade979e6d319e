package managed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// sparing is an engine whose lists wait, or fail.
type sparing struct {
	*journaltest.Memory
	onList func(ctx context.Context, prefix string) error
	lists  int // of sessions
}

func (s *sparing) List(ctx context.Context, q journal.Query) ([]journal.Doc, error) {
	if strings.HasPrefix(q.Prefix, "session/") {
		s.lists++
	}
	if f := s.onList; f != nil {
		if err := f(ctx, q.Prefix); err != nil {
			return nil, err
		}
	}
	return s.Memory.List(ctx, q)
}

// sparingHouse has a shared agent and an engine whose lists wait, or fail.
func sparingHouse(t *testing.T, l Limits) (*house, *sparing) {
	t.Helper()
	h := quotaHouse(t, l)
	h.close()
	eng := &sparing{Memory: h.engine.(*journaltest.Memory)}
	h.engine, h.cfg.Journal = eng, eng
	h.open()
	return h, eng
}

// TestChangesCount: pauses, resumes and updates count as events of the user, and with their bytes. A session or a
// tenant that is too large takes no update, and can be paused.
func TestChangesCount(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{TenantEvents: 10})
		acme, title := Owner{Tenant: "acme"}, "new"
		id, _ := h.begin("acme")
		a := h.rt.accounts.account("acme")
		changes := []func() error{
			func() error { return h.rt.Pause(t.Context(), acme, id) },
			func() error { return h.rt.Resume(t.Context(), acme, id) },
			func() error {
				_, err := h.rt.UpdateSession(t.Context(), acme, id, SessionPatch{Title: &title})
				return err
			},
		}
		for i := range sendBurst {
			before := a.bytes
			if err := changes[i%3](); err != nil || a.bytes <= before {
				t.Fatalf("change %d: %v, the tenant has %d bytes and had %d", i, err, a.bytes, before)
			}
		}
		for i, change := range changes {
			if err := change(); CodeOf(err) != TooMany {
				t.Errorf("change %d, too fast: %v", i, err)
			}
		}
		for name, l := range map[string]Limits{"session": {SessionBytes: 1}, "tenant": {TenantBytes: 1}} {
			time.Sleep(2 * recountAfter)
			h.cfg.Limits = l
			h.restart()
			for i, want := range []Code{"", "", Quota} {
				if err := changes[i](); CodeOf(err) != want {
					t.Errorf("the %s is too large, change %d: %v", name, i, err)
				}
			}
		}
		time.Sleep(2 * recountAfter)
		h.cfg.Limits = Limits{Events: 1}
		h.restart()
		if err := changes[2](); CodeOf(err) != Conflict {
			t.Errorf("the session has too many events: %v", err)
		}
		h.close()
	})
}

// TestFirstCount: a client that leaves during the first count of its tenant does not end it, and interrupts do not wait
// for it.
func TestFirstCount(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng := sparingHouse(t, Limits{})
		defer h.close()
		acme := Owner{Tenant: "acme"}
		id, _ := h.begin("acme")
		h.restart()
		eng.lists = 0
		eng.onList = func(ctx context.Context, prefix string) error {
			if !strings.HasPrefix(prefix, "session/") {
				return nil
			}
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.rt.Send(ctx, acme, id, Once{}, Text("hi")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the client leaves: %v", err)
		}
		began := time.Now()
		_, err := h.rt.Send(t.Context(), acme, id, Once{}, Event{Type: UserInterrupt})
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("an interrupt: %v after %v", err, took)
		}
		if _, err := h.rt.Send(t.Context(), acme, id, Once{}, Text("hi")); err != nil || eng.lists != 1 {
			t.Errorf("a message: %v, the sessions were listed %d times", err, eng.lists)
		}
		synctest.Wait()
	})
}

// TestFailedCount: when a count fails, every request that waits for it gets the error. The next request counts again.
func TestFailedCount(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng := sparingHouse(t, Limits{})
		defer h.close()
		eng.onList = func(context.Context, string) error {
			time.Sleep(time.Second)
			return errDown
		}
		errs := make(chan Code, 3)
		for range cap(errs) {
			go func() {
				_, code := h.begin("acme")
				errs <- code
			}()
		}
		for range cap(errs) {
			if code := <-errs; code != Storage {
				t.Errorf("the error is %q", code)
			}
		}
		eng.onList = nil
		if _, code := h.begin("acme"); code != "" || eng.lists != 2 {
			t.Errorf("the next one: %q, the sessions were listed %d times", code, eng.lists)
		}
	})
}

// TestFailedBesideACount: a session whose making fails during a count is not counted.
func TestFailedBesideACount(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng := sparingHouse(t, Limits{})
		defer h.close()
		acme := Owner{Tenant: "acme"}
		_, _ = h.begin("acme")
		time.Sleep(2 * recountAfter)
		eng.onList = func(context.Context, string) error { time.Sleep(time.Minute); return nil }
		counted := make(chan *account, 1)
		go func() {
			a, err := h.rt.counted(t.Context(), acme)
			if err != nil {
				t.Error(err)
			}
			counted <- a
		}()
		synctest.Wait()
		eng.Before = func(string, uint64, int) error { return errDown }
		if _, code := h.begin("acme"); code != Storage {
			t.Errorf("the error is %q", code)
		}
		if a := <-counted; a.sessions != 1 {
			t.Errorf("%d sessions are counted", a.sessions)
		}
		eng.Before = nil
	})
}

// TestForgettingFails: a request is answered although old claims cannot be forgotten.
func TestForgettingFails(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng := sparingHouse(t, Limits{})
		defer h.close()
		eng.onList = func(_ context.Context, prefix string) error {
			if prefix == claims(ada) {
				return errDown
			}
			return nil
		}
		if _, err := h.rt.CreateEnvironmentOnce(t.Context(), ada, Once{Key: "k"}, Environment{Name: "e"}); err != nil {
			t.Error(err)
		}
	})
}
