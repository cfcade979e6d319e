package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/gemini"
)

// open makes a world with an endpoint for Gemini clients.
func open(t *testing.T, p endpointtest.Plan) *endpointtest.World {
	t.Helper()
	p.Endpoint = func(l transport.Lines) (endpointtest.Endpoint, error) { return gemini.New(gemini.Config{Lines: l}) }
	p.Around = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !gemini.Serves(r.URL.Path) {
				http.NotFound(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	return endpointtest.New(t, p)
}

// client starts Google's own client.
func client(t *testing.T, w *endpointtest.World, config string) *npmtest.Program {
	t.Helper()
	return clientOf(t, w, newest, config)
}

// clientOf starts another version of it.
func clientOf(t *testing.T, w *endpointtest.World, version, config string) *npmtest.Program {
	t.Helper()
	return start(t, w, "PACKAGE="+version, "BASE="+w.URL, "KEY=a key of nobody", "CONFIG="+config)
}

// start starts a client with these variables, and waits until its call stands.
func start(t *testing.T, w *endpointtest.World, env ...string) *npmtest.Program {
	t.Helper()
	c := npmtest.Start(t, "testdata/client.cjs", env...)
	c.AwaitType("connected") // version 1 says so before the setup is complete
	w.Eventually("the gateway connects to the model", func() bool { return len(w.Model.Connections()) > 0 })
	return c
}

// newest is the package of the newest client.
const newest = "@google/genai"

// inVersions tells a story with the newest client, and with "make clients" also with older ones.
func inVersions(t *testing.T, story func(t *testing.T, version string)) {
	versions := []string{newest}
	if npmtest.Older() {
		versions = append(versions, "genai-2", "genai-1")
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			story(t, v)
		})
	}
}

const plain = `{"responseModalities":["AUDIO"],"inputAudioTranscription":{},"outputAudioTranscription":{}}`

// heard is what a client got since the caller spoke last.
func heard(events []npmtest.Event) audio.PCM {
	rec := endpointtest.NewRecorder(24000)
	for _, e := range events {
		switch e.Type {
		case "audio":
			rec.Hear(e.At, e.PCM)
		case "inputTranscription":
			rec.Drop()
		}
	}
	return rec.Joined()
}

// TestJavaScriptClientHearsItsEcho talks with @google/genai as it comes from npm, told nothing but
// a base URL.
func TestJavaScriptClientHearsItsEcho(t *testing.T) { inVersions(t, hearsItsEcho) }

func hearsItsEcho(t *testing.T, version string) {
	w := open(t, endpointtest.Plan{})
	c := clientOf(t, w, version, plain)
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	c.AwaitType("generationComplete")
	c.AwaitType("turnComplete")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	endpointtest.Echo(t, heard(c.Events()), "question")
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
	clienttest.Shows(t, version, clienttest.Speech, clienttest.Transcripts, clienttest.End)
}

// TestBaseURLInTheEnvironment changes one variable of a program's environment, and nothing else.
func TestBaseURLInTheEnvironment(t *testing.T) { inVersions(t, baseURLInTheEnvironment) }

func baseURLInTheEnvironment(t *testing.T, version string) {
	w := open(t, endpointtest.Plan{})
	c := start(t, w, "PACKAGE="+version, "GOOGLE_GEMINI_BASE_URL="+w.URL, "KEY=any")
	c.Do(npmtest.Command{"do": "realtimeText", "text": "Hello."})
	w.Read("Hello.")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
}

// TestJavaScriptClientInterrupts speaks over a reply of eight seconds: the client is told. What it
// hears of it is judged where no machine is busy: see TestBargeIn.
func TestJavaScriptClientInterrupts(t *testing.T) { inVersions(t, interrupts) }

func interrupts(t *testing.T, version string) {
	w := open(t, endpointtest.Plan{Model: endpointtest.LongReplies()})
	c := clientOf(t, w, version, plain)
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "hello")))
	c.AwaitType("audio")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "german")))
	c.AwaitType("interrupted")
	c.AwaitType("turnComplete")
	c.AwaitType("audio")
	c.Do(npmtest.Bye())
	c.Wait()
	clienttest.Shows(t, version, clienttest.BargeIn)
}
