package managed

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// halted leaves a session at rest, in the middle of a turn, or while calls wait. Nothing has it in memory.
func halted(t *testing.T, phase string) *house {
	t.Helper()
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	turns := map[string]provider.ScriptTurn{"idle": says("one"),
		"running": calls(provider.ScriptCall{ID: "c1", Name: "look"}),
		"parked":  calls(provider.ScriptCall{ID: "c1", Name: "deploy"})}
	d := Definition{Tools: []ToolConfig{{Type: AgentToolset, Configs: []ToolPolicy{{Name: "look"}}}, deploy().Tools[0]}}
	h := newHouse(t, d, []provider.ScriptTurn{turns[phase]}, counting("look", map[string]int{}, wait))
	h.send(Text("hi"))
	if err := h.rt.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return h
}

// withoutActive holds the journal to have no active session.
func (h *house) withoutActive() {
	h.Helper()
	docs, err := h.engine.List(h.Context(), journal.Query{Prefix: activeDocs})
	if err != nil || len(docs) > 0 {
		h.Errorf("%d sessions are active, %v", len(docs), err)
	}
}

// TestEndWithoutItsProgram: a session whose model or tool is gone takes no message, and can be archived and deleted,
// whatever it did.
func TestEndWithoutItsProgram(t *testing.T) {
	for _, phase := range []string{"idle", "running", "parked"} {
		for _, gone := range []string{"tool", "model"} {
			for _, archive := range []bool{true, false} {
				in(t, func(t *testing.T) {
					h := halted(t, phase)
					if gone == "tool" {
						h.cfg.Tools = nil
					} else {
						h.cfg.Models = provider.NewResolver()
					}
					h.open()
					defer func() { _ = h.rt.Close(context.Background()) }()
					h.refused(Invalid, "", Text("hi"))
					if archive {
						if s, err := h.rt.ArchiveSession(t.Context(), ada, h.session); err != nil || s.Status != Terminated {
							t.Errorf("%s, no %s: archive: %v", phase, gone, err)
						}
						h.refused(Invalid, "", Text("hi"))
						h.withoutActive()
					}
					if err := h.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
						t.Errorf("%s, no %s: delete: %v", phase, gone, err)
					}
					time.Sleep(time.Hour)
					synctest.Wait()
					h.withoutActive()
				})
			}
		}
	}
}

// TestEndOfWork: a session that was at work when its process stopped goes on, so it is neither archived nor deleted.
func TestEndOfWork(t *testing.T) {
	in(t, func(t *testing.T) {
		h := halted(t, "running")
		h.open()
		defer func() { _ = h.rt.Close(context.Background()) }()
		if _, err := h.rt.ArchiveSession(t.Context(), ada, h.session); CodeOf(err) != Invalid {
			t.Errorf("archive: %v", err)
		}
		if err := h.rt.DeleteSession(t.Context(), ada, h.session); CodeOf(err) != Invalid {
			t.Errorf("delete: %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := h.status(Idle); s.Turns != 1 {
			t.Errorf("the session has had %d turns", s.Turns)
		}
	})
}

// TestNoLogOfNothing: a request for a session whose log is deleted meanwhile makes no log. A log that nobody has
// written to is no session, and can be deleted.
func TestNoLogOfNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		h := halted(t, "idle")
		h.open()
		defer func() { _ = h.rt.Close(context.Background()) }()
		if err := h.engine.Delete(t.Context(), logKey(h.session)); err != nil {
			t.Fatal(err)
		}
		h.refused(NotFound, "", Text("hi"))
		if _, err := h.engine.Last(t.Context(), logKey(h.session)); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("there is a log: %v", err)
		}
		if _, err := h.engine.Open(t.Context(), logKey(h.session), "nobody"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.rt.head(t.Context(), h.session); CodeOf(err) != NotFound {
			t.Errorf("the head of a log without records: %v", err)
		}
		if err := h.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
			t.Error(err)
		}
		h.withoutActive()
	})
}

// TestDeleteBesideATakeover: a session that another process deletes, while this one takes it over and completes its
// list, does not come back.
func TestDeleteBesideATakeover(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng, _ := workshop(t, nil, blocking())
		defer func() { _ = h.rt.Close(context.Background()) }()
		other := &house{T: t, engine: eng, cfg: h.cfg}
		other.cfg.Node = "b"
		other.cfg.Journal = eng.Memory
		other.open()
		defer func() { _ = other.rt.Close(context.Background()) }()
		eng.onPut = func(key string) {
			if key == docKey(ada, "session", h.session) {
				eng.onPut = nil
				if err := other.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
					t.Error(err)
				}
			}
		}
		err := h.rt.with(t.Context(), h.session, func(o *owned) error { return o.complete(t.Context()) })
		if CodeOf(err) != NotFound {
			t.Errorf("the error is %v", err)
		}
		if list, _, err := h.rt.Sessions(t.Context(), ada, SessionFilter{}, Page{Limit: 10}); len(list) > 0 || err != nil {
			t.Errorf("%d sessions, %v", len(list), err)
		}
		if _, _, err := h.rt.entry(t.Context(), ada, h.session); CodeOf(err) != NotFound {
			t.Errorf("the entry is back: %v", err)
		}
	})
}

