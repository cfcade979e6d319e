package managed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// maker is one of the three ways to make something once.
type onceMaker struct {
	name string
	make func(h *house, o Owner, once Once, name string) (string, error)
	list func(h *house) int
}

func makers() []onceMaker {
	all := Page{Limit: listMax}
	return []onceMaker{
		{"agent", func(h *house, o Owner, once Once, name string) (string, error) {
			a, err := h.rt.CreateAgentOnce(h.Context(), o, once, Definition{Name: name, Model: ModelRef{ID: "script"}})
			if err != nil {
				return "", err
			}
			return a.ID, nil
		}, func(h *house) int {
			list, _, _ := h.rt.Agents(h.Context(), ada, true, all)
			return len(list)
		}},
		{"environment", func(h *house, o Owner, once Once, name string) (string, error) {
			e, err := h.rt.CreateEnvironmentOnce(h.Context(), o, once, Environment{Name: name})
			if err != nil {
				return "", err
			}
			return e.ID, nil
		}, func(h *house) int {
			list, _, _ := h.rt.Environments(h.Context(), ada, true, all)
			return len(list)
		}},
		{"session", func(h *house, o Owner, once Once, name string) (string, error) {
			s, err := h.rt.StartSessionOnce(h.Context(), o, once, SessionRequest{Agent: SharedID("shared"), Title: name,
				Initial: []Event{Text("Hello")}})
			if err != nil {
				return "", err
			}
			return s.ID, nil
		}, func(h *house) int {
			list, _, _ := h.rt.Sessions(h.Context(), ada, SessionFilter{Archived: true}, all)
			return len(list)
		}},
	}
}

// sharingHouse has an agent that everybody may use.
func sharingHouse(t *testing.T, engine journal.Engine) *house {
	t.Helper()
	h := newHouseOn(t, engine, Definition{}, &provider.Parrot{})
	h.close()
	h.cfg.Shared = []Definition{{Name: "shared", Model: ModelRef{ID: "script"}}}
	h.open()
	return h
}

// TestMadeOnce: a repetition of a request that makes something makes no second one: with a key for a day, without
// one for a minute, also by another process. Anything else makes another one. Without a key, a request for a session
// always does: another client may have asked for the same.
func TestMadeOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		h := sharingHouse(t, journaltest.NewMemory())
		for _, m := range makers() {
			must := func(o Owner, once Once, name string) string {
				t.Helper()
				id, err := m.make(h, o, once, name)
				if err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				synctest.Wait()
				return id
			}
			same := func(what, a, b string, want bool) {
				t.Helper()
				if (a == b) != want {
					t.Errorf("%s, %s: %s and %s", m.name, what, a, b)
				}
			}
			before, shared := m.list(h), m.name != "session"
			first := must(ada, Once{Repeatable: true}, "x")
			same("a repetition", must(ada, Once{Repeated: true, Repeatable: true}, "x"), first, shared)
			same("other contents", must(ada, Once{Repeated: true}, "y"), first, false)
			second := must(ada, Once{Repeatable: true}, "x")
			same("the same on purpose", second, first, false)
			h.restart()
			same("a repetition after a restart", must(ada, Once{Repeated: true}, "x"), second, shared)
			keyed := must(ada, Once{Key: "k"}, "x")
			same("with a key", keyed, second, false)
			if _, err := m.make(h, ada, Once{Key: "k"}, "z"); CodeOf(err) != Invalid ||
				!strings.Contains(err.Error(), `"k" was used`) {
				t.Errorf("%s: other contents with a key: %v", m.name, err)
			}
			if _, err := m.make(h, ada, Once{Key: strings.Repeat("k", keyMax+1)}, "z"); CodeOf(err) != Invalid {
				t.Errorf("%s: a long key: %v", m.name, err)
			}
			same("somebody else's key", must(Owner{Tenant: "acme", User: "bob"}, Once{Key: "k"}, "x"), keyed, false)
			same("another tenant's key", must(Owner{Tenant: "other", User: "ada"}, Once{Key: "k"}, "x"), keyed, false)
			time.Sleep(repeatWithin + time.Second)
			same("a repetition after a minute", must(ada, Once{Repeated: true}, "x"), second, false)
			time.Sleep(keyWithin - 2*repeatWithin)
			h.restart()
			same("a key after a day", must(ada, Once{Key: "k"}, "x"), keyed, true)
			time.Sleep(repeatWithin)
			same("a key after more than a day", must(ada, Once{Key: "k"}, "x"), keyed, false)
			want := 7 // bob's, too
			if !shared {
				want = 8 // not bob's, and two repetitions
			}
			if n := m.list(h) - before; n != want {
				t.Errorf("%s: %d were made", m.name, n)
			}
		}
		h.close()
	})
}

