package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live/sim"
)

// TestScenarios loads every built-in scenario: each says what it is about.
func TestScenarios(t *testing.T) {
	names := sim.Scenarios()
	if len(names) < 50 || !slices.IsSorted(names) {
		t.Errorf("%d scenarios, sorted: %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		s, err := sim.LoadScenario(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name || !strings.HasSuffix(s.About, ".") {
			t.Errorf("scenario %q is about %q; want a sentence", s.Name, s.About)
		}
	}
	if _, err := sim.LoadScenario("late-adio"); err == nil || !strings.Contains(err.Error(), `"late-audio"`) {
		t.Errorf("error %v; want the nearest name", err)
	}
}

// TestScenarioErrors names the line and what would be right.
func TestScenarioErrors(t *testing.T) {
	for text, want := range map[string]string{
		"on chnuk 3: drop":                        `no cue "chnuk"; the nearest is "chunk"`,
		"on chunk 3 drop":                         "no colon",
		"on chunk 0: drop":                        "want a number from 1",
		"on chunk 3 of reply x: drop":             "want a number from 1",
		"on turn of reply 2: drop":                "after the cue",
		"on turn 1 +3: drop":                      `time "3"; want one such as 200ms`,
		"on turn 1 +-3s: drop":                    "time",
		"on turn \"x\": drop":                     "after the cue",
		"on text \"x: drop":                       "no colon",
		"on turn: dorp":                           `no action "dorp"; the nearest is "drop"`,
		"on turn: drop now":                       "want nothing more",
		"on turn:":                                "no action",
		"on turn: close 1006 x":                   "a code that may be sent",
		"on turn: close 1011 " + long(124):        "up to 123 bytes",
		"on turn: go_away soon":                   "time",
		"on turn: go_away 1s loud":                "or silent",
		"on turn: send":                           "want a message",
		"on turn: pad 99999999999":                "at most",
		"on turn: audio 3s":                       "at most 2s",
		"on turn: audio 1s 0":                     "rate",
		"on turn: say 1s words":                   "in quotes",
		"on turn: say 2m":                         "at most 1m",
		"on turn: hold 25h":                       "at most",
		"on turn: cancel first":                   "or last",
		"on turn: call":                           "name of a function",
		"on turn: call f []":                      "want a JSON object",
		"on turn: call f {":                       "want a JSON object",
		"on turn: storm 500 f":                    "at most 200",
		"speed 0":                                 "want 0.1 to 1000",
		"latency 11s":                             "at most 10s",
		"chunks 0s":                               "at least 1ms",
		"chunks 2s 1s":                            "the largest",
		"pongs maybe":                             "pongs: time",
		"frames 0":                                "number from 1",
		"transcripts sometimes":                   "want missing",
		"transcripts late":                        "want missing",
		"turn_complete always":                    "want never or not_after_interrupted",
		"sped 3":                                  `no setting "sped"; the nearest is "speed"`,
		"connection 0":                            "want a number such as 1",
		"connection 3-2":                          "want a number such as 1",
		"about \xff":                              "not UTF-8",
		strings.Repeat("on turn: drop\n", 201):    "more than 200 rules",
		strings.Repeat("# comment\n", 1<<16):      "bytes in all",
		"\n\n# x\n  on turn: drop\n speed 5\nx y": `line 6: no setting "x"`,
	} {
		_, err := sim.ParseScenario("test", text)
		var e *sim.LineError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Line < 1 {
			t.Errorf("%.40q: error %v; want %s", text, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// FuzzParseScenario reads anything: what is accepted makes a server that works.
func FuzzParseScenario(f *testing.F) {
	for _, name := range sim.Scenarios() {
		f.Add("about " + name)
	}
	f.Add("connection 2-\non chunk 3 of reply 1 +20ms: say 2s \"words\"\nchunks 5ms 10ms\ntranscripts late 3s")
	f.Add("on text 2 \"a:b\\\"\": calls 3 f {\"x\":[1]}\nturn_complete never")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sim.ParseScenario("fuzz", text)
		if (s == nil) == (err == nil) {
			t.Fatalf("scenario %v and error %v", s, err)
		}
		if err != nil {
			return
		}
		server, err := sim.New(sim.Config{Scenario: s, Greeting: make([]int16, 1)})
		if err != nil {
			t.Fatal(err)
		}
		_ = server.Close()
	})
}
