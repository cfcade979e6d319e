package gemini_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
)

// serverMessage is what the tests read of a message.
type serverMessage struct {
	SetupComplete *struct{ SessionID string }
	ServerContent struct {
		TurnComplete        bool
		Interrupted         bool
		OutputTranscription struct{ Text string }
		ModelTurn           struct {
			Parts []struct{ InlineData struct{ Data string } }
		}
	}
	SessionResumptionUpdate *struct {
		NewHandle string
		Resumable bool
	}
	ToolCall struct {
		FunctionCalls []struct{ ID string }
	}
	Warnings []string
}

// roamer is a client whose connection breaks and that goes on with its call over another one.
type roamer struct {
	t      *testing.T
	w      *endpointtest.World
	conn   *websocket.Conn
	call   string // the id of the call
	handle string // the newest

	heard    []int16
	words    string // of the model
	turns    int    // that are complete
	calls    []string
	warnings []string
}

// connect opens a connection and sends a setup with the newest handle. fields go into the setup.
func (r *roamer) connect(fields string) {
	r.t.Helper()
	resumption, _ := json.Marshal(map[string]string{"handle": r.handle})
	r.conn = r.w.Dial()
	r.say(fmt.Sprintf(`{"setup":{"model":"models/x","outputAudioTranscription":{},"sessionResumption":%s%s}}`,
		resumption, fields))
	r.until("the setup is complete", func(m *serverMessage) bool {
		if m.SetupComplete == nil {
			return false
		}
		if r.call != "" && r.call != m.SetupComplete.SessionID {
			r.t.Errorf("the call is %s, was %s", m.SetupComplete.SessionID, r.call)
		}
		r.call = m.SetupComplete.SessionID
		return true
	})
	r.until("a handle", isHandle)
}

func (r *roamer) say(message string) {
	_ = r.conn.Write(context.Background(), websocket.MessageText, []byte(message))
}

// until reads until a message matches.
func (r *roamer) until(what string, ok func(m *serverMessage) bool) {
	r.t.Helper()
	for {
		_, b, err := r.conn.Read(context.Background())
		if err != nil {
			r.t.Fatalf("%v before %s", err, what)
		}
		var m serverMessage
		if err := json.Unmarshal(b, &m); err != nil {
			r.t.Fatal(err)
		}
		r.take(&m)
		if ok(&m) {
			return
		}
	}
}

func (r *roamer) take(m *serverMessage) {
	for _, p := range m.ServerContent.ModelTurn.Parts {
		pcm, _ := base64.StdEncoding.DecodeString(p.InlineData.Data)
		r.heard = append(r.heard, audio.AppendSamples(nil, pcm)...)
	}
	r.words += m.ServerContent.OutputTranscription.Text
	if m.ServerContent.TurnComplete {
		r.turns++
	}
	for _, c := range m.ToolCall.FunctionCalls {
		r.calls = append(r.calls, c.ID)
	}
	r.warnings = append(r.warnings, m.Warnings...)
	if u := m.SessionResumptionUpdate; u != nil {
		if !u.Resumable {
			r.t.Error("the call is not resumable")
		}
		r.handle = u.NewHandle
	}
}

// isHandle reports whether a message has a handle.
func isHandle(m *serverMessage) bool { return m.SessionResumptionUpdate != nil }

// hears reads until so much of the reply came.
func (r *roamer) hears(d time.Duration) {
	r.t.Helper()
	r.until("more of the reply", func(*serverMessage) bool {
		return len(r.heard) >= int(d.Seconds()*24000)
	})
}

// breaks reads what is on its way, and breaks the connection.
func (r *roamer) breaks() {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, b, err := r.conn.Read(ctx) // which closes the connection when the time is over
		cancel()
		if err != nil {
			return
		}
		var m serverMessage
		_ = json.Unmarshal(b, &m)
		r.take(&m)
	}
}

// said checks that a reply was heard from its beginning to its end, each sample once.
func (r *roamer) said(want []int16) {
	r.t.Helper()
	got := r.heard
	if over := len(got) - len(want); over < 0 || over >= 480 || !slices.Equal(got[:len(want)], want) {
		same := 0
		for same < min(len(got), len(want)) && got[same] == want[same] {
			same++
		}
		r.t.Errorf("%d samples of the reply were heard, want %d; the first %d are right", len(got), len(want), same)
	}
}

// greets is a plan whose model begins with a long greeting, for one call.
func greets() (p endpointtest.Plan, greeting []int16) {
	p, greeting = endpoint(), audiotest.Resample(audiotest.Speech("long"), 24000).Samples
	p.Model.Greeting, p.Model.GreetingText = greeting, "One two three four five six seven."
	p.Gateway = voicegw.Config{Greeting: "Greet.", CallsMax: 1}
	return p, greeting
}