// TestEndsCountOnce: a session that is deleted or archived by several requests at once leaves the account of its
// tenant once.
func TestEndsCountOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{})
		h.close()
		h.engine = &slowly{h.engine.(*journaltest.Memory)}
		h.cfg.Journal = h.engine
		h.open()
		defer h.close()
		acme := Owner{Tenant: "acme"}
		var ids []string
		for range 4 {
			id, _ := h.begin("acme")
			ids = append(ids, id)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = h.rt.DeleteSession(t.Context(), acme, ids[0]) })
			wg.Go(func() { _, _ = h.rt.ArchiveSession(t.Context(), acme, ids[1]) })
			wg.Go(func() { _ = h.rt.DeleteSession(t.Context(), acme, ids[1]) })
		}
		wg.Wait()
		if a := h.rt.accounts.account("acme"); a.sessions != 2 {
			t.Errorf("%d sessions are counted, want 2", a.sessions)
		}
	})
}

// slowly is an engine whose documents take time to read, so that several read them before one writes.
type slowly struct{ *journaltest.Memory }

func (s *slowly) Get(ctx context.Context, key string) (journal.Doc, error) {
	d, err := s.Memory.Get(ctx, key)
	time.Sleep(time.Millisecond)
	return d, err
}

// TestFoundInMemory: a session that was lost and is in memory again is not looked for any more.
func TestFoundInMemory(t *testing.T) {
	in(t, func(t *testing.T) {
		h, _, _ := workshop(t, func(c *Config) { c.Cluster = &Cluster{Address: "http://127.0.0.1:1"} }, blocking())
		defer func() { _ = h.rt.Close(context.Background()) }()
		if err := h.rt.Pause(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.rt.lose(h.session, errDown)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		h.rt.mu.Lock()
		defer h.rt.mu.Unlock()
		if h.rt.lost[h.session] || h.rt.active[h.session] == nil {
			t.Errorf("lost: %v, in memory: %v", h.rt.lost, h.rt.active)
		}
	})
}

// TestSecondAttemptFails: a session that cannot be stored at the second attempt either is opened by itself later.
func TestSecondAttemptFails(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng, _ := workshop(t, nil, blocking())
		defer func() { _ = h.rt.Close(context.Background()) }()
		eng.Before = func(string, uint64, int) error { return errDown }
		title := "new"
		if _, err := h.rt.UpdateSession(t.Context(), ada, h.session, SessionPatch{Title: &title}); CodeOf(err) != Storage {
			t.Errorf("the error is %v", err)
		}
		h.rt.mu.Lock()
		here, lost := h.rt.active[h.session] != nil, h.rt.lost[h.session]
		h.rt.mu.Unlock()
		if here || !lost {
			t.Errorf("in memory: %v, lost: %v", here, lost)
		}
		eng.Before = nil
		time.Sleep(time.Minute)
		synctest.Wait()
		h.withoutActive()
	})
}

// TestOpenBesideSettling: a session that is made inactive, and comes into memory at that moment, keeps its log.
func TestOpenBesideSettling(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng, _ := workshop(t, nil, blocking())
		defer func() { _ = h.rt.Close(context.Background()) }()
		paused := make(chan error, 1)
		eng.onPut = func(string) {
			eng.onPut = nil
			go func() { paused <- h.rt.Pause(context.Background(), ada, h.session) }()
			time.Sleep(time.Millisecond)
		}
		if _, err := h.rt.settle(t.Context(), journal.Doc{Key: activeDocs + h.session}); err != nil {
			t.Error(err)
		}
		if err := <-paused; err != nil {
			t.Error(err)
		}
		if err := h.rt.Resume(t.Context(), ada, h.session); err != nil { // it needs no other claim
			t.Error(err)
		}
		claims := 0
		for rec, err := range eng.Read(t.Context(), logKey(h.session), 1, false) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Kind == journal.Claim {
				claims++
			}
		}
		if claims != 3 { // to make it, to make it inactive, and to pause it
			t.Errorf("the log was claimed %d times", claims)
		}
	})
}
