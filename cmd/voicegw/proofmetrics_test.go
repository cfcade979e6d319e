package main

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestProofMetrics tells nets that are proved from those that are not.
func TestProofMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(proofMetrics(4, 3)...)
	err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP voicegw_nets Kinds of nets that calls run on, by whether they were proved when serve began: proved or unproved.
# TYPE voicegw_nets gauge
voicegw_nets{proof="proved"} 3
voicegw_nets{proof="unproved"} 1
`))
	if err != nil {
		t.Error(err)
	}
}
