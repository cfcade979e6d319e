package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/openai"
)

// open makes a world with an endpoint for OpenAI Realtime clients. They insist on TLS. Calls follow
// what clients ask of the model, as those of "voicegw serve" do.
func open(t *testing.T, p endpointtest.Plan) *endpointtest.World {
	t.Helper()
	p.Endpoint = func(l transport.Lines) (endpointtest.Endpoint, error) { return openai.New(openai.Config{Lines: l}) }
	p.TLS = true
	all := voicegw.Names{All: true}
	p.Gateway.Session = voicegw.SessionRules{Instructions: true, Generation: true, Voices: all, Tools: all}
	return endpointtest.New(t, p)
}

const plain = `{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"}}}}`

// client starts OpenAI's own client.
func client(t *testing.T, w *endpointtest.World, session string) *npmtest.Program {
	t.Helper()
	return npmtest.Start(t, "testdata/client.cjs", "BASE="+w.URL, "KEY=sk-nobody", "SESSION="+session,
		"NODE_EXTRA_CA_CERTS="+w.CertificateFile())
}

// heard is what a client got since the caller spoke last.
func heard(events []npmtest.Event) audio.PCM {
	rec := endpointtest.NewRecorder(24000)
	for _, e := range events {
		switch e.Type {
		case "audio":
			rec.Hear(e.At, e.PCM)
		case "input_audio_buffer.committed":
			rec.Drop()
		}
	}
	return rec.Joined()
}

// TestClientHearsItsEcho talks with OpenAI's client as it comes from npm.
func TestClientHearsItsEcho(t *testing.T) {
	t.Parallel()
	hearsItsEcho(t, "openai")
}

func TestOlderHearsItsEcho(t *testing.T) {
	older(t)
	hearsItsEcho(t, "openai-6")
}

func hearsItsEcho(t *testing.T, pkg string) {
	w := open(t, endpointtest.Plan{})
	c := sdk(t, w, pkg, "", plain)
	c.AwaitType("session.updated")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	for _, kind := range []string{
		"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
		"response.created", "response.output_item.added", "audio", "response.output_audio.done", "response.done",
	} {
		c.AwaitType(kind)
	}
	pause := c.Events()[len(c.Events())-1].At
	c.Do(npmtest.Command{"do": "send", "event": map[string]any{"type": "nonsense", "event_id": "mine"}})
	c.Await("an error", func(e npmtest.Event) bool { return e.Type == "error" && strings.Contains(e.Raw, "mine") })
	c.Do(npmtest.Bye())
	if e := c.AwaitType("close"); e.Code != 1000 || e.At < pause {
		t.Errorf("closed with %d %q", e.Code, e.Text)
	}
	c.Wait()
	endpointtest.Echo(t, heard(c.Events()), "question")
	words := map[string]string{}
	for _, e := range c.Events() {
		words[e.Type] += e.Text
	}
	if words["conversation.item.input_audio_transcription.completed"] == "" ||
		words["response.output_audio_transcript.done"] == "" {
		t.Errorf("transcripts: %q", words)
	}
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	clienttest.Shows(t, pkg, clienttest.Speech, clienttest.Transcripts, clienttest.End)
}

// TestClientInterrupts speaks over a reply of eight seconds: the client is told, and says what it
// played. What is heard of it is judged where no machine is busy: see TestBargeIn.
func TestClientInterrupts(t *testing.T) {
	t.Parallel()
	interrupts(t, "openai", "openai", "")
}

// TestBetaInterrupts is the same with the client of the API's beta.
func TestBetaInterrupts(t *testing.T) {
	t.Parallel()
	interrupts(t, "openai/beta", "openai", "yes")
}

func TestOlderInterrupts(t *testing.T) {
	older(t)
	interrupts(t, "openai-6", "openai-6", "")
}

func interrupts(t *testing.T, id, pkg, beta string) {
	w := open(t, endpointtest.Plan{Model: endpointtest.LongReplies()})
	c := sdk(t, w, pkg, beta, plain)
	c.AwaitType("session.updated")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "hello")))
	c.AwaitType("audio")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "german")))
	c.Await("a response that is cut", func(e npmtest.Event) bool {
		var d struct {
			Response struct {
				Status        string
				StatusDetails struct{ Reason string } `json:"status_details"`
			}
		}
		return e.Type == "response.done" && json.Unmarshal(e.Data, &d) == nil && d.Response.Status == "cancelled" &&
			d.Response.StatusDetails.Reason == "turn_detected"
	})
	c.AwaitType("conversation.item.truncated")
	c.AwaitType("input_audio_buffer.committed")
	c.AwaitType("audio")
	c.Do(npmtest.Bye())
	c.Wait()
	clienttest.Shows(t, id, clienttest.BargeIn)
}
