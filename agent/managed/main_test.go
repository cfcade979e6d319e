package managed

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	if dir := os.Getenv(mcpChildDir); dir != "" {
		os.Exit(mcpChild(dir))
	}
	if mode := os.Getenv(mcpMode); mode != "" {
		os.Exit(serveMCP(mode))
	}
	if len(os.Args) > 1 {
		if mode, ok := strings.CutPrefix(os.Args[1], mcpArg); ok {
			os.Exit(serveMCP(mode))
		}
	}
	goleak.VerifyTestMain(m)
}
