package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/petri/event"
)

// talk is a session in a test, which keeps what is said in memory.
type talk struct {
	t       testing.TB
	s       *Session
	mu      sync.Mutex
	history []*genai.Content
	lines   []string // every event, as text
	turns   int
	store   func(ev *session.Event) error // nil: every event is stored

	anywhere bool        // Turn.Anywhere
	emitting atomic.Bool // Emit works
}

func start(t testing.TB, p *Program) *talk {
	t.Helper()
	s, err := Start(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t: t, s: s}
}

// play starts a session of one agent with a script and tools.
func play(t testing.TB, l Limits, script []provider.ScriptTurn, tools ...Tool) *talk {
	t.Helper()
	return start(t, newProgram(t, Config{Limits: l, Agents: []Agent{{
		Name: "host", Model: &provider.Script{Turns: script}, Tools: tools}}}))
}

func (k *talk) emit(ev *session.Event, kind EventKind) error {
	if !k.emitting.CompareAndSwap(false, true) {
		k.t.Error("Emit is called while it works")
	}
	defer k.emitting.Store(false)
	k.mu.Lock()
	defer k.mu.Unlock()
	if kind.Stored() {
		if k.store != nil {
			if err := k.store(ev); err != nil {
				return err
			}
		}
		if ev.Content != nil {
			k.history = append(k.history, ev.Content)
		}
	}
	k.lines = append(k.lines, line(ev, kind))
	return nil
}

// line is an event as text.
func line(ev *session.Event, kind EventKind) string {
	s := fmt.Sprintf("%s %s", ev.Author, kind)
	if ev.Content != nil {
		for _, p := range ev.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				b, _ := json.Marshal(p.FunctionCall.Args)
				s += fmt.Sprintf(" call %s%s", p.FunctionCall.Name, b)
			case p.FunctionResponse != nil:
				b, _ := json.Marshal(p.FunctionResponse.Response)
				s += fmt.Sprintf(" result %s%s", p.FunctionResponse.Name, b)
			default:
				s += fmt.Sprintf(" %q", p.Text)
			}
		}
	}
	if ev.Actions.TransferToAgent != "" {
		s += " transfer " + ev.Actions.TransferToAgent
	}
	for _, f := range Faults(ev) {
		s += " ! " + string(f.Code)
	}
	return strings.TrimSpace(s)
}

// say runs one turn.
func (k *talk) say(ctx context.Context, text string) (*End, error) {
	k.turns++
	return k.s.Run(ctx, &Turn{ID: fmt.Sprint("t", k.turns), Message: genai.NewContentFromText(text, genai.RoleUser),
		History: func() []*genai.Content {
			k.mu.Lock()
			defer k.mu.Unlock()
			return append([]*genai.Content(nil), k.history...)
		}, Emit: k.emit, Anywhere: k.anywhere})
}

// must runs one turn and checks how it ends and what it says.
func (k *talk) must(text string, how How, want ...string) {
	k.t.Helper()
	k.mu.Lock()
	k.lines = nil
	k.mu.Unlock()
	end, err := k.say(k.t.Context(), text)
	if err != nil || end.How != how {
		k.t.Errorf("%q: %+v, %v; want %s", text, end, err, how)
	}
	want = append([]string{fmt.Sprintf("user step %q", text)}, want...)
	if got := strings.Join(k.lines, "\n"); got != strings.Join(want, "\n") {
		k.t.Errorf("%q:\n%s\nwant\n%s", text, got, strings.Join(want, "\n"))
	}
}

func (k *talk) close() {
	k.t.Helper()
	if err := k.s.Close(); err != nil {
		k.t.Errorf("close: %v", err)
	}
}

func calls(list ...provider.ScriptCall) provider.ScriptTurn { return provider.ScriptTurn{Calls: list} }

func call(name string) provider.ScriptCall { return provider.ScriptCall{Name: name} }

func text(s string) provider.ScriptTurn { return provider.ScriptTurn{Text: s} }

