package webtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// TestChatLayout looks at the page in the sizes and colours people see it in: nothing is cut, everything
// can be read, and axe finds nothing. With VOICEGW_SHOTS=dir it also writes pictures there, among them
// docs/chat.png.
func TestChatLayout(t *testing.T) {
	t.Parallel()
	s := newChatServer(t)
	desk := s.desk()
	s.session(desk, "Opening hours on holidays", "When do you open?")
	s.session(desk, "", "Hello")
	long := strings.Repeat("averylongword", 12)
	session := s.session(desk, "A table for two "+long, "Is there a table by the window?", `call book_table {"path":"a"}`)
	tab := s.openChat("#" + s.session(s.agent("waiter", "waiter", nil), "A table for two",
		"A table for two at eight, please."))
	s.pose(tab)
	tab.Eval(`(location.hash = "#`+session+`", 0)`, nil)
	tab.Click(".call[data-waits=decision] input[type=text]")
	tab.Press("It is needed\r")
	tab.shows(".message.agent", "It is needed")
	tab.say(`call lookup {"what":"` + long + `"} call book_table {"path":"b"}`)
	tab.shows(".call[data-waits=result]", "lookup")
	tab.shows(".call[data-waits=decision]", "book_table")
	axe := string(npmtest.Source(t, "axe-core/axe.min.js"))
	tab.Eval(`(() => {`+axe+`
		return 0;
	})()`, nil)
	for _, scheme := range []string{"light", "dark"} {
		colours(tab.Tab, scheme)
		for _, view := range []struct{ name, hash, ready string }{
			{"session", "#" + session, "#log .call"}, {"start", "#new", "#agent option"}, {"list", "#", "#sessions a"},
		} {
			tab.Eval(`(location.hash = "`+view.hash+`", 0)`, nil)
			sizes := [][2]int{{1280, 800}, {320, 640}}
			if view.name == "session" {
				sizes = append(sizes, [2]int{768, 1000}, [2]int{390, 844})
			}
			for _, size := range sizes {
				tab.Resize(size[0], size[1])
				tab.WaitFor(`document.querySelector("` + view.ready + `")`)
				tab.WaitFor(atEnd)
				tab.fits(fmt.Sprintf("%s in %d %s", view.name, size[0], scheme))
				if dir := os.Getenv("VOICEGW_SHOTS"); dir != "" {
					tab.Screenshot(filepath.Join(dir, fmt.Sprintf("chat-%s-%d-%s.png", scheme, size[0], view.name)))
				}
			}
			if scheme == "light" {
				tab.accessible()
			}
		}
	}
	tab.Eval(`(location.hash = "", 0)`, nil)
	tab.walks()
}

// walks goes from a session to the list and back, as a person with a phone does.
func (tab chatTab) walks() {
	tab.Helper()
	tab.Resize(390, 844)
	tab.shows("#sessions a", "A table for two")
	tab.Click("#sessions a")
	tab.shows("#title", "A table for two")
	tab.Click("#session .back")
	tab.WaitFor(`document.querySelector("#sessions").checkVisibility() &&
		!document.querySelector("#title").checkVisibility()`)
	tab.Click(".new")
	tab.shows("#start-title", "New session")
}

// atEnd tells that the conversation, if there is one, shows its end.
const atEnd = `((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector("#scroller"))`

// pose plays the scene of the picture.
func (s *chatServer) pose(tab chatTab) {
	s.Helper()
	tab.Resize(1280, 860)
	tab.Click(".call[data-waits=result] textarea")
	tab.Press("by the window, quiet corner")
	tab.Click(".call .answer .primary")
	tab.shows(".message.agent", "Which one shall it be?")
	tab.Click(".call summary")
	tab.say("By the window.")
	tab.shows(".call[data-waits=decision]", "book_table")
	tab.shows("#status", "Waits for you")
	if dir := os.Getenv("VOICEGW_SHOTS"); dir != "" {
		tab.Screenshot(filepath.Join(dir, "chat.png"))
	}
}

// fits checks that the page does not scroll, and the contrast of its texts.
func (tab chatTab) fits(what string) {
	tab.Helper()
	var wide, faint []string
	var high int
	if tab.Eval(`Math.ceil(Math.max(document.documentElement.scrollHeight,
		document.querySelector("#composer").getBoundingClientRect().bottom) - innerHeight)`, &high); high > 0 {
		tab.Errorf("%s: the page is %d px too high", what, high)
	}
	tab.Eval(fixture(tab.T, "wide.js"), &wide)
	tab.Eval(fixture(tab.T, "contrast.js"), &faint)
	if len(wide)+len(faint) > 0 {
		tab.Errorf("%s: too wide are %v, hard to read %v", what, wide, faint)
	}
}

// accessible has axe look at the page.
func (tab chatTab) accessible() {
	tab.Helper()
	var found []string
	tab.Eval(`axe.run().then(({violations}) => violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`,
		&found)
	for _, f := range found {
		tab.Errorf("axe finds %s", f)
	}
}

// TestChatLong opens a session with many events: the newest first, earlier ones as the person scrolls, each
// once and in order.
func TestChatLong(t *testing.T) {
	t.Parallel()
	const messages = 240 // each makes 8 events
	const row = 60       // px, the height of a message
	s := newChatServer(t)
	id := s.session(s.desk(), "Long")
	for i := range messages {
		s.tell(id, fmt.Sprintf("Number %d.", i))
	}
	tab := s.openChat("#" + id)
	tab.shows(".message.agent", fmt.Sprintf("Number %d.", messages-1))
	if n := tab.count("#log .message"); n > 80 {
		t.Errorf("%d messages are loaded at first", n)
	}
	tab.WaitFor(atEnd)
	tab.Eval(`((e) => {
		e.scrollTop = 100;
		const top = e.getBoundingClientRect().top;
		window.first = [...document.querySelectorAll("#log > li")].find((r) => r.getBoundingClientRect().top > top);
		window.loaded = document.querySelectorAll("#log > li").length;
		window.top0 = first.getBoundingClientRect().top;
	})(document.querySelector("#scroller"))`, nil)
	tab.WaitFor(`document.querySelectorAll("#log > li").length > loaded`)
	var moved float64
	if tab.Eval(`first.getBoundingClientRect().top - top0`, &moved); moved < -row || moved > row {
		t.Errorf("what was visible moved by %.0f px when earlier events came", moved)
	}
	tab.WaitFor(`(document.querySelector("#scroller").scrollTop = 0, document.querySelector("#earlier").hidden)`)
	rows := tab.rows()
	if len(rows) != 2*messages {
		t.Fatalf("%d rows are loaded, want %d", len(rows), 2*messages)
	}
	for i, row := range rows {
		if want := []string{"You", "Agent"}[i%2] + fmt.Sprintf("Number %d.", i/2); row != want {
			t.Fatalf("row %d is %q, want %q", i, row, want)
		}
	}
}

// tell sends a message and waits until the session is idle behind it.
func (s *chatServer) tell(id, text string) {
	s.Helper()
	sent, err := s.rt.Send(s.Context(), chatOwner, id, managed.Once{}, managed.Text(text))
	if err != nil {
		s.Fatal(err)
	}
	for ev, err := range s.rt.Events(s.Context(), chatOwner, id, sent[0].Seq, true) {
		if err != nil {
			s.Fatal(err)
		}
		if ev.Type == managed.StatusIdle {
			return
		}
	}
}
