package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/smt"
)

// TestVerifyFile: verdicts and exit codes.
func TestVerifyFile(t *testing.T) {
	t.Parallel()
	const safe = "never (on_1 >= 1 || on_2 >= 1) && closed == 0"
	for _, test := range []struct {
		file  string
		props []string
		code  int
		words []string
	}{
		{"crossing_2.net", []string{safe, "deadlock-free", "bound coming <= 1", "reach on_1 >= 1 && on_2 >= 1"}, 0,
			[]string{"proved   " + safe, "proved   deadlock-free", "proved   bound coming <= 1", "proved   reach on_1"}},
		{"crossing_2.net", []string{"never on_1 >= 1", safe}, 1,
			[]string{"refuted  never on_1 >= 1", "3ms", "In_1", "not everything holds"}},
		{"crossing_2.net", []string{"bound cfar <= 1", "reach raising && lowering"}, 1,
			[]string{"refuted  bound", "refuted  reach"}},
		{"self_loop.net", []string{"never q", "reach q"}, 1, []string{"proved   never q", "refuted  reach q"}},
		{"tie.net", []string{"deadlock-free", "reach r"}, 1, []string{"refuted  deadlock-free", "proved   reach r", "3ms"}},
		{"no_tie.net", []string{"never r"}, 0, []string{"proved"}},
		{"mutex.pnml", []string{`bound "work" <= 1`, "deadlock-free", "never !(lock) && work == 0"}, 0, []string{"proved"}},
		{"mutex.pnml", []string{"bound rest <= 2"}, 1, []string{"refuted", "rest*3"}},
		{"growing.net", []string{"reach p == 70000"}, 3, []string{"unknown", "exceeds the capacity"}},
		{"growing.net", []string{"bound p <= 5"}, 1, []string{"refuted"}},
		{"crossing_2.net", []string{"never onn_1 >= 1", "bound clsed <= 1"}, 2,
			[]string{"2 properties", `"onn_1"`, "on_1", `"clsed"`, "closed"}},
		{"crossing_2.net", []string{"never on_1 >="}, 2, []string{`--property "never on_1 >="`}},
		{"crossing_2.net", []string{"bound on_1 < 2"}, 2, []string{"bound PLACE <= N"}},
		{"crossing_2.net", []string{"bound on_1 <= x"}, 2, []string{"whole number"}},
		{"crossing_2.net", []string{"always on_1"}, 2, []string{"want one of: deadlock-free; bound PLACE <= N; never EXPR"}},
		{"crossing_2.net", nil, 2, []string{"what to check"}},
		{"broken.net", []string{"deadlock-free"}, 2, []string{"broken.net:2: "}},
	} {
		args := []string{"verify", testNet(test.file)}
		for _, p := range test.props {
			args = append(args, "--property", p)
		}
		command(t, nil, args...).want(t, test.code, test.words...)
	}
	command(t, nil, "verify", filepath.Join(t.TempDir(), "none.net"), "--property", "deadlock-free").want(t, 2, "none.net")
}

// TestVerifyForms: claims about places, transitions, what leads to what, and time, of files with and without times.
func TestVerifyForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		claims map[string]int // exit codes
	}{
		"untimed": {"pl p (1)\ntr a p -> q\ntr b q -> p\ntr c r -> p\n", map[string]int{"mutex p q": 0, "mutex p q r": 0,
			"fires a b": 0, "fires": 1, "fires c": 1, "p leads to q": 0, "p leads to r": 1, "within 1s from a to b": 1}},
		"timed": {"pl p (1)\ntr a [1,2] p -> q\ntr b [0,1] q -> p\n", map[string]int{"mutex p q": 0, "fires a b": 0,
			"within 2ms from start +p to a": 0, "within 1ms from b to a": 1, "within 3ms from a to a": 0, "p leads to q": 3}},
	} {
		file := writeFile(t, name+".net", []byte(test.text))
		for property, code := range test.claims {
			command(t, nil, "verify", file, "--property", property).want(t, code, property)
		}
		for property, want := range map[string]string{"mutex p": "at least two places", "mutex p z": "does not exist",
			"fires z": "does not exist", "p leads to z": "does not exist", "within 1s from z to b": "does not exist",
			"within b of a": "want within TIME from", "always p": "want one of: deadlock-free; bound"} {
			command(t, nil, "verify", file, "--property", property).want(t, exitUsage, want)
		}
	}
}

