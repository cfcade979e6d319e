package adkagent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// livePlan is what a liveWorld is made of.
type livePlan struct {
	model    sim.Config
	live     LiveConfig
	sessions session.Service // in memory by default
	run      adk.LiveRunConfig
}

// liveWorld is an agent between the embedded model and an application, in a bubble where time passes
// only when everybody waits.
type liveWorld struct {
	t        *testing.T
	model    *sim.Server
	agent    *Live
	runner   *runner.Runner
	sessions session.Service
	run      adk.LiveRunConfig
}

// withTranscripts is the LiveRunConfig of adkrest.
func withTranscripts() adk.LiveRunConfig {
	return adk.LiveRunConfig{MaxLLMCalls: 100, ResponseModalities: []genai.Modality{genai.ModalityAudio},
		InputAudioTranscription:  &genai.AudioTranscriptionConfig{},
		OutputAudioTranscription: &genai.AudioTranscriptionConfig{}}
}

// inBubble runs a story where time is free.
func inBubble(t *testing.T, p livePlan, story func(w *liveWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		model, err := sim.New(p.model)
		if err != nil {
			t.Fatal(err)
		}
		back := wstest.New()
		server := &http.Server{Handler: model}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(back) })
		defer serving.Wait()
		defer func() { _ = server.Close() }()
		defer func() { _ = model.Close() }()
		w := newLiveWorld(t, p, model, live.Wire{BaseURL: "ws://model",
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}})
		defer func() { _ = w.agent.Close() }()
		story(w)
		_ = w.agent.Close()
	})
}

func newLiveWorld(t *testing.T, p livePlan, model *sim.Server, dialer live.Dialer) *liveWorld {
	t.Helper()
	w := &liveWorld{t: t, model: model, sessions: p.sessions, run: p.run}
	if w.sessions == nil {
		w.sessions = session.InMemoryService()
	}
	if p.live.Name == "" {
		p.live.Name = "speaker"
	}
	p.live.Gateway.Dialer = dialer
	var err error
	if w.agent, err = NewLive(p.live); err != nil {
		t.Fatal(err)
	}
	w.again()
	return w
}

// again makes a runner of the agent and the session service.
func (w *liveWorld) again() {
	w.t.Helper()
	var err error
	w.runner, err = runner.New(runner.Config{AppName: "app", Agent: w.agent, SessionService: w.sessions,
		AutoCreateSession: true})
	if err != nil {
		w.t.Fatal(err)
	}
}

// talk is an open live session with an application that reads it.
type talk struct {
	w    *liveWorld
	sess adk.LiveSession
	done chan struct{}

	mu     sync.Mutex
	events []*session.Event
	errs   []error
	see    func(ev *session.Event)
}

// open begins a live session and reads its events. see, which may be nil, gets each in the reader's
// goroutine.
func (w *liveWorld) open(ctx context.Context, id string, see func(ev *session.Event)) *talk {
	w.t.Helper()
	sess, events, err := w.runner.RunLive(ctx, "user", id, w.run)
	if err != nil {
		w.t.Fatal(err)
	}
	k := &talk{w: w, sess: sess, done: make(chan struct{}), see: see}
	go func() {
		defer close(k.done)
		for ev, err := range events {
			k.mu.Lock()
			if err != nil {
				k.errs = append(k.errs, err)
			} else {
				k.events = append(k.events, ev)
			}
			k.mu.Unlock()
			if ev != nil && k.see != nil {
				k.see(ev)
			}
		}
	}()
	return k
}

// hangUp closes the session and waits for its end.
func (k *talk) hangUp() {
	k.w.t.Helper()
	if err := k.sess.Close(); err != nil {
		k.w.t.Error(err)
	}
	<-k.done
}

// all returns the events so far.
func (k *talk) all() []*session.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.events)
}

// send sends a request.
func (k *talk) send(req adk.LiveRequest) {
	k.w.t.Helper()
	if err := k.sess.Send(req); err != nil {
		k.w.t.Fatal(err)
	}
}

// say speaks in real time, with silence behind.
func (k *talk) say(name string, silence time.Duration) {
	k.w.t.Helper()
	k.stream(audiotest.Resample(audiotest.Speech(name), 16000).Samples)
	k.stream(make([]int16, int(silence/time.Millisecond)*16))
}

// stream sends sound in real time.
func (k *talk) stream(pcm []int16) {
	k.w.t.Helper()
	for ; len(pcm) > 0; pcm = pcm[min(320, len(pcm)):] {
		k.send(adk.LiveRequest{RealtimeInput: blob(pcm[:min(320, len(pcm))])})
		time.Sleep(20 * time.Millisecond)
	}
}

func blob(pcm []int16) *genai.Blob {
	return &genai.Blob{MIMEType: "audio/pcm;rate=16000", Data: audio.AppendBytes(nil, pcm)}
}

