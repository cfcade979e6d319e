package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/gemini"
)

// open makes a world with a door for Gemini clients.
func open(t *testing.T, p doortest.Plan) *doortest.World {
	t.Helper()
	p.Door = func(l transport.Lines) (doortest.Door, error) { return gemini.New(gemini.Config{Lines: l}) }
	p.Around = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !gemini.Serves(r.URL.Path) {
				http.NotFound(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	return doortest.New(t, p)
}

// client starts Google's own client.
func client(t *testing.T, w *doortest.World, config string) *npmtest.Program {
	t.Helper()
	c := npmtest.Start(t, "testdata/client.cjs", "BASE="+w.URL, "KEY=a key of nobody", "CONFIG="+config)
	c.AwaitType("connected")
	return c
}

const plain = `{"responseModalities":["AUDIO"],"inputAudioTranscription":{},"outputAudioTranscription":{}}`

// heard is what a client got since the caller spoke last.
func heard(events []npmtest.Event) audio.PCM {
	ear := doortest.NewEar(24000)
	for _, e := range events {
		switch e.Type {
		case "audio":
			ear.Hear(e.At, e.PCM)
		case "inputTranscription":
			ear.Drop()
		}
	}
	return ear.Joined()
}

// TestJavaScriptClientHearsItsEcho talks with @google/genai as it comes from npm, told nothing but a base URL.
func TestJavaScriptClientHearsItsEcho(t *testing.T) {
	t.Parallel()
	w := open(t, doortest.Plan{})
	c := client(t, w, plain)
	c.Do(npmtest.Say(doortest.SpeechFile(t, "question")))
	c.AwaitType("generationComplete")
	c.AwaitType("turnComplete")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	doortest.Echo(t, heard(c.Events()), "question")
	words := map[string]string{}
	for _, e := range c.Events() {
		words[e.Type] += e.Text
	}
	if words["inputTranscription"] == "" || words["outputTranscription"] == "" {
		t.Errorf("transcripts: %q and %q", words["inputTranscription"], words["outputTranscription"])
	}
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	if key := w.Connection(); strings.Contains(string(key.Setup), "nobody") {
		t.Errorf("the client's key went to the model: %s", key.Setup)
	}
}

// TestJavaScriptClientInterrupts speaks over a reply of eight seconds: the client is told. What it hears of it is
// judged where no machine is busy: see TestBargeIn.
func TestJavaScriptClientInterrupts(t *testing.T) {
	t.Parallel()
	w := open(t, doortest.Plan{Model: doortest.LongReplies()})
	c := client(t, w, plain)
	c.Do(npmtest.Say(doortest.SpeechFile(t, "hello")))
	c.AwaitType("audio")
	c.Do(npmtest.Say(doortest.SpeechFile(t, "german")))
	c.AwaitType("interrupted")
	c.AwaitType("turnComplete")
	c.AwaitType("audio")
	c.Do(npmtest.Bye())
	c.Wait()
}
