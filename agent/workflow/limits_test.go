package workflow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// verified loads, compiles and verifies a text that must load.
func verified(t *testing.T, text string) *Report {
	t.Helper()
	r, err := Verify(context.Background(), compiled(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// within fails a test that takes far longer than it may; only a wrong method takes that long.
func within(t *testing.T, most time.Duration) {
	t.Helper()
	start := time.Now()
	t.Cleanup(func() {
		if took := time.Since(start); took > most {
			t.Errorf("it took %v", took)
		}
	})
}

// TestManyFindings wants a hundred findings, each with its run, and how many more there are.
func TestManyFindings(t *testing.T) {
	within(t, 30*time.Second)
	var agents strings.Builder
	var names []string
	for i := range 240 {
		fmt.Fprintf(&agents, "  - {name: a%d, type: code, function: f, output_key: k}\n", i)
		names = append(names, fmt.Sprint("a", i))
	}
	r := verified(t, "name: w\nagents:\n"+agents.String()+"orchestration: {type: parallel, agents: ["+
		strings.Join(names, ", ")+"]}\n")
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

// TestHopelessRuns wants the search for runs to give up when it has played enough.
func TestHopelessRuns(t *testing.T) {
	p := newProver(context.Background(), compiled(t, leafFile))
	p.plays = 50
	never := goal{reached: func(*player) bool { return false }}
	if run := p.find(never); run != nil || p.plays > 0 {
		t.Errorf("found %v, and %d answers are left", run, p.plays)
	}
	if run := p.showBusy(p.c.blocks[1], p.c.blocks[1]); run != nil {
		t.Errorf("with no answers left a run was played: %v", run)
	}
}

const leafFile = "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: x}\n" +
	"orchestration: {type: sequential, agents: [a]}\n"

// TestLoadIsLinear loads texts with very many templates, values and mistakes.
func TestLoadIsLinear(t *testing.T) {
	within(t, 30*time.Second)
	var keys, escaped, unknown, wrong strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&keys, " {k%d?}", i)
		fmt.Fprintf(&escaped, ` {\x6b%d?}`, i)
		fmt.Fprintf(&wrong, " {k%d}", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&unknown, "x%d: 1\n", i)
	}
	head := "name: w\nagents:\n  - {name: a, type: llm, model: m, instruction: "
	tail := "}\norchestration: {type: sequential, agents: [a]}\n"
	bomb := "bomb: &b \"" + strings.Repeat("{k?}", 200_000) + "\"\nlist: [" + strings.Repeat("*b,", 20_000) + "*b]\n"
	for _, c := range []struct{ name, text, want string }{
		{"templates", head + `"` + keys.String() + `"` + tail, ""},
		{"escaped templates", head + `"` + escaped.String() + `"` + tail, ""},
		{"keys that nothing writes", head + `"` + wrong.String() + `"` + tail, "and 59900 more findings"},
		{"unknown keys", leafFile + unknown.String(), "and 19900 more findings"},
		{"brackets", strings.Repeat("[", 1<<19), "not valid YAML"},
		{"texts by alias", bomb + leafFile, "more than 2097152 bytes, aliases counted"},
		{"a long name", strings.Replace(leafFile, "name: w", "name: "+strings.Repeat("x", 1<<19), 1), "..."},
	} {
		w, found := Load("w.yaml", []byte(c.text), Registry{})
		if c.want == "" && w == nil || len(found) > findingsMax+1 || !strings.Contains(fmt.Sprint(found), c.want) {
			t.Errorf("%s: %.2000v", c.name, found)
		}
		for _, f := range found {
			if len(f.Message) > messageMax+3 {
				t.Errorf("%s: a message of %d bytes", c.name, len(f.Message))
			}
		}
	}
}

// TestReadsOnce wants an agent to have each key once, however often it reads it.
func TestReadsOnce(t *testing.T) {
	c := compiled(t, "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: k}\n"+
		"  - {name: b, type: tool, tool: t, output_key: x, tool_config: {one: '{k} {k}', two: ['{k}', '{k?}', '{k?}']}}\n"+
		"orchestration: {type: sequential, agents: [a, b]}\n")
	if reads := c.at("w/b").agent.reads; len(reads) != 2 || reads[0].optional || !reads[1].optional {
		t.Errorf("%+v", reads)
	}
}

// FuzzVerify wants every small text that loads to be verified without a panic, twice with the same findings.
func FuzzVerify(f *testing.F) {
	for _, folder := range []string{"good", "bad", "migrate"} {
		list, _ := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
		for _, path := range list {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4096 {
			return
		}
		w, _ := Load("w.yaml", text, Registry{})
		if w == nil {
			return
		}
		c, _ := Compile(w)
		if c == nil || len(c.blocks) > 16 {
			return
		}
		verify := func(terse bool) *Report {
			p := newProver(context.Background(), c)
			p.max, p.terse, p.certify, p.plays = 500, terse, false, 2000
			r, err := p.verify()
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		one, two := verify(false), verify(true)
		if !slices.EqualFunc(one.Findings, two.Findings, Finding.like) {
			t.Fatalf("two reports differ:\n%v\n%v", one.Findings, two.Findings)
		}
		for _, found := range one.Findings {
			if found.Line < 1 || found.Message == "" {
				t.Fatalf("%+v", found)
			}
		}
	})
}
