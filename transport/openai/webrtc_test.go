package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtc"
)

// overWebRTC adds calls over WebRTC, client secrets and a page to a plan.
func overWebRTC(t *testing.T, p endpointtest.Plan, page []byte) *endpointtest.World {
	t.Helper()
	all := voicegw.Names{All: true}
	p.Gateway.Session = voicegw.SessionRules{Instructions: true, Generation: true, Voices: all, Tools: all}
	var calls *rtc.Endpoint
	var secrets *openai.Secrets
	p.Endpoint = func(l transport.Lines) (endpointtest.Endpoint, error) {
		var err error
		if calls, err = rtc.New(rtc.Config{Lines: l}); err != nil {
			return nil, err
		}
		if secrets, err = openai.NewSecrets(openai.Config{Lines: l}); err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = secrets.Close() })
		return calls, nil
	}
	p.Around = func(http.Handler) http.Handler {
		mux := http.NewServeMux()
		realtime := calls.RealtimeCalls(openai.Name, func(key string, session []byte) (string, rtc.Configurer, error) {
			token, c, err := secrets.Call(key, session)
			return token, c, err
		})
		mux.Handle("/v1/realtime/client_secrets", secrets)
		mux.Handle("/v1/realtime/calls", realtime)
		mux.Handle("/v1/realtime/calls/", realtime)
		mux.HandleFunc("/said/{name}", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(browsertest.WAV(16000, audiotest.Speech(r.PathValue("name")).Samples))
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "<!doctype html><link rel=icon href=data:,><body><script>%s</script>", page)
		})
		return mux
	}
	return endpointtest.New(t, p)
}

// post sends a request and returns its answer.
func post(t *testing.T, url, key, kind, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// secretFor makes a client secret with a key.
func secretFor(t *testing.T, base, key, body string) string {
	t.Helper()
	resp, text := post(t, base+"/v1/realtime/client_secrets", key, "application/json", body)
	var made struct{ Value string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || resp.StatusCode != http.StatusOK ||
		!strings.HasPrefix(made.Value, "ek_") {
		t.Fatalf("the client secret is %d %s", resp.StatusCode, text)
	}
	return made.Value
}

// bundleOf bundles a page with a version of the agents SDK.
func bundleOf(t *testing.T, pkg string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/webrtc.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.mjs")
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), "'PKG'", "'"+pkg+"'", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return npmtest.Bundle(t, file)
}

// TestAgentsOverWebRTC is a page with OpenAI's agents SDK in Chromium. It brings its instructions and
// its tool over the data channel, hears its echo over RTP, calls the tool, interrupts, and hangs up.
func TestAgentsOverWebRTC(t *testing.T) { agentsOverWebRTC(t, "@openai/agents-realtime") }

func TestAgentsOverWebRTCOlder(t *testing.T) {
	older(t)
	agentsOverWebRTC(t, "agents-realtime-0.8")
}

func agentsOverWebRTC(t *testing.T, pkg string) {
	p := endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`)
	p.Gateway.Tools = nil // the tool is the client's own
	sessions := p.Sessions()
	w := overWebRTC(t, p, bundleOf(t, pkg))
	key := secretFor(t, w.URL, "", `{"session":{"type":"realtime","instructions":"Be long.","audio":{"input":{`+
		`"transcription":{"model":"whisper-1"}}}}}`)
	tab := browsertest.Launch(t, browsertest.Config{}).Open(t, w.URL+"/?secret="+key)
	tab.WaitFor(`window.loaded`)
	tab.Eval(`call()`, nil)
	tab.WaitFor(`window.connected || window.failed`)
	session := <-sessions
	if h := session.Hello(); h.Endpoint != openai.Name || h.Session.SystemInstruction != "Be brief." ||
		len(h.Session.Tools) != 1 {
		t.Errorf("the hello is %+v", h)
	}
	said := 0
	browsertest.Again(t, func() bool {
		said++
		tab.Eval(`deaf(), speak("question")`, nil)
		tab.WaitFor(fmt.Sprintf(`count("output_audio_buffer.stopped") === %d`, said))
		return like(t, tab, "question", "german")
	})
	ordered := []string{"session.created", "session.updated", "input_audio_buffer.speech_started",
		"input_audio_buffer.committed", "response.created", "output_audio_buffer.started", "response.done",
		"output_audio_buffer.stopped"}
	inOrder(t, tab, ordered)
	tab.WaitFor(fmt.Sprintf(`count("conversation.item.input_audio_transcription.completed") === %[1]d &&
		count("response.output_audio_transcript.done") === %[1]d`, said))

	tab.Eval(`session.sendMessage("What is the weather in Oslo?")`, nil)
	tab.WaitFor(`window.events.some((e) => e.type === "response.output_audio_transcript.done" &&
		e.transcript.includes("21.5 degrees"))`)
	tab.WaitFor(`tools.join() === "Oslo" && count("output_audio_buffer.started") === count("output_audio_buffer.stopped")`)

	browsertest.Again(t, func() bool {
		tab.Eval(`events.length = 0, session.sendMessage("Say something long, long, long, and longer.")`, nil)
		tab.WaitFor(`count("output_audio_buffer.started") === 1`)
		tab.Eval(`deaf(), speak("german")`, nil)
		tab.WaitFor(`count("output_audio_buffer.cleared") === 1 && count("conversation.item.truncated") > 0`)
		tab.WaitFor(`events.some((e) => e.type === "response.done" && e.response.status === "cancelled" &&
			e.response.status_details.reason === "turn_detected")`)
		tab.WaitFor(`count("output_audio_buffer.stopped") === 1`)
		return like(t, tab, "german", "question")
	})
	var deltas int
	tab.Eval(`count("response.output_audio.delta")`, &deltas)
	var errors []string
	tab.Eval(`errors`, &errors)
	if deltas > 0 || len(errors) > 0 {
		t.Errorf("%d audio deltas, and the client was told of %v", deltas, errors)
	}
	tab.Eval(`session.close()`, nil)
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	clienttest.Shows(t, pkg+" WebRTC", clienttest.Speech, clienttest.BargeIn, clienttest.Text, clienttest.Tools,
		clienttest.Transcripts, clienttest.End)
}

// inOrder wants events in this order among others.
func inOrder(t *testing.T, tab *browsertest.Tab, want []string) {
	t.Helper()
	var got []string
	tab.Eval(`events.map((e) => e.type)`, &got)
	rest := want
	for _, kind := range got {
		if len(rest) > 0 && kind == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		t.Errorf("%v are not behind what comes before them in %v", rest, got)
	}
}

// like reports whether most of an utterance was heard by the page. It fails t if another one was.
func like(t *testing.T, tab *browsertest.Tab, name, other string) bool {
	t.Helper()
	var heard []int16
	tab.Eval(`heard()`, &heard)
	is, all := audiotest.Pieces(audiotest.Speech(name).Samples, heard, 16000)
	not, others := audiotest.Pieces(audiotest.Speech(other).Samples, heard, 16000)
	t.Logf("the page heard %d of %d pieces of %q, and %d of %d of %q", is, all, name, not, others, other)
	if 10*not > 3*others {
		t.Errorf("the page heard %d of %d pieces of %q", not, others, other)
	}
	return 10*is >= 7*all
}
