package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

const branches = `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "a {current_datetime}", output_key: ka}
  - {name: slow, type: code, function: slow, input_keys: [ka], output_key: ks}
  - {name: fast, type: code, function: fast, input_keys: [ka], output_key: kf}
  - {name: b, type: llm, model: mind, instruction: "b {kf}", output_key: kb}
  - {name: line, type: sequential, sub_agents: [fast, b]}
  - {name: both, type: parallel, sub_agents: [slow, line]}
  - {name: end, type: llm, model: mind, instruction: "{ks} {kb}"}
orchestration: {type: sequential, agents: [a, both, end]}
`

// TestSame runs a workflow with branches a hundred times, in which results come in the same order and at the same
// times: the clock of the bubble sees to that. The bytes of the whole stream are then the same, but for ids and times,
// and so is what models hear, in the same order. TestSameInRealTime shows what stays the same without such a clock.
func TestSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := tools()
		for name, wait := range map[string]time.Duration{"slow": 20 * time.Millisecond, "fast": 5 * time.Millisecond} {
			c.Functions[name] = Function{Call: func(context.Context, map[string]any) (any, error) {
				time.Sleep(wait) // of the bubble
				return map[string]any{name: wait.String(), "z": 1, "a": []any{2, nil}}, nil
			}}
		}
		h := newHouse(t, branches, c, echo)
		defer h.close()
		first, heard := "", ""
		for i := range 100 {
			h.begin(i > 0)
			all := timeless(h, h.run("go"))
			hears := ""
			for _, r := range h.model.asked {
				hears += workflow.TextOf(r) + "\n"
			}
			if i == 0 {
				first, heard = all, hears
				if strings.Count(all, string(managed.AgentMessage)) != 6 || !strings.Contains(all, `"seq":`) {
					t.Fatal(all)
				}
			}
			if all != first || hears != heard {
				t.Fatalf("run %d differs:\n%s\nbefore it was\n%s\n%s\n%s", i, all, first, hears, heard)
			}
		}
	})
}

// atOnce are agents that are done at once, all of them at the same time.
const atOnce = `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "a", output_key: ka}
  - {name: b, type: code, function: same, input_keys: ["x?"], output_key: kb}
  - {name: c, type: llm, model: mind, instruction: "c", tools: [look], output_key: kc}
  - {name: d, type: code, function: join, input_keys: ["x?"], output_key: kd}
  - {name: sum, type: llm, model: mind, instruction: "sum {ka} {kb} {kc} {kd}", output_key: ks}
  - {name: end, type: code, function: join, input_keys: [ka, kb, kc, kd, ks], output_key: ke}
`

// TestSameInRealTime runs branches that are done at once a hundred times, each in a session of its own. Which of them
// is stored first is up to the scheduler. Nothing else is: each agent is asked the same and answers the same, byte for
// byte, and the state and the answer at the end are the same.
func TestSameInRealTime(t *testing.T) {
	for name, main := range map[string]string{"parallel": `
  - {name: all, type: parallel, sub_agents: [a, b, c, d]}
orchestration: {type: sequential, agents: [all, sum, end]}`, "dag": `
orchestration:
  type: dag
  nodes:
    - {agent: a}
    - {agent: b}
    - {agent: c, depends_on: [b]}
    - {agent: d, depends_on: [a]}
    - {agent: sum, depends_on: [c, d, a]}
    - {agent: end, depends_on: [sum]}`} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, atOnce+main, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
				if orders(r) == "c" && !strings.Contains(text(r.Contents...), "result look") {
					return calls(provider.ScriptCall{ID: "1", Name: "look"})
				}
				return echo(r)
			})
			defer func() { h.close() }()
			first, streams := "", map[string]bool{}
			for i := range 100 {
				h.begin(i > 0)
				events := h.run("go")
				streams[timeless(h, events)] = true
				got := h.byAgent(events)
				if i == 0 {
					first = got
				}
				if n := strings.Count(got, "\n"); got != first || n != 11 {
					t.Fatalf("run %d differs, or has not all of its %d lines:\n%s\nbefore it was\n%s", i, n, got, first)
				}
			}
			t.Logf("%d orders of events", len(streams))
			h.finishesAgain()
		})
	}
}

