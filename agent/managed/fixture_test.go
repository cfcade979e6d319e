package managed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// fixture is a scenario and what both profiles must tell of it. Its JSON is the format of testdata/fixtures.
type fixture struct {
	Name        string                `json:"name"`
	Description string                `json:"description"`
	Mode        string                `json:"mode"` // scripted, or real if more than the model is real
	Agent       Definition            `json:"agent_def"`
	Model       fixtureModel          `json:"scripted_model"`
	Scenario    []fixtureStep         `json:"scenario"`
	Assertions  map[string]assertions `json:"assertions"` // by profile
}

type fixtureModel struct {
	Turns []struct {
		Text  string `json:"text"`
		Calls []struct {
			ID    string         `json:"id"`
			Name  string         `json:"name"`
			Input map[string]any `json:"input"`
		} `json:"tool_calls"`
	} `json:"turns"`
}

// fixtureStep is one thing that happens.
type fixtureStep struct {
	Send    []Event `json:"send"`    // by the client, which waits until the session rests
	Restart bool    `json:"restart"` // of the runtime
	Replay  bool    `json:"replay"`  // from every number
}

type assertions struct {
	// Sequence are the types of all events, in the native profile only of those that the other has, too.
	Sequence []Type           `json:"exact_sequence"`
	Contain  []map[string]any `json:"must_contain"` // parts of events, in their order
	End      map[string]any   `json:"must_end_with"`
}

func loadFixture(t *testing.T, name string) *fixture {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/fixtures", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, profile := range []string{"native", "adk-managed"} {
		if len(f.Assertions[profile].Sequence) == 0 || f.Assertions[profile].End == nil {
			t.Fatalf("%s asserts nothing of the profile %s", name, profile)
		}
	}
	return f
}

func (m *fixtureModel) turns() []provider.ScriptTurn {
	var list []provider.ScriptTurn
	for _, turn := range m.Turns {
		one := provider.ScriptTurn{Text: turn.Text}
		for _, c := range turn.Calls {
			one.Calls = append(one.Calls, provider.ScriptCall{ID: c.ID, Name: c.Name, Args: c.Input})
		}
		list = append(list, one)
	}
	return list
}

// recorder is a model that keeps the requests it gets. Each answer costs 5 tokens of input and 2 of output.
type recorder struct {
	model.LLM
	mu   sync.Mutex
	reqs []string // the contents, as JSON
}

func recording(turns ...provider.ScriptTurn) *recorder {
	return &recorder{LLM: &provider.Script{Turns: turns}}
}

func (r *recorder) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	b, err := json.Marshal(req.Contents)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	r.reqs = append(r.reqs, string(b))
	r.mu.Unlock()
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range r.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil && !resp.Partial {
				resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 5,
					CandidatesTokenCount: 2, TotalTokenCount: 7}
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reqs)
}

// result is the response to a call in the contents of request n, from 1, as JSON.
func (r *recorder) result(t *testing.T, n int, call string) string {
	t.Helper()
	reqs := r.requests()
	if len(reqs) < n {
		t.Fatalf("the model got %d requests, want %d", len(reqs), n)
	}
	var contents []*genai.Content
	if err := json.Unmarshal([]byte(reqs[n-1]), &contents); err != nil {
		t.Fatal(err)
	}
	for _, c := range contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil && p.FunctionResponse.ID == call {
				b, err := json.Marshal(p.FunctionResponse.Response)
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
		}
	}
	t.Fatalf("request %d has no result of the call %s: %s", n, call, reqs[n-1])
	return ""
}

// onEngines runs a test on every engine that the tests have.
func onEngines(t *testing.T, test func(t *testing.T, engine journal.Engine)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, journaltest.NewMemory()) })
	t.Run("jetstream", func(t *testing.T) {
		engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = engine.Close() }()
		test(t, engine)
	})
}

// say sends events and waits, in real time, until the session rests.
func (h *house) say(events ...Event) {
	h.Helper()
	h.settle(h.post(events...))
}

