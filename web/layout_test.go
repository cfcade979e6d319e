package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// drawing is a small net as a gateway may draw it.
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 420 300" width="420" height="300">
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>
<g><path d="M82 60 H150" fill="none" stroke="black" marker-end="url(#arrow)"/><path d="M170 60 H248" fill="none" stroke="black" marker-end="url(#arrow)"/>
<path d="M270 82 V190" fill="none" stroke="black" marker-end="url(#arrow)"/><path d="M258 205 C180 240 90 200 62 84" fill="none" stroke="black" marker-end="url(#arrow)"/></g>
<g id="place:caller_silent" data-place="caller_silent"><circle cx="60" cy="60" r="22" fill="white" stroke="black"/><text x="60" y="100" text-anchor="middle" font-size="12">caller_silent</text></g>
<g id="transition:hear_speech" data-transition="hear_speech"><rect x="152" y="42" width="16" height="36" fill="black"/><text x="160" y="32" text-anchor="middle" font-size="12">hear_speech</text></g>
<g id="place:chunk_budget" data-place="chunk_budget"><circle cx="270" cy="60" r="22" fill="white" stroke="black"/><text x="300" y="64" font-size="12">chunk_budget</text></g>
<g id="transition:hand_frame" data-transition="hand_frame"><rect x="258" y="192" width="24" height="24" fill="black"/><text x="290" y="208" font-size="12">hand_frame</text></g>
<script>window.injected = true</script><image href="https://example.invalid/x.png"/><g onclick="window.injected = true" style="fill:url(https://example.invalid/y)"/>
<rect width="1" height="1" fill="url(https://example.invalid/z#a)" tabindex="0" onfocus=window.injected=true /><use href="https://example.invalid/u"/>
</svg>`

// TestLayout looks at the page in the sizes, colours and states people see it in. With VOICEGW_SHOTS=dir it also writes
// pictures there.
func TestLayout(t *testing.T) {
	browser := launch(t)
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
			look("live")
			s.stop()
			s.told("failed", "lost")
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
	c.send(event{"type": "net_graph", "svg": drawing},
		event{"type": "net", "at_ms": 20, "fired": []string{"hear_speech", "hand_frame"}, "marking": event{"chunk_budget": 20, "caller_silent": 1}},
		event{"type": "speech", "state": "start"},
		event{"type": "transcript", "who": "caller", "text": "Hello, is anybody there? I would like to book a table for two.", "final": true},
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
	c.send(event{"type": "net", "at_ms": 40, "fired": []string{"hand_frame"}, "marking": event{"chunk_budget": 7, "caller_silent": 1}})
	s.WaitFor(`document.querySelector('[data-place="chunk_budget"]').dataset.count === "7"`)
}

func noSidewaysScroll(s stage) {
	var wide []string
	s.Eval(`document.documentElement.scrollWidth <= innerWidth ? [] :
		[...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.tagName + "#" + e.id)`, &wide)
	if len(wide) > 0 {
		s.t.Errorf("the page scrolls sideways because of %v", wide)
	}
}

// legible checks the contrast of every visible text with what is behind it: WCAG 2.2, 1.4.3, at least 4.5 to 1.
func legible(s stage) {
	var faint []string
	s.Eval(`(() => {
		const parse = (c) => (c.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
		const light = (c) => parse(c).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if ((parse(c)[3] ?? 1) === 1) return c; } return "rgb(255, 255, 255)"; };
		return [...document.body.querySelectorAll("*")]
			.filter((e) => e.checkVisibility() && !e.closest("svg") && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
			.map((e) => { const [a, b] = [light(getComputedStyle(e).color), light(behind(e))]; return [e, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; })
			.filter(([, ratio]) => ratio < 4.5)
			.map(([e, ratio]) => e.tagName + "#" + e.id + "." + e.className + " " + ratio.toFixed(2));
	})()`, &faint)
	if len(faint) > 0 {
		s.t.Errorf("hard to read: %v", faint)
	}
}

// colours emulates the system's colour scheme.
func colours(tab *browsertest.Tab, scheme string) {
	set := func(ctx context.Context, t *chromedp.Target) error {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return err
	}
	_ = chromedp.Do(tab.Context(), chromedp.Func(set))
}

func shoot(s stage, name string) {
	if dir := os.Getenv("VOICEGW_SHOTS"); dir != "" {
		s.Screenshot(filepath.Join(dir, name))
	}
}
