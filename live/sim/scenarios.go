package sim

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed scenarios/*.txt
var scenarioFiles embed.FS

// Scenarios returns the names of the built-in scenarios, sorted. Each is a failure that others have
// reported of real models or networks.
func Scenarios() []string {
	entries, _ := scenarioFiles.ReadDir("scenarios") // embedded, so it exists
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".txt")
	}
	slices.Sort(names)
	return names
}

// LoadScenario returns a built-in scenario. The error for an unknown name suggests the most similar
// one.
func LoadScenario(name string) (*Scenario, error) {
	text, err := scenarioFiles.ReadFile("scenarios/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("sim: no scenario %.40q; the nearest is %q", name, nearest(name, Scenarios()))
	}
	return ParseScenario(name, string(text))
}
