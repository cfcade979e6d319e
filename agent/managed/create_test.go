package managed

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// workshop is a house whose engine has hooks, with an agent to make sessions of.
func workshop(t *testing.T, change func(*Config), llm *blocked) (*house, *seam, SessionRequest) {
	t.Helper()
	eng := &seam{Memory: journaltest.NewMemory()}
	h := newHouseOn(t, eng, Definition{}, llm)
	if change != nil {
		h.close()
		change(&h.cfg)
		h.open()
		time.Sleep(time.Second) // until it has joined the others
		synctest.Wait()
	}
	return h, eng, SessionRequest{Agent: h.status(Idle).Agent.ID, Initial: []Event{Text("hello")}}
}

// made are the sessions besides the first one.
func (h *house) made() (list []*Session) {
	h.Helper()
	all, _, err := h.rt.Sessions(h.Context(), ada, SessionFilter{}, Page{Limit: listMax})
	if err != nil {
		h.Fatal(err)
	}
	for _, s := range all {
		if s.ID != h.session {
			list = append(list, s)
		}
	}
	return list
}

// answered holds the only session that was made to an answer.
func (h *house) answered(want string) {
	h.Helper()
	list := h.made()
	if len(list) != 1 {
		h.Fatalf("%d sessions were made", len(list))
	}
	defer func(id string) { h.session = id }(h.session)
	h.session = list[0].ID
	h.tells(`mes, running, mes', "` + want + `", idle end_turn`)
}

// TestMadeWithoutAPlace: a session with a message for which there is no place in memory is refused, and nothing of it
// is stored.
func TestMadeWithoutAPlace(t *testing.T) {
	in(t, func(t *testing.T) {
		llm := blocking(says("one"))
		h, eng, req := workshop(t, func(c *Config) { c.Limits.Active = 1 }, llm)
		defer func() { h.close() }()
		h.send(Text("hi"))
		opened := 0
		eng.onOpen = func(string) { opened++ }
		if _, err := h.rt.StartSession(t.Context(), ada, req); CodeOf(err) != Overloaded {
			t.Errorf("the error is %v", err)
		}
		docs, err := eng.List(t.Context(), journal.Query{Prefix: activeDocs})
		if opened != 0 || len(docs) != 1 || err != nil {
			t.Errorf("%d logs were opened, %d sessions are active, %v", opened, len(docs), err)
		}
		close(llm.open)
	})
}

// TestMadeGoesOn: a session with a message whose last step fails goes on by itself, and at once if the request is
// repeated.
func TestMadeGoesOn(t *testing.T) {
	clustered := func(c *Config) { c.Cluster = &Cluster{Address: "http://127.0.0.1:1"} }
	for name, change := range map[string]func(*Config){"alone": func(*Config) {}, "one of several": clustered} {
		for _, repeat := range []bool{false, true} {
			in(t, func(t *testing.T) {
				llm := blocking(says("one"))
				close(llm.open)
				h, eng, req := workshop(t, change, llm)
				defer func() { h.close() }()
				opened := 0
				eng.onOpen = func(string) {
					if opened++; opened == 2 { // the first one is to make it
						eng.down.Store(true)
					}
				}
				_, err := h.rt.StartSessionOnce(t.Context(), ada, Once{Key: "k"}, req)
				if CodeOf(err) != Storage {
					t.Errorf("%s: the error is %v", name, err)
				}
				eng.down.Store(false)
				if repeat {
					if _, err := h.rt.StartSessionOnce(t.Context(), ada, Once{Key: "k"}, req); err != nil {
						t.Error(err)
					}
				} else {
					time.Sleep(10 * time.Second)
				}
				synctest.Wait()
				h.answered("one")
			})
		}
	}
}

