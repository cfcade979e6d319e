//go:build !race

package adkagent

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/live/sim"
)

// These tests lock what ADK v2.2.0's own live flow does with the faults for which Live exists. A test
// that fails means that ADK has changed. Beside each stands what a Live does. ADK's client dials real
// sockets, so the timers are real, and the tests check bounds only.

// foilModel is a model that ADK's flow can use.
const foilModel = "gemini-live-2.5-flash-preview"

// foil is a live session of ADK's own agent.
type foil struct {
	t        *testing.T
	sess     adk.LiveSession
	events   iterator
	sessions session.Service
	cancel   context.CancelFunc
}

type iterator = func(yield func(*session.Event, error) bool)

// newFoil begins a session with the model at url, after history.
func newFoil(t *testing.T, url, name string, cfg adk.LiveRunConfig, history []string, tools ...tool.Tool) *foil {
	t.Helper()
	log.SetOutput(io.Discard) // ADK logs each message
	t.Cleanup(func() { log.SetOutput(log.Default().Writer()) })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	llm, err := gemini.NewModel(ctx, name, &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := llmagent.New(llmagent.Config{Name: "speaker", Model: llm, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	f := &foil{t: t, sessions: session.InMemoryService(), cancel: cancel}
	resp, err := f.sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range history {
		ev := session.NewEvent(ctx, "before")
		ev.Author, ev.Content = "user", genai.NewContentFromText(words, genai.RoleUser)
		if err := f.sessions.AppendEvent(ctx, resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: agent, SessionService: f.sessions})
	if err != nil {
		t.Fatal(err)
	}
	sess, events, err := r.RunLive(ctx, "user", "s", cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.sess, f.events = sess, iterator(events)
	return f
}

// timed is an event with the time when it came.
type timed struct {
	*session.Event
	err error
	at  time.Time
}

// read returns the events until stop, or within a limit.
func (f *foil) read(limit time.Duration, stop func(ev timed) bool) (all []timed) {
	f.t.Helper()
	expired := time.AfterFunc(limit, func() { _ = f.sess.Close() })
	defer expired.Stop()
	for ev, err := range f.events {
		all = append(all, timed{ev, err, time.Now()})
		if stop(all[len(all)-1]) {
			break
		}
	}
	_ = f.sess.Close()
	return all
}

// foilSim starts the embedded model.
func foilSim(t *testing.T, cfg sim.Config) *sim.Server {
	t.Helper()
	model, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	return model
}

// eventually waits until ok, and reports whether it became true.
func eventually(ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// TestFoilL1: settings that ADK accepts and never sends; MaxLLMCalls that nobody reads. A Live follows or
// refuses each: TestLiveFollowsConfig, TestLiveActivityConfig, TestLivePush, TestLiveRefusesConfig,
// TestLiveRepliesMax.
func TestFoilL1DroppedConfig(t *testing.T) {
	model := foilSim(t, sim.Config{Greeting: make([]int16, 2400), Speed: 100})
	yes := true
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{MaxLLMCalls: 1, EnableAffectiveDialog: true,
		ResponseModalities:  []genai.Modality{genai.ModalityAudio},
		Proactivity:         &genai.ProactivityConfig{ProactiveAudio: &yes},
		RealtimeInputConfig: detect(genai.AutomaticActivityDetection{Disabled: true})}, nil)
	turns := 0
	go func() { _ = f.sess.Send(typed("One.")) }()
	f.read(10*time.Second, func(ev timed) bool {
		if ev.Event != nil && ev.TurnComplete {
			turns++
			go func() { _ = f.sess.Send(typed("Two.")) }()
		}
		return turns == 2
	})
	setup := string(model.Connections()[0].Setup)
	for _, dropped := range []string{"realtimeInputConfig", "ffective", "roactiv", "ompression"} {
		if strings.Contains(setup, dropped) {
			t.Errorf("ADK sends %s now: %s", dropped, setup)
		}
	}
	if turns != 2 {
		t.Errorf("%d turns; ADK reads MaxLLMCalls now", turns)
	}
}

// TestFoilL2: a tool of 600 ms holds up an interruption that comes after 50 ms, is not stopped by a
// cancellation, and its stale result is sent.
func TestFoilL2ToolBlocksAll(t *testing.T) {
	model := foilSim(t, sim.Config{Scenario: scenario(t, strings.Join([]string{
		`on content 1: call weather {"city":"Ulm"}`,
		`on call 1 +50ms: send {"serverContent":{"interrupted":true}}`, `on call 1 +100ms: cancel`}, "\n"))})
	alive := make(chan bool, 1)
	slow := weather(t, func(ctx adk.Context, _ city) (map[string]any, error) {
		select {
		case <-time.After(600 * time.Millisecond):
			alive <- true
		case <-ctx.Done():
			alive <- false
		}
		return map[string]any{"sky": "stale"}, nil
	})
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{}, nil, slow)
	go func() { _ = f.sess.Send(typed("How is the weather?")) }()
	var called time.Time
	events := f.read(10*time.Second, func(ev timed) bool {
		if ev.Event != nil && callOf(ev.Event) != nil {
			called = ev.at
		}
		return ev.Event != nil && ev.Interrupted
	})
	if d := events[len(events)-1].at.Sub(called); called.IsZero() || d < 400*time.Millisecond || !<-alive {
		t.Errorf("interrupted came %v after the call; ADK's flow has changed", d)
	}
	if !eventually(func() bool { return strings.Contains(resultsOf(model), "stale") }) {
		t.Error("the stale result was not sent")
	}
}

// resultsOf are the results that the model got.
func resultsOf(model *sim.Server) string {
	var all []string
	for _, c := range model.Connections() {
		for _, m := range c.Messages {
			if strings.Contains(string(m), "toolResponse") {
				all = append(all, string(m))
			}
		}
	}
	return strings.Join(all, "\n")
}

// TestLiveToolDelaysNothing beside L2: the caller speaks over a reply while a tool runs, and is heard at
// once. TestLiveToolCancelled cancels a tool.
func TestLiveToolDelaysNothing(t *testing.T) {
	var ended time.Time
	slow := weather(t, func(adk.Context, city) (map[string]any, error) {
		time.Sleep(6 * time.Second)
		ended = time.Now()
		return map[string]any{"sky": "clear"}, nil
	})
	inBubble(t, livePlan{model: sim.Config{FixedReply: longReply(), Scenario: scenario(t,
		`on chunk 3 of reply 1: call weather {"city":"Ulm"}`)}, run: withTranscripts(),
		live: LiveConfig{Tools: []tool.Tool{slow}}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		k.until("the call", func(ev *session.Event) bool { return callOf(ev) != nil })
		began := time.Now()
		k.say("german", time.Second)
		cut := k.until("the clear", func(ev *session.Event) bool { return ev.Interrupted })
		k.until("the response", func(ev *session.Event) bool { return responseOf(ev) != nil })
		k.hangUp()
		if d := cut.Timestamp.Sub(began); d > time.Second || !cut.Timestamp.Before(ended) {
			t.Errorf("interrupted came after %v, the tool ended after %v", d, ended.Sub(began))
		}
	})
}

// TestFoilL3: a model that accepts the setup and drops the connection is dialled again without a pause
// and without end. A Live: TestLiveReconnectsAreBounded.
func TestFoilL3ReconnectStorm(t *testing.T) {
	var dials atomic.Int64
	url := rawModel(t, func(conn *websocket.Conn) { dials.Add(1) })
	f := newFoil(t, url, foilModel, adk.LiveRunConfig{}, nil)
	f.read(time.Second, func(timed) bool { return false })
	if n := dials.Load(); n < 20 {
		t.Errorf("%d dials in a second; ADK pauses now", n)
	}
}

// rawModel is a model that accepts every setup and then does what behave does. It returns its URL.
func rawModel(t *testing.T, behave func(conn *websocket.Conn)) string {
	t.Helper()
	var running sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		conn, err := (&websocket.Upgrader{}).Upgrade(rw, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
		if conn.WriteMessage(websocket.TextMessage, []byte(`{"setupComplete":{}}`)) == nil {
			behave(conn)
		}
	}))
	t.Cleanup(func() {
		server.Close()
		running.Wait()
	})
	return strings.Replace(server.URL, "http", "ws", 1)
}

// TestFoilL4: what the model says about itself arrives as events without anything in them, some closes
// are final, and a reason with the wrong word is dialled again.
func TestFoilL4LostSignals(t *testing.T) {
	model := foilSim(t, sim.Config{Greeting: make([]int16, 2400), Speed: 100,
		Scenario: scenario(t, "on turn_complete 1: go_away 100ms")})
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{}, nil)
	go func() { _ = f.sess.Send(typed("Hello.")) }()
	events := f.read(10*time.Second, func(ev timed) bool { return ev.err != nil })
	empty := 0
	for _, ev := range events {
		if ev.Event == nil {
			continue
		}
		if ev.UsageMetadata != nil || ev.CustomMetadata != nil || ev.FinishReason != "" {
			t.Errorf("ADK passes on usage now: %+v", ev.Event)
		}
		if eventLine(ev.Event) == "speaker" && ev.SessionResumptionHandle == "" {
			empty++
		}
	}
	last := events[len(events)-1]
	if empty < 2 || last.err == nil || !strings.Contains(last.err.Error(), "1011") || len(model.Connections()) != 1 {
		t.Errorf("%d empty events, %d connections, the end is %v", empty, len(model.Connections()), last.err)
	}
	var dials atomic.Int64
	url := rawModel(t, func(conn *websocket.Conn) {
		dials.Add(1)
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1007, "see rule 1008 of your contract"))
		_, _, _ = conn.ReadMessage()
	})
	f = newFoil(t, url, foilModel, adk.LiveRunConfig{}, nil)
	f.read(500*time.Millisecond, func(timed) bool { return false })
	if dials.Load() < 2 {
		t.Errorf("%d dials: a refusal is not dialled again now", dials.Load())
	}
}

