package webtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// drawing is a small net as a gateway may draw it, and what no gateway should send in one.
func drawing(t *testing.T) string { return fixture(t, "net.svg") }

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLayout looks at the page in the sizes, colours and states people see it in. With
// VOICEGW_SHOTS=dir it also writes pictures there.
func TestLayout(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	sizes := [][2]int{{1280, 900}, {768, 1000}, {390, 844}, {320, 700}}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := open(t, browser, "?raw=1")
			colours(s.Tab, scheme)
			look := func(moment string) {
				for _, size := range sizes {
					s.Resize(size[0], size[1])
					s.WaitFor(`!document.getAnimations().some((a) => a.transitionProperty.includes("color"))`)
					noSidewaysScroll(s)
					legible(s)
					shoot(s, fmt.Sprintf("%s-%d-%s.png", scheme, size[0], moment))
				}
			}
			look("idle")
			converse(s)
			s.Eval(`(document.querySelector("#push").hidden = false, 0)`, nil) // no call shows all there is
			look("live")
			s.stop()
			s.showsNotice("failed", "lost")
			if got := s.text("#reason"); got != "The call ended." {
				t.Errorf("the last reply: %q", got)
			}
			look("failed")
			s.Eval(`document.querySelector("main").lastElementChild.scrollIntoView()`, nil)
			look("end")
		})
	}
}

// converse plays a call with everything the page can show.
func converse(s stage) {
	c := s.talk()
	c.send(event{"type": "net_graph", "svg": drawing(s.t)},
		event{"type": "net", "at_ms": 20, "fired": []string{"hear_speech", "hand_frame"},
			"marking": event{"chunk_budget": 20, "caller_silent": 1}},
		event{"type": "speech", "state": "start"},
		event{"type": "transcript", "who": "caller", "final": true,
			"text": "Hello, is anybody there? I would like to book a table for two."},
		event{"type": "speech", "state": "stop"},
		event{"type": "turn", "state": "start", "generation": 1},
		event{"type": "transcript", "who": "model", "text": "Of course. For which evening, and ", "generation": 1},
		event{"type": "transcript", "who": "model", "text": "shall it be by the window", "generation": 1})
	c.play(syllables(c.rate(), 4000, 9))
	c.nextWhere("ack", func(e event) bool { return e["played_ms"].(float64) >= 1500 })
	c.send(event{"type": "speech", "state": "start"}, event{"type": "clear", "generation": 1})
	c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "interrupted"},
		event{"type": "transcript", "who": "caller", "text": "Friday, please.", "final": true},
		event{"type": "speech", "state": "stop"},
		event{"type": "turn", "state": "start", "generation": 2},
		event{"type": "transcript", "who": "model", "text": "Friday it is.", "generation": 2, "final": true})
	c.play(syllables(c.rate(), 4000, 10))
	c.nextWhere("ack", func(e event) bool { return e["generation"] == 2.0 && e["played_ms"].(float64) >= 300 })
	c.send(event{"type": "net", "at_ms": 40, "fired": []string{"hand_frame"},
		"marking": event{"chunk_budget": 7, "caller_silent": 1}})
	c.send(event{"type": "consent", "state": "start"}, event{"type": "hold", "state": "start"},
		event{"type": "tool_call", "id": "t-1", "name": "get_time"})
	s.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`, nil)
	s.WaitFor(`document.querySelector('[data-place="chunk_budget"]').dataset.count === "7"`)
	s.shows("#mode", "On hold.")
}

func noSidewaysScroll(s stage) {
	var wide []string
	s.Eval(fixture(s.t, "wide.js"), &wide)
	if len(wide) > 0 {
		s.t.Errorf("the page scrolls sideways because of %v", wide)
	}
}

// legible checks the contrast of every visible text with what is behind it: WCAG 2.2, 1.4.3, at
// least 4.5 to 1.
func legible(s stage) {
	var faint []string
	s.Eval(fixture(s.t, "contrast.js"), &faint)
	if len(faint) > 0 {
		s.t.Errorf("hard to read: %v", faint)
	}
}

// colours emulates the system's colour scheme.
func colours(tab *browsertest.Tab, scheme string) {
	tab.Command("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

func shoot(s stage, name string) {
	if dir := os.Getenv("VOICEGW_SHOTS"); dir != "" {
		s.Screenshot(filepath.Join(dir, name))
	}
}
