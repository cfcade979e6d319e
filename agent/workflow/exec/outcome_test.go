package exec

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUsageNamesTheModelItCalled: the JSON of a run without a call of a model names none; that of another does.
func TestUsageNamesTheModelItCalled(t *testing.T) {
	t.Parallel()
	for calls, want := range []bool{false, true} {
		o := Outcome{Usage: Usage{LLMCalls: calls, Model: "parrot", Steps: 3}}
		b, err := json.Marshal(&o)
		if got := string(b); err != nil || strings.Contains(got, `"model":"parrot"`) != want ||
			!strings.Contains(got, `"steps":3`) {
			t.Errorf("%d calls: %s, %v", calls, b, err)
		}
		var back Outcome
		if err := json.Unmarshal(b, &back); err != nil || back.Usage.Steps != 3 {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
}