// begin forgets what the model was asked, and takes another session for another run.
func (h *house) begin(another bool) {
	if another {
		h.session, h.last = h.other(ada), 0
	}
	h.model.mu.Lock()
	defer h.model.mu.Unlock()
	h.model.asked = nil
}

// timeless are events without what no two sessions share: ids, times and costs.
func timeless(h *house, list []*managed.Event) string {
	var lines []string
	for _, ev := range list {
		own := *ev
		own.ProcessedAt, own.Usage = nil, nil
		lines = append(lines, workflow.TextOf(own))
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), strings.TrimPrefix(h.session, "sesn_"), "ID")
}

// byAgent are, for each agent, the requests to its model and its events, in their order, and the answer of the
// workflow. Where an event is in the stream is left out, and so are ids, which tell it.
func (h *house) byAgent(list []*managed.Event) string {
	all := map[string][]string{}
	for _, r := range h.model.asked {
		name, _, _ := strings.Cut(orders(r), " ")
		all[name] = append(all[name], workflow.TextOf(r))
	}
	for _, ev := range list {
		if ev.Agent == "" {
			continue
		}
		own := *ev
		own.Seq, own.ID, own.SpanStartID, own.ToolUseID, own.ProcessedAt = 0, "", "", "", nil
		all[ev.Agent] = append(all[ev.Agent], workflow.TextOf(own))
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, line := range all[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, line)
		}
	}
	return b.String()
}

// finishesAgain takes the journal of the last run without its end, and lets another process finish the run. All
// results are there, so nothing is done again, and the stream is the same, byte for byte.
func (h *house) finishesAgain() {
	h.Helper()
	want := h.stream()
	docs := h.docs()
	h.close()
	log := "sessions/" + h.session
	var list []journal.Record
	for rec, err := range h.journal.Read(h.Context(), log, 1, false) {
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, rec)
	}
	cut := slices.IndexFunc(list, func(r journal.Record) bool { // the answer of the workflow
		return strings.Contains(string(r.Data), `"author":"w"`)
	})
	if cut < 0 {
		h.Fatal("the journal has no answer")
	}
	copied := journaltest.NewMemory()
	for _, d := range docs {
		if _, err := copied.Put(h.Context(), d.Key, d.Value, 0); err != nil {
			h.Fatal(err)
		}
	}
	w, err := copied.Open(h.Context(), log, "a")
	if err != nil {
		h.Fatal(err)
	}
	for _, rec := range list[:cut] {
		if len(rec.Data) == 0 {
			continue // who owned it
		}
		if _, err := w.Append(rec.Data); err != nil {
			h.Fatal(err)
		}
	}
	if err := w.Close(h.Context()); err != nil { // stores what was appended
		h.Fatal(err)
	}
	h.cfg.Journal, h.journal = copied, copied
	h.model.asked = nil
	h.open()
	if n, err := h.rt.Recover(h.Context()); n != 1 || err != nil {
		h.Fatalf("%d sessions go on, %v", n, err)
	}
	if got := h.stream(); got != want || len(h.model.asked) > 0 {
		h.Errorf("the run is finished with\n%s\nbefore it was\n%s\nand asked %d times", got, want, len(h.model.asked))
	}
}

// docs are all documents of the journal.
func (h *house) docs() (all []journal.Doc) {
	h.Helper()
	for q := (journal.Query{}); ; q.After = all[len(all)-1].Key {
		list, err := h.journal.List(h.Context(), q)
		if err != nil {
			h.Fatal(err)
		}
		if all = append(all, list...); len(list) < journal.ListMax {
			return all
		}
	}
}

// stream is the whole stream of the session, up to the end of its run.
func (h *house) stream() string {
	h.Helper()
	var list []*managed.Event
	for ev, err := range h.rt.Events(h.Context(), ada, h.session, 1, true) {
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, ev)
		if ev.Type == managed.StatusIdle {
			break
		}
	}
	return timeless(h, list)
}
