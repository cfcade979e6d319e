package workflow

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// TestNames wants every name of an internal part to be free for a workflow and its agents.
func TestNames(t *testing.T) {
	names := []string{"around", "writer", "run", "turns", "session", "work", "tools", "key", "alone", "others", "end",
		"workflow", "idle", "busy"}
	for i, name := range names {
		inner := names[(i+1)%len(names)]
		text := fmt.Sprintf("name: %s\nagents:\n  - {name: %s, type: code, function: f, output_key: in}\n"+
			"orchestration: {type: loop, max_iterations: 2, agents: [%[2]s]}\n", name, inner)
		c := compiled(t, text)
		r, err := Verify(context.Background(), c)
		if err != nil || !r.Proved() {
			t.Errorf("%s: %v %v", name, err, r)
			continue
		}
		if _, err := c.Overview(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestToolExits wants a leaf to leave a mark at once when an agent that it calls exits, alone and as a task.
func TestToolExits(t *testing.T) {
	c := compiled(t, "name: w\nagents:\n  - {name: rounds, type: loop, sub_agents: [boss], max_iterations: 2}\n"+
		"  - {name: boss, type: llm, model: m, instruction: i, agent_tools: [judge]}\n"+
		"  - {name: judge, type: llm, model: m, instruction: i, tools: [exit_loop]}\n"+
		"orchestration: {type: sequential, agents: [rounds]}\n")
	if r, err := Verify(context.Background(), c); err != nil || !r.Proved() {
		t.Errorf("%v %v", err, r)
	}
	early := slices.ContainsFunc(c.at("w/rounds/boss").asTask().Transitions, func(t petri.Transition) bool {
		return t.Name == "exit_early"
	})
	if !early {
		t.Error("as a task, boss exits only when it is done")
	}
}
