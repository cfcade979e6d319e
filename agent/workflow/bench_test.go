package workflow_test

import (
	"fmt"
	"strings"
	"testing"
)

// team is a file of n agents: stages of three llm agents at once, with tools, one after the other, the
// last one in a loop.
func team(n int) []byte {
	var agents, stages strings.Builder
	for i := range n {
		reads := "nothing"
		if i >= 3 {
			reads = fmt.Sprintf("{k%d}", i-3)
		}
		fmt.Fprintf(&agents, "  - {name: a%d, type: llm, model: gemini-2.5-flash, instruction: 'Use %s.', output_key: k%d, "+
			"tools: [http_request], retry: {attempts: 2}}\n", i, reads, i)
		if i%3 == 0 {
			fmt.Fprintf(&agents, "  - {name: s%d, type: parallel, sub_agents: [a%d", i/3, i)
			fmt.Fprintf(&stages, "s%d, ", i/3)
		} else {
			continue
		}
		for j := i + 1; j < min(i+3, n); j++ {
			fmt.Fprintf(&agents, ", a%d", j)
		}
		agents.WriteString("]}\n")
	}
	return fmt.Appendf(nil, "name: team\nagents:\n%s  - {name: all, type: loop, max_iterations: 3, sub_agents: [%s]}\n"+
		"orchestration: {type: sequential, agents: [all]}\n", agents.String(), stages.String())
}

// wide is a file of n agents at once.
func wide(n int) []byte {
	var agents, list strings.Builder
	for i := range n {
		fmt.Fprintf(&agents, "  - {name: a%d, type: code, function: f, output_key: k%d}\n", i, i)
		fmt.Fprintf(&list, "a%d, ", i)
	}
	return fmt.Appendf(nil, "name: wide\nagents:\n%sorchestration: {type: parallel, agents: [%s]}\n", agents.String(),
		list.String())
}

// TestLarge wants workflows that no one could explore as a whole to be decided with few markings.
func TestLarge(t *testing.T) {
	for name, text := range map[string][]byte{"fifty at once": wide(50), "fifty in stages": team(50)} {
		r, found := judge(t, name, text)
		if r == nil || !r.Proved() {
			t.Errorf("%s: %v", name, found)
			continue
		}
		states := 0
		for _, p := range r.Proofs {
			states += p.States
		}
		if states > 5000 {
			t.Errorf("%s: %d markings were explored", name, states)
		}
	}
	if r, _ := judge(t, "too many", wide(251)); r != nil {
		t.Error("251 agents were accepted")
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{20, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := team(n)
			for b.Loop() {
				if r, found := judge(b, "team", text); r == nil || !r.Proved() {
					b.Fatal(found)
				}
			}
		})
	}
}
