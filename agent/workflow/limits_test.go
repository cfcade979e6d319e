package workflow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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

// loadWants loads a text, and wants findings with these words; a workflow if there are none. No list and no
// message is long.
func loadWants(t *testing.T, text, words string) {
	t.Helper()
	w, found := Load("w.yaml", []byte(text), Registry{})
	if words == "" && w == nil || len(found) > findingsMax+1 || !strings.Contains(fmt.Sprint(found), words) {
		t.Errorf("%.2000v", found)
	}
	for _, f := range found {
		if len(f.Message) > messageMax+3 {
			t.Errorf("a message of %d bytes", len(f.Message))
		}
	}
}

// TestLoadRefusesLarge loads texts that are larger than what they look like, or than what is quoted of them.
func TestLoadRefusesLarge(t *testing.T) {
	bomb := "bomb: &b \"" + strings.Repeat("{k?}", 200_000) + "\"\nlist: [" + strings.Repeat("*b,", 20_000) + "*b]\n"
	loadWants(t, strings.Repeat("[", 1<<19), "not valid YAML")
	loadWants(t, bomb+leafFile, "more than 2097152 bytes, aliases counted")
	loadWants(t, strings.Replace(leafFile, "name: w", "name: "+strings.Repeat("x", 1<<19), 1), "...")
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