// TestLiveSignals beside L4: go away and the close after it, and one with 1011, are the gateway's own
// business; TestLiveHistory has go away, TestLiveEcho the usage.
func TestLiveSignals(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{GreetingText: "Hello.", Scenario: scenario(t,
		"connection 1\non text 1: close 1011 Internal error encountered.")}, run: withTranscripts()}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.send(typed("Hello."))
		k.until("lost", func(ev *session.Event) bool { return strings.HasSuffix(eventLine(ev), "note:model lost") })
		k.until("back", func(ev *session.Event) bool { return strings.HasSuffix(eventLine(ev), "note:model back") })
		k.until("generation complete", func(ev *session.Event) bool {
			return strings.HasSuffix(eventLine(ev), "note:generation_complete")
		})
		k.until("usage", func(ev *session.Event) bool { return ev.UsageMetadata != nil })
		k.hangUp()
		if len(k.errs) > 0 {
			t.Error(k.errs)
		}
	})
}

// someAudio is a message of the model with n bytes of audio, in base64.
func someAudio(n int) string {
	return `{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000",` +
		`"data":"` + strings.Repeat("AAAA", n/3) + `"}}]}}}`
}

// TestFoilL5: audio that comes after interrupted is passed on. A Live drops it: TestLiveBargeIn,
// TestLiveLateAudio.
func TestFoilL5LateAudio(t *testing.T) {
	model := foilSim(t, sim.Config{Scenario: scenario(t, strings.Join([]string{"on content 1: ignore",
		"on content 1: send " + someAudio(960), `on content 1: send {"serverContent":{"interrupted":true}}`,
		"on content 1: send " + someAudio(480), `on content 1 +50ms: send {"serverContent":{"turnComplete":true}}`}, "\n"))})
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{}, nil)
	go func() { _ = f.sess.Send(typed("Hello.")) }()
	interrupted, late := false, 0
	events := f.read(5*time.Second, func(ev timed) bool {
		switch {
		case ev.Event == nil:
		case ev.Interrupted:
			interrupted = true
		case interrupted && inline(ev.Event) != nil:
			late += len(inline(ev.Event).Data)
		}
		return late > 0
	})
	if late != 480 {
		t.Errorf("%d bytes came after interrupted (%v); ADK drops them now: %d events", late, interrupted, len(events))
	}
}

