package voicenets

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestEveryTimeIsConfigured gives every time of a session another value: no transition keeps the
// time it had, so none is fixed in the code.
func TestEveryTimeIsConfigured(t *testing.T) {
	t.Parallel()
	for _, detection := range []Detection{GatewayVAD, ModelVAD} {
		c := Config{Detection: detection, Greeting: true, Consent: true, Adaptive: true, Hints: true, ToolSlots: 1,
			RepromptAfter: time.Minute, Prompts: 1<<6 - 1}
		before := delays(t, c)
		full, err := c.Filled()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range full.times() {
			*f.v += 20 * time.Millisecond
		}
		for i := range 3 {
			full.Linger[i] += 20 * time.Millisecond
			full.Backoff[i] += 20 * time.Millisecond
		}
		after := delays(t, full)
		for name, d := range before {
			if after[name] == d {
				t.Errorf("%s fires after %v, whatever is configured", name, d)
			}
		}
		if len(before) < 25 {
			t.Errorf("%d transitions have a time, want those of the whole session", len(before))
		}
	}
}

// delays are the times after which transitions fire.
func delays(t *testing.T, c Config) map[string]time.Duration {
	t.Helper()
	n, err := Session(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]time.Duration{}
	for _, tr := range p.Transitions() {
		if tr.When.Latest > 0 && tr.When.Latest < petri.Forever {
			out[tr.Name] = tr.When.Latest
		}
	}
	return out
}