func TestTurn(t *testing.T) {
	k := play(t, Limits{}, []provider.ScriptTurn{calls(call("menu"), call("menu")), text("Soup."), text("Bye.")}, menu())
	defer k.close()
	k.must("what is there?", Answered, `host step call menunull call menunull`,
		`host step result menu{"dish":"soup"} result menu{"dish":"soup"}`, `host answer "Soup."`)
	k.must("thanks", Answered, `host answer "Bye."`)
}

// TestStreaming checks that parts of a response and the events around them are emitted in order, whichever
// goroutines do it.
func TestStreaming(t *testing.T) {
	for _, anywhere := range []bool{false, true} {
		k := start(t, newProgram(t, one(Limits{})))
		_, err := k.s.Run(t.Context(), &Turn{ID: "a", Message: genai.NewContentFromText("one two three", "user"),
			Emit: k.emit, Stream: true, Anywhere: anywhere})
		want := "user step \"one two three\"\nhost partial \"one \"\nhost partial \"two \"\nhost partial \"three\"\n" +
			"host answer \"one two three\""
		if got := strings.Join(k.lines, "\n"); err != nil || got != want {
			t.Errorf("anywhere %v: %v:\n%s\nwant\n%s", anywhere, err, got, want)
		}
		k.close()
	}
}

// TestAnywhere checks on which goroutine the message of a turn is stored.
func TestAnywhere(t *testing.T) {
	for _, anywhere := range []bool{false, true} {
		k := start(t, newProgram(t, one(Limits{})))
		var outer [1 << 14]byte
		k.anywhere, k.store = anywhere, func(ev *session.Event) error {
			stack := outer[:runtime.Stack(outer[:], false)]
			if on := bytes.Contains(stack, []byte("TestAnywhere(")); ev.Author == "user" && on == anywhere {
				t.Errorf("anywhere %v: Emit is called on the goroutine of Run: %v", anywhere, on)
			}
			return nil
		}
		if _, err := k.say(t.Context(), "hello"); err != nil {
			t.Error(err)
		}
		k.close()
	}
}

// TestBadCalls gives a model's bad calls to the net: each becomes a result with a fault, and the model
// goes on.
func TestBadCalls(t *testing.T) {
	type args struct{ Day int }
	day := FuncTool[args]{Declares: &genai.FunctionDeclaration{Name: "day"},
		Do: func(_ context.Context, a args) (map[string]any, error) { return map[string]any{"day": a.Day}, nil }}
	bad := []Tool{menu(), day,
		tool("fails", func(context.Context) (map[string]any, error) { return nil, errors.New("out of soup") }),
		tool("panics", func(context.Context) (map[string]any, error) { panic("boom") })}
	for _, c := range []struct {
		name         string
		turn         provider.ScriptTurn
		call, result string
	}{
		{"unknown", calls(call("menue")), `call menuenull`,
			`result menue{"error":"unknown_tool: there is no tool \"menue\"; the tools are: day, fails, menu, panics"}` +
				` ! unknown_tool`},
		{"arguments", calls(provider.ScriptCall{Name: "day", Args: map[string]any{"Day": "x"}}), `call day{"Day":"x"}`,
			`result day{"error":"tool_failed: the arguments do not fit: json: cannot unmarshal string into Go ` +
				`struct field args.Day of type int"} ! tool_failed`},
		{"error", calls(call("fails")), `call failsnull`, `result fails{"error":"tool_failed: out of soup"} ! tool_failed`},
		{"panic", calls(call("panics")), `call panicsnull`,
			`result panics{"error":"tool_failed: panic: boom"} ! tool_failed`},
		{"long arguments", calls(provider.ScriptCall{Name: "menu", Args: map[string]any{"a": strings.Repeat("x", 10<<20)}}),
			`call menunull ! args_too_long`,
			`result menu{"error":"args_too_long: the arguments have 10485768 bytes; at most 1048576 are allowed"}` +
				` ! args_too_long`},
		{"same id", calls(provider.ScriptCall{ID: "a", Name: "menu"}, provider.ScriptCall{ID: "a", Name: "menu"}),
			`call menunull call menunull ! duplicate_call_id`,
			`result menu{"dish":"soup"} result menu{"error":"duplicate_call_id: the id \"a\" belongs to an earlier call ` +
				`of the response"} ! duplicate_call_id`},
		{"too many", calls(call("menu"), call("menu"), call("menu")),
			`call menunull call menunull call menunull ! too_many_calls`,
			`result menu{"dish":"soup"} result menu{"dish":"soup"}` +
				` result menu{"error":"too_many_calls: a response may have 2 calls"} ! too_many_calls`},
		{"transfer", calls(provider.ScriptCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": "nobody"}}),
			`call transfer_to_agent{"agent_name":"nobody"}`,
			`result transfer_to_agent{"error":"unknown_agent: no agent has this name; the agents are: "} ! unknown_agent`},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := play(t, Limits{MaxCalls: 2}, []provider.ScriptTurn{c.turn, text("Sorry."), text("Fine.")}, bad...)
			defer k.close()
			k.must("please", Answered, "host step "+c.call, "host step "+c.result, `host answer "Sorry."`)
			k.must("again", Answered, `host answer "Fine."`)
		})
	}
}

