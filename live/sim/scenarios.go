package sim

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed scenarios/*.txt
var scenarioFiles embed.FS

// Scenarios are the names of the built-in scenarios, sorted. Each is one failure that real models, or the ways to them,
// have been seen to have.
func Scenarios() []string {
	entries, _ := scenarioFiles.ReadDir("scenarios") // it is there: it was embedded
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".txt")
	}
	slices.Sort(names)
	return names
}

// LoadScenario returns a built-in scenario. Its error names the nearest that exists.
func LoadScenario(name string) (*Scenario, error) {
	text, err := scenarioFiles.ReadFile("scenarios/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("sim: no scenario %.40q; the nearest is %q", name, nearest(name, Scenarios()))
	}
	return ParseScenario(name, string(text))
}