// TestMadeAtTheLimit: a session whose place is taken while it is made goes on when there is one.
func TestMadeAtTheLimit(t *testing.T) {
	in(t, func(t *testing.T) {
		llm := blocking(says("one"))
		h, eng, req := workshop(t, func(c *Config) { c.Limits.Active = 1 }, llm)
		defer func() { h.close() }()
		eng.onPut = func(key string) {
			if strings.HasPrefix(key, "session/") {
				eng.onPut = nil
				h.send(Text("hi"))
			}
		}
		if _, err := h.rt.StartSession(t.Context(), ada, req); CodeOf(err) != Overloaded {
			t.Errorf("the error is %v", err)
		}
		time.Sleep(time.Minute)
		close(llm.open)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.answered("one")
	})
}

// TestMadeWithoutItsClient: a client that leaves while a session is made finds it in its list.
func TestMadeWithoutItsClient(t *testing.T) {
	for _, initial := range []bool{false, true} {
		in(t, func(t *testing.T) {
			llm := blocking(says("one"))
			close(llm.open)
			h, eng, req := workshop(t, nil, llm)
			defer func() { h.close() }()
			if !initial {
				req.Initial = nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			eng.Before = func(string, uint64, int) error {
				cancel()
				time.Sleep(time.Millisecond)
				return nil
			}
			if _, err := h.rt.StartSession(ctx, ada, req); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if initial {
				h.answered("one")
			} else if n := len(h.made()); n != 1 {
				t.Errorf("%d sessions were made", n)
			}
		})
	}
}

// TestMadeInTime: a journal that does not answer does not hold up the request for ever. A message that was stored all
// the same has its turn.
func TestMadeInTime(t *testing.T) {
	in(t, func(t *testing.T) {
		llm := blocking(says("one"))
		close(llm.open)
		h, eng, req := workshop(t, nil, llm)
		defer func() { h.close() }()
		heal := make(chan struct{})
		eng.Before = func(string, uint64, int) error { <-heal; return nil }
		began := time.Now()
		if _, err := h.rt.StartSession(t.Context(), ada, req); CodeOf(err) != Storage || time.Since(began) > 2*makeMax {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		close(heal)
		time.Sleep(time.Minute)
		synctest.Wait()
		if list := h.made(); len(list) > 1 || len(list) == 1 && list[0].Status != Idle {
			t.Errorf("%d sessions were made", len(list))
		}
	})
}

// TestTooLargeToMake: a session whose events do not fit into a record leaves nothing.
func TestTooLargeToMake(t *testing.T) {
	in(t, func(t *testing.T) {
		h, eng, req := workshop(t, nil, blocking())
		defer func() { h.close() }()
		req.Initial = nil
		for range 5 {
			req.Initial = append(req.Initial, Text(strings.Repeat("x", 250_000)))
		}
		var opened atomic.Int32
		eng.onOpen = func(string) { opened.Add(1) }
		_, err := h.rt.StartSession(t.Context(), ada, req)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "initial_events: ") {
			t.Errorf("the error is %v", err)
		}
		docs, err := eng.List(t.Context(), journal.Query{Prefix: activeDocs})
		if opened.Load() != 0 || len(docs) != 0 || err != nil {
			t.Errorf("%d logs were opened, %d sessions are active, %v", opened.Load(), len(docs), err)
		}
		req.Initial = req.Initial[:3]
		if _, err := h.rt.StartSession(t.Context(), ada, req); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// TestFailedMakingLeavesNothing: a session that could not be made, and that no repetition of the request asks for,
// leaves no log.
func TestFailedMakingLeavesNothing(t *testing.T) {
	for i := range 4 {
		key, bare := []string{"", "k"}[i%2], i < 2
		in(t, func(t *testing.T) {
			h, eng, req := workshop(t, nil, blocking())
			defer func() { h.close() }()
			if bare {
				req.Initial = nil
			}
			eng.Before = func(string, uint64, int) error { return errDown }
			_, err := h.rt.StartSessionOnce(t.Context(), ada, Once{Key: key}, req)
			if want := map[string]int32{"": 1}[key]; CodeOf(err) != Storage || eng.erased.Load() != want {
				t.Errorf("key %q: %v, %d logs were deleted", key, err, eng.erased.Load())
			}
		})
	}
}