// TestVerifyPriorities: a file with priorities gets verdicts, with and without intervals, that agree with the markings
// that explore finds.
func TestVerifyPriorities(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text     string
		verdicts map[string]int // exit codes
	}{
		"untimed": {"pl p (1)\ntr a p -> q\ntr b p -> r\npr a > b\n",
			map[string]int{"never r": 0, "reach r": 1, "bound r <= 0": 0, "never q": 1, "reach q": 0, "deadlock-free": 1}},
		"timed": {"pl p (1)\npl x (1)\ntr a [0,w[ x -> y\ntr b [1,1] p -> r\npr a > b\n",
			map[string]int{"never r && x": 0, "reach r": 0, "reach r && x": 1, "bound r <= 0": 1, "never r": 1}},
		"without end": {"pl p (1)\npl x (1)\ntr a p x -> p*2 x\ntr b p -> q\npr a > b\n",
			map[string]int{"never q": 3, "reach q": 3, "never x > 1": 0, "reach x == 0": 1, "reach p == 9": 0}},
	} {
		file := writeFile(t, name+".net", []byte(test.text))
		for property, code := range test.verdicts {
			if code != 3 && name == "without end" && !solvers() && !strings.Contains(property, "9") {
				code = 3
			}
			r := command(t, nil, "verify", file, "--property", property, "--json")
			r.want(t, code, `"certificate"`)
		}
	}
	file := writeFile(t, "urgent.net", []byte("pl p (1)\ntr a p -> q\ntr b p -> r\npr a > b\n"))
	command(t, nil, "verify", file, "--property", "never r", "--certificates", t.TempDir()).want(t, 0,
		"has priorities, and no certificate is made of a net with priorities")
	waits := writeFile(t, "waits.net", []byte("pl p (1)\ntr a [1,2] p -> q\ntr b p -> r\npr a > b\n"))
	command(t, nil, "verify", waits, "--property", "never r").want(t, 2, waits+":4: priority of transition a, which waits")
}

func solvers() bool {
	_, err := exec.LookPath("z3")
	return err == nil
}

// TestVerifyWarns: verify warns about places and transitions that a file leaves unused. The verdict stays.
func TestVerifyWarns(t *testing.T) {
	t.Parallel()
	const text = "pl p (1)\npl q\npl lonely (2)\ntr t p -> p\ntr u q qq -> p\n"
	for _, timed := range []string{"", "tr v [1,2] p -> p\n"} {
		file := writeFile(t, "slips.net", []byte(text+timed))
		r := command(t, nil, "verify", file, "--property", "deadlock-free", "--json")
		r.want(t, 0, "warning: "+file+": place lonely is in no arc", "warning: "+file+": transition u never fires")
		if strings.Contains(r.stdout, "warning") || strings.Contains(r.stderr, "transition t ") {
			t.Errorf("%+v", r)
		}
		r = command(t, nil, "explore", file)
		r.want(t, 0, "warning: "+file+": place lonely is in no arc", "never fires")
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "pl p%d\ntr t%d p%d ->\npl q%d\n", i, i, i, i)
	}
	file := writeFile(t, "many.net", []byte(many.String()))
	r := command(t, nil, "verify", file, "--property", "never p1")
	r.want(t, 0, "place q9 is in no arc", "and 90 places more are in no arc", "transition t9 never fires",
		"and 90 transitions more never fire")
	if strings.Contains(r.stderr, "q10 ") {
		t.Error(r.stderr)
	}
	growing := command(t, nil, "verify", testNet("growing.net"), "--property", "reach p == 5")
	growing.want(t, 0)
	if strings.Contains(growing.stderr, "warning") {
		t.Errorf("not everything was visited: %s", growing.stderr)
	}
}

// TestVerifyUnbounded: what no exploration exhausts is decided by solvers if they are there, either way, and by none
// in the wrong one.
func TestVerifyUnbounded(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("z3")
	solved := func(code int, verdict string) (int, string) {
		if err != nil {
			return 3, "unknown"
		}
		return code, verdict
	}
	for _, test := range []struct {
		file, property, verdict string
		code                    int
	}{
		{"growing.net", "never p == 0", "proved", 0},
		{"growing.net", "reach p == 0", "refuted", 1},
		{"growing.net", "deadlock-free", "proved", 0},
		{"doubling.net", "never q >= 1", "proved", 0},
		{"doubling.net", "reach q >= 1", "refuted", 1},
		{"doubling.net", "bound q <= 0", "proved", 0},
		{"filling.net", "deadlock-free", "proved", 0},
		{"filling.net", "never closed", "proved", 0},
	} {
		code, verdict := solved(test.code, test.verdict)
		dir := t.TempDir()
		r := command(t, nil, "verify", testNet(test.file), "--property", test.property, "--json", "--certificates", dir)
		r.want(t, code, verdict, `"property": "`+test.property)
		if err != nil {
			continue
		}
		var list []finding
		if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || list[0].Certificate == nil {
			t.Fatalf("%s: %v: %s", test.property, err, r.stdout)
		}
		checkInvariant(t, &list[0], test.file, strings.SplitN(test.property, " ", 2)[1:])
	}
	for file, property := range map[string]string{"growing.net": "reach p == 5", "doubling.net": "reach p >= 100",
		"filling.net": "reach room == 3"} {
		command(t, nil, "verify", testNet(file), "--property", property).want(t, 0, "proved   "+property)
	}
}

