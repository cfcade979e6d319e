package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExplore holds the counts of nets of the field to those that others published or computed.
func TestExplore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file                string
		flags               exploreOptions
		states, edges, dead int
		place               string // with the most tokens
		most                int
	}{
		{file: "crossing_1.net", states: 11, edges: 14, place: "closed", most: 1},
		{file: "crossing_1.net", flags: exploreOptions{inclusion: true}, states: 10, edges: 13, place: "cfar", most: 1},
		{file: "crossing_2.net", states: 123, edges: 218, place: "cfar", most: 2},
		{file: "crossing_2.net", flags: exploreOptions{inclusion: true}, states: 37, edges: 74, place: "cin", most: 2},
		{file: "crossing_3.net", states: 3101, edges: 7754, place: "cin", most: 3},
		{file: "crossing_3.net", flags: exploreOptions{inclusion: true}, states: 172, edges: 492, place: "coming", most: 1},
		{file: "self_loop.net", states: 1, edges: 1, place: "q", most: 0},
		{file: "self_loop.net", flags: exploreOptions{untimed: true}, states: 2, edges: 2, dead: 1, place: "q", most: 1},
		{file: "read_arc.net", states: 3, edges: 2, dead: 1, place: "q", most: 1},
		{file: "silence.net", states: 7, edges: 10, place: "REC2", most: 1},
		{file: "silence.net", flags: exploreOptions{inclusion: true}, states: 6, edges: 9, place: "REC2", most: 1},
		{file: "producer.net", states: 4, edges: 5, place: "BUF", most: 2},
		{file: "producer.net", flags: exploreOptions{untimed: true}, states: 3, edges: 4, place: "BUF", most: 2},
		{file: "loops.net", states: 343, edges: 376, place: "a", most: 1},
		{file: "loops.net", flags: exploreOptions{untimed: true}, states: 1, edges: 3, place: "a", most: 1},
		{file: "tie.net", states: 3, edges: 2, dead: 2, place: "r", most: 1},
		{file: "no_tie.net", states: 2, edges: 1, dead: 1, place: "r", most: 0},
		{file: "no_tie.net", flags: exploreOptions{untimed: true}, states: 3, edges: 2, dead: 2, place: "r", most: 1},
		{file: "mutex.pnml", states: 2, edges: 2, place: "rest", most: 3},
	} {
		e := exploreFile(t, test.file, test.flags)
		if e.States != test.states || e.Edges != test.edges || e.Deadlocks != test.dead || !e.Complete {
			t.Errorf("%s %+v: %d states, %d edges, %d dead, complete %v; want %d, %d, %d, true", test.file, test.flags,
				e.States, e.Edges, e.Deadlocks, e.Complete, test.states, test.edges, test.dead)
		}
		if n, ok := e.Bounds[test.place]; !ok || n != test.most {
			t.Errorf("%s %+v: at most %d (%v) at %s; want %d", test.file, test.flags, n, ok, test.place, test.most)
		}
	}
}

// exploreFile explores a net of testdata and reads the JSON.
func exploreFile(t *testing.T, name string, o exploreOptions) explored {
	t.Helper()
	o.json = true
	if o.max == 0 {
		o.max = exploreCap
	}
	var out bytes.Buffer
	var e explored
	if err := exploreNet(context.Background(), testNet(name), o, &out, &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out.String())
	}
	return e
}

func testNet(name string) string { return filepath.Join("testdata", "nets", name) }

// TestExploreKeys: a script finds these keys and no others.
func TestExploreKeys(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "explore", testNet("mutex.pnml"), "--json")
	r.want(t, 0)
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.stdout), &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"states", "edges", "complete", "deadlocks", "bounds", "seconds"} {
		if keys[k] == nil {
			t.Errorf("no key %s: %s", k, r.stdout)
		}
		delete(keys, k)
	}
	if len(keys) > 0 || string(keys["bounds"]) == "null" {
		t.Errorf("more keys: %s", r.stdout)
	}
}

// TestExploreReduced: fewer markings, the same dead ones, and nothing of bounds.
func TestExploreReduced(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "philosophers.net")
	var text strings.Builder
	const n = 6
	for i := range n {
		fmt.Fprintf(&text, "pl fork%d (1)\npl thinks%d (1)\n", i, i)
		fmt.Fprintf(&text, "tr left%d thinks%d fork%d -> has%d\n", i, i, i, i)
		fmt.Fprintf(&text, "tr right%d has%d fork%d -> eats%d\n", i, i, (i+1)%n, i)
		fmt.Fprintf(&text, "tr rest%d eats%d -> thinks%d fork%d fork%d\n", i, i, i, i, (i+1)%n)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	full := command(t, nil, "explore", file, "--json")
	full.want(t, 0, `"deadlocks":1`, `"bounds":{`)
	reduced := command(t, nil, "explore", file, "--json", "--reduce")
	reduced.want(t, 0, `"deadlocks":1`, `"reduced":true`, `"complete":true`)
	var all, some explored
	err := errors.Join(json.Unmarshal([]byte(full.stdout), &all), json.Unmarshal([]byte(reduced.stdout), &some))
	if err != nil {
		t.Fatal(err)
	}
	if some.States >= all.States || some.Bounds != nil || strings.Contains(full.stdout, "reduced") {
		t.Errorf("%s reduced: %s", full.stdout, reduced.stdout)
	}
	command(t, nil, "explore", file, "--reduce").want(t, 0, "edges (reduced)", "1 dead markings")
	for _, name := range []string{"self_loop.net", "producer.net", "loops.net", "no_tie.net", "mutex.pnml"} {
		want := exploreFile(t, name, exploreOptions{untimed: true})
		have := exploreFile(t, name, exploreOptions{untimed: true, reduce: true})
		if have.Deadlocks != want.Deadlocks || !have.Complete || have.States > want.States {
			t.Errorf("%s: %+v, of %+v", name, have, want)
		}
	}
}

