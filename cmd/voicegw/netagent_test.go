package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/verify"
)

// TestNetAgent draws the nets of stock agents in every format, whole and in part.
func TestNetAgent(t *testing.T) {
	t.Parallel()
	list := command(t, nil, "net", "--list")
	for _, n := range agentNets() {
		p, err := n.program()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(list.stdout, "\n"+n.name+" ") || !strings.Contains(list.stdout, n.doc) {
			t.Errorf("%s is not listed:\n%s", n.name, list.stdout)
		}
		command(t, nil, "net", n.name).want(t, 0, "digraph ", `"place:user_in"`, `"place:event_out"`)
		drawing := command(t, nil, "net", n.name, "--format", "svg")
		drawing.want(t, 0, `data-place="user_in"`, n.doc)
		wellFormed(t, drawing.stdout)
		data := command(t, nil, "net", n.name, "--format", "json")
		var decoded netJSON
		if err := json.Unmarshal([]byte(data.stdout), &decoded); err != nil {
			t.Fatal(err)
		}
		if len(decoded.Places) != len(p.Places()) || len(decoded.Transitions) != len(p.Transitions()) {
			t.Errorf("%s: %d places and %d transitions as JSON", n.name, len(decoded.Places), len(decoded.Transitions))
		}
		hands := slices.ContainsFunc(decoded.Transitions, func(tr transitionJSON) bool {
			return strings.HasSuffix(tr.Name, "/transfer0")
		})
		if hands != (n.name == "agent-transfer") {
			t.Errorf("%s hands over: %v", n.name, hands)
		}
		command(t, nil, "net", n.name, "--format", "pnml").want(t, 0, "<pnml")
		command(t, nil, "net", n.name, "--format", "tina").want(t, 0, "net ")
	}
	command(t, nil, "net", "agent/host/model").want(t, 0, "digraph ", `"place:host_model_request"`)
	command(t, nil, "net", "agent/host/model/asker", "--format", "svg").want(t, 0, `data-place="host_ask_start"`)
	command(t, nil, "net", "agent/hst").want(t, 2, `agent has no part "hst"`, "did you mean host?")
	command(t, nil, "net", "agent/host/x").want(t, 2, `host has no part "x"`, "its parts are step, prompt, model")
	command(t, nil, "net", "agent/turns/x").want(t, 2, "it has no parts")
	command(t, nil, "net", "agnt").want(t, 2, `there is no net "agnt"`, "did you mean agent?")
}

// TestNetAgentProved proves the net that is drawn.
func TestNetAgentProved(t *testing.T) {
	t.Parallel()
	p, err := agentNets()[0].build()
	if err != nil {
		t.Fatal(err)
	}
	report, err := agent.Prove(t.Context(), p, verify.Config{})
	if err != nil || report.Outcome() != verify.Proved {
		t.Errorf("%v\n%v", err, report)
	}
}
