package managed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// seam is an engine with hooks in front of some requests, and one that does not answer while it is down.
type seam struct {
	*journaltest.Memory
	onOpen func(log string)
	onPut  func(key string)
	down   atomic.Bool
	erased atomic.Int32 // logs that were deleted
}

var errDown = fmt.Errorf("%w: down", journal.ErrStore)

func (s *seam) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	if f := s.onOpen; f != nil && !s.down.Load() {
		f(log)
	}
	if s.down.Load() {
		return nil, errDown
	}
	return s.Memory.Open(ctx, log, owner)
}

func (s *seam) Delete(ctx context.Context, log string) error {
	s.erased.Add(1)
	return s.Memory.Delete(ctx, log)
}

func (s *seam) Get(ctx context.Context, key string) (journal.Doc, error) {
	if s.down.Load() && (strings.HasPrefix(key, activeDocs) || strings.HasPrefix(key, nodeDocs)) {
		return journal.Doc{}, errDown
	}
	return s.Memory.Get(ctx, key)
}

func (s *seam) Put(ctx context.Context, key string, v []byte, expect uint64) (uint64, error) {
	if s.down.Load() {
		return 0, errDown
	}
	if f := s.onPut; f != nil {
		f(key)
	}
	return s.Memory.Put(ctx, key, v, expect)
}

// clustered starts the process of a house anew as one of several, and waits until it has joined.
func (h *house) clustered() {
	h.Helper()
	if err := h.rt.Close(context.Background()); err != nil {
		h.Error(err)
	}
	h.cfg.Cluster = &Cluster{Address: "http://127.0.0.1:1"}
	h.open()
	time.Sleep(time.Second)
	synctest.Wait()
}

// TestLostAfterARefusedRequest: a request fails while the journal does not answer, and lets go of a session that is at
// work. The session goes on by itself once the journal answers.
func TestLostAfterARefusedRequest(t *testing.T) {
	for range 20 {
		in(t, func(t *testing.T) {
			eng := &seam{Memory: journaltest.NewMemory()}
			eng.Before = func(string, uint64, int) error {
				if eng.down.Load() {
					time.Sleep(time.Millisecond)
					return errors.New("down")
				}
				return nil
			}
			tool := counting("slow", map[string]int{}, func(ctx context.Context) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
				return nil
			})
			h := newHouseOn(t, eng, Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				recording(calls(provider.ScriptCall{ID: "c1", Name: "slow"}), says("one"), says("two"), says("three")), tool)
			h.clustered()
			defer func() { _ = h.rt.Close(context.Background()) }()
			h.send(Text("hi"))
			eng.down.Store(true)
			h.refused(Storage, "", Text("hello?"))
			time.Sleep(5 * time.Second)
			eng.down.Store(false)
			time.Sleep(time.Hour)
			synctest.Wait()
			h.status(Idle)
		})
	}
}

// TestMessageWhileSettled: a session of a dead process is made inactive while a message comes for it. The message has
// its turn.
func TestMessageWhileSettled(t *testing.T) {
	in(t, func(t *testing.T) {
		eng := &seam{Memory: journaltest.NewMemory()}
		h := newHouseOn(t, eng, Definition{}, recording(says("one"), says("two")))
		h.send(Text("hi"))
		_ = h.rt.Close(context.Background())
		h.cfg.Cluster = &Cluster{Address: "http://127.0.0.1:1"}
		value := []byte(`{"node":"z","incarnation":"1"}`)
		if _, err := eng.Memory.Put(t.Context(), activeDocs+h.session, value, 0); err != nil {
			t.Fatal(err)
		}
		eng.Before = func(string, uint64, int) error {
			time.Sleep(time.Millisecond)
			return nil
		}
		var sent atomic.Bool
		opened := make(chan struct{})
		eng.onOpen = func(log string) {
			if log == logKey(h.session) && !sent.Swap(true) {
				<-opened
				go func() {
					if _, err := h.rt.Send(context.Background(), ada, h.session, Once{}, Text("are you there")); err != nil {
						t.Error(err)
					}
				}()
				time.Sleep(time.Millisecond)
			}
		}
		h.open()
		close(opened)
		defer func() { _ = h.rt.Close(context.Background()) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := letters(h.events()); !sent.Load() || !strings.HasSuffix(got, `"two", idle end_turn`) {
			t.Errorf("the session tells %s", got)
		}
	})
}

// TestCreateRepeatedBehindASweep: the log of a session whose creation has failed is not deleted by a sweep: a
// repetition may be writing it at that moment.
func TestCreateRepeatedBehindASweep(t *testing.T) {
	in(t, func(t *testing.T) {
		eng := &seam{Memory: journaltest.NewMemory()}
		h := newHouseOn(t, eng, Definition{}, recording(says("one"), says("two")))
		agent := h.status(Idle).Agent.ID
		h.clustered()
		defer func() { _ = h.rt.Close(context.Background()) }()
		var failing atomic.Bool
		eng.Before = func(string, uint64, int) error {
			if failing.Load() {
				return errDown
			}
			return nil
		}
		failing.Store(true)
		req, once := SessionRequest{Agent: agent, Initial: []Event{Text("hello")}}, Once{Key: "k"}
		if _, err := h.rt.StartSessionOnce(t.Context(), ada, once, req); CodeOf(err) != Storage {
			t.Errorf("the first attempt: %v", err)
		}
		failing.Store(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := eng.erased.Load(); n != 0 {
			t.Errorf("%d logs were deleted", n)
		}
		s, err := h.rt.StartSessionOnce(t.Context(), ada, once, req)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.session = s.ID
		h.status(Idle)
	})
}