// typed is a text of the user.
func typed(s string) adk.LiveRequest {
	return adk.LiveRequest{Content: genai.NewContentFromText(s, genai.RoleUser)}
}

// until waits until there is an event, or fails.
func (k *talk) until(what string, is func(ev *session.Event) bool) *session.Event {
	k.w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for _, ev := range k.all() {
			if is(ev) {
				return ev
			}
		}
		if time.Now().After(deadline) {
			k.w.t.Fatalf("never: %s; the events: %s", what, eventLines(k.all()))
		}
	}
}

func turnEnded(ev *session.Event) bool { return ev.TurnComplete }

// sound is all audio of the events.
func sound(events []*session.Event) (pcm []int16) {
	for _, ev := range events {
		if b := inline(ev); b != nil {
			pcm = audio.AppendSamples(pcm, b.Data)
		}
	}
	return pcm
}

func inline(ev *session.Event) *genai.Blob {
	if ev.Content == nil || len(ev.Content.Parts) == 0 {
		return nil
	}
	return ev.Content.Parts[0].InlineData
}

func callOf(ev *session.Event) *genai.FunctionCall {
	if ev.Content == nil || len(ev.Content.Parts) == 0 {
		return nil
	}
	return ev.Content.Parts[0].FunctionCall
}

func responseOf(ev *session.Event) *genai.FunctionResponse {
	if ev.Content == nil || len(ev.Content.Parts) == 0 {
		return nil
	}
	return ev.Content.Parts[0].FunctionResponse
}

// eventLine is an event in words.
func eventLine(ev *session.Event) string {
	words := []string{ev.Author}
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	if ev.Content != nil && textOf(ev.Content) != "" {
		words[0] += ":" + textOf(ev.Content)
	}
	add(ev.Partial, "partial")
	add(inline(ev) != nil, "audio")
	if t := ev.InputTranscription; t != nil {
		words = append(words, "in:"+t.Text)
	}
	if t := ev.OutputTranscription; t != nil {
		words = append(words, "out:"+t.Text)
	}
	if c := callOf(ev); c != nil {
		words = append(words, "call:"+c.Name)
	}
	if r := responseOf(ev); r != nil {
		words = append(words, "response:"+r.Name)
	}
	add(ev.Interrupted, "interrupted")
	add(ev.TurnComplete, "turn_complete")
	add(ev.ErrorCode != "", "error:"+ev.ErrorCode)
	if m, ok := ev.CustomMetadata["voicegw"].(map[string]any); ok {
		kind, _ := m["type"].(string)
		state, _ := m["state"].(string)
		words = append(words, strings.TrimSpace("note:"+kind+" "+state))
	}
	return strings.Join(words, " ")
}

// eventLines are events in words, each run of audio as one.
func eventLines(events []*session.Event) string {
	var out []string
	for _, ev := range events {
		if l := eventLine(ev); len(out) == 0 || inline(ev) == nil || out[len(out)-1] != l {
			out = append(out, l)
		}
	}
	return strings.Join(out, " | ")
}

// stored returns the events of a session as the service has them.
func (w *liveWorld) stored(id string) []*session.Event {
	w.t.Helper()
	resp, err := w.sessions.Get(context.Background(), &session.GetRequest{AppName: "app", UserID: "user", SessionID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Collect(resp.Session.Events().All())
}

// scenario parses a scenario of the model.
func scenario(t *testing.T, rules string) *sim.Scenario {
	t.Helper()
	s, err := sim.ParseScenario("test", rules)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type city struct {
	City string `json:"city"`
}

// weather is a tool that runs a function.
func weather(t *testing.T, run func(ctx adk.Context, in city) (map[string]any, error)) tool.Tool {
	t.Helper()
	w, err := functiontool.New(functiontool.Config{Name: "weather", Description: "tells the weather"}, run)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestLiveEcho holds a conversation of one turn: the parrot repeats what the caller says.
func TestLiveEcho(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{CallerText: "Is the shop open?"}, run: withTranscripts()}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		end := k.until("the end of the turn", turnEnded)
		k.hangUp()
		t.Log(eventLines(k.all()))
		spoken := audiotest.Resample(audiotest.Speech("question"), 24000).Samples
		if _, corr := audiotest.Align(spoken, sound(k.all())); corr < 0.98 {
			t.Errorf("the reply correlates with the speech by %.3f, want 0.98", corr)
		}
		if end.UsageMetadata == nil || end.UsageMetadata.TotalTokenCount == 0 {
			t.Errorf("the usage of the turn is %+v", end.UsageMetadata)
		}
		t.Log(eventLines(w.stored("s")))
		if len(k.errs) > 0 {
			t.Error(k.errs)
		}
	})
}