// TestIDs checks that every call of a turn has an id of its own, and exactly one result.
func TestIDs(t *testing.T) {
	k := play(t, Limits{}, []provider.ScriptTurn{calls(provider.ScriptCall{ID: "x", Name: "menu"},
		provider.ScriptCall{ID: "x", Name: "menu"}, call("menu")), calls(call("menu")), text("Done.")}, menu())
	defer k.close()
	if _, err := k.say(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range k.history {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				seen[p.FunctionCall.ID]++
			}
			if p.FunctionResponse != nil {
				seen[p.FunctionResponse.ID] += 10
			}
		}
	}
	for id, n := range seen {
		if id == "" || n != 11 {
			t.Errorf("id %q: %d (1 for a call, 10 for a result)", id, n)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d ids for 4 calls", len(seen))
	}
}

// TestBadModels checks that a model that is of no use ends the turn with a typed event, and the session
// goes on.
func TestBadModels(t *testing.T) {
	for _, c := range []struct {
		name string
		turn provider.ScriptTurn
		want string
	}{
		{"nothing", provider.ScriptTurn{}, "! empty_response"},
		{"cut off", provider.ScriptTurn{Finish: genai.FinishReasonSafety}, "! empty_response"},
		{"error", provider.ScriptTurn{Error: "overloaded"}, "! model_failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := play(t, Limits{}, []provider.ScriptTurn{c.turn, text("Fine.")})
			defer k.close()
			k.must("hello", Failed, "host answer "+c.want)
			k.must("again", Answered, `host answer "Fine."`)
		})
	}
}

func TestOnlyCallsForEver(t *testing.T) {
	s := &provider.Script{Turns: []provider.ScriptTurn{calls(call("menu"))}, Repeat: true}
	k := start(t, newProgram(t, Config{Limits: Limits{Reasks: 2, GaveUpText: "Enough."},
		Agents: []Agent{{Name: "host", Model: s, Tools: []Tool{menu()}}}}))
	defer k.close()
	round := []string{`host step call menunull`, `host step result menu{"dish":"soup"}`}
	want := append(slices.Concat(round, round, round), `host answer "Enough." ! budget_spent`)
	k.must("go", GaveUp, want...)
	k.must("once more", GaveUp, want...)
}

func to(agent string) provider.ScriptCall {
	return provider.ScriptCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": agent}}
}

