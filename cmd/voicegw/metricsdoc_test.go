package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/telemetry"
)

// documentedMetrics returns the collectors of each table of docs/metrics.md.
func documentedMetrics(t *testing.T) map[string][]prometheus.Collector {
	t.Helper()
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{APIKey: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.New(access.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]prometheus.Collector{"gateway": {gw.Metrics()},
		"serve": append(logMetrics(new(logWriter), new(logWriter))[:2], newGuardMetrics(guard), proofMetrics(1, 1)[0],
			(*records)(nil).metrics(), collectorsOf((&archives{}).metrics()), newWebhookMetrics(nil),
			(*telemetry.Telemetry)(nil).Collector())}
}

// TestMetricsDocIsFresh holds the tables of docs/metrics.md to the metrics.
func TestMetricsDocIsFresh(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "metrics.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for mark, list := range documentedMetrics(t) {
		table := regexp.MustCompile(`(?s)<!-- ` + mark + ` -->\n(\|.*?\n)?\n`)
		if !table.MatchString(doc) {
			t.Fatalf("%s has no place for the metrics of %s", name, mark)
		}
		doc = table.ReplaceAllLiteralString(doc, "<!-- "+mark+" -->\n"+metricTable(t, list)+"\n")
	}
	if *update {
		if err := os.WriteFile(name, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if doc != string(text) {
		t.Errorf("%s is out of date: go test ./cmd/voicegw -run Fresh -update", name)
	}
}

// metricTable lists the metrics of collectors. A description can be read from its text alone.
func metricTable(t *testing.T, list []prometheus.Collector) string {
	table := "| metric | labels | meaning |\n|---|---|---|\n"
	described := regexp.MustCompile(
		`^Desc\{fqName: ("[^"]*"), help: ("(?:[^"\\]|\\.)*"), constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}\}$`)
	for _, c := range list {
		descs := make(chan *prometheus.Desc, 100)
		c.Describe(descs)
		close(descs)
		for d := range descs {
			m := described.FindStringSubmatch(d.String())
			if m == nil {
				t.Fatalf("%s", d)
			}
			name, err := strconv.Unquote(m[1])
			help, err2 := strconv.Unquote(m[2])
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			constant, _, _ := strings.Cut(m[3], "=")
			labels := strings.Trim(constant+","+m[4], ",")
			table += fmt.Sprintf("| `%s` | %s | %s |\n", name, strings.ReplaceAll(labels, ",", ", "), help)
		}
	}
	return table
}
