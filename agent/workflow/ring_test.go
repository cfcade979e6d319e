package workflow_test

import (
	"strings"
	"testing"
)

// TestRings shows cycles as steps, each kind in its words.
func TestRings(t *testing.T) {
	dag := func(nodes string) string {
		return "name: w\nagents:\n" +
			"  - {name: a, type: code, function: f, output_key: x}\n" +
			"  - {name: b, type: code, function: f, output_key: y}\n" +
			"  - {name: c, type: code, function: f, output_key: z}\n" +
			"orchestration:\n  type: dag\n  nodes: [" + nodes + "]\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing starts", dag("{agent: a, depends_on: [b]}, {agent: b, depends_on: [c]}, {agent: c, depends_on: [a]}"),
			"none of them ever starts: a -> b -> c -> a; |`a` waits for `b`|`b` waits for `c`|`c` waits for `a`|nothing"},
		{"one waits for itself", dag("{agent: a, depends_on: [a]}, {agent: b}, {agent: c}"),
			"none of them ever starts: a -> a; |`a` waits for `a`|nothing"},
		{"join: any of what waits", dag("{agent: a, depends_on: [b, c], join: any}, {agent: b, depends_on: [a]}, " +
			"{agent: c, depends_on: [a]}"),
			"none of them ever starts: a -> b -> a; |`a` waits for `b`|`b` waits for `a`|nothing"},
		{"the entry is in the middle", dag("{agent: b, depends_on: [c]}, {agent: c, depends_on: [a, b], join: any, " +
			"when: {b: default}}, {agent: a}"), "in a circle, and nothing bounds how often: c -> b -> c; |" +
			"`c` starts after `a`|`b` starts after `c`|" +
			"`c` starts again after an output of `b` that no other node names|and so on"},
		{"blocks", "name: w\nagents:\n  - {name: a, type: sequential, sub_agents: [b]}\n" +
			"  - {name: b, type: loop, sub_agents: [a], max_iterations: 2}\norchestration: {type: sequential, agents: [a]}\n",
			"contain each other: a -> b -> a; |`a` runs `b`|`b` runs `a`|and so on"},
	} {
		_, found := judge(t, "flow.yaml", []byte(c.text))
		if len(found) != 1 {
			t.Errorf("%s: %v", c.name, found)
			continue
		}
		words := append([]string{found[0].Message}, found[0].Trace...)
		for i, want := range strings.Split(c.want, "|") {
			if i >= len(words) || !strings.Contains(words[i], want) {
				t.Errorf("%s: step %d has no %q: %s", c.name, i, want, found[0])
			}
		}
	}
}
