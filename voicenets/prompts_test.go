package voicenets

import (
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestPromptsNobodyAsksFor composes sessions with no prompt, each one, and all. A prompt that
// nothing in the session asks for is left out.
func TestPromptsNobodyAsksFor(t *testing.T) {
	t.Parallel()
	sets := []Prompts{0, 1<<len(Prompt(0).KeyNames()) - 1}
	for p := range Prompt(0).KeyNames() {
		sets = append(sets, Prompts(0).With(Prompt(p)))
	}
	for i := range 1 << 4 {
		on := func(bit int) bool { return i>>bit&1 == 1 }
		c := Config{Consent: on(0), Parts: map[Part]func(Config) *petri.Net{}}
		if on(1) {
			c.ToolSlots = 1
		}
		if on(2) {
			c.RepromptAfter = time.Minute
		}
		if on(3) {
			c.Parts[PartTools], c.Parts[PartCallerSilence] = nil, nil
		}
		for _, set := range sets {
			c.Prompts = set
			name := fmt.Sprintf("consent %v, tools %d, reprompt %v, parts left out %v, prompts %06b", c.Consent, c.ToolSlots,
				c.RepromptAfter, on(3), set)
			n, err := Session(c)
			if err == nil {
				_, err = petri.Compile(n)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