// post sends events and does not wait.
func (h *house) post(events ...Event) []Event {
	h.Helper()
	list, err := h.rt.Send(h.Context(), ada, h.session, Once{}, events...)
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// settle waits until the session rests behind events that it has accepted.
func (h *house) settle(list []Event) {
	h.Helper()
	last := list[len(list)-1]
	h.await(func(ev *Event) bool {
		return ev.Seq > last.Seq && (ev.Type == StatusIdle || ev.Type == StatusTerminated ||
			ev.Type == UserInterrupt && ev.ID == last.ID && h.rests())
	})
}

// rests reports whether the session is idle now.
func (h *house) rests() bool {
	s, err := h.rt.Session(h.Context(), ada, h.session)
	return err == nil && s.Status == Idle
}

// await reads events from the first on until one is what a test waits for.
func (h *house) await(found func(*Event) bool) {
	h.Helper()
	for ev, err := range h.rt.Events(h.Context(), ada, h.session, 1, true) {
		if err != nil {
			h.Fatal(err)
		}
		if found(ev) {
			return
		}
	}
	h.Fatal("the stream has ended")
}

// compat are all events of the session in the other profile; they must have dense numbers.
func (h *house) compat() []*CompatEvent {
	h.Helper()
	var list []*CompatEvent
	for ev, err := range h.rt.CompatEvents(h.Context(), ada, h.session, CompatAll, false) {
		if err != nil {
			h.Fatal(err)
		}
		if ev.Seq != uint64(len(list)) {
			h.Errorf("event %d has the number %d", len(list), ev.Seq)
		}
		list = append(list, ev)
	}
	return list
}

// short writes a sequence of the other profile in the letters of its tables.
func short(events []*CompatEvent) string {
	letters := map[Type]string{CompatRunning: "r", CompatIdle: "i", CompatError: "e", AgentMessage: "m", AgentToolUse: "t",
		AgentCustomToolUse: "c", AgentMCPToolUse: "p"}
	var list []string
	for _, ev := range events {
		list = append(list, letters[ev.Type])
	}
	return strings.Join(list, " ")
}

// shared are the types of native events that both profiles have.
func shared(ev *Event) bool {
	switch ev.Type {
	case StatusRunning, StatusIdle, StatusRescheduled, StatusTerminated, SessionError, AgentMessage, AgentToolUse,
		AgentMCPToolUse, AgentCustomToolUse:
		return true
	}
	return false
}

// fields is a value as its JSON.
func fields(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// covers reports whether got has everything of want.
func covers(got, want any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(got, want)
	}
	g, ok := got.(map[string]any)
	for k, v := range w {
		ok = ok && covers(g[k], v)
	}
	return ok
}

func (a *assertions) judge(t *testing.T, types []Type, events []map[string]any) {
	t.Helper()
	if !slices.Equal(types, a.Sequence) {
		t.Errorf("the sequence is\n\t%s, want\n\t%s", types, a.Sequence)
	}
	rest := events
	for _, want := range a.Contain {
		i := slices.IndexFunc(rest, func(ev map[string]any) bool { return covers(ev, want) })
		if i < 0 {
			t.Errorf("no event has %v, in that order; they are %v", want, events)
			return
		}
		rest = rest[i+1:]
	}
	if end := events[len(events)-1]; !covers(end, a.End) {
		t.Errorf("the last event is %v, want %v", end, a.End)
	}
}

// judge holds both profiles of the session to a fixture.
func (f *fixture) judge(h *house) {
	h.Helper()
	var types []Type
	var events []map[string]any
	for _, ev := range h.events() {
		if shared(ev) {
			types = append(types, ev.Type)
		}
		events = append(events, fields(h.T, ev))
	}
	native := f.Assertions["native"]
	native.judge(h.T, types, events)
	types, events = nil, nil
	for _, ev := range h.compat() {
		types = append(types, ev.Type)
		events = append(events, fields(h.T, ev))
	}
	other := f.Assertions["adk-managed"]
	other.judge(h.T, types, events)
}

// play plays the scenario on an engine.
func (f *fixture) play(t *testing.T, engine journal.Engine, llm model.LLM, tools ...Tool) *house {
	t.Helper()
	h := newHouseOn(t, engine, f.Agent, llm, tools...)
	for _, step := range f.Scenario {
		switch {
		case step.Restart:
			h.restart()
		case step.Replay:
			h.replays()
		default:
			h.say(step.Send...)
		}
	}
	return h
}

// replays reads the session from every number in both profiles.
func (h *house) replays() {
	h.Helper()
	all, other := h.events(), h.compat()
	for from := range uint64(len(all) + 3) {
		want := all[min(int(max(from, 1))-1, len(all)):]
		var got []*Event
		for ev, err := range h.rt.Events(h.Context(), ada, h.session, from, false) {
			if err != nil {
				h.Fatal(err)
			}
			got = append(got, ev)
		}
		if fmt.Sprint(idsOf(got)) != fmt.Sprint(idsOf(want)) {
			h.Errorf("from %d the events are %v, want %v", from, idsOf(got), idsOf(want))
		}
	}
	for after := CompatAll; after < int64(len(other)+2); after++ {
		n := 0
		for ev, err := range h.rt.CompatEvents(h.Context(), ada, h.session, after, false) {
			if n++; err != nil || int64(ev.Seq) != after+int64(n) {
				h.Fatalf("behind %d, event %d is %+v, %v", after, n, ev, err)
			}
		}
		if want := max(len(other)-int(after)-1, 0); n != want {
			h.Errorf("behind %d there are %d events, want %d", after, n, want)
		}
	}
}

func idsOf(events []*Event) []string {
	var list []string
	for _, ev := range events {
		list = append(list, fmt.Sprint(ev.Seq, ev.ID))
	}
	return list
}

// fixtureTools are the built-in tools of the fixtures.
func fixtureTools(ran map[string]int) []Tool {
	return []Tool{counting("delete_file", ran, nil), counting("web_search", ran, nil)}
}

// TestF2MCP plays the fixture whose tool is in a process of its own. The file that the process reads is in the next
// request to the model. What happens when the process dies in a call, and when two servers have a tool of one name,
// TestMCPFailures and TestMCPNames tell.
func TestF2MCP(t *testing.T) {
	f := loadFixture(t, "f2_mcp")
	server := &f.Agent.MCPServers[0]
	server.Command, server.Args = os.Args[0], []string{mcpArg + "files"}
	file := filepath.Join(t.TempDir(), f.Model.Turns[0].Calls[0].Input["path"].(string))
	if err := os.WriteFile(file, []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		llm := recording(f.Model.turns()...)
		h := f.play(t, engine, llm)
		defer h.close()
		f.judge(h)
		if got := llm.result(t, 2, "mcp_tc_001"); !strings.Contains(got, "remember the milk") {
			t.Errorf("the model got %s", got)
		}
	})
}

// TestFixtures plays every fixture but F-2 and holds both profiles to it, on every engine.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/fixtures/*.json")
	if err != nil || len(files) != 8 {
		t.Fatalf("there are %d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		f := loadFixture(t, name)
		if f.Name != name {
			t.Errorf("the fixture in %s is called %q", file, f.Name)
		}
		if len(f.Agent.MCPServers) > 0 {
			continue // see TestF2MCP
		}
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, engine journal.Engine) {
				h := f.play(t, engine, recording(f.Model.turns()...), fixtureTools(map[string]int{})...)
				defer h.close()
				f.judge(h)
			})
		})
	}
}
