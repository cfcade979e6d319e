package exec

import "testing"

// TestSequence runs a leaf of each type, one after the other, as a managed session.
func TestSequence(t *testing.T) {
	h := newHouse(t, `
name: digest
agents:
  - {name: see, type: tool, tool: look, tool_config: {at: "{current_date}", deep: [{n: 3}]}, output_key: seen}
  - {name: think, type: code, function: join, input_keys: [seen], output_key: thought}
  - {name: sum, type: expr, expression: "seen", input_keys: [seen], output_key: total}
  - {name: tell, type: llm, model: mind, instruction: "Tell {thought}, {total}."}
orchestration: {type: sequential, agents: [see, think, sum, tell]}
`, tools(), echo)
	defer h.close()
	h.tells("go", `see: {"at":"2026-11-24","deep":[{"n":3}]}
think: map[seen:map[at:2026-11-24 deep:[map[n:3]]]]
sum: ["seen",{"at":"2026-11-24","deep":[{"n":3}]}]
tell: Tell map[seen:map[at:2026-11-24 deep:[map[n:3]]]], ["seen",{"at":"2026-11-24","deep":[{"n":3}]}].
digest: Tell map[seen:map[at:2026-11-24 deep:[map[n:3]]]], ["seen",{"at":"2026-11-24","deep":[{"n":3}]}].`)
	if got := text(h.model.asked[0].Contents...); got != `go | [see] said: {"at":"2026-11-24","deep":[{"n":3}]} | `+
		`[think] said: map[seen:map[at:2026-11-24 deep:[map[n:3]]]] | `+
		`[sum] said: ["seen",{"at":"2026-11-24","deep":[{"n":3}]}]` {
		t.Errorf("the model hears %s", got)
	}
}
