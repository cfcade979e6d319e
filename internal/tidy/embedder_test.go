package tidy

import (
	"os"
	"strings"
	"testing"
)

// TestEmbedderGraph keeps what only checks the code out of go.mod, which is in the module graph of whoever imports
// voicegw: such tools stand in internal/tools/go.mod.
func TestEmbedderGraph(t *testing.T) {
	b, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		for _, tool := range []string{"chromedp", "letsencrypt", "honnef.co/go/tools", "playwright"} {
			if strings.Contains(line, tool) {
				t.Errorf("go.mod requires %s: move it to internal/tools", strings.TrimSpace(line))
			}
		}
	}
}