// TestReplyGoesOn: the connection breaks in the middle of a reply, three times, while all lines are in
// use. The whole reply is heard, each sample once, its words too, and the model notices nothing.
func TestReplyGoesOn(t *testing.T) {
	t.Parallel()
	p, greeting := greets()
	endpointtest.InBubble(t, p, func(w *endpointtest.World) {
		r := &roamer{t: t, w: w}
		r.connect("")
		for i, away := range []time.Duration{10 * time.Second, 500 * time.Millisecond, 29 * time.Second} {
			r.hears(time.Duration(i+1) * 730 * time.Millisecond)
			r.breaks()
			time.Sleep(away)
			r.connect("")
		}
		r.until("the end of the turn", func(m *serverMessage) bool { return m.ServerContent.TurnComplete })
		r.said(greeting)
		if r.words != "One two three four five six seven." || r.turns != 1 {
			t.Errorf("the model said %q in %d turns", r.words, r.turns)
		}
		if n := len(w.Model.Connections()); n != 1 {
			t.Errorf("the model had %d connections", n)
		}
		_ = r.conn.Close(websocket.StatusNormalClosure, "")
		w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	})
}

// TestSupersedes: a network is dead for a second, and the client goes on over another connection
// before the gateway notices that. The old connection is closed by name. What it swallowed is lost;
// the rest of the reply is heard, each sample once.
func TestSupersedes(t *testing.T) {
	t.Parallel()
	p, greeting := greets()
	endpointtest.InBubble(t, p, func(w *endpointtest.World) {
		r := &roamer{t: t, w: w}
		r.connect("")
		r.hears(730 * time.Millisecond)
		old, before := r.conn, len(r.heard)
		time.Sleep(time.Second)
		r.connect("")
		r.until("the end of the turn", func(m *serverMessage) bool { return m.ServerContent.TurnComplete })
		after := r.heard[before : len(r.heard)-480] // the last frame is filled up with silence
		at := len(greeting) - len(greeting)%480 - len(after)
		if lost := time.Duration(at-before) * time.Second / 24000; lost < time.Second/2 || lost > 3*time.Second/2 {
			t.Errorf("%v of the reply are lost", lost)
		}
		if !slices.Equal(r.heard[:before], greeting[:before]) || !slices.Equal(after, greeting[at:at+len(after)]) {
			t.Error("what was heard is not the reply")
		}
		if _, err := endpointtest.Await(old, "nothing"); websocket.CloseStatus(err) != websocket.StatusPolicyViolation ||
			!strings.Contains(err.Error(), "goes on over another connection") {
			t.Errorf("the old connection: %v", err)
		}
		_ = r.conn.CloseNow()
	})
}

// TestCallWaits: after an orderly close a call waits for five seconds, after a broken connection for
// thirty. A client without handles hangs up with its close.
func TestCallWaits(t *testing.T) {
	t.Parallel()
	orderly := func(c *websocket.Conn) { _ = c.Close(websocket.StatusNormalClosure, "") }
	for name, tt := range map[string]struct {
		resumption bool
		leave      func(c *websocket.Conn)
		wait       time.Duration
		reason     transport.Reason
	}{
		"an orderly close": {true, orderly, 5 * time.Second, transport.ReasonCallerHungUp},
		"a broken connection": {true, func(c *websocket.Conn) { _ = c.CloseNow() }, 30 * time.Second,
			transport.ReasonPeerLost},
		"no handles": {false, orderly, 0, transport.ReasonCallerHungUp},
	} {
		t.Run(name, func(t *testing.T) {
			p := endpoint()
			var ended atomic.Pointer[voicegw.Record]
			p.Gateway.Hooks.Ended = func(r voicegw.Record) { ended.Store(&r) }
			endpointtest.InBubble(t, p, func(w *endpointtest.World) {
				c := w.Dial()
				setup := `{"setup":{"model":"models/x"}}`
				if tt.resumption {
					setup = `{"setup":{"model":"models/x","sessionResumption":{}}}`
				}
				_ = c.Write(context.Background(), websocket.MessageText, []byte(setup))
				if told, err := endpointtest.Await(c, "setupComplete"); !told {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				left := time.Now()
				tt.leave(c)
				w.Eventually("the call has ended", func() bool { return ended.Load() != nil })
				r := ended.Load()
				if waited := time.Since(left); r.Reason != tt.reason.String() || waited < tt.wait ||
					waited > tt.wait+2*time.Second {
					t.Errorf("the call ended after %v as %s, want %v, %s", waited, r.Reason, tt.wait, tt.reason)
				}
			})
		})
	}
}

// TestHandlesRefused: a handle of no call, of a call that is over, and of a caller with another key
// are refused by name, and begin no call.
func TestHandlesRefused(t *testing.T) {
	t.Parallel()
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) {
		over := &roamer{t: t, w: w}
		over.connect("")
		_ = over.conn.Close(websocket.StatusNormalClosure, "")
		w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
		r := &roamer{t: t, w: w}
		r.connect("")
		own, _, _ := strings.Cut(r.handle, ".")
		for name, tt := range map[string]struct{ handle, key string }{
			"of a call that is over": {over.handle, ""},
			"of another key":         {r.handle, "another key"},
			"made up":                {"h1", ""},
			"empty parts":            {".", ""},
			"cut off":                {own, ""},
			"negative":               {own + ".-1", ""},
			"long":                   {own + "." + strings.Repeat("0", 100), ""},
			"of another spelling":    {strings.ToLower(own) + ".0", ""},
		} {
			refusedHandle(t, w, name, tt.handle, tt.key)
		}
		r.say(`{"realtimeInput":{"text":"Hello."}}`)
		r.until("the call goes on", func(m *serverMessage) bool { return m.ServerContent.TurnComplete })
		refusedHandle(t, w, "of messages that never came", own+".zz", "") // its own, so the connection is replaced
		r.connect("")
		_ = r.conn.CloseNow()
	})
}

