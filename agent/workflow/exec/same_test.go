package exec

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
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

// TestSame runs a workflow with branches a hundred times: the bytes of all events are the same, but for ids and the
// time, and so is what models hear.
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
			if i > 0 {
				h.session, h.last = h.other(ada), 0
			}
			h.model.mu.Lock()
			h.model.asked = nil
			h.model.mu.Unlock()
			var lines []string
			for _, ev := range h.run("go") {
				own := *ev
				own.ProcessedAt, own.Usage = nil, nil
				lines = append(lines, workflow.TextOf(own))
			}
			all := strings.ReplaceAll(strings.Join(lines, "\n"), strings.TrimPrefix(h.session, "sesn_"), "ID")
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
