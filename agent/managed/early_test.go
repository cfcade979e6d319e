package managed

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// slowEngine is a journal whose writers report one record as stored only after release.
type slowEngine struct {
	journal.Engine
	slow    atomic.Uint64 // number of the record; 0: none
	release chan struct{}
}

func (e *slowEngine) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	w, err := e.Engine.Open(ctx, log, owner)
	if err != nil {
		return nil, err
	}
	return &slowWriter{Writer: w, engine: e}, nil
}

type slowWriter struct {
	journal.Writer
	engine *slowEngine
}

func (w *slowWriter) Await(ctx context.Context, seq uint64) error {
	if seq == w.engine.slow.Load() {
		<-w.engine.release
	}
	return w.Writer.Await(ctx, seq)
}

// TestResultBeforeParkIsTold: a result that comes after the turn has counted its calls, and before the
// session is told to be parked, continues the turn.
func TestResultBeforeParkIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		goOn := make(chan struct{})
		h := newHouse(t, Definition{Tools: append(deploy().Tools, ToolConfig{Type: AgentToolset})},
			[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "deploy", ID: "c1"},
				provider.ScriptCall{Name: "delete_file", ID: "t1"}), says("Deployed."), says("Again.")},
			counting("delete_file", map[string]int{}, func(context.Context) error { <-goOn; return nil }))
		h.close()
		slow := &slowEngine{Engine: h.engine, release: make(chan struct{})}
		h.cfg.Journal = slow
		h.open()
		defer h.close()
		h.send(Text("Deploy"))
		o := h.rt.active[h.session]
		if o == nil {
			t.Fatal("the session is not in memory")
		}
		o.o.mu.Lock()
		slow.slow.Store(o.o.st.records + 1)
		o.o.mu.Unlock()
		done := make(chan error, 1)
		go func() {
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Next"))
			done <- err
		}()
		synctest.Wait()
		close(goOn) // the turn parks, and the pump waits for the message
		synctest.Wait()
		h.send(Event{Type: UserCustomResult, CustomID: h.find(AgentCustomToolUse).ID})
		close(slow.release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.tells(`mes, running, mes', use deploy, use delete_file, mes, done, result, running, "Deployed.", idle end_turn, ` +
			`running, mes', "Again.", idle end_turn`)
	})
}

// overloaded is a model that has no time.
type overloaded struct{}

func (overloaded) Name() string { return "overloaded" }

func (overloaded) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(nil, &provider.Error{Code: provider.Overloaded, Retryable: true})
	}
}

// TestFewerRetries: a session that backs off for its third retry goes on in a process that allows fewer, or
// none.
func TestFewerRetries(t *testing.T) {
	for name, backoff := range map[string][]time.Duration{"two": {time.Second, time.Second}, "one": {time.Second},
		"none": {}} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h := newHouse(t, Definition{}, nil)
				h.cfg.Models.Add("script", func(provider.Ref) (model.LLM, error) { return overloaded{}, nil })
				h.restart()
				h.send(Text("Hi"))
				time.Sleep(7 * time.Second)
				synctest.Wait()
				h.status(Rescheduling)
				h.close()
				h.cfg.Limits.Backoff = backoff
				h.open()
				defer h.close()
				if _, err := h.rt.Recover(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				h.tells(`mes, running, mes', error retrying, rescheduled, running, error retrying, rescheduled, running, ` +
					`error retrying, rescheduled, running, error exhausted, idle retries_exhausted`)
			})
		})
	}
}