// checkInvariant reads the certificate of an invariant and has it checked again.
func checkInvariant(t *testing.T, f *finding, file string, expr []string) {
	t.Helper()
	data, err := os.ReadFile(f.Certificate.File)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := smt.ReadCertificate(data)
	if err != nil {
		t.Fatal(err)
	}
	n, err := readNet(testNet(file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := n.model()
	if err != nil {
		t.Fatal(err)
	}
	if len(expr) == 1 && cert.Property != expr[0] && !strings.HasPrefix(expr[0], "q <=") {
		t.Errorf("the certificate is about %s, not %s", cert.Property, expr[0])
	}
	if err := smt.Check(context.Background(), smt.Config{}, m, netmodel.Interleave, cert.Property, cert); err != nil {
		t.Error(err)
	}
}

// TestVerifyFileCertificates: a proof comes with a certificate that a checker of its own takes.
func TestVerifyFileCertificates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, property string }{
		{"crossing_2.net", "never on_1 && closed == 0"}, {"mutex.pnml", "bound work <= 1"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		r := command(t, nil, "verify", testNet(test.file), "--property", test.property, "--json", "--certificates", dir)
		r.want(t, 0)
		var list []finding
		if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) != 1 || list[0].Certificate == nil {
			t.Fatalf("%v: %s", err, r.stdout)
		}
		data, err := os.ReadFile(list[0].Certificate.File)
		if err != nil {
			t.Fatal(err)
		}
		var cert check.Certificate
		if err := json.Unmarshal(data, &cert); err != nil {
			t.Fatal(err)
		}
		n, err := readNet(testNet(test.file))
		if err != nil {
			t.Fatal(err)
		}
		props, err := n.properties([]string{test.property}, newUnbounded())
		if err != nil {
			t.Fatal(err)
		}
		m, err := n.model()
		if err != nil {
			t.Fatal(err)
		}
		err = cert.Check(context.Background(), m, verify.Claims(props...)...)
		if err != nil || cert.Digest != list[0].Certificate.Digest {
			t.Errorf("%s: %v", test.file, err)
		}
		cert.Count++
		if err := cert.Check(context.Background(), m, verify.Claims(props...)...); err == nil {
			t.Errorf("%s: a damaged certificate is taken", test.file)
		}
	}
	command(t, nil, "verify", testNet("mutex.pnml"), "--property", "bound work <= 1", "--certificates",
		testNet("mutex.pnml")).want(t, 2, "--certificates")
}

// TestVerifyFileAsJSON reads what a script reads.
func TestVerifyFileAsJSON(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "verify", testNet("crossing_1.net"), "--json", "--property", "never on_1", "--property",
		"deadlock-free")
	r.want(t, 1)
	var list []finding
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if len(list) != 2 {
		t.Fatalf("%d findings: %s", len(list), r.stdout)
	}
	bad, good := list[0], list[1]
	if bad.Net != "crossing_1" || bad.Property != "never on_1" || bad.Verdict != verify.Refuted || bad.Witness == nil {
		t.Errorf("%+v", bad)
	}
	if w := bad.Witness; w != nil {
		last := w.Firings[len(w.Firings)-1]
		if last.Transition != "In_1" || last.AtMS != 3 || !w.Timed || !w.Replayed || !strings.Contains(w.Ends, "on_1") {
			t.Errorf("witness %+v", w)
		}
	}
	if good.Verdict != verify.Proved || good.Witness != nil || good.States != 10 || good.Method != "state classes" ||
		good.Certificate == nil || bad.Certificate != nil {
		t.Errorf("%+v", good)
	}
	for _, key := range []string{"net", "property", "verdict", "method", "states", "seconds", "certificate", "witness"} {
		if !strings.Contains(r.stdout, `"`+key+`": `) {
			t.Errorf("no key %s", key)
		}
	}
}

// TestClaimsInDocs: the claims of docs/verification.md have the verdicts that it gives.
func TestClaimsInDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "verification.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Nets in files\n")
	section, _, _ = strings.Cut(section, "\n## ")
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| (proved|refuted|unknown) \\|$")
	rows := row.FindAllStringSubmatch(section, -1)
	if len(rows) != len(claim.Forms()) {
		t.Fatalf("%d claims, of %d forms", len(rows), len(claim.Forms()))
	}
	codes := map[string]int{"proved": 0, "refuted": exitFailed, "unknown": exitOpen}
	for _, row := range rows {
		command(t, nil, "verify", testNet("crossing_1.net"), "--property", row[1]).want(t, codes[row[2]], row[2])
	}
}
