package api_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(processSpec); spec != "" {
		if err := serveProcess(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
