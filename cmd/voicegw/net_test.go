package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/voicenets/claims"
)

func TestNet(t *testing.T) {
	t.Parallel()
	list := command(t, nil, "net", "--list")
	list.want(t, 0)
	lines := strings.Split(strings.TrimSpace(list.stdout), "\n")
	if len(lines) != len(shippedNets())+len(agentNets()) {
		t.Errorf("%d nets are listed:\n%s", len(lines), list.stdout)
	}
	for i, n := range shippedNets() {
		p, err := n.program()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(lines[i], n.name+" ") {
			t.Errorf("listed as %q", lines[i])
		}
		text := command(t, nil, "net", n.name)
		text.want(t, 0, "digraph ", `"place:speech_edge"`)
		drawing := command(t, nil, "net", n.name, "--format", "svg")
		drawing.want(t, 0, `data-place="`+p.Places()[0].Name+`"`, n.doc)
		wellFormed(t, drawing.stdout)
		data := command(t, nil, "net", n.name, "--format", "json")
		var decoded netJSON
		if err := json.Unmarshal([]byte(data.stdout), &decoded); err != nil {
			t.Fatal(err)
		}
		if len(decoded.Places) != len(p.Places()) || len(decoded.Transitions) != len(p.Transitions()) {
			t.Errorf("%s: %d places and %d transitions as JSON", n.name, len(decoded.Places), len(decoded.Transitions))
		}
	}
}

// TestNetsDiffer wants no net to be listed under two names.
func TestNetsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, n := range shippedNets() {
		p, err := n.program()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(export(p))
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[string(data)]; twice {
			t.Errorf("%s is %s", n.name, other)
		}
		seen[string(data)] = n.name
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
	}
}

