package openai_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// older skips the test of an older client unless they are wanted.
func older(t *testing.T) {
	t.Helper()
	if !npmtest.Older() {
		t.Skip("an older client: run make clients")
	}
}

// clean fails the test if the client was sent an error event.
func clean(t *testing.T, c *npmtest.Program) {
	t.Helper()
	for _, e := range c.Events() {
		if e.Type == "error" || e.Type == "failed" {
			t.Errorf("the client got an error: %s", e.Raw)
		}
	}
}

// has waits for an event of a type whose line has all of these texts.
func has(c *npmtest.Program, kind string, texts ...string) npmtest.Event {
	return c.Await(kind+" with "+strings.Join(texts, ", "), func(e npmtest.Event) bool {
		for _, text := range texts {
			if !strings.Contains(e.Raw, text) {
				return false
			}
		}
		return e.Type == kind
	})
}

func TestAgents(t *testing.T) {
	t.Parallel()
	agents(t, "@openai/agents-realtime")
}

func TestAgentsOlder(t *testing.T) {
	older(t)
	agents(t, "agents-realtime-0.8")
}

// agents talks with OpenAI's agents SDK, which configures its session in two updates, retrieves
// items when they change, and keeps a history of them. It hears its echo, calls a tool for a text,
// interrupts, and has no error.
func agents(t *testing.T, pkg string) {
	p := endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`)
	p.Gateway.Tools = nil // the tool is the client's own
	w := open(t, p)
	c := npmtest.Start(t, "testdata/agents.cjs", "PKG="+pkg, "BASE="+w.URL, "KEY=sk-nobody",
		"NODE_EXTRA_CA_CERTS="+w.CertificateFile(), "OPENAI_AGENTS_DISABLE_TRACING=1")
	c.AwaitType("connected")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	for _, kind := range []string{"session.updated", "input_audio_buffer.committed",
		"conversation.item.input_audio_transcription.completed", "audio", "conversation.item.retrieved", "response.done"} {
		c.AwaitType(kind)
	}
	endpointtest.Echo(t, heard(c.Events()), "question")
	c.Do(npmtest.Command{"do": "write", "text": "What is the weather in Oslo?"})
	has(c, "tool", "Oslo")
	has(c, "response.output_audio_transcript.done", "21.5 degrees")
	c.AwaitType("response.done")
	c.Do(npmtest.Command{"do": "update", "text": "Speak like a pirate."})
	has(c, "session.updated", "Speak like a pirate.")
	c.Do(npmtest.Command{"do": "write", "text": "Say something long."})
	c.AwaitType("audio")
	w.Read("Speak like a pirate.")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "german")))
	c.AwaitType("interrupted")
	has(c, "response.done", `"cancelled"`, `"turn_detected"`)
	c.AwaitType("conversation.item.truncated")
	c.AwaitType("input_audio_buffer.committed")
	c.AwaitType("audio")
	c.Do(npmtest.Command{"do": "history"})
	ordered(t, c.AwaitType("history").Data, "user assistant user function_call assistant user assistant user assistant")
	c.Do(npmtest.Bye())
	c.Wait()
	clean(t, c)
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	clienttest.Shows(t, pkg, clienttest.Speech, clienttest.BargeIn, clienttest.Text, clienttest.Tools,
		clienttest.Transcripts, clienttest.End)
}

// ordered judges the SDK's history, in which each item has its place by previous_item_id.
func ordered(t *testing.T, history []byte, want string) {
	t.Helper()
	var items []struct{ Type, Role string }
	if err := json.Unmarshal(history, &items); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range items {
		if it.Type == "message" {
			it.Type = it.Role
		}
		got = append(got, it.Type)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("the history is %s, want %s", strings.Join(got, " "), want)
	}
}

// sdk starts OpenAI's client of a version.
func sdk(t *testing.T, w *endpointtest.World, pkg, beta, session string) *npmtest.Program {
	t.Helper()
	return npmtest.Start(t, "testdata/client.cjs", "BASE="+w.URL, "KEY=sk-nobody", "SESSION="+session, "PKG="+pkg,
		"BETA="+beta, "NODE_EXTRA_CA_CERTS="+w.CertificateFile())
}

// TestBetaClient talks with the client of the API's beta, which has other names for events and
// settings.
func TestBetaClient(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	c := sdk(t, w, "openai", "yes", `{"modalities":["audio","text"],"instructions":"Be brief.","voice":"alloy",`+
		`"input_audio_format":"pcm16","output_audio_format":"pcm16","input_audio_transcription":{"model":"whisper-1"},`+
		`"turn_detection":{"type":"server_vad","threshold":0.5,"create_response":true},"temperature":0.8}`)
	has(c, "session.updated", `"input_audio_format":"pcm16"`)
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	for _, kind := range []string{"input_audio_buffer.committed", "conversation.item.created", "response.created",
		"conversation.item.created", "audio", "response.audio.done", "response.audio_transcript.done", "response.done"} {
		c.AwaitType(kind)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	clean(t, c)
	endpointtest.Echo(t, heard(c.Events()), "question")
	clienttest.Shows(t, "openai/beta", clienttest.Speech, clienttest.Transcripts, clienttest.End)
}

// TestClientDetectsTurns has a microphone that is always on and no turn detection: the model greets
// when it is asked to, hears what was committed when it is asked to answer, and nothing interrupts
// it but response.cancel.
func TestClientDetectsTurns(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	c := sdk(t, w, "openai", "", `{"type":"realtime","audio":{"input":{"turn_detection":null}}}`)
	c.AwaitType("session.updated")
	c.Do(send(map[string]any{"type": "response.create", "response": map[string]any{
		"instructions": "Greet the caller.", "metadata": map[string]any{"asked": "greeting"}}}))
	has(c, "response.created", `"asked":"greeting"`)
	c.AwaitType("audio")
	has(c, "response.done", `"completed"`)
	w.Read("Greet the caller.")
	for range 2 {
		c.Do(send(map[string]any{"type": "input_audio_buffer.clear"}))
		c.AwaitType("input_audio_buffer.cleared")
		c.Do(npmtest.Command{"do": "speak", "file": endpointtest.SpeechFile(t, "question")})
		c.AwaitType("spoken")
		c.Do(send(map[string]any{"type": "input_audio_buffer.commit"}))
		c.Do(send(map[string]any{"type": "response.create"}))
		c.AwaitType("input_audio_buffer.committed")
		c.AwaitType("audio")
		has(c, "response.done", `"completed"`)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	clean(t, c)
	endpointtest.Echo(t, heard(c.Events()), "question")
	if n := count(c, "input_audio_buffer.committed"); n != 2 {
		t.Errorf("%d committed for 2 commits", n)
	}
}

// TestClientAsksForAnswers has the endpoint detect turns, and the model answer when it is asked to.
func TestClientAsksForAnswers(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	c := sdk(t, w, "openai", "", `{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"},`+
		`"turn_detection":{"type":"server_vad","create_response":false}}}}`)
	c.AwaitType("session.updated")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	for _, kind := range []string{"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
		"input_audio_buffer.committed"} {
		c.AwaitType(kind)
	}
	if n := w.Count("activity_start"); n != 0 {
		t.Errorf("the model heard %d turns before response.create", n)
	}
	c.Do(send(map[string]any{"type": "response.create"}))
	for _, kind := range []string{"response.created", "audio", "response.done"} {
		c.AwaitType(kind)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	clean(t, c)
	endpointtest.Echo(t, heard(c.Events()), "question")
	if n := count(c, "conversation.item.input_audio_transcription.completed"); n != 1 {
		t.Errorf("%d transcripts of the caller, want 1", n)
	}
}

func count(c *npmtest.Program, kind string) (n int) {
	for _, e := range c.Events() {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// TestScriptInPage runs the script that docs/openai.md begins with, as it stands but for the port
// and for the form of its imports.
func TestScriptInPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/openai.md")
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, endpointtest.Plan{})
	_, script, _ := strings.Cut(string(page), "\n    import {OpenAI}")
	script, _, found := strings.Cut("import {OpenAI}"+script, "\n\n")
	script = regexp.MustCompile(`import (\{.*\}) from ('.*');`).ReplaceAllString(script, "const $1 = require($2);")
	script = strings.Replace(script, "https://localhost:8080", w.URL, 1)
	file := filepath.Join(t.TempDir(), "page.cjs")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil || !found || !strings.Contains(script, w.URL) {
		t.Fatalf("the script is %s, %v", script, err)
	}
	c := npmtest.Start(t, file, "NODE_EXTRA_CA_CERTS="+w.CertificateFile())
	c.AwaitType("output")
	c.Wait()
	w.Read("Greet the caller.")
}
