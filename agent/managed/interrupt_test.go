package managed

import (
	"context"
	"iter"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// blocked is a model that does not answer while it is blocked. It tells when it is asked.
type blocked struct {
	model.LLM
	asked chan struct{}
	open  chan struct{} // closed when it answers
}

func (b *blocked) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		select {
		case b.asked <- struct{}{}:
		default:
		}
		select {
		case <-b.open:
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		b.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

func blocking(turns ...provider.ScriptTurn) *blocked {
	return &blocked{LLM: &provider.Script{Turns: turns}, asked: make(chan struct{}, 1), open: make(chan struct{})}
}

// TestF7MidTurn: an interrupt stops a turn whose model does not answer. A new message then has its turn.
func TestF7MidTurn(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		llm := blocking(says("Never said."), says("Here I am."))
		h := newHouseOn(t, engine, loadFixture(t, "f7_interrupt").Agent, llm)
		defer h.close()
		h.post(Text("Think for ever"))
		<-llm.asked
		h.status(Running)
		h.say(Event{Type: UserInterrupt})
		h.tells(`mes, running, mes', int, int', idle end_turn`)
		if got := short(h.compat()); got != "r i" {
			t.Errorf("the other profile tells %s", got)
		}
		if reason := h.find(StatusIdle).StopReason; reason.Detail != "interrupted" {
			t.Errorf("the session is idle because of %+v", reason)
		}
		close(llm.open)
		h.say(Text("And now?"))
		h.tells(`mes, running, mes', int, int', idle end_turn, mes, running, mes', "Here I am.", idle end_turn`)
		if got := short(h.compat()); got != "r i r m i" {
			t.Errorf("the other profile tells %s", got)
		}
	})
}

// TestF7WhileParked: an interrupt ends the wait for a result. The call has a result that says so, which the
// model sees with the next message; no result is taken any more.
func TestF7WhileParked(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm := f3(t, engine, "one", "two")
		defer h.close()
		h.say(resultFor("two", "second"))
		h.say(Event{Type: UserInterrupt})
		if got := short(h.compat()); got != "r c c i" {
			t.Errorf("the other profile tells %s", got)
		}
		if n := len(llm.requests()); n != 1 {
			t.Errorf("the model got %d requests", n)
		}
		h.refused(Invalid, "waits no longer", resultFor("one", "late"))
		h.say(Text("And now?"))
		if got := llm.result(t, 2, "one"); !strings.Contains(got, `"error":"cancelled`) {
			t.Errorf("the model got %s", got)
		}
		if got := llm.result(t, 2, "two"); got != `{"result":"second"}` {
			t.Errorf("the model got %s", got)
		}
		if got := short(h.compat()); got != "r c c i r m i" {
			t.Errorf("the other profile tells %s", got)
		}
	})
}

// TestF7OnIdle: an interrupt of an idle session stops nothing, neither before the first turn nor after one.
func TestF7OnIdle(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := newHouseOn(t, engine, loadFixture(t, "f7_interrupt").Agent, recording(says("Hello!"), says("Bye!")))
		defer h.close()
		h.say(Event{Type: UserInterrupt})
		h.say(Text("Hello"))
		h.say(Event{Type: UserInterrupt})
		h.say(Text("Bye"))
		h.tells(`int, int', mes, running, mes', "Hello!", idle end_turn, int, int', ` +
			`mes, running, mes', "Bye!", idle end_turn`)
		if got := short(h.compat()); got != "i r m i i r m i" {
			t.Errorf("the other profile tells %s", got)
		}
	})
}
