package adkagent

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/server/adkrest"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// restWorld is an agent behind ADK's own HTTP server, on real sockets.
type restWorld struct {
	t     *testing.T
	model *sim.Server
	agent *Live
	url   string
}

func newRestWorld(t *testing.T, model sim.Config, cfg LiveConfig, sessions session.Service) *restWorld {
	t.Helper()
	w := &restWorld{t: t}
	var err error
	if w.model, err = sim.New(model); err != nil {
		t.Fatal(err)
	}
	if err = w.model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	cfg.Name, cfg.Gateway.Dialer = "speaker", live.Wire{BaseURL: w.model.URL()}
	if w.agent, err = NewLive(cfg); err != nil {
		t.Fatal(err)
	}
	handler, err := adkrest.NewServer(adkrest.ServerConfig{SessionService: sessions,
		AgentLoader: adk.NewSingleLoader(w.agent), SSEWriteTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	w.url = server.URL
	t.Cleanup(func() {
		_ = w.agent.Close()
		server.CloseClientConnections()
		server.Close()
		_ = w.model.Close()
	})
	return w
}

// post posts JSON and returns the answer.
func (w *restWorld) post(path string, body any) string {
	w.t.Helper()
	b, _ := json.Marshal(body)
	resp, err := http.Post(w.url+path, "application/json", bytes.NewReader(b))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("POST %s: %d %s %v", path, resp.StatusCode, out, err)
	}
	return string(out)
}

// restEvent is an event as adkrest writes it.
type restEvent struct {
	Author             string
	Partial            bool
	TurnComplete       bool
	Interrupted        bool
	ErrorCode          string
	Content            *struct{ Parts []map[string]json.RawMessage }
	InputTranscription *struct{ Text string }

	at time.Time
}

func (e *restEvent) part(name string) bool {
	return e.Content != nil && len(e.Content.Parts) > 0 && e.Content.Parts[0][name] != nil
}

// caller is a WebSocket client of /run_live.
type caller struct {
	w    *restWorld
	conn *websocket.Conn
	done chan struct{}

	mu     sync.Mutex
	events []restEvent
}

func (w *restWorld) call() *caller {
	w.t.Helper()
	url := strings.Replace(w.url, "http", "ws", 1) + "/run_live?app_name=speaker&user_id=user&session_id=s"
	conn, resp, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		w.t.Fatal(err, resp)
	}
	c := &caller{w: w, conn: conn, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for {
			var ev restEvent
			if err := conn.ReadJSON(&ev); err != nil {
				return
			}
			ev.at = time.Now()
			c.mu.Lock()
			c.events = append(c.events, ev)
			c.mu.Unlock()
		}
	}()
	return c
}

// say speaks in real time.
func (c *caller) say(pcm []int16) {
	c.w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; len(pcm) > 0; pcm = pcm[min(320, len(pcm)):] {
		if err := c.conn.WriteMessage(websocket.BinaryMessage, audio.AppendBytes(nil, pcm[:min(320, len(pcm))])); err != nil {
			c.w.t.Fatal(err)
		}
		<-tick.C
	}
}

// until waits for an event.
func (c *caller) until(what string, is func(ev *restEvent) bool) restEvent {
	c.w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		c.mu.Lock()
		events := c.events
		c.mu.Unlock()
		if i := slices.IndexFunc(events, func(ev restEvent) bool { return is(&ev) }); i >= 0 {
			return events[i]
		}
	}
	c.w.t.Fatalf("never: %s", what)
	return restEvent{}
}

// TestLiveREST holds a call through /run_live of ADK's own server, with its database: speech, a tool, a
// reply, speech over it, and a turn of text through /run beside it.
func TestLiveREST(t *testing.T) {
	sky := weather(t, func(adk.Context, city) (map[string]any, error) { return map[string]any{"sky": "clear"}, nil })
	files, closeDB := sqliteSessions(t)
	defer closeDB()
	w := newRestWorld(t, sim.Config{FixedReply: longReply(), CallerText: "How is it in Ulm?",
		Scenario: scenario(t, `on turn 1: call weather {"city":"Ulm"}`)},
		LiveConfig{Tools: []tool.Tool{sky}, Run: sayYes}, Sessions(files))
	w.post("/apps/speaker/users/user/sessions/s", map[string]any{})
	c := w.call()
	c.say(audiotest.Resample(audiotest.Speech("question"), 16000).Samples)
	c.say(make([]int16, 16000))
	c.until("the call", func(ev *restEvent) bool { return ev.part("functionCall") })
	c.until("audio", func(ev *restEvent) bool { return ev.part("inlineData") })
	if out := w.post("/run", map[string]any{"appName": "speaker", "userId": "user", "sessionId": "s",
		"newMessage": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Really?"}}}}); !strings.Contains(
		out, "Yes.") {
		t.Errorf("/run answers %s", out)
	}
	began := time.Now()
	c.say(audiotest.Resample(audiotest.Speech("german"), 16000).Samples)
	if cut := c.until("the clear", func(ev *restEvent) bool { return ev.Interrupted }); cut.at.Sub(began) > 2*time.Second {
		t.Errorf("the reply was interrupted after %v", cut.at.Sub(began))
	}
	c.until("the end of the cut reply", func(ev *restEvent) bool { return ev.TurnComplete })
	if err := c.conn.WriteJSON(map[string]any{"close": true}); err != nil {
		t.Error(err)
	}
	<-c.done
	_ = c.conn.Close()
	resp, err := files.Get(context.Background(), &session.GetRequest{AppName: "speaker", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	stored := slices.Collect(resp.Session.Events().All())
	checkCalls(t, stored, 1)
	for _, want := range []string{"user:How is it in Ulm? | speaker call:weather | speaker response:weather",
		"user:Really? | speaker:Yes.", "interrupted turn_complete"} {
		if !strings.Contains(eventLines(stored), want) {
			t.Errorf("not stored: %q in %s", want, eventLines(stored))
		}
	}
}