// TestNetAsData looks at one transition of which everything is known.
func TestNetAsData(t *testing.T) {
	t.Parallel()
	n, err := findNet("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.program()
	if err != nil {
		t.Fatal(err)
	}
	out := export(p)
	i := slices.IndexFunc(out.Transitions, func(tr transitionJSON) bool { return tr.Name == "call/ask_for_greeting" })
	if i < 0 {
		t.Fatal("no transition ask_for_greeting")
	}
	var kinds []string
	for _, a := range out.Transitions[i].Arcs {
		kinds = append(kinds, a.Kind+" "+a.Place)
	}
	if !slices.Contains(kinds, "input call/greeting_due") || !slices.Contains(kinds, "output to_model") {
		t.Errorf("arcs %q", kinds)
	}
}

// TestDrawingIsFresh holds docs/session.svg to the net.
func TestDrawingIsFresh(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "session.svg")
	var fresh bytes.Buffer
	if err := drawNet(&fresh, "session", "svg"); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, fresh.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if committed, err := os.ReadFile(name); err != nil || !bytes.Equal(committed, fresh.Bytes()) {
		t.Errorf("%s is not how the net looks (%v): go test ./cmd/voicegw -run Fresh -update", name, err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "verify")
	r.want(t, 0, "proved   capacity", "proved   V8-uplink")
	for _, n := range shippedNets() {
		r.want(t, 0, n.name+": "+n.doc)
	}
	if strings.Contains(r.stdout, "unknown") || strings.Contains(r.stdout, "refuted") {
		t.Error(r.stdout)
	}
	from, to := strings.Index(r.stdout, "session: "), strings.Index(r.stdout, shippedNets()[1].name+": ")
	if from < 0 || to < from {
		t.Fatalf("the session is not the first net:\n%s", r.stdout)
	}
	shownInDocs(t, r.stdout[from:to])
	dir, left := t.TempDir(), t.TempDir()
	picked := command(t, nil, "verify", "session", "--property", "V4-budget", "--json", "--certificates", dir,
		"--script", filepath.Join(left, "script"), "--frames", filepath.Join(left, "frames"))
	picked.want(t, 0, `"property": "V4-budget"`, `"verdict": "proved"`, dir, "nothing is refuted")
	if strings.Contains(picked.stdout, "outputs-in-order") || strings.Contains(picked.stdout, "session-half-duplex") {
		t.Errorf("more than one property or net:\n%s", picked.stdout)
	}
	if files, err := os.ReadDir(left); err != nil || len(files) > 0 {
		t.Errorf("%v left, %v", files, err)
	}
}

// TestVerifyUnknownProperty: the error names the properties that resemble it.
func TestVerifyUnknownProperty(t *testing.T) {
	t.Parallel()
	proof := &claims.Proof{}
	for _, name := range []string{"V3-late-audio", "V4-budget"} {
		proof.Claims = append(proof.Claims, claims.Claim{Result: verify.Result{Property: &verify.Property{Name: name}}})
	}
	check := func(shippedNet, context.Context) (*claims.Proof, error) { return proof, nil }
	err := (&fileCheck{properties: []string{"V3-lat"}}).verifyNets(t.Context(), shippedNets()[:1], io.Discard, check)
	if !errors.As(err, new(*usageError)) || !strings.Contains(err.Error(), `session has no property "V3-lat"`) ||
		!strings.Contains(err.Error(), "V3-late-audio") {
		t.Error(err)
	}
	condition := &fileCheck{properties: []string{"never model/quiet >= 2"}}
	err = condition.verifyNets(t.Context(), shippedNets()[:1], io.Discard, check)
	if want := "of its 2 the closest are V4-budget, V3-late-audio; without --property all are listed"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestVerifyMutate counts what the properties notice.
func TestVerifyMutate(t *testing.T) {
	t.Parallel()
	score := func(context.Context) (*mutate.Score, error) {
		return &mutate.Score{Mutants: 4, Killed: 3, Survivors: []string{"end_call: without its input"},
			Why: map[string]string{"end_call: without its input": "nothing notices"}}, nil
	}
	of := func(shippedNet, context.Context) (*mutate.Score, error) { return score(t.Context()) }
	for asJSON, want := range map[bool][]string{
		true:  {`"mutants": 4`, `"killed": 3`, `"score": 0.75`, `"survivors": [`},
		false: {"3 of 4 mutants killed (75.0 %)", "survives: end_call: without its input: nothing notices"},
	} {
		var out strings.Builder
		if err := (&fileCheck{json: asJSON}).score(t.Context(), shippedNets()[:1], &out, of); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("it does not say %q:\n%s", w, out.String())
			}
		}
	}
	command(t, nil, "verify", testNet("mutex.pnml"), "--mutate", "--property", "deadlock-free").want(t, 2, "--mutate")
	command(t, nil, "verify", "session", "--mutants", "link/").want(t, 2, "--mutate")
	command(t, nil, "verify", "session", "--mutate", "--mutants", "nowhere/").want(t, 2, `"nowhere/"`)
	command(t, nil, "verify", "session", "--mutate", "--property", "V4-budget").want(t, 2, "--property")
	command(t, nil, "verify", "session", "--mutate", "--mutants", "transcript/", "--json").
		want(t, 0, `"mutants": `, `"killed": `, `"score": `, `"survivors": [`)
}

// TestNotProvedIsNoSuccess wants an error for everything but a proof.
func TestNotProvedIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcomes []verify.Outcome
		ok       bool
	}{
		{[]verify.Outcome{verify.Proved}, true},
		{[]verify.Outcome{verify.Proved, verify.Unknown}, false},
		{[]verify.Outcome{verify.Refuted, verify.Proved}, false},
		{nil, false},
	} {
		proof := &claims.Proof{}
		for _, o := range c.outcomes {
			v := verify.Verdict{Outcome: o, Reason: "because"}
			proof.Claims = append(proof.Claims, claims.Claim{
				Result: verify.Result{Property: &verify.Property{Name: "p"}, Verdict: v}})
		}
		check := func(shippedNet, context.Context) (*claims.Proof, error) { return proof, nil }
		var out strings.Builder
		err := new(fileCheck).verifyNets(t.Context(), shippedNets()[:1], &out, check)
		if (err == nil) != c.ok || strings.Contains(out.String(), "because") == c.ok && c.outcomes != nil {
			t.Errorf("%v: %v\n%s", c.outcomes, err, out.String())
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	command(t, nil, "version").want(t, 0, "voicegw (devel)", "voicegw.v1")
	help := command(t, nil, "serve", "--help")
	help.want(t, 0)
	for _, s := range settings.Rows() {
		if !strings.Contains(help.stdout, "--"+s.Flag()) {
			t.Errorf("--help does not list --%s", s.Flag())
		}
	}
}
