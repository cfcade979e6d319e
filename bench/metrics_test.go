package bench

import (
	"strings"
	"testing"
)

const metrics = `# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
process_cpu_seconds_total 12.5
go_memstats_sys_bytes 2e+07
go_memstats_heap_released_bytes 5e+06
go_goroutines 42
voicegw_calls 3
`

// TestUsage reads what a process says, and names what is missing or wrong.
func TestUsage(t *testing.T) {
	t.Parallel()
	u, err := parseUsage(strings.NewReader(metrics))
	if err != nil || u != (usage{12.5, 15e6, 42}) {
		t.Errorf("%+v, %v", u, err)
	}
	for text, want := range map[string]string{
		"": "no process_cpu_seconds_total",
		strings.Replace(metrics, "go_goroutines 42", "", 1):                "no go_goroutines",
		strings.Replace(metrics, "go_goroutines 42", "go_goroutines x", 1): `go_goroutines is "x"; want a number`,
		strings.Repeat("x", 2<<20):                                         "token too long",
	} {
		if _, err := parseUsage(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// FuzzUsage reads anything.
func FuzzUsage(f *testing.F) {
	f.Add(metrics)
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := parseUsage(strings.NewReader(text)); err != nil && u != (usage{}) {
			t.Errorf("it is wrong and says %+v", u)
		}
	})
}
