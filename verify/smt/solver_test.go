package smt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestSigns: the two routes read the same words the other way round.
func TestSigns(t *testing.T) {
	for _, c := range []struct {
		word                        string
		safe, reached, holds, fails bool
	}{
		{"sat", true, false, false, true}, {"unsat", false, true, true, false}, {"unknown", false, false, false, false},
		{"timeout", false, false, false, false}, {"", false, false, false, false}, {"sat ", false, false, false, false},
	} {
		a := readAnswer(c.word)
		if a.safe() != c.safe || a.reached() != c.reached || a.holds() != c.holds || a.fails() != c.fails {
			t.Errorf("%q: safe %v, reached %v, holds %v, fails %v", c.word, a.safe(), a.reached(), a.holds(), a.fails())
		}
	}
}

// TestReplies: what counts as an answer and what does not.
func TestReplies(t *testing.T) {
	s := &solver{name: "it"}
	const noModel = "unsat\n(error \"line 9 column 10: model is not available\")\n"
	for _, c := range []struct {
		r    reply
		want answer
	}{
		{reply{"sat\n(model)\n", "", 0}, sat}, {reply{"unsat\n", "", 0}, unsat}, {reply{noModel, "", 1}, unsat},
		{reply{"sat\n", "", 1}, noAnswer}, {reply{"sat\n", "warning", 0}, noAnswer},
		{reply{"(error \"x\")\nsat\n", "", 1}, noAnswer},
		{reply{"sat\n(error \"x\")\n", "", 0}, noAnswer}, {reply{"unsat\n(error \"x\")\n", "", 1}, noAnswer},
		{reply{"hello\nsat\n", "", 0}, noAnswer}, {reply{"unknown\n", "", 0}, noAnswer}, {reply{"", "", 0}, noAnswer},
		{reply{"", "(error \"out of memory\")", 101}, noAnswer}, {reply{"timeout\n", "", 0}, noAnswer},
	} {
		a, _, err := s.hornAnswer(&c.r)
		if a != c.want || (err == nil) != (c.want != noAnswer) {
			t.Errorf("%+v: %v, %v; want %v", c.r, a, err, c.want)
		}
	}
	for _, c := range []struct {
		r  reply
		ok bool
	}{
		{reply{"unsat\nsat\n", "", 0}, true}, {reply{"unsat\n", "", 0}, false},
		{reply{"unsat\nunsat\nunsat\n", "", 0}, false},
		{reply{"unsat\nunknown\n", "", 0}, false}, {reply{"unsat\nunsat\n", "", 1}, false},
		{reply{"unsat\nunsat\n", "x", 0}, false},
	} {
		if _, err := s.answers(&c.r, 2); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
}

// fake is a solver that passes for z3 and then runs a line of shell.
func fake(t *testing.T, version, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "z3")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '%s'; exit; fi\n%s\n", version, line)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// believed passes for a solver that refutes every obligation and says of Horn clauses what the line
// of shell says.
func believed(t *testing.T, line string) string {
	return fake(t, version, `in=$(cat); case "$in" in
*HORN*) `+line+` ;;
*) yes sat | head -n $(echo "$in" | grep -c "(check-sat)") ;;
esac`)
}

// left counts the processes whose command line holds a word.
func left(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("which processes are left is read from /proc: %d files, %v", len(files), err)
	}
	n := 0
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), word) {
			n++
		}
	}
	return n
}

// gone waits until no process has a word in its command line: what was killed needs a moment to
// end.
func gone(t *testing.T, word string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); left(t, word) > 0; {
		if time.Now().After(deadline) {
			t.Errorf("%d processes are left", left(t, word))
			return
		}
	}
}

const version = "Z3 version 4.8.12 - 64 bit"

