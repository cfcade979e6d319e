package petritest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

type light uint8

func (l light) Key() petri.Key     { return petri.Key(l) }
func (l light) KeyNames() []string { return []string{"dark", "bright"} }

type visitor struct {
	Name string
	Note string `json:",omitempty"`
}

// doorbell rings for 500 ms at a press, says who came, and breaks when a visitor has no name.
func doorbell(t testing.TB) *petri.Program {
	const (
		press    = petri.Place[petri.Unit]("press")
		sky      = petri.Place[light]("sky")
		come     = petri.Place[visitor]("come")
		reported = petri.Place[visitor]("reported")
		idle     = petri.Place[petri.Unit]("idle")
		rings    = petri.Place[petri.Unit]("rings")
		bell     = petri.Place[petri.Unit]("bell")
		lamp     = petri.Place[light]("lamp")
	)
	p, err := petri.Compile(&petri.Net{
		Name: "doorbell",
		Env:  []petri.Env{{Place: press}, {Place: sky}, {Place: come}},
		Out:  []petri.Output{{Place: bell}, {Place: lamp}, {Place: reported}},
		Init: []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "ring", In: petri.Arcs{press, idle}, Out: petri.And(rings, bell)},
			{Name: "quieten", In: petri.Arcs{rings}, Out: petri.And(idle), When: petri.After(500 * time.Millisecond)},
			{Name: "switch", In: petri.Arcs{sky}, Out: petri.And(lamp)},
			{Name: "report", In: petri.Arcs{come}, Out: petri.And(reported), Action: func(f *petri.Firing) {
				v := come.Get(f)
				if v.Name == "" {
					panic("a visitor without a name")
				}
				reported.Put(f, v)
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDoorbell(t *testing.T) { Run(t, "testdata/doorbell", doorbell(t)) }

// TestTwice plays the same steps on two machines.
func TestTwice(t *testing.T) {
	var trace [2]string
	for i := range trace {
		p := NewPlayer(doorbell(t))
		for _, step := range []string{"inject press @10ms", "inject press @20ms", "inject sky bright", "advance +1s",
			"marking"} {
			w := strings.Fields(step)
			trace[i] += p.Do(w[0], w[1:], "")
		}
		if p.m.Now() != 1020*time.Millisecond {
			t.Errorf("at %v", p.m.Now())
		}
	}
	if trace[0] != trace[1] || !strings.Contains(trace[0], "510ms fired quieten\n510ms fired ring\n") {
		t.Errorf("traces:\n%s\n%s", trace[0], trace[1])
	}
}

// TestDifferenceFails runs a script with a wrong trace in a test of its own.
func TestDifferenceFails(t *testing.T) {
	if dir := os.Getenv("PETRITEST_SCRIPTS"); dir != "" {
		Run(t, dir, doorbell(t))
		return
	}
	dir := t.TempDir()
	play := func(args ...string) ([]byte, error) {
		args = append([]string{"-test.run", "^TestDifferenceFails$"}, args...)
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "PETRITEST_SCRIPTS="+dir)
		return cmd.CombinedOutput()
	}
	script := filepath.Join(dir, "wrong")
	if err := os.WriteFile(script, []byte("advance 1s\n----\n0s started\n1s fired ring\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := play(); err == nil {
		t.Errorf("a wrong trace passed:\n%s", out)
	}
	if out, err := play("-rewrite"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(script)
	if err != nil || string(got) != "advance 1s\n----\n0s started\n" {
		t.Errorf("rewritten to %q, %v", got, err)
	}
	if out, err := play(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEndlessStep checks that a step that would fire a timer for ever ends.
func TestEndlessStep(t *testing.T) {
	const beat = petri.Place[petri.Unit]("beat")
	p, err := petri.Compile(&petri.Net{Name: "metronome", Init: []petri.Token{beat.Token(petri.Unit{})},
		Transitions: []petri.Transition{{Name: "tick", In: petri.Arcs{beat}, Out: petri.And(beat), When: petri.After(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	got := NewPlayer(p).Do("advance", []string{"2000000h"}, "")
	want := "error: petritest: more than 10000 events until 2000000h0m0s; take smaller steps\n"
	if !strings.HasSuffix(got, want) || strings.Count(got, "tick") != 10_000 {
		t.Errorf("%d ticks, %q", strings.Count(got, "tick"), got[max(0, len(got)-100):])
	}
}

// FuzzPlayer plays arbitrary scripts without a panic.
func FuzzPlayer(f *testing.F) {
	for _, s := range []string{"inject come {} @3s", "inject sky bright", "advance +1h", "marking", "inject press @-1s",
		"wake"} {
		f.Add(s, "")
	}
	f.Add("inject come", "{\"Name\":\"a\"}")
	p := doorbell(f)
	f.Fuzz(func(t *testing.T, step, input string) {
		w := strings.Fields(step)
		if len(w) == 0 {
			return
		}
		pl := NewPlayer(p)
		pl.Do("inject", []string{"press"}, "")
		if out := pl.Do(w[0], w[1:], input); out != "" && !strings.HasSuffix(out, "\n") {
			t.Errorf("%q", out)
		}
	})
}
