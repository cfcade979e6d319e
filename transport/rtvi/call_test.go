package rtvi_test

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtvi"
)

// open makes a world with a door for RTVI clients.
func open(t *testing.T, p doortest.Plan) *doortest.World {
	t.Helper()
	p.Door = func(l transport.Lines) (doortest.Door, error) { return rtvi.New(rtvi.Config{Lines: l}) }
	return doortest.New(t, p)
}

// client starts Pipecat's own client.
func client(t *testing.T, w *doortest.World, env ...string) *npmtest.Program {
	t.Helper()
	c := npmtest.Start(t, "testdata/client.cjs",
		append(env, "BASE="+strings.Replace(w.URL, "http", "ws", 1)+"/v1/rtvi")...)
	c.AwaitType("botReady")
	c.AwaitType("ready")
	return c
}

// heard is what a client got since the caller spoke last.
func heard(events []npmtest.Event) audio.PCM {
	ear := doortest.NewEar(24000)
	for _, e := range events {
		switch e.Type {
		case "audio":
			ear.Hear(e.At, e.PCM)
		case "userStartedSpeaking":
			ear.Drop()
		}
	}
	return ear.Joined()
}

// TestClientHearsItsEcho talks with Pipecat's client as it comes from npm.
func TestClientHearsItsEcho(t *testing.T) {
	t.Parallel()
	w := open(t, doortest.Plan{})
	c := client(t, w)
	c.Do(npmtest.Say(doortest.SpeechFile(t, "question")))
	for _, kind := range []string{"userStartedSpeaking", "userStoppedSpeaking", "botStartedSpeaking",
		"botStoppedSpeaking"} {
		c.AwaitType(kind)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("disconnected")
	c.Wait()
	doortest.Echo(t, heard(c.Events()), "question")
	words := map[string]string{}
	for _, e := range c.Events() {
		words[e.Type] += e.Text
	}
	if words["userTranscript"] == "" || words["botOutput"] == "" || words["failed"] != "" || words["error"] != "" {
		t.Errorf("transcripts %q and %q, failures %q and %q", words["userTranscript"], words["botOutput"], words["failed"],
			words["error"])
	}
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
}

// TestClientInterrupts speaks over a reply of eight seconds: the client is told. What it hears of it is judged where no
// machine is busy: see TestBargeIn.
func TestClientInterrupts(t *testing.T) {
	t.Parallel()
	w := open(t, doortest.Plan{Model: doortest.LongReplies()})
	c := client(t, w)
	c.Do(npmtest.Say(doortest.SpeechFile(t, "hello")))
	c.AwaitType("audio")
	c.Do(npmtest.Say(doortest.SpeechFile(t, "german")))
	c.AwaitType("botStoppedSpeaking")
	c.AwaitType("userStartedSpeaking")
	c.AwaitType("botStartedSpeaking")
	c.Do(npmtest.Bye())
	c.Wait()
}

// TestHangsUp in the two ways of the client, and in the gateway's.
func TestHangsUp(t *testing.T) {
	t.Parallel()
	w := open(t, doortest.Plan{})
	c := client(t, w)
	c.Do(npmtest.Command{"do": "request", "text": "x"})
	if e := c.AwaitType("response"); !strings.Contains(e.Text, "answers no client messages") {
		t.Errorf("a client message was answered by %s", e.Raw)
	}
	c.Do(npmtest.Command{"do": "leave"})
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	d := client(t, w)
	_ = w.Gateway.Close()
	if e := d.AwaitType("error"); !strings.Contains(e.Text, "1001") {
		t.Errorf("the client was told %q", e.Text)
	}
}
