//go:build !race

package workflow

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// These tests only compute, in one goroutine, and take ten times as long with the race detector.

// linear wants work of size n to take about as long as 64 times the work of size n/64. Work that grows with the square
// takes up to 64 times as long; up to three times is accepted. Both sides take about equally long on a machine that is
// busy with other things, and if it is busy during one of them alone, another try shows the difference.
func linear(t *testing.T, n int, work func(n int)) {
	t.Helper()
	const parts, most, tries = 64, 3, 5
	var least float64
	for try := range tries {
		start := time.Now()
		for range parts {
			work(n / parts)
		}
		pieces := time.Since(start)
		start = time.Now()
		work(n)
		ratio := float64(time.Since(start)) / float64(pieces)
		if try == 0 || ratio < least {
			least = ratio
		}
		if least <= most {
			return
		}
	}
	t.Errorf("work of size %d takes %.1f times as long as %d times the work of size %d", n, least, parts, n/parts)
}

// TestLoadIsLinear loads texts with very many templates, keys and mistakes.
func TestLoadIsLinear(t *testing.T) {
	instruction := func(text string) string {
		return "name: w\nagents:\n  - {name: a, type: llm, model: m, instruction: \"" + text +
			"\"}\norchestration: {type: sequential, agents: [a]}\n"
	}
	for _, c := range []struct {
		name string
		text func(n int) string
		bad  bool
	}{
		{"templates", func(n int) string { return instruction(repeated(n, " {k%d?}")) }, false},
		{"escaped templates", func(n int) string { return instruction(repeated(n, ` {\x6b%d?}`)) }, false},
		{"keys that nothing writes", func(n int) string { return instruction(repeated(n, " {k%d}")) }, true},
		{"unknown keys", func(n int) string { return leafFile + repeated(n, "x%d: 1\n") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			linear(t, 24_000, func(n int) {
				words := ""
				if c.bad {
					words = fmt.Sprintf("and %d more findings", n-findingsMax)
				}
				loadWants(t, c.text(n), words)
			})
		})
	}
}

// repeated is n texts that format makes of numbers.
func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestManyFindings wants a hundred findings, each with its run, and how many more there are.
func TestManyFindings(t *testing.T) {
	var agents strings.Builder
	var names []string
	for i := range 240 {
		fmt.Fprintf(&agents, "  - {name: a%d, type: code, function: f, output_key: k}\n", i)
		names = append(names, fmt.Sprint("a", i))
	}
	p := newProver(context.Background(), compiled(t, "name: w\nagents:\n"+agents.String()+
		"orchestration: {type: parallel, agents: ["+strings.Join(names, ", ")+"]}\n"))
	r, err := p.verify()
	if err != nil {
		t.Fatal(err)
	}
	if p.plays < playsMax {
		t.Errorf("%d answers were played: all agents start at once, so no run needs one", playsMax-p.plays)
	}
	if n := len(r.Findings); n != findingsMax+1 {
		t.Fatalf("%d findings", n)
	}
	for i, f := range r.Findings[:findingsMax] {
		if f.Rule != Race || len(f.Trace) < 3 {
			t.Errorf("finding %d: %s", i, f)
		}
	}
	if f := r.Findings[findingsMax]; f.Rule != TooLarge || f.Message != "and 28580 more findings" {
		t.Error(f)
	}
	if r.Proved() || r.Proofs[len(r.Proofs)-1].Proved {
		t.Error("it is proved")
	}
}
