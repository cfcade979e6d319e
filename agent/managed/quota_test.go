package managed

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// quotaHouse has a shared agent, an empty journal and limits.
func quotaHouse(t *testing.T, l Limits) *house {
	t.Helper()
	h := newHouseOn(t, journaltest.NewMemory(), Definition{}, &provider.Parrot{})
	h.close()
	h.engine = journaltest.NewMemory()
	h.cfg.Journal, h.cfg.Limits = h.engine, l
	h.cfg.Shared = []Definition{{Name: "shared", Model: ModelRef{ID: "script"}}}
	h.open()
	return h
}

// begin begins a session of a tenant, and returns its id, or "" and the code of the error.
func (h *house) begin(tenant string) (string, Code) {
	h.Helper()
	s, err := h.rt.StartSession(h.Context(), Owner{Tenant: tenant}, SessionRequest{Agent: SharedID("shared")})
	if err != nil {
		if strings.Contains(err.Error(), "other") || CodeOf(err) == "" {
			h.Error(err)
		}
		return "", CodeOf(err)
	}
	return s.ID, ""
}

// TestQuotaOfSessions: a tenant has so many sessions that are not archived, also after a restart, and nobody else
// notices. Archiving and deleting make room.
func TestQuotaOfSessions(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{TenantSessions: 3})
		acme := Owner{Tenant: "acme"}
		var ids []string
		for range 3 {
			id, _ := h.begin("acme")
			ids = append(ids, id)
		}
		full := func(when string) {
			t.Helper()
			if _, code := h.begin("acme"); code != Quota {
				t.Errorf("%s, another session: %q", when, code)
			}
			if _, err := h.rt.Send(t.Context(), acme, ids[0], Once{}, Text("Hi")); err != nil {
				t.Errorf("%s, a message: %v", when, err)
			}
			synctest.Wait()
		}
		full("at the limit")
		h.restart()
		full("after a restart")
		time.Sleep(2 * recountAfter)
		full("after another count")
		for range 3 {
			if _, code := h.begin("other"); code != "" {
				t.Errorf("another tenant: %q", code)
			}
		}
		if _, err := h.rt.ArchiveSession(t.Context(), acme, ids[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := h.rt.ArchiveSession(t.Context(), acme, ids[0]); err != nil { // counts once
			t.Fatal(err)
		}
		if err := h.rt.DeleteSession(t.Context(), acme, ids[0]); err != nil { // has counted
			t.Fatal(err)
		}
		if ids[0], _ = h.begin("acme"); ids[0] == "" {
			t.Error("an archived session counts")
		}
		full("after archiving one")
		if err := h.rt.DeleteSession(t.Context(), acme, ids[1]); err != nil {
			t.Fatal(err)
		}
		if _, code := h.begin("acme"); code != "" {
			t.Errorf("after deleting one: %q", code)
		}
		full("after deleting one")
		h.close()
	})
}

// TestQuotaOfSessionsAtOnce: many requests at once, also beside counts, begin as many sessions as there may be.
func TestQuotaOfSessionsAtOnce(t *testing.T) {
	h := quotaHouse(t, Limits{TenantSessions: 10})
	defer h.close()
	for round := range 3 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		n := 0
		for range 40 {
			wg.Go(func() {
				_, code := h.begin("acme")
				mu.Lock()
				defer mu.Unlock()
				if code == "" {
					n++
				}
				a := h.rt.accounts.account("acme")
				a.mu.Lock()
				a.counted = time.Now().Add(-2 * recountAfter) // so that the next one counts
				a.took = 0
				a.mu.Unlock()
			})
		}
		wg.Wait()
		if want := map[bool]int{true: 10}[round == 0]; n != want {
			t.Errorf("round %d: %d sessions, want %d", round, n, want)
		}
	}
	list, _, err := h.rt.Sessions(t.Context(), Owner{Tenant: "acme"}, SessionFilter{}, Page{Limit: 100})
	if err != nil || len(list) != 10 {
		t.Errorf("there are %d sessions, %v", len(list), err)
	}
}

// TestQuotaOfBytes: a session, and a tenant, store so much. Then there are no more messages, but answers and
// interrupts still pass. It is the same after a restart.
func TestQuotaOfBytes(t *testing.T) {
	for name, l := range map[string]Limits{"session": {SessionBytes: 300_000}, "tenant": {TenantBytes: 300_000}} {
		in(t, func(t *testing.T) {
			h := quotaHouse(t, l)
			acme := Owner{Tenant: "acme"}
			id, _ := h.begin("acme")
			text, sent := strings.Repeat("x", 10_000), 0
			send := func(ev Event, once Once) (Code, string) {
				_, err := h.rt.Send(t.Context(), acme, id, once, ev)
				synctest.Wait()
				return CodeOf(err), fmt.Sprint(err)
			}
			for ; ; sent++ {
				code, said := send(Text(text), Once{Key: fmt.Sprint("k", sent)})
				if code == Quota && strings.Contains(said, "bytes") {
					break
				}
				if code != "" || sent > 20 {
					t.Fatalf("%s: message %d: %s", name, sent, said)
				}
				time.Sleep(2 * recountAfter) // what the session answers is counted, too
			}
			if sent < 2 {
				t.Errorf("%s: only %d messages pass", name, sent)
			}
			h.restart()
			if code, said := send(Text("x"), Once{}); name == "session" && code != Quota {
				t.Errorf("after a restart: %s", said)
			}
			if code, said := send(Text(text), Once{Key: "k0"}); code != "" {
				t.Errorf("%s: a repetition: %s", name, said)
			}
			if code, said := send(Event{Type: UserInterrupt}, Once{}); code != "" {
				t.Errorf("%s: an interrupt: %s", name, said)
			}
			if _, code := h.begin("other"); code != "" {
				t.Errorf("%s: another tenant: %q", name, code)
			}
			if _, code := h.begin("acme"); name == "session" && code != "" {
				t.Errorf("another session: %q", code)
			}
			h.close()
		})
	}
}