// TestMadeOnceAtOnce: of many equal requests at once, with two processes, one makes something.
func TestMadeOnceAtOnce(t *testing.T) {
	engine := journaltest.NewMemory()
	h := sharingHouse(t, engine)
	defer h.close()
	other := &house{T: t, engine: engine, cfg: h.cfg}
	other.cfg.Node = "b"
	other.open()
	defer other.close()
	for _, m := range makers() {
		before := m.list(h)
		var wg sync.WaitGroup
		ids := make([]string, 20)
		for i := range ids {
			wg.Go(func() {
				node := []*house{h, other}[i%2]
				for { // as a client does
					id, err := m.make(node, ada, Once{Key: "race"}, "x")
					if ids[i] = id; err == nil {
						return
					}
					if CodeOf(err) != Storage && CodeOf(err) != TooMany { // the other node has fenced this one
						t.Errorf("%s: %v", m.name, err)
						return
					}
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("%s: %s and %s", m.name, id, ids[0])
			}
		}
		if n := m.list(h) - before; n != 1 {
			t.Errorf("%s: %d were made", m.name, n)
		}
	}
}

// TestMadeOnceAfterACrash: a process that ends at any write leaves at most one thing, and the repetition of the
// request finds or finishes it.
func TestMadeOnceAfterACrash(t *testing.T) {
	for _, m := range makers() {
		key := map[string]string{"session": "k"}[m.name]
		for at := 1; ; at++ {
			over := false
			in(t, func(t *testing.T) {
				engine := &failingPuts{Memory: journaltest.NewMemory()}
				h := sharingHouse(t, engine)
				before := m.list(h)
				engine.failAt(at)
				first, err := m.make(h, ada, Once{Key: key, Repeatable: true}, "x")
				synctest.Wait() // what the first process still writes fails too
				over = err == nil && !engine.isDead()
				engine.revive()
				h.restart()
				id, err := m.make(h, ada, Once{Key: key, Repeated: true}, "x")
				if err != nil || first != "" && id != first {
					t.Errorf("%s, write %d: the repetition is %s, %v; the first answer was %s", m.name, at, id, err, first)
				}
				synctest.Wait()
				if n := m.list(h) - before; n != 1 {
					t.Errorf("%s, write %d: there are %d", m.name, at, n)
				}
				if m.name == "session" {
					h.session = id
					if told := letters(h.events()); told != `mes, running, mes', "Hello", idle end_turn` {
						t.Errorf("write %d: the session tells %s", at, told)
					}
				}
				h.close()
			})
			if over {
				if at < 3 {
					t.Errorf("%s takes %d writes", m.name, at-1)
				}
				break
			}
		}
	}
}

var errNoMachine = errors.New("the machine is gone")

// failingPuts is an engine that stores nothing from a write on.
type failingPuts struct {
	*journaltest.Memory
	mu   sync.Mutex
	left int // writes; 0 means any number
	dead bool
}

func (f *failingPuts) failAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = n
	f.Before = func(string, uint64, int) error { return f.write() }
}

func (f *failingPuts) revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.dead = 0, false
}

func (f *failingPuts) isDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

func (f *failingPuts) write() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errNoMachine
	}
	if f.left > 0 {
		if f.left--; f.left == 0 {
			f.dead = true
			return errNoMachine
		}
	}
	return nil
}

func (f *failingPuts) Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error) {
	if err := f.write(); err != nil {
		return 0, err
	}
	return f.Memory.Put(ctx, key, value, expect)
}

// TestClaimsAreForgotten: what is remembered of requests has a limit.
func TestClaimsAreForgotten(t *testing.T) {
	in(t, func(t *testing.T) {
		engine := journaltest.NewMemory()
		h := sharingHouse(t, engine)
		count := func() int {
			n := 0
			if err := h.rt.list(t.Context(), claims(ada), Page{Limit: listMax}, func(journal.Doc) (bool, error) {
				n++
				return true, nil
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		put := func(i int, once Once) {
			if _, err := h.rt.CreateEnvironmentOnce(t.Context(), ada, once, Environment{Name: fmt.Sprint("e", i)}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range claimsMax + 3*claimsSweep {
			put(i, Once{Key: fmt.Sprint("k", i)})
		}
		if n := count(); n > claimsMax+claimsSweep || n < claimsMax {
			t.Errorf("%d claims with keys are there", n)
		}
		for i := range claimsSweep {
			put(i, Once{Repeatable: true})
			time.Sleep(2 * time.Second)
		}
		if n := count(); n > claimsMax+2*claimsSweep {
			t.Errorf("%d claims are there", n)
		}
		time.Sleep(keyWithin)
		h.restart()
		put(0, Once{Key: "new"})
		if n := count(); n != 1 {
			t.Errorf("a day later, %d claims are there", n)
		}
		h.close()
	})
}
