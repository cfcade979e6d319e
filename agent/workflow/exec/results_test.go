package exec

import (
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
)

// TestResults reads results of tools: what fails an attempt, and what the output is.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		result map[string]any
		output string
		failed string
	}{
		{map[string]any{"result": 3}, "3", ""},
		{map[string]any{"status": "success", "result": true}, "true", ""},
		{map[string]any{"status": "success", "result": nil, "count": 0}, `{"count":0,"result":null}`, ""},
		{map[string]any{"status": "open", "error": "none"}, `{"error":"none","status":"open"}`, ""},
		{map[string]any{"error": ""}, `{"error":""}`, ""},
		{map[string]any{"error": "dark"}, `{"error":"dark"}`, "dark"},
		{map[string]any{"status": "error", "error": "dark", "code": 3}, `{"code":3,"error":"dark","status":"error"}`, "dark"},
		{map[string]any{"status": "error", "code": 3}, `{"code":3,"status":"error"}`, `{"code":3,"status":"error"}`},
		{map[string]any{}, "{}", ""},
	} {
		got, bad := failed(c.result)
		if out := workflow.TextOf(valueOf(c.result)); out != c.output || got != c.failed || bad != (c.failed != "") {
			t.Errorf("%v: the output is %s, the failure %q", c.result, out, got)
		}
	}
}