func TestTransfer(t *testing.T) {
	c := two(Limits{Reasks: 3})
	s := &provider.Script{Turns: []provider.ScriptTurn{
		calls(call("menu"), to("cook"), to("host")), text("I cook."), text("Still cooking."),
		calls(to("waiter")), calls(to("host")), text("Back."),
		calls(to("cook")), calls(to("host")), calls(to("cook")), calls(to("host")),
	}}
	c.Agents[0].Model, c.Agents[1].Model = s, s
	k := start(t, newProgram(t, c))
	defer k.close()
	const ok = ` step result transfer_to_agent{"result":"transferred"}`
	k.must("food", Answered,
		`host step call menunull call transfer_to_agent{"agent_name":"cook"}`+
			` call transfer_to_agent{"agent_name":"host"} ! not_run ! not_run`,
		"host"+ok+` result menu{"error":"not_run: the response also transfers to another agent"}`+
			` result transfer_to_agent{"error":"not_run: the response also transfers to another agent"}`+
			` transfer cook ! not_run ! not_run`,
		`cook answer "I cook."`)
	k.must("still?", Answered, `cook answer "Still cooking."`)
	k.must("pay", Answered, `cook step call transfer_to_agent{"agent_name":"waiter"}`,
		`cook step result transfer_to_agent{"error":"unknown_agent: no agent has this name; the agents are: host"}`+
			` ! unknown_agent`,
		`cook step call transfer_to_agent{"agent_name":"host"}`, "cook"+ok+" transfer host", `host answer "Back."`)
	end, err := k.say(t.Context(), "for ever")
	if err != nil || end.How != GaveUp {
		t.Errorf("agents that hand over to each other for ever: %+v, %v", end, err)
	}
}

// TestSlowTools checks, in virtual time, tools that take too long.
func TestSlowTools(t *testing.T) {
	l := Limits{ToolSlots: 1, ToolTimeout: time.Second, Patience: 2 * time.Second}
	script := []provider.ScriptTurn{calls(call("slow"), call("menu")), text("Well."), calls(call("menu")), text("Good.")}
	const late = `result slow{"error":"tool_timed_out: it took longer than 1s"}`
	t.Run("returns when cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := play(t, l, script, menu(), tool("slow", func(ctx context.Context) (map[string]any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}))
			k.must("go", Answered, `host step call slownull call menunull`,
				"host step "+late+` result menu{"dish":"soup"} ! tool_timed_out`, `host answer "Well."`)
			k.must("again", Answered, `host step call menunull`, `host step result menu{"dish":"soup"}`, `host answer "Good."`)
			k.close()
		})
	})
	t.Run("ignores its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			k := play(t, l, script, menu(), tool("slow", func(context.Context) (map[string]any, error) {
				<-free
				return map[string]any{"too": "late"}, nil
			}))
			const busy = `result menu{"error":"tools_busy: work that was stopped more than 2s ago has not returned yet"}`
			k.must("go", Answered, `host step call slownull call menunull`,
				"host step "+late+" "+busy+` ! tool_timed_out ! tools_busy`, `host answer "Well."`)
			close(free) // the result of the turn before is dropped, and the slot is free
			synctest.Wait()
			k.must("again", Answered, `host step call menunull`, `host step result menu{"dish":"soup"}`, `host answer "Good."`)
			k.close()
		})
	})
}

func TestSlowModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(Limits{ModelTimeout: time.Second})
		c.Agents[0].Model = slowModel{}
		k := start(t, newProgram(t, c))
		k.must("go", Failed, `host answer ! model_timed_out`)
		k.must("go", Failed, `host answer ! model_timed_out`)
		k.close()
	})
}

// TestUnstored checks that an event that cannot be stored ends the turn with its error, whichever it is,
// and that the session goes on.
func TestUnstored(t *testing.T) {
	broken := errors.New("disk full")
	for i := range 8 {
		fail := i%4 + 1
		k := play(t, Limits{}, []provider.ScriptTurn{calls(call("menu")), text("Soup.")}, menu())
		k.anywhere = i >= 4
		n := 0
		k.store = func(*session.Event) error {
			if n++; n == fail {
				return broken
			}
			return nil
		}
		end, err := k.say(t.Context(), "go")
		if !errors.Is(err, broken) || end == nil || end.How != Unstored || end.Fault.Code != NotStored {
			t.Errorf("event %d: %+v, %v", fail, end, err)
		}
		if got := len(k.lines); got != fail-1 {
			t.Errorf("event %d: %d events were emitted: %q", fail, got, k.lines)
		}
		k.store, k.history = nil, nil
		end, err = k.say(t.Context(), "again")
		if err != nil || end.How != Answered {
			t.Errorf("after event %d: %+v, %v", fail, end, err)
		}
		k.close()
	}
}

