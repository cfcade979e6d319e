package workflow

import (
	"context"
	"fmt"
	"testing"
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
