package rtvi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtvi"
)

// open makes a world with an endpoint for RTVI clients.
func open(t *testing.T, p endpointtest.Plan) *endpointtest.World {
	t.Helper()
	p.Endpoint = func(l transport.Lines) (endpointtest.Endpoint, error) { return rtvi.New(rtvi.Config{Lines: l}) }
	return endpointtest.New(t, p)
}

// client starts Pipecat's own client.
func client(t *testing.T, w *endpointtest.World, env ...string) *npmtest.Program {
	t.Helper()
	c := npmtest.Start(t, "testdata/client.cjs",
		append(env, "BASE="+strings.Replace(w.URL, "http", "ws", 1)+"/v1/rtvi")...)
	c.AwaitType("botReady")
	c.AwaitType("ready")
	return c
}

// heard is what a client got since the caller spoke last.
func heard(events []npmtest.Event) audio.PCM {
	rec := endpointtest.NewRecorder(24000)
	for _, e := range events {
		switch e.Type {
		case "audio":
			rec.Hear(e.At, e.PCM)
		case "userStartedSpeaking":
			rec.Drop()
		}
	}
	return rec.Joined()
}

// TestClientHearsItsEcho talks with Pipecat's client as it comes from npm.
func TestClientHearsItsEcho(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	c := client(t, w)
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	for _, kind := range []string{"userStartedSpeaking", "userStoppedSpeaking", "botStartedSpeaking",
		"botStoppedSpeaking"} {
		c.AwaitType(kind)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
	endpointtest.Echo(t, heard(c.Events()), "question")
	words, outputs := map[string]string{}, ""
	for _, e := range c.Events() {
		words[e.Type] += e.Text
		if e.Type == "botOutput" {
			outputs += string(e.Data)
		}
	}
	if !strings.Contains(outputs, `"spoken_status":"new"`) || !strings.Contains(outputs, `"spoken_status":"completed"`) {
		t.Errorf("the bot's output is %s", outputs)
	}
	if words["userTranscript"] == "" || words["botOutput"] == "" || words["botTranscript"] == "" ||
		words["failed"] != "" || words["error"] != "" {
		t.Errorf("transcripts %q and %q, failures %q and %q", words["userTranscript"], words["botOutput"], words["failed"],
			words["error"])
	}
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	clienttest.Shows(t, "pipecat", clienttest.Speech, clienttest.Transcripts, clienttest.End)
}

// TestClientInterrupts speaks over a reply of eight seconds: the client is told. What it hears of
// it is judged where no machine is busy: see TestBargeIn.
func TestClientInterrupts(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{Model: endpointtest.LongReplies()})
	c := client(t, w)
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "hello")))
	c.AwaitType("audio")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "german")))
	c.AwaitType("botStoppedSpeaking")
	c.AwaitType("userStartedSpeaking")
	c.AwaitType("botStartedSpeaking")
	c.Do(npmtest.Bye())
	c.Wait()
	clienttest.Shows(t, "pipecat", clienttest.BargeIn)
}

// TestMessagesOfPage go to the application and back, and one that nobody takes is refused.
func TestMessagesOfPage(t *testing.T) {
	t.Parallel()
	came := make(chan string, 1)
	w := open(t, endpointtest.Plan{Gateway: voicegw.Config{Hooks: voicegw.Hooks{
		Message: func(s *voicegw.Session, name string, data json.RawMessage) {
			came <- name + " " + string(data)
			if err := s.Send(context.Background(), "show.product", map[string]int{"id": 17}); err != nil {
				t.Error(err)
			}
		}}}})
	c := client(t, w)
	c.Do(npmtest.Command{"do": "message", "text": "cart.changed"})
	if got := <-came; got != `cart.changed {"items":3}` {
		t.Errorf("the application got %s", got)
	}
	if e := c.AwaitType("serverMessage"); string(e.Data) != `{"d":{"id":17},"t":"show.product"}` {
		t.Errorf("the page got %s", e.Data)
	}
	c.Do(npmtest.Command{"do": "message", "text": "two words"})
	if e := c.AwaitType("error"); !strings.Contains(e.Text, "message: name") {
		t.Errorf("a bad message was answered by %q", e.Text)
	}
	c.Do(npmtest.Bye())
	c.Wait()
}

// TestHangsUp in the two ways of the client, and in the gateway's.
func TestHangsUp(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	c := client(t, w)
	c.Do(npmtest.Command{"do": "leave"})
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	d := client(t, w)
	_ = w.Gateway.Close()
	if e := d.AwaitType("error"); !strings.Contains(e.Text, "1001") {
		t.Errorf("the client was told %q", e.Text)
	}
}
