package rtvi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// written makes the client write something.
func written(c *npmtest.Program, text string) { c.Do(npmtest.Command{"do": "text", "text": text}) }

// TestClientCallsFunctions writes with Pipecat's client; the model calls a function that the client
// has a handler for, and what it says of the result is heard.
func TestClientCallsFunctions(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`))
	c := client(t, w)
	written(c, "What is the weather in Oslo?")
	if e := c.AwaitType("functionCall"); !strings.Contains(string(e.Data), `"city":"Oslo"`) {
		t.Errorf("the client's function was called with %s", e.Data)
	}
	if e := c.AwaitType("functionCallStopped"); !strings.Contains(string(e.Data), `"celsius":21.5`) ||
		!strings.Contains(string(e.Data), `"cancelled":false`) {
		t.Errorf("the call stopped as %s", e.Data)
	}
	said := ""
	c.Await("the model speaks of the result", func(e npmtest.Event) bool {
		if e.Type == "botOutput" {
			said += e.Text
		}
		return strings.Contains(said, "21.5")
	})
	c.AwaitType("audio")
	c.AwaitType("botStoppedSpeaking")
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
	w.Read("What is the weather in Oslo?")
	if got := w.Results(1); len(got) != 1 || got[0] != `{"output":{"celsius":21.5}}` {
		t.Errorf("the model got %v", got)
	}
	clienttest.Shows(t, "pipecat", clienttest.Text, clienttest.Tools)
}

// TestFunctionIsCancelled: the client is told that nobody waits for its result, which then is
// answered by an error and goes nowhere.
func TestFunctionIsCancelled(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`, `on call 1 +300ms: cancel`))
	c := client(t, w, "WEATHER_MS=3000")
	written(c, "What is the weather in Oslo?")
	c.AwaitType("functionCall")
	if e := c.AwaitType("functionCallStopped"); !strings.Contains(string(e.Data), `"cancelled":true`) {
		t.Errorf("the call stopped as %s", e.Data)
	}
	if e := c.AwaitType("error"); !strings.Contains(e.Text, "No tool call") {
		t.Errorf("the late result was answered by %q", e.Text)
	}
	written(c, "Never mind.")
	c.AwaitType("botStoppedSpeaking")
	w.Read("Never mind.")
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
	if got := w.Connection().ToolReplies; len(got) != 0 {
		t.Errorf("the model got %v of a call it had cancelled", got)
	}
}

// TestFunctionTakesTooLong: the model is told so, and the client that nobody waits any more.
// Pipecat's client answers nothing at all for a function that fails.
func TestFunctionTakesTooLong(t *testing.T) {
	t.Parallel()
	p := endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`)
	p.Gateway.Net.ToolTimeout = 500 * time.Millisecond
	w := open(t, p)
	c := client(t, w, "WEATHER_MS=60000")
	written(c, "What is the weather in Oslo?")
	c.AwaitType("functionCall")
	if e := c.AwaitType("functionCallStopped"); !strings.Contains(string(e.Data), `"cancelled":true`) {
		t.Errorf("the call stopped as %s", e.Data)
	}
	c.AwaitType("botStoppedSpeaking")
	if got := w.Results(1); len(got) != 1 || !strings.Contains(got[0], "took too long") {
		t.Errorf("the model got %v", got)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
}

// TestKeysOfClient reach the model as a text, and during protected input the integrator's code
// alone. The client is told that nobody listens then, and on hold.
func TestKeysOfClient(t *testing.T) {
	t.Parallel()
	entered := make(chan string, 1)
	p := endpointtest.Plan{Gateway: voicegw.Config{Hooks: voicegw.Hooks{
		Digits: func(_ *voicegw.Session, digits string) { entered <- digits }}}}
	sessions := p.Sessions()
	w := open(t, p)
	c := client(t, w)
	session := <-sessions
	c.Do(npmtest.Command{"do": "dtmf", "text": "42#"})
	w.Read("42")
	mode := func(set func(bool) error, on bool, told string) {
		t.Helper()
		if err := set(on); err != nil {
			t.Fatal(err)
		}
		c.AwaitType(told)
	}
	mode(session.Protect, true, "userMuteStarted")
	c.Do(npmtest.Command{"do": "dtmf", "text": "5105#"})
	if got := <-entered; !strings.HasPrefix(got, "5105") {
		t.Errorf("the integrator's code got %q", got)
	}
	mode(session.Protect, false, "userMuteStopped")
	mode(session.Hold, true, "userMuteStarted")
	mode(session.Hold, false, "userMuteStopped")
	c.Do(npmtest.Command{"do": "dtmf", "text": "7#"})
	w.Read("pressed 7")
	for _, text := range w.Connection().Texts {
		if strings.Contains(text.Text, "5105") {
			t.Errorf("the model read %q", text.Text)
		}
	}
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
}