// TestFoilL6: while the model is not set up, Send blocks until Close. A Live: TestLiveSendIsBounded,
// TestLiveSendWhileTheModelIsAway.
func TestFoilL6BlockedSend(t *testing.T) {
	model := foilSim(t, sim.Config{Faults: sim.Faults{NoSetupComplete: true}})
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{}, nil)
	sent := make(chan error, 1)
	go func() { sent <- f.sess.Send(typed("Hello.")) }()
	select {
	case err := <-sent:
		t.Errorf("Send returns now: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	_ = f.sess.Close()
	if err := <-sent; !errors.Is(err, io.EOF) {
		t.Errorf("Close frees Send with %v", err)
	}
	f.cancel()
	_ = model.Close() // ends the dial, which ADK cannot cancel
}

// TestFoilL7: audio goes up as the deprecated mediaChunks, and every chunk is kept although SaveLiveBlob
// is false. A Live: TestLiveHeapIsFlat, and TestLiveEcho with a model that refuses mediaChunks.
func TestFoilL7MediaChunks(t *testing.T) {
	const chunks = 15000 // five minutes
	var first atomic.Value
	var got atomic.Int64
	url := rawModel(t, func(conn *websocket.Conn) {
		for {
			_, b, err := conn.ReadMessage()
			if err != nil {
				return
			}
			first.CompareAndSwap(nil, string(b))
			got.Add(1)
		}
	})
	f := newFoil(t, url, foilModel, adk.LiveRunConfig{}, nil)
	go f.read(time.Minute, func(timed) bool { return false })
	send := func(n int) {
		for range n {
			if err := f.sess.Send(adk.LiveRequest{RealtimeInput: blob(make([]int16, 320))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(100)
	heap := heapNow()
	send(chunks)
	grown := int64(heapNow()) - int64(heap)
	eventually(func() bool { return got.Load() >= 100+chunks-1 })
	_ = f.sess.Close()
	if grown < 6<<20 {
		t.Errorf("the heap grew by %d bytes; ADK keeps no chunks now", grown)
	}
	if s, _ := first.Load().(string); !strings.Contains(s, "mediaChunks") {
		t.Errorf("audio goes up as %.80s now", s)
	}
	f.cancel()
}

// TestFoilL8: a call of a tool is not stored 100 ms after the tool has begun, while a transcript is open.
// A Live: TestLiveToolBarrier.
func TestFoilL8Barrier(t *testing.T) {
	model := foilSim(t, sim.Config{Scenario: scenario(t, strings.Join([]string{
		`on content 1: send {"serverContent":{"inputTranscription":{"text":"how is"}}}`,
		`on content 1: call weather {"city":"Ulm"}`}, "\n"))})
	var f *foil
	stored := make(chan string, 1)
	slow := weather(t, func(adk.Context, city) (map[string]any, error) {
		<-time.After(100 * time.Millisecond)
		w := &liveWorld{t: t, sessions: f.sessions}
		stored <- eventLines(w.stored("s"))
		return map[string]any{"sky": "clear"}, nil
	})
	f = newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{}, nil, slow)
	go func() { _ = f.sess.Send(typed("How is the weather?")) }()
	go f.read(10*time.Second, func(ev timed) bool { return ev.Event != nil && ev.TurnComplete })
	if s := <-stored; strings.Contains(s, "call:") {
		t.Errorf("the call is stored before the tool runs now: %s", s)
	}
	_ = f.sess.Close()
	f.cancel()
}

// TestFoilL9: a connection that resumes with a handle gets the whole history again, as a turn that wants
// a reply. A Live: TestLiveHistory.
func TestFoilL9HistoryAgain(t *testing.T) {
	model := foilSim(t, sim.Config{Greeting: make([]int16, 2400), Speed: 100,
		Scenario: scenario(t, "on turn_complete 1 +50ms: drop")})
	f := newFoil(t, model.URL(), foilModel, adk.LiveRunConfig{SessionResumption: &genai.SessionResumptionConfig{}},
		[]string{"I am Ada."})
	go f.read(10*time.Second, func(timed) bool { return len(model.Connections()) > 3 })
	eventually(func() bool { return len(model.Connections()) > 3 })
	_ = f.sess.Close()
	f.cancel()
	for i, c := range model.Connections()[:3] {
		again := slices.ContainsFunc(c.Messages, func(m []byte) bool {
			return strings.Contains(string(m), "I am Ada.") && strings.Contains(string(m), `"turnComplete":true`)
		})
		if !again || i > 0 && c.Handle == "" {
			t.Errorf("connection %d with the handle %q was told %q", c.ID, c.Handle, toldTo(c))
		}
	}
}
