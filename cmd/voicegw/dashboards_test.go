package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"gopkg.in/yaml.v3"
)

// expression is an expression about metrics, and where it is.
type expression struct{ at, text string }

// alertExpressions returns the expressions of the alert rules.
func alertExpressions(t *testing.T) (list []expression) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "alerts.yml"))
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			list = append(list, expression{r.Alert, r.Expr})
		}
	}
	return list
}

// dashboardExpressions returns the expressions of the dashboard, with values for its variables.
func dashboardExpressions(t *testing.T) (list []expression) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "grafana", "voicegw.json"))
	if err == nil {
		list, err = expressionsOf(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// expressionsOf returns the expressions of panels and annotations.
func expressionsOf(dashboard []byte) (list []expression, err error) {
	type target struct{ Expr string }
	var file struct {
		Annotations struct {
			List []struct {
				Name, Expr string
				Target     target
			}
		}
		Panels []struct {
			Title   string
			Targets []target
		}
	}
	if err := json.Unmarshal(dashboard, &file); err != nil {
		return nil, err
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for _, a := range file.Annotations.List {
		for _, expr := range []string{a.Expr, a.Target.Expr} { // of older versions of Grafana, and of newer ones
			if expr != "" {
				list = append(list, expression{"annotation " + a.Name, variables.Replace(expr)})
			}
		}
	}
	for _, p := range file.Panels {
		for _, target := range p.Targets {
			list = append(list, expression{p.Title, variables.Replace(target.Expr)})
		}
	}
	return list, nil
}

// TestAnnotationsAreChecked: an expression of an annotation is one of those that are checked.
func TestAnnotationsAreChecked(t *testing.T) {
	t.Parallel()
	list, err := expressionsOf([]byte(`{"annotations": {"list": [{"name": "Annotations & Alerts", "enable": true},
		{"name": "starts", "expr": "changes(process_start_time_seconds{instance=~\"$instance\"}[$__rate_interval]) > 0"},
		{"name": "ends", "target": {"expr": "voicegw_draining"}}]}, "panels": [{"targets": [{"expr": "voicegw_calls"}]}]}`))
	want := []expression{
		{"annotation starts", `changes(process_start_time_seconds{instance=~".*"}[5m]) > 0`},
		{"annotation ends", "voicegw_draining"}, {"", "voicegw_calls"}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v; want %+v", list, err, want)
	}
}

// exported returns the metrics that serve exports, with their labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	all := documentedMetrics(t)
	tables := metricTable(t, slices.Concat(all["gateway"], all["serve"], []prometheus.Collector{
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}))
	list := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z, ]*) \\|").FindAllStringSubmatch(tables, -1) {
		list[m[1]] = strings.Split(m[2], ", ")
	}
	return list
}

// misnamed returns the metrics and labels of an expression that do not exist.
func misnamed(expr string, known map[string][]string) (wrong []string) {
	labels := []string{"instance", "le"}
	for _, name := range regexp.MustCompile(`\b(?:voicegw|process)_[a-z0-9_]+`).FindAllString(expr, -1) {
		own, ok := known[name]
		if !ok {
			own, ok = known[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")]
		}
		if !ok {
			wrong = append(wrong, name)
		}
		labels = append(labels, own...)
	}
	named := regexp.MustCompile(`([a-z]+)(?:=~|!=|=)"|(?:by|without|ignoring|on) \(([a-z, ]+)\)`)
	for _, m := range named.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(m[1]+m[2], ", ") {
			if !slices.Contains(labels, label) {
				wrong = append(wrong, label)
			}
		}
	}
	return wrong
}

// TestDashboardsNameMetrics wants the alerts and the dashboard to name metrics and labels that there
// are.
func TestDashboardsNameMetrics(t *testing.T) {
	t.Parallel()
	known := exported(t)
	list := slices.Concat(alertExpressions(t), dashboardExpressions(t))
	if len(known) < 30 || len(list) < 40 {
		t.Fatalf("%d metrics are known, %d expressions read", len(known), len(list))
	}
	for _, e := range list {
		if wrong := misnamed(e.text, known); len(wrong) > 0 {
			t.Errorf("%s: there is no %s: %s", e.at, strings.Join(wrong, ", "), e.text)
		}
	}
	for expr, want := range map[string]string{`rate(voicegw_answers_bucket[5m])`: "voicegw_answers_bucket",
		`sum by (modle) (voicegw_model_tokens_total)`: "modle", `voicegw_lines{stat="free"}`: "stat"} {
		if got := misnamed(expr, known); !slices.Equal(got, []string{want}) {
			t.Errorf("in %s these are wrong: %q, want %s", expr, got, want)
		}
	}
}

// TestAlertRules has promtool check and try the alert rules, and parse what the dashboard asks for.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, e := range dashboardExpressions(t) {
		rules += fmt.Sprintf("  - record: expression_%d\n    expr: %q\n", i, e.text)
	}
	folder := filepath.Join("..", "..", "deploy", "prometheus")
	for _, args := range [][]string{{"check", "rules", filepath.Join(folder, "alerts.yml")},
		{"test", "rules", filepath.Join(folder, "alerts_test.yml")},
		{"check", "rules", writeFile(t, "dashboard.yml", []byte(rules))}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v (`make deps` installs promtool)\n%s", strings.Join(args, " "), err, out)
		}
	}
}
