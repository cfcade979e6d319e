package managed

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

var ada = Owner{Tenant: "acme", User: "ada"}

// house is a runtime with a session, for a test.
type house struct {
	*testing.T
	engine  journal.Engine
	rt      *Runtime
	cfg     Config
	session string

	hasty bool // close looks at few snapshots
}

// newHouse begins a session of an agent whose model answers from turns.
func newHouse(t *testing.T, d Definition, turns []provider.ScriptTurn, tools ...Tool) *house {
	t.Helper()
	return newHouseOn(t, journaltest.NewMemory(), d, &provider.Script{Turns: turns}, tools...)
}

// newHouseOn begins a session of an agent with a model, on an engine.
func newHouseOn(t *testing.T, engine journal.Engine, d Definition, llm model.LLM, tools ...Tool) *house {
	t.Helper()
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return llm, nil })
	h := &house{T: t, engine: engine}
	h.cfg = Config{Journal: h.engine, Models: models, Tools: tools, Node: "a"}
	if len(d.MCPServers) > 0 {
		h.cfg.Commands = []string{os.Args[0]} // the servers of tests are the test binary
	}
	h.open()
	if d.Name == "" {
		d.Name = "desk"
	}
	if d.Model.ID == "" {
		d.Model.ID = "script"
	}
	a, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	return h
}

// open starts the runtime, anew after close.
func (h *house) open() {
	h.Helper()
	rt, err := New(h.cfg)
	if err != nil {
		h.Fatal(err)
	}
	h.rt = rt
}

// close ends the runtime, and holds snapshots to what has become of the session.
func (h *house) close() {
	h.Helper()
	living := h.rt.living()
	if err := h.rt.Close(context.Background()); err != nil {
		h.Error(err)
	}
	h.snapshots(living)
}

// dieAt lets every commit from number at on fail, as if the process were killed there. dead says whether it has
// come to that; the test sets it to false for the next process.
func (h *house) dieAt(at int) (dead *atomic.Bool) {
	var n atomic.Int64
	dead = &atomic.Bool{}
	h.engine.(*journaltest.Memory).Before = func(string, uint64, int) error {
		if n.Add(1) == int64(at) {
			dead.Store(true)
		}
		if dead.Load() {
			return errCrash
		}
		return nil
	}
	return dead
}

// restart ends the runtime and starts another on the same journal. Sessions that were at work go on.
func (h *house) restart() {
	h.Helper()
	h.close()
	h.open()
	if _, err := h.rt.Recover(h.Context()); err != nil {
		h.Error(err)
	}
}

// send sends events and waits until nothing moves.
func (h *house) send(events ...Event) []Event {
	h.Helper()
	list, err := h.rt.Send(h.Context(), ada, h.session, Once{}, events...)
	if err != nil {
		h.Fatal(err)
	}
	synctest.Wait()
	return list
}

// refused sends an event that is refused with a code.
func (h *house) refused(want Code, part string, events ...Event) {
	h.Helper()
	_, err := h.rt.Send(h.Context(), ada, h.session, Once{}, events...)
	if CodeOf(err) != want || !strings.Contains(fmt.Sprint(err), part) {
		h.Errorf("the error is %q: %v, want %q with %q", CodeOf(err), err, want, part)
	}
}

// events are all events of the session; they must have dense numbers.
func (h *house) events() []*Event {
	h.Helper()
	var list []*Event
	for ev, err := range h.rt.Events(h.Context(), ada, h.session, 0, false) {
		if err != nil {
			h.Fatal(err)
		}
		if ev.Seq != uint64(len(list))+1 {
			h.Errorf("event %d has the number %d", len(list)+1, ev.Seq)
		}
		list = append(list, ev)
	}
	return list
}

// letters tells the events of a session shortly.
func letters(events []*Event) string {
	var list []string
	for _, ev := range events {
		switch ev.Type {
		case UserMessage, UserInterrupt:
			if ev.ProcessedAt != nil {
				list = append(list, string(ev.Type[5:8])+"'")
			} else {
				list = append(list, string(ev.Type[5:8]))
			}
		case UserConfirmation:
			list = append(list, ev.Result)
		case UserCustomResult:
			list = append(list, "result")
		case AgentMessage:
			list = append(list, fmt.Sprintf("%q", ev.Content[0].Text))
		case AgentToolUse, AgentMCPToolUse, AgentCustomToolUse:
			list = append(list, "use "+ev.Name)
		case AgentToolResult, AgentMCPToolResult:
			list = append(list, "done")
		case StatusIdle:
			reason := "idle " + ev.StopReason.Type
			if n := len(ev.StopReason.EventIDs); n > 0 {
				reason += fmt.Sprint(" ", n)
			}
			list = append(list, reason)
		case StatusRunning, StatusRescheduled, StatusTerminated:
			list = append(list, string(ev.Type[len("session.status_"):]))
		case SessionError:
			list = append(list, "error "+ev.Error.Retry.Type)
		case SpanStart, SpanEnd, SessionUsage:
		default:
			list = append(list, string(ev.Type))
		}
	}
	return strings.Join(list, ", ")
}

// tells holds the events of the session to what a test wants.
func (h *house) tells(want string) {
	h.Helper()
	if got := letters(h.events()); got != want {
		h.Errorf("the session tells\n\t%s, want\n\t%s", got, want)
	}
}

// find returns the newest event of a type.
func (h *house) find(kind Type) *Event {
	h.Helper()
	for _, ev := range slices.Backward(h.events()) {
		if ev.Type == kind {
			return ev
		}
	}
	h.Fatalf("there is no %s", kind)
	return nil
}

// status holds the status of the session to what a test wants.
func (h *house) status(want Status) *Session {
	h.Helper()
	s, err := h.rt.Session(h.Context(), ada, h.session)
	if err != nil {
		h.Fatal(err)
	}
	if s.Status != want {
		h.Errorf("the session is %s, want %s", s.Status, want)
	}
	return s
}

// counted guards the counts of calls: several may be made at a time.
var counted sync.Mutex

// counting is a built-in tool that counts its calls by key.
func counting(name string, calls map[string]int, do func(ctx context.Context) error) Tool {
	return Tool{Declaration: &genai.FunctionDeclaration{Name: name, Description: name},
		Call: func(ctx context.Context, c ToolCall) (map[string]any, error) {
			counted.Lock()
			calls[c.Key]++
			counted.Unlock()
			if do != nil {
				if err := do(ctx); err != nil {
					return nil, err
				}
			}
			return map[string]any{"result": name + " is done"}, nil
		}}
}

func says(text string) provider.ScriptTurn { return provider.ScriptTurn{Text: text} }

func calls(list ...provider.ScriptCall) provider.ScriptTurn { return provider.ScriptTurn{Calls: list} }

// in runs a test where time is free.
func in(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