// TestStop ends a turn while its tool works: the tool is cancelled, the turn says so, and what the tool
// returns is forgotten.
func TestStop(t *testing.T) {
	began := make(chan struct{})
	k := play(t, Limits{}, []provider.ScriptTurn{calls(call("slow")), text("Fine.")},
		tool("slow", func(ctx context.Context) (map[string]any, error) {
			close(began)
			<-ctx.Done()
			return map[string]any{"too": "late"}, nil
		}))
	defer k.close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	end, err := k.say(ctx, "go")
	if !errors.Is(err, context.Canceled) || end == nil || end.How != Stopped {
		t.Errorf("%+v, %v", end, err)
	}
	if last := k.lines[len(k.lines)-1]; last != "notice ! turn_stopped" {
		t.Errorf("the last event is %q", last)
	}
	k.must("again", Answered, `host answer "Fine."`)
}

// TestCloseInTurn closes a session while a turn runs.
func TestCloseInTurn(t *testing.T) {
	began := make(chan struct{})
	k := play(t, Limits{}, []provider.ScriptTurn{calls(call("slow"))},
		tool("slow", func(ctx context.Context) (map[string]any, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	go func() {
		<-began
		_ = k.s.Close()
	}()
	if _, err := k.say(t.Context(), "go"); !errors.Is(err, ErrClosed) {
		t.Errorf("the turn: %v", err)
	}
	if _, err := k.say(t.Context(), "again"); !errors.Is(err, ErrClosed) {
		t.Errorf("the next turn: %v", err)
	}
}

// TestTurnsWait checks that concurrent turns of a session run one after the other.
func TestTurnsWait(t *testing.T) {
	k := start(t, newProgram(t, one(Limits{})))
	defer k.close()
	var all sync.WaitGroup
	var mu sync.Mutex
	var got []string
	for i := range 8 {
		all.Go(func() {
			_, err := k.s.Run(t.Context(), &Turn{ID: fmt.Sprint(i), Message: genai.NewContentFromText("call menu", "user"),
				Emit: func(ev *session.Event, _ EventKind) error {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, ev.InvocationID)
					return nil
				}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Without a history the parrot hears the command again, so each turn spends its budget.
	per := len(got) / 8
	for i := range got {
		if got[i] != got[i/per*per] {
			t.Fatalf("the events of turns mix: %v", got)
		}
	}
}

// TestReplay checks that the same session gives the same events of the net and of the session.
func TestReplay(t *testing.T) {
	run := func() string {
		ring := event.NewRing(1 << 12)
		p := newProgram(t, Config{Limits: Limits{ToolSlots: 1}, Agents: []Agent{{Name: "host", Tools: []Tool{menu()},
			Model: &provider.Script{Turns: []provider.ScriptTurn{calls(call("menu"), call("menu")), text("Soup.")}}}}})
		s, err := Start(p, Options{Store: ring})
		if err != nil {
			t.Fatal(err)
		}
		k := &talk{t: t, s: s}
		k.must("go", Answered, `host step call menunull call menunull`,
			`host step result menu{"dish":"soup"} result menu{"dish":"soup"}`, `host answer "Soup."`)
		k.close()
		var b strings.Builder
		for _, c := range k.history {
			j, _ := json.Marshal(c)
			b.Write(j)
		}
		for _, e := range ring.Events(nil) {
			e.At = 0
			b.WriteString(p.compiled.Describe(e) + "\n")
		}
		return b.String()
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}