// TestExploreCodes: what a script learns from the exit code.
func TestExploreCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pnml")
	if err := os.WriteFile(empty, []byte("<pnml>"), 0o600); err != nil {
		t.Fatal(err)
	}
	urgent := filepath.Join(dir, "urgent.net")
	if err := os.WriteFile(urgent, []byte("tr a p -> q\ntr b p -> r\npr a > b\npl p (1)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{testNet("tie.net")}, 0, []string{"3 state classes, 2 edges", "2 dead markings", "at most 1"}},
		{[]string{testNet("no_tie.net")}, 0, []string{"t2 ", "never fires"}},
		{[]string{testNet("growing.net"), "--cap", "1000"}, 3, []string{"and there are more", "1000 markings", "--cap"}},
		{[]string{testNet("growing.net"), "--cap", "1000", "--json"}, 3, []string{`"complete":false`}},
		{[]string{testNet("growing.net")}, 3, []string{"65536 markings", "exceeds the capacity of p"}},
		{[]string{testNet("crossing_3.net"), "--cap", "100"}, 3, []string{"100 state classes"}},
		{[]string{testNet("broken.net")}, 2, []string{testNet("broken.net") + ":2: ", "is empty"}},
		{[]string{os.DevNull}, 2, []string{"has no net in it"}},
		{[]string{empty}, 2, []string{empty, "XML"}},
		{[]string{filepath.Join(dir, "none.net")}, 2, []string{"none.net", "no such file"}},
		{[]string{dir}, 2, []string{dir, "is a directory"}},
		{nil, 2, []string{"which file?"}},
		{[]string{"a.net", "b.net"}, 2, []string{"one argument too many", "b.net"}},
		{[]string{testNet("tie.net"), "--cap", "0"}, 2, []string{"--cap is 0"}},
		{[]string{testNet("tie.net"), "--untimed", "--inclusion"}, 2, []string{"--inclusion"}},
		{[]string{testNet("tie.net"), "--reduce"}, 2, []string{"--reduce", "--untimed"}},
		{[]string{urgent, "--reduce"}, 2, []string{"--reduce", "priorities"}},
		{[]string{testNet("growing.net"), "--reduce", "--cap", "1000"}, 3, []string{"and there are more (reduced)"}},
		{[]string{testNet("tie.net"), "--jsno"}, 2, []string{"did you mean --json?"}},
	} {
		command(t, nil, append([]string{"explore"}, test.args...)...).want(t, test.code, test.words...)
	}
}

// TestExploreStops: an exploration that would take long ends when it is told to.
func TestExploreStops(t *testing.T) {
	t.Parallel()
	for explores := 100 * time.Millisecond; ; explores *= 2 {
		p := start(t, nil, "explore", testNet("crossing_3.net"), "--untimed", "--cap", "50000000")
		time.Sleep(explores)
		p.signal(syscall.SIGINT)
		code, out := p.wait()
		if code < 0 && explores < 5*time.Second {
			continue // the signal ended it, because it came before the program was ready for one
		}
		told := strings.Contains(p.stderr.String(), "stopped before the end")
		if code != exitBroken || strings.Contains(out, "dead") || !told {
			t.Errorf("after %v: exit code %d: %s%s", explores, code, out, p.stderr.String())
		}
		return
	}
}

// full takes nothing, like a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFailureIsNoAnswer: the exit code of a command that fails is not that of an answer.
func TestFailureIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"explore", testNet("tie.net"), "--json"}, exitBroken},
		{[]string{"verify", testNet("tie.net"), "--property", "reach r", "--json"}, exitBroken},
		{[]string{"net"}, exitFailed},
	} {
		var stderr bytes.Buffer
		if code := run(test.args, full{}, &stderr); code != test.code {
			t.Errorf("%s: exit code %d; want %d: %s", test.args, code, test.code, stderr.String())
		}
	}
	if c := failure([]string{"replay", "x"}); c != exitBroken {
		t.Errorf("replay: %d", c)
	}
}

// TestProgress: a log gets a line now and then, not more.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, "markings")
	p.step(10, 1)
	if out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.next = p.next.Add(-2 * progressLog)
	p.step(20, 2)
	p.step(30, 3)
	p.end()
	if out.String() != "20 markings found, 2 of them done\n" {
		t.Errorf("%q", out.String())
	}
	p.terminal, p.next = true, p.next.Add(-2*progressLog)
	p.step(40, 4)
	p.end()
	if !strings.HasSuffix(out.String(), "\r\x1b[K40 markings found, 4 of them done\r\x1b[K") {
		t.Errorf("%q", out.String())
	}
}
