package adkagent

import (
	"testing"
)

// TestContextKeys checks that ADK still keeps plugins where we look for them.
func TestContextKeys(t *testing.T) {
	k, err := findContextKeys()
	if err != nil || k.plugin == nil || k.reader == nil {
		t.Fatalf("%v, %v", k, err)
	}
}
