package gemini_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
)

// goClient is a program with Google's Go SDK: what it received, and a microphone.
type goClient struct {
	t       *testing.T
	w       *endpointtest.World
	session *genai.Session
	read    sync.WaitGroup

	mu       sync.Mutex
	messages []*genai.LiveServerMessage
	next     int // of messages: not looked at by await yet
	handle   string
	over     error
}

const goSDK = "google.golang.org/genai"

// goCall begins a call with the SDK.
func goCall(t *testing.T, w *endpointtest.World) *goClient {
	t.Helper()
	c := &goClient{t: t, w: w}
	c.connect("")
	t.Cleanup(c.end)
	return c
}

// connect connects, with a handle unless it is "".
func (c *goClient) connect(handle string) {
	c.t.Helper()
	s, err := sdk(c.t, c.w, &genai.LiveConnectConfig{ResponseModalities: []genai.Modality{genai.ModalityAudio},
		InputAudioTranscription:  &genai.AudioTranscriptionConfig{},
		OutputAudioTranscription: &genai.AudioTranscriptionConfig{},
		SessionResumption:        &genai.SessionResumptionConfig{Handle: handle}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.session = s
	c.read.Go(func() {
		for {
			m, err := s.Receive()
			c.mu.Lock()
			if err != nil {
				c.over = err
				c.mu.Unlock()
				return
			}
			c.messages = append(c.messages, m)
			if u := m.SessionResumptionUpdate; u != nil && u.NewHandle != "" {
				c.handle = u.NewHandle
			}
			c.mu.Unlock()
		}
	})
}

// end closes the connection. The SDK sends no close frame.
func (c *goClient) end() {
	_ = c.session.Close()
	c.read.Wait()
}

// await waits for the next message that matches, of those no await has returned or passed over.
func (c *goClient) await(what string, ok func(m *genai.LiveServerMessage) bool) (found *genai.LiveServerMessage) {
	c.t.Helper()
	c.w.Eventually(what, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for c.next < len(c.messages) {
			c.next++
			if m := c.messages[c.next-1]; ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// content awaits content that matches.
func (c *goClient) content(what string, ok func(m *genai.LiveServerContent) bool) {
	c.t.Helper()
	c.await(what, func(m *genai.LiveServerMessage) bool { return m.ServerContent != nil && ok(m.ServerContent) })
}

func hasSound(m *genai.LiveServerContent) bool   { return m.ModelTurn != nil }
func isComplete(m *genai.LiveServerContent) bool { return m.TurnComplete }

// words are those of the transcripts so far.
func (c *goClient) words() (caller, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.messages {
		if m.ServerContent == nil {
			continue
		}
		if t := m.ServerContent.InputTranscription; t != nil {
			caller += t.Text
		}
		if t := m.ServerContent.OutputTranscription; t != nil {
			model += t.Text
		}
	}
	return caller, model
}

// say sends an utterance and half a second of silence in real time.
func (c *goClient) say(name string) {
	c.t.Helper()
	words := audio.AppendBytes(nil, audiotest.Speech(name).Samples)
	words = append(words, make([]byte, 25*640)...)
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for ; len(words) >= 640; words = words[640:] {
		if err := c.session.SendRealtimeInput(genai.LiveRealtimeInput{Audio: &genai.Blob{Data: words[:640],
			MIMEType: "audio/pcm;rate=16000"}}); err != nil {
			c.t.Fatal(err)
		}
		<-tick.C
	}
}

// TestGoSDKInterrupts speaks over a reply of eight seconds: the client is told.
func TestGoSDKInterrupts(t *testing.T) {
	t.Parallel()
	c := goCall(t, open(t, endpointtest.Plan{Model: endpointtest.LongReplies()}))
	c.say("hello")
	c.content("a reply", hasSound)
	c.say("german")
	c.content("the interruption", func(m *genai.LiveServerContent) bool { return m.Interrupted })
	c.content("the end of the turn", isComplete)
	c.content("another reply", hasSound)
	clienttest.Shows(t, goSDK, clienttest.BargeIn)
}

// TestGoSDKCallsFunctions writes with both methods of the SDK; the model calls functions of the
// program, which returns a value, then an error. What the model says of them is in its transcript.
func TestGoSDKCallsFunctions(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`,
		`on text 2: call weather {"city":"Bergen"}`))
	c := goCall(t, w)
	if err := c.session.SendRealtimeInput(genai.LiveRealtimeInput{Text: "What is the weather in Oslo?"}); err != nil {
		t.Fatal(err)
	}
	c.answer("Oslo", map[string]any{"output": map[string]any{"celsius": 21.5}})
	c.content("a reply", hasSound)
	c.content("the end of the turn", isComplete)
	if err := c.session.SendClientContent(genai.LiveClientContentInput{Turns: []*genai.Content{
		genai.NewContentFromText("And in Bergen?", genai.RoleUser)}}); err != nil {
		t.Fatal(err)
	}
	c.answer("Bergen", map[string]any{"error": "there is no station"})
	c.content("a reply", hasSound)
	c.content("the end of the turn", isComplete)
	w.Read("And in Bergen?")
	got := w.Results(2)
	if want := []string{`{"output":{"celsius":21.5}}`, `{"error":"there is no station"}`}; strings.Join(got, "") !=
		strings.Join(want, "") {
		t.Errorf("the model got %v, want %v", got, want)
	}
	if _, model := c.words(); !strings.Contains(model, "21.5") || !strings.Contains(model, "no station") {
		t.Errorf("the model said %q", model)
	}
	clienttest.Shows(t, goSDK, clienttest.Text, clienttest.Tools)
}

// answer awaits the call of a function and returns its result.
func (c *goClient) answer(city string, response map[string]any) {
	c.t.Helper()
	call := c.await("a call", func(m *genai.LiveServerMessage) bool { return m.ToolCall != nil }).ToolCall.FunctionCalls[0]
	if call.Name != "weather" || call.Args["city"] != city {
		c.t.Errorf("the program is asked for %+v, want the weather of %s", call, city)
	}
	if err := c.session.SendToolResponse(genai.LiveToolResponseInput{FunctionResponses: []*genai.FunctionResponse{{
		ID: call.ID, Name: call.Name, Response: response}}}); err != nil {
		c.t.Fatal(err)
	}
}

// TestGoSDKReconnects: the connection is lost in the middle of a reply; the program goes on with its
// call, as its handle says. A handle of no call is refused by name.
func TestGoSDKReconnects(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{Model: endpointtest.LongReplies()})
	c := goCall(t, w)
	c.say("hello")
	c.content("a reply", hasSound)
	c.end()
	c.connect(c.handle)
	c.content("the rest of the reply", hasSound)
	c.content("the end of the turn", isComplete)
	if caller, model := c.words(); caller == "" || model == "" {
		t.Errorf("transcripts: %q and %q", caller, model)
	}
	if n, calls := len(w.Model.Connections()), w.Gateway.Calls(); n != 1 || calls != 1 {
		t.Errorf("%d calls run, with %d connections to the model", calls, n)
	}
	_, err := sdk(t, w, &genai.LiveConnectConfig{SessionResumption: &genai.SessionResumptionConfig{Handle: "of nobody"}})
	if err == nil || !strings.Contains(err.Error(), "1008") ||
		!strings.Contains(err.Error(), "sessionResumption.handle: there is no call") {
		t.Errorf("a handle of nobody: %v", err)
	}
	clienttest.Shows(t, goSDK, clienttest.Reconnect, clienttest.Transcripts)
}
