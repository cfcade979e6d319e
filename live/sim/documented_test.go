package sim

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLanguageIsDocumented wants every word of the language in docs/model.md, and its example to be
// one.
func TestLanguageIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	words := slices.Concat(cueNames(), settingNames(), slices.Collect(maps.Keys(plainActions())),
		slices.Collect(maps.Keys(argumentActions())))
	for habit := range choiceSettings() {
		words = append(words, strings.Fields(habit)...)
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") && !strings.Contains(page, "`"+word+" ") &&
			!strings.Contains(page, " "+word+"`") {
			t.Errorf("docs/model.md does not explain %s", word)
		}
	}
	_, example, _ := strings.Cut(page, "```\n")
	example, _, _ = strings.Cut(example, "```")
	s, err := ParseScenario("example", example)
	if err != nil || len(s.parts) != 3 {
		t.Errorf("the example: %v", err)
	}
}