// TestTrouble: a solver that is missing, old, slow, killed or noisy makes the verdict Unknown and
// says why, and leaves nothing behind.
func TestTrouble(t *testing.T) {
	word := fmt.Sprintf("%d.4711", 1_000_000+os.Getpid())
	for _, c := range []struct{ name, path, why string }{
		{"missing", filepath.Join(t.TempDir(), "z3"), "not installed"},
		{"left out", "none", "not to be used"},
		{"old", fake(t, "Z3 version 4.7.1", ""), "4.8 or later"},
		{"no version", fake(t, "hello", ""), "does not tell its version"},
		{"slow", fake(t, version, "sleep "+word), "no answer within"},
		{"slow with a child", fake(t, version, "sleep "+word+" & sleep "+word), "no answer within"},
		{"leaves a child", believed(t, "sleep "+word+" >/dev/null 2>&1 & echo unknown"), "no clean answer"},
		{"leaves a child that holds its output", fake(t, version, "sleep "+word+" & echo sat"), "it"},
		{"killed", fake(t, version, "kill -9 $$"), "killed"},
		{"crashed", fake(t, version, "cat >/dev/null; kill -SEGV $$"), "killed"},
		{"noise before", believed(t, "echo hello; echo sat"), "hello"},
		{"noise beside", believed(t, "echo warning >&2; echo sat"), "warning"},
		{"error and sat", believed(t, `echo '(error "x")'; echo sat; exit 1`), "error"},
		{"unknown", fake(t, version, "cat >/dev/null; echo unknown"), "unknown"},
		{"nothing", fake(t, version, "cat >/dev/null"), "said nothing"},
		{"endless", fake(t, version, "yes"), "more than"},
		{"no model", believed(t, "echo sat"), "model"},
		{"another model", believed(t, "echo sat; echo '((define-fun R ((x Int)) Bool true))'"), "arguments"},
		{"a lie", believed(t, "echo sat; echo '"+lie(t)+"'"), "not confirmed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := Config{Z3: c.path, Timeout: time.Second}
			r := run(t, compile(t, voice(1)), conf.Never("SPEAK && BARGE"))
			if r.Outcome != verify.Unknown || r.Cause != verify.Solver || !strings.Contains(r.Reason, c.why) {
				t.Errorf("%s, %s: %s; want unknown, solver, %q", r.Outcome, r.Cause, r.Reason, c.why)
			}
			gone(t, word)
		})
	}
}

// lie is a model of the whole net that claims what is not so.
func lie(t *testing.T) string {
	s := encode(t, netmodel.New(compile(t, voice(1)), netmodel.RunToCompletion), "SPEAK && BARGE", false)
	var params []term
	for i := range s.vars() {
		params = append(params, list(sym(fmt.Sprintf("x!%d", i)), sym("Int")))
	}
	return list(app("define-fun", sym("R"), list(params...), sym("Bool"), sym("false"))).String()
}

// TestCancelKills: when the context ends, so do the solver and its children.
func TestCancelKills(t *testing.T) {
	word := fmt.Sprintf("%d.4712", 1_000_000+os.Getpid())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for left(t, word) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond) // until the solver runs: there is no event to wait for
		}
		cancel()
	}()
	conf := Config{Z3: fake(t, version, "sleep "+word+" & sleep "+word), Timeout: time.Minute}
	_, err := verify.Run(ctx, compile(t, voice(1)), verify.Config{}, conf.Never("SPEAK && BARGE"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want %v", err, context.Canceled)
	}
	cancel()
	gone(t, word)
}

// TestMisspelt: a clause with a name that does not exist must not be dropped: what remains would be
// satisfiable and read as a proof.
func TestMisspelt(t *testing.T) {
	needSolvers(t)
	s := encode(t, netmodel.New(compile(t, voice(1)), netmodel.RunToCompletion), "BARGE && INFLIGHT", true)
	z3, err := Config{}.z3(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	good := s.horn()
	last := strings.LastIndex(good, "(assert")
	for script, want := range map[string]answer{
		good: unsat, good[:last] + strings.Replace(good[last:], "(R ", "(Q ", 1): noAnswer, good[:last+40]: noAnswer,
	} {
		r, err := z3.ask(context.Background(), script)
		if err != nil {
			t.Fatal(err)
		}
		if a, _, err := z3.hornAnswer(r); a != want {
			t.Errorf("%v, %v (%q); want %v", a, err, r.out, want)
		}
	}
}

// TestMemory: a solver that needs more memory than it may have has no answer.
func TestMemory(t *testing.T) {
	greedy := believed(t, "head -c 200000000 /dev/zero | tail -c 200000000 >/dev/null && echo unsat")
	for limit, want := range map[int]verify.Cause{100: verify.Solver, 1000: verify.Spurious} {
		conf := Config{Z3: greedy, MemoryMB: limit, Timeout: 20 * time.Second}
		r := run(t, compile(t, voice(1)), conf.Never("SPEAK && BARGE"))
		if r.Outcome != verify.Unknown || r.Cause != want {
			t.Errorf("%d MB: %s, %s: %s; want %s", limit, r.Outcome, r.Cause, r.Reason, want)
		}
	}
}

// TestOneSolver: without cvc5 another process of z3 checks.
func TestOneSolver(t *testing.T) {
	needSolvers(t)
	var cert *Certificate
	conf := Config{CVC5: "none", Keep: func(c *Certificate) { cert = c }}
	if r := run(t, compile(t, voice(2)), conf.Bound("INFLIGHT", "2")); r.Outcome != verify.Proved {
		t.Fatalf("%s: %s", r.Outcome, r.Reason)
	}
	if !strings.HasPrefix(cert.CheckedBy, "z3 ") {
		t.Errorf("checked by %s", cert.CheckedBy)
	}
}