// TestBusyWithoutAHandle: while all lines are in use, a client that might go on with a call gets to send
// its setup. Without a handle it is refused then. One with another key is refused before.
func TestBusyWithoutAHandle(t *testing.T) {
	t.Parallel()
	p, _ := greets()
	endpointtest.InBubble(t, p, func(w *endpointtest.World) {
		r := &roamer{t: t, w: w}
		r.connect("")
		c := w.Dial()
		_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"setup":{}}`))
		if _, err := endpointtest.Await(c, "setupComplete"); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
			t.Errorf("the same key: %v", err)
		}
		_, answer, err := websocket.Dial(context.Background(), w.URL,
			w.Dialling(http.Header{"X-Goog-Api-Key": {"another key"}}))
		if err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("another key: %v", err)
		}
		_ = r.conn.CloseNow()
	})
}

// refusedHandle shows a handle with a key and is refused.
func refusedHandle(t *testing.T, w *endpointtest.World, name, handle, key string) {
	t.Helper()
	c, _, err := websocket.Dial(context.Background(), w.URL, w.Dialling(http.Header{"X-Goog-Api-Key": {key}}))
	if err != nil {
		t.Fatal(err)
	}
	setup := fmt.Sprintf(`{"setup":{"sessionResumption":{"handle":%q}}}`, handle)
	_ = c.Write(context.Background(), websocket.MessageText, []byte(setup))
	if _, err := endpointtest.Await(c, "setupComplete"); websocket.CloseStatus(err) != websocket.StatusPolicyViolation ||
		!strings.Contains(err.Error(), "setup.sessionResumption.handle: there is no call to go on with") ||
		!strings.Contains(err.Error(), "Connect without one.") {
		t.Errorf("%s: %v", name, err)
	}
}

// TestToolGoesOn: a connection breaks while a function of the client runs. The call of the function
// does not come twice, and the result is taken over the next connection. A setup that asks for
// something else is warned.
func TestToolGoesOn(t *testing.T) {
	t.Parallel()
	p := endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`)
	p.Endpoint = endpoint().Endpoint
	endpointtest.InBubble(t, p, func(w *endpointtest.World) {
		r := &roamer{t: t, w: w}
		r.connect("")
		r.say(`{"realtimeInput":{"text":"What is the weather in Oslo?"}}`)
		r.until("a call", func(m *serverMessage) bool { return len(m.ToolCall.FunctionCalls) > 0 })
		r.until("a handle", isHandle)
		_ = r.conn.CloseNow()
		time.Sleep(time.Second)
		r.connect(`,"systemInstruction":{"parts":[{"text":"Be someone else."}]}`)
		r.say(fmt.Sprintf(`{"toolResponse":{"functionResponses":[{"id":%q,"response":{"output":"rain"}}]}}`, r.calls[0]))
		r.until("the end of the turn", func(m *serverMessage) bool { return m.ServerContent.TurnComplete })
		if got := w.Results(1); len(got) != 1 || got[0] != `{"output":"rain"}` || len(r.calls) != 1 {
			t.Errorf("the model got %v; the client was asked for %v", got, r.calls)
		}
		if told := strings.Join(r.warnings, "\n"); !strings.Contains(told, "setup: the call goes on with the settings") {
			t.Errorf("warned of %q", told)
		}
		_ = r.conn.CloseNow()
	})
}