// TestBytesAreNoted: the size of a session that has grown much is in its entry, so that a process that has never
// opened it knows it.
func TestBytesAreNoted(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{})
		acme := Owner{Tenant: "acme"}
		id, _ := h.begin("acme")
		for range 12 {
			if _, err := h.rt.Send(t.Context(), acme, id, Once{}, Text(strings.Repeat("x", 200_000))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		var size int64
		for rec, err := range h.engine.Read(t.Context(), logKey(id), 1, false) {
			if err != nil {
				t.Fatal(err)
			}
			size += int64(len(rec.Data))
		}
		if live := h.rt.bytesNow(id); live != size {
			t.Errorf("the session says it has %d bytes, the log has %d", live, size)
		}
		h.restart()
		e, _, err := h.rt.entry(t.Context(), acme, id)
		if err != nil || size < 4<<20 || e.Bytes < size*7/8-noteBytes-1_000_000 || e.Bytes > size {
			t.Errorf("the entry has %d bytes of %d, %v", e.Bytes, size, err)
		}
		a, err := h.rt.counted(t.Context(), acme)
		if err != nil || a.bytes != e.Bytes || a.sessions != 1 {
			t.Errorf("counted are %d bytes of %d sessions, %v", a.bytes, a.sessions, err)
		}
		h.close()
	})
}

// TestQuotaOfEvents: a tenant sends so many events in a second, over all its sessions. The error says when to go on.
func TestQuotaOfEvents(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{TenantEvents: 10})
		var ids []string
		for range 4 {
			id, _ := h.begin("acme")
			ids = append(ids, id)
		}
		stop := func(tenant, id string) error {
			_, err := h.rt.Send(t.Context(), Owner{Tenant: tenant}, id, Once{}, Event{Type: UserInterrupt})
			synctest.Wait()
			return err
		}
		for i := range sendBurst {
			if err := stop("acme", ids[i%4]); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		err := stop("acme", ids[0])
		e, ok := err.(*Error)
		if !ok || e.Code != TooMany || e.Wait <= 0 || e.Wait > 100*time.Millisecond {
			t.Fatalf("one more: %+v", err)
		}
		id, _ := h.begin("other")
		if err := stop("other", id); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		time.Sleep(e.Wait)
		if err := stop("acme", ids[0]); err != nil {
			t.Errorf("after the time that the error tells: %v", err)
		}
		h.cfg.Limits.TenantEvents = 0
		h.restart()
		for i := range 3 * sendBurst {
			if err := stop("acme", ids[i%4]); err != nil {
				t.Fatalf("without a limit, event %d: %v", i, err)
			}
		}
		h.close()
	})
}

// TestAccountsHaveALimit: of very many tenants the process forgets those that were not there lately.
func TestAccountsHaveALimit(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	b := accounts{limits: Limits{TenantEvents: 10}, now: func() time.Time { return now }, byTenant: map[string]*account{}}
	for i := range accountsMax + 100 {
		b.account(fmt.Sprint(i))
	}
	if n := len(b.byTenant); n != accountsMax {
		t.Errorf("%d accounts", n)
	}
	now = now.Add(2 * recountAfter)
	kept := b.account("kept")
	b.account("new")
	if len(b.byTenant) > accountsMax || b.account("kept") != kept {
		t.Errorf("%d accounts, and one that is in use is forgotten", len(b.byTenant))
	}
}

// TestBadQuotas: limits that make no sense are refused.
func TestBadQuotas(t *testing.T) {
	t.Parallel()
	for _, l := range []Limits{{TenantSessions: -1}, {TenantBytes: -1}, {SessionBytes: -1}, {TenantEvents: -1}} {
		_, err := New(Config{Journal: journaltest.NewMemory(), Models: provider.NewResolver(), Limits: l})
		if err == nil || !strings.Contains(err.Error(), "managed: Limits.") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// meddling is an engine that lets something else happen in front of a write of a document, once.
type meddling struct {
	*journaltest.Memory
	before func()
}

func (m *meddling) Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error) {
	if f := m.before; f != nil {
		m.before = nil
		f()
	}
	return m.Memory.Put(ctx, key, value, expect)
}

// TestArchivedBesideNotes: a session whose size is noted while it is archived, or the other way round, has both.
func TestArchivedBesideNotes(t *testing.T) {
	in(t, func(t *testing.T) {
		h := quotaHouse(t, Limits{})
		h.close()
		engine := &meddling{Memory: h.engine.(*journaltest.Memory)}
		h.cfg.Journal = engine
		h.open()
		acme := Owner{Tenant: "acme"}
		for _, first := range []string{"archive", "note"} {
			id, _ := h.begin("acme")
			note := func() { h.rt.grew(t.Context(), acme, id, 0, 0, 3*noteBytes) }
			archive := func() {
				if _, err := h.rt.ArchiveSession(t.Context(), acme, id); err != nil {
					t.Error(err)
				}
			}
			if first == "archive" {
				engine.before = note
				archive()
			} else {
				engine.before = archive
				note()
			}
			e, _, err := h.rt.entry(t.Context(), acme, id)
			if err != nil || e.Archived == nil || e.Bytes != 3*noteBytes {
				t.Errorf("%s first: the entry is %+v, %v", first, e, err)
			}
		}
		h.close()
	})
}
