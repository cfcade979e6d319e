package managed

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDepth: a result that is nested too deep is refused, whatever its texts hold.
func TestDepth(t *testing.T) {
	nested := func(levels int) map[string]any {
		var v any
		if err := json.Unmarshal([]byte(strings.Repeat("[", levels)+strings.Repeat("]", levels)), &v); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"v": v, "text": strings.Repeat(`"[{\`, 500)}
	}
	for levels, want := range map[int]string{0: "", resultDepth - 1: "", resultDepth: "nested 201 levels",
		9_998: "levels deep"} {
		r := map[string]any{"v": 1.0}
		if levels > 0 {
			r = nested(levels)
		}
		err := fits(&r)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d levels: %v, want %q", levels, err, want)
		}
	}
}
