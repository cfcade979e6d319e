package webtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// TestChat is the story of a person with a browser: a token, an agent, messages, tools, an interrupt, and a
// gateway that ends in the middle of a turn.
func TestChat(t *testing.T) {
	t.Parallel()
	s := newChatServer(t)
	tab := chatTab{t, withoutMicrophone.Browser(t).Open(t, s.URL+"/chat/")}
	tab.Click("#token")
	tab.Press("wrong" + browsertest.Enter)
	tab.shows("#token-problem", "refuses this token")
	tab.unlock()
	tab.shows("#no-agent", "There is no agent yet")
	tab.Click("#agent-form .primary")
	tab.shows("#agent", "parrot")

	tab.Click("#first")
	tab.Press("Hello there" + browsertest.Enter)
	tab.shows(".message.agent", "Hello there")
	tab.shows("#title", "Hello there")
	tab.shows("#sessions a[aria-current]", "Hello there")
	tab.shows("#status", "Idle")
	s.desk()
	tab.Eval(`(location.hash = "#new", 0)`, nil)
	tab.shows("#agent", "desk (parrot), not proved: nobody tried")
	tab.Eval(`((a) => {
		a.value = [...a.options].find((o) => o.text.startsWith("desk")).value;
	})(document.querySelector("#agent"))`, nil)
	tab.Click("#first")
	tab.Press("Good morning" + browsertest.Enter)
	tab.shows(".message.agent", "Good morning")
	s.streams(tab)
	s.callsTools(tab)
	s.interrupts(tab)
	s.restarts(tab)
	s.showsTheSame(tab)
	s.pausesAndArchives(tab)
	for _, e := range tab.Errors() {
		if !strings.Contains(e, "Failed to load resource") && !strings.Contains(e, "ERR_") {
			t.Errorf("the page logged: %s", e)
		}
	}
}

// streams: the parts of a message are shown as they come, and the stored message takes their place.
func (s *chatServer) streams(tab chatTab) {
	s.Helper()
	tab.say("slow is smooth and smooth is fast")
	tab.shows(".message.agent[aria-busy=true]", "slow is")
	tab.shows("#status", "Running")
	if n := tab.count("#log .message"); n != 4 {
		s.Errorf("there are %d messages, want 4", n)
	}
	s.gate <- struct{}{}
	tab.shows(".message.agent:not([aria-busy])", "slow is smooth and smooth is fast")
	tab.shows("#status", "Idle")
	if n := tab.count("#log .message"); n != 4 {
		s.Errorf("there are %d messages, want 4", n)
	}
	tab.shows("#announcer p", "Agent: slow is smooth")
}

// callsTools: the person gives a result, allows a call and denies one.
func (s *chatServer) callsTools(tab chatTab) {
	s.Helper()
	tab.say(`call lookup {"what":"tables"}`)
	tab.shows("#status", "Waits for you")
	tab.shows(".call[data-waits=result]", `"what": "tables"`)
	tab.Click(".call textarea")
	tab.Press("four")
	tab.Click(".call .answer .primary")
	tab.shows(".message.agent", `lookup: {"result":"four"}`)
	tab.shows(".call .state", "Done")

	tab.say(`call book_table {"path":"old"}`)
	tab.Click(".call[data-waits=decision] .primary")
	tab.shows(".message.agent", `book_table: {"result":"booked"}`)
	tab.say(`call book_table {"path":"new"}`)
	tab.Click(".call[data-waits=decision] input[type=text]")
	tab.Press("I need it" + browsertest.Enter)
	tab.shows(".message.agent", "I need it")
	tab.shows(".call .state", "You denied it")
	if n := s.booked.Load(); n != 1 {
		s.Errorf("the tool ran %d times, want once", n)
	}

	tab.say(`call lookup {} call book_table {}`)
	tab.shows(".call[data-waits=result]", "lookup")
	tab.Click("#interrupt")
	tab.shows(".note", "The turn was interrupted")
	tab.shows(".call .state", "No result")
	if n := tab.count(".call form"); n != 0 {
		s.Errorf("%d calls still ask", n)
	}
	tab.say("Never mind")
	tab.shows(".message.agent", "cancelled: the user interrupted")
}

// interrupts stops a model, and sends what must not become HTML.
func (s *chatServer) interrupts(tab chatTab) {
	s.Helper()
	tab.say("slow motion is never needed")
	tab.shows(".message.agent[aria-busy=true]", "slow motion")
	tab.Click("#interrupt")
	tab.WaitFor(`document.querySelectorAll("#log .note").length === 4`)
	tab.shows("#status", "Idle")
	if n := tab.count(".message[aria-busy=true]"); n != 0 {
		s.Errorf("%d messages are still coming", n)
	}
	const hostile = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`
	tab.say(hostile)
	tab.shows(".message.agent", hostile)
	if n := tab.count("#log img, #log script"); n != 0 {
		s.Errorf("a message has become %d elements", n)
	}
	tab.WaitFor(`document.title === "Agents"`)
}

// restarts ends the gateway in the middle of a turn. What is sent meanwhile arrives once.
func (s *chatServer) restarts(tab chatTab) {
	s.Helper()
	tab.say("slow and steady wins the race")
	tab.shows(".message.agent[aria-busy=true]", "slow and")
	s.down()
	tab.shows("#connection", "Reconnecting")
	tab.say("Are you there?")
	tab.shows(".unsent", "Sending")
	s.up()
	tab.shows("#connection", "Connected")
	s.gate <- struct{}{}
	tab.shows(".message.agent", "slow and steady wins the race")
	tab.shows(".message.agent", "Are you there?")
	tab.shows("#status", "Idle")
	for _, text := range []string{"slow and steady wins the race", "Are you there?"} {
		n := 0
		for _, row := range tab.rows() {
			if strings.HasSuffix(row, text) {
				n++
			}
		}
		if n != 2 {
			s.Errorf("%q is there %d times, want once of each", text, n)
		}
	}
}

// showsTheSame: behind a reload, and in another browser, the conversation is the same.
func (s *chatServer) showsTheSame(tab chatTab) {
	s.Helper()
	want := tab.rows()
	var hash string
	tab.Eval(`location.hash`, &hash)
	tab.Command("Page.reload", nil, nil)
	tab.shows(".message.agent", "Are you there?")
	other := s.openChat(hash)
	other.shows(".message.agent", "Are you there?")
	for name, got := range map[string][]string{"a reload": tab.rows(), "another browser": other.rows()} {
		if !slices.Equal(got, want) {
			s.Errorf("%s shows\n%q\nwant\n%q", name, got, want)
		}
	}
	other.shows("#connection", "Connected")
	tab.say("One more")
	other.shows(".message.agent", "One more")
}

// pausesAndArchives: a message waits while the session is paused; an archived one takes none.
func (s *chatServer) pausesAndArchives(tab chatTab) {
	s.Helper()
	tab.shows("#status", "Idle")
	tab.Click("#pause")
	tab.shows("#status", "Idle, paused")
	tab.say("Later")
	tab.shows(".message.user", "Waits for its turn")
	tab.Click("#pause")
	tab.shows(".message.agent", "Later")
	tab.shows("#status", "Idle")
	tab.Click("#archive")
	tab.Click("#archive-dialog .primary")
	tab.shows("#status", "Archived")
	tab.shows("#over", "takes no more messages")
	tab.Click("#all")
	tab.shows(".note", "span.model_request_end")
}
