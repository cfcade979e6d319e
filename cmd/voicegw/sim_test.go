package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// TestScenarioList names every scenario with what it is about.
func TestScenarioList(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "sim", "--scenarios")
	r.want(t, 0)
	for _, name := range sim.Scenarios() {
		s, err := sim.LoadScenario(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.stdout, name+" ") || !strings.Contains(r.stdout, s.About) {
			t.Errorf("the list lacks %s: %s\n%s", name, s.About, r.stdout)
		}
	}
}

// TestScenarioMistakes are told with what would be right.
func TestScenarioMistakes(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "mine.txt", []byte("# mine\non chnuk 3: drop\n"))
	for _, test := range []struct{ name, word string }{
		{"late-adio", `the nearest is "late-audio"; see voicegw sim --scenarios`},
		{file, `scenario mine.txt, line 2: no cue "chnuk"; the nearest is "chunk"`},
	} {
		command(t, nil, "sim", "--scenario", test.name).want(t, exitUsage, test.word)
	}
	if code := command(t, nil, "sim", "--scenario", "./none.txt").code; code == 0 {
		t.Error("serves a file that is not there")
	}
}

// TestScenarioServed misbehaves by name and by file.
func TestScenarioServed(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "mine.txt", []byte("on setup: close 1008 Operation is not implemented, by a file.\n"))
	for _, name := range []string{"close-1008-setup", file} {
		m := start(t, nil, "sim", "--listen", "127.0.0.1:0", "--scenario", name)
		url, ok := strings.CutPrefix(m.line(), "the embedded model is at ")
		if !ok {
			t.Fatal("sim prints no URL")
		}
		_, err := live.Wire{BaseURL: url}.Dial(t.Context(), live.Setup{})
		var e *live.CloseError
		if !errors.As(err, &e) || e.Code != 1008 || strings.Contains(e.Reason, "by a file") != (name == file) {
			t.Errorf("%s: %v", name, err)
		}
		m.signal(os.Interrupt)
		if code, _ := m.wait(); code != 0 {
			t.Errorf("sim: exit code %d\n%s", code, m.stderr.String())
		}
	}
}
