package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// Both dialers have the same conversation with every scenario on both backends: what they receive,
// when, and what they send must be equal, but for what differences lists.

// differences are what Google's client library cannot do, by scenario; "" is for all.
func differences() map[string]string {
	return map[string]string{
		"": "names of unknown fields, lengths of broken messages, the type of a voice activity of the Gemini API, " +
			"the close frame of a client",
		"half-open":        "no pings: it is noticed by the audio that is not answered",
		"deaf":             "the same, or a write that blocks",
		"no-pongs":         "no pings: it is not noticed",
		"message-oversize": "no limit on what is read: a long message without audio is not noticed",
	}
}

// backend is one of the services.
type backend struct {
	name string
	wire live.Wire
}

func backends() []backend {
	token := func(context.Context) (string, error) { return "right", nil }
	return []backend{
		{"gemini", live.Wire{APIKey: "right"}},
		{"vertex", live.Wire{Vertex: &live.Vertex{Project: "p", Location: "europe-west4", Token: token}}},
	}
}

// story is what one side of a differential test saw and did.
type story struct {
	trace []string // what was received, when
	sent  []string // what the server got, as JSON values
	seen  []seen   // what was received, in short
}

// seen is something a client sees, or some of a kind in a row.
type seen struct {
	at    time.Duration
	what  string
	words string
	audio time.Duration
	times int
}

// String reads as in `2.1s audio 1.2s "One two"`.
func (s seen) String() string {
	out := fmt.Sprintf("%v %s", s.at, s.what)
	if s.audio > 0 {
		out += fmt.Sprintf(" %v", s.audio.Round(time.Millisecond))
	}
	if s.words != "" {
		out += fmt.Sprintf(" %q", s.words)
	}
	if s.times > 1 && s.audio == 0 {
		out += fmt.Sprintf(" x%d", s.times)
	}
	return out
}

// TestScenariosAlike compares the dialers in every scenario, with one backend. TestScenariosSeen does
// so with each; with the race detector that would take half a minute more.
func TestScenariosAlike(t *testing.T) {
	compareScenarios(t, func(scenario, backend int) bool { return backend == scenario%len(backends()) })
}

// compareScenarios compares what a client sees of every scenario with what is written in
// testdata/seen (-update writes it anew), and the dialers, with the backends that are picked.
func compareScenarios(t *testing.T, pick func(scenario, backend int) bool) {
	sound := tell(t, "sound", backends()[0].wire, false).lines()
	for n, name := range sim.Scenarios() {
		for i, b := range backends() {
			if !pick(n, i) {
				continue
			}
			t.Run(name+"/"+b.name, func(t *testing.T) {
				ours, googles := tell(t, name, b.wire, false), tell(t, name, b.wire, true)
				if i == 0 {
					compareWithFile(t, name, ours.lines(), sound)
				}
				if _, known := differences()[name]; known && name != "" {
					if slices.Equal(ours.trace, googles.trace) {
						t.Errorf("no difference is left: strike %s from the list", name)
					}
					return
				}
				compareStories(t, ours, googles)
			})
		}
	}
}

func compareStories(t *testing.T, ours, googles story) {
	t.Helper()
	for i := range max(len(ours.trace), len(googles.trace)) {
		if i >= len(ours.trace) || i >= len(googles.trace) || ours.trace[i] != googles.trace[i] {
			t.Errorf("received, from message %d of %d and %d\n   ours %q\ngoogles %q", i, len(ours.trace),
				len(googles.trace), some(ours.trace, i), some(googles.trace, i))
			break
		}
	}
	if len(ours.trace) < 3 {
		t.Errorf("next to nothing was received: %q", ours.trace)
	}
	for i := range max(len(ours.sent), len(googles.sent)) {
		if i >= len(ours.sent) || i >= len(googles.sent) || ours.sent[i] != googles.sent[i] {
			t.Errorf("sent, from message %d of %d and %d\n   ours %q\ngoogles %q", i, len(ours.sent), len(googles.sent),
				some(ours.sent, i), some(googles.sent, i))
			break
		}
	}
}

// some is a few lines of a trace around i.
func some(trace []string, i int) []string {
	return trace[min(max(0, i-2), len(trace)):min(i+3, len(trace))]
}

// tell has the conversation, in a bubble.
func tell(t *testing.T, name string, wire live.Wire, google bool) (s story) {
	t.Helper()
	scenario, err := sim.LoadScenario(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Scenario: scenario, APIKey: "right", Models: []string{"parrot"}, Seed: 5,
		Greeting: make([]int16, 1), GreetingText: "One two three.", FixedReply: ramp(), CallerText: "four five six"}
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		network := wstest.New()
		httpServer := &http.Server{Handler: server}
		var serving sync.WaitGroup
		serving.Go(func() { _ = httpServer.Serve(network) })
		teller := &teller{t: t, began: time.Now(), dialer: dialerFor(t, wire, network, google)}
		teller.converse()
		_ = server.Close()
		_ = httpServer.Close()
		serving.Wait()
		s = story{trace: teller.trace, sent: received(t, server.Connections()), seen: teller.seen}
	})
	return s
}

// dialerFor leads a dialer to the network. Google's client has no other way than its library's
// default.
func dialerFor(t *testing.T, wire live.Wire, network *wstest.Network, google bool) live.Dialer {
	wire.BaseURL, wire.Model = "ws://127.0.0.1", sim.ModelName
	if !google {
		wire.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: network.Dial, DisableKeepAlives: true}}
		return wire
	}
	before := websocket.DefaultDialer
	websocket.DefaultDialer = &websocket.Dialer{NetDialContext: network.Dial, HandshakeTimeout: time.Minute}
	t.Cleanup(func() { websocket.DefaultDialer = before })
	return &live.SDK{Wire: wire}
}

// teller is a caller with one conversation to have.
type teller struct {
	t      *testing.T
	dialer live.Dialer
	began  time.Time
	conn   live.Conn
	ended  chan struct{}

	mu        sync.Mutex
	trace     []string
	seen      []seen
	handle    string
	cancelled map[string]bool
	replies   sync.WaitGroup
	calls     int
}

// converse greets, speaks four turns, one of them over the reply, and waits. A connection that is
// lost is dialled again before the next turn, with the last good handle.
func (c *teller) converse() {
	turns := []func(){
		func() { _ = c.conn.Send(context.Background(), live.ClientMessage{Kind: live.ClientText, Text: "Hi."}) },
		c.turn, c.turn, c.turn, c.turn,
	}
	pauses := []time.Duration{4003, 3001, 301, 4007, 120000}
	for i, turn := range turns {
		if !c.connected() && !c.dial() {
			time.Sleep(time.Second)
			continue
		}
		turn()
		time.Sleep(pauses[i] * time.Millisecond)
	}
	if c.conn != nil {
		_ = c.conn.Close(1000, "done")
		<-c.ended
	}
	c.replies.Wait()
}

// connected reports whether there is a connection, and puts one that is lost away.
func (c *teller) connected() bool {
	if c.conn == nil {
		return false
	}
	select {
	case <-c.ended:
		_ = c.conn.Close(1000, "")
		c.conn = nil
		return false
	default:
		return true
	}
}

func (c *teller) dial() bool {
	setup := live.Setup{Voice: "Puck", SystemInstruction: "Be brief.", Handle: c.handle, Tools: []live.Tool{
		{Name: "weather", Description: "of a city", Parameters: []byte(`{"type":"object"}`)},
	}}
	if c.handle == "" {
		setup.History = []live.Turn{{Role: "user", Text: "Hello?"}, {Role: "model", Text: "Hello."}}
	}
	conn, err := c.dialer.Dial(context.Background(), setup)
	if err != nil {
		c.note("dial: " + cause(err))
		c.handle = ""
		return false
	}
	c.note("dialled")
	c.conn, c.ended, c.cancelled = conn, make(chan struct{}), map[string]bool{}
	go c.listen(conn, c.ended)
	return true
}

func cause(err error) string {
	var e *live.CloseError
	if !errors.As(err, &e) {
		return err.Error()
	}
	return fmt.Sprintf("%v %d %q", e.Class, e.Code, e.Reason)
}

func (c *teller) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Since(c.began).Round(time.Millisecond)
	c.trace = append(c.trace, fmt.Sprintf("%v %s", at, what))
	c.seen = append(c.seen, seen{at: at, what: what})
}

// see notes a message, in full and in short.
func (c *teller) see(m *live.ServerMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Since(c.began).Round(time.Millisecond)
	c.trace = append(c.trace, fmt.Sprintf("%v %s", at, describe(m)))
	s := inShort(at, m)
	if n := len(c.seen); n > 0 && c.seen[n-1].what == s.what {
		c.seen[n-1].words += s.words
		c.seen[n-1].audio += s.audio
		c.seen[n-1].times++
		return
	}
	c.seen = append(c.seen, s)
}

// inShort says what matters of a message. The model's words belong to its audio.
func inShort(at time.Duration, m *live.ServerMessage) seen {
	s := seen{at: at, what: m.Kind.String(), words: m.Text, times: 1}
	switch m.Kind {
	case live.ServerAudio:
		s.audio = time.Duration(len(m.PCM)) * time.Second / time.Duration(m.RateHz)
		if m.RateHz != 24000 {
			s.what += fmt.Sprintf(" at %d Hz", m.RateHz)
		}
	case live.ServerModelTranscript:
		s.what = "audio"
		if m.Final {
			s.what = "final words"
		}
	case live.ServerCallerTranscript:
		if m.Final {
			s.what = "final " + s.what
		}
	case live.ServerToolCall:
		s.what = fmt.Sprintf("tool_call %s %s", m.Call.Name, m.Call.Args)
	case live.ServerToolCancel:
		s.what = fmt.Sprintf("tool_cancel %v", m.IDs)
	case live.ServerResumption:
		s.words = m.Handle
	case live.ServerGoAway:
		s.words = m.TimeLeft.String()
	}
	return s
}

// words are 600 ms that sound like speech to the model: next to nothing to make, however often.
func words() []int16 { return slices.Repeat([]int16{4000, -4000}, 16000*6/20) }

// ramp is 1.5 s in which no two pieces are alike.
func ramp() []int16 {
	pcm := make([]int16, 24000*3/2)
	for i := range pcm {
		pcm[i] = int16(i)
	}
	return pcm
}

// ends tells pieces of a ramp apart.
func ends(pcm []int16) []int16 {
	if len(pcm) == 0 {
		return nil
	}
	return []int16{pcm[0], pcm[len(pcm)-1]}
}

func (c *teller) turn() {
	conn := c.conn
	_ = conn.Send(context.Background(), live.ClientMessage{Kind: live.ClientActivityStart})
	for frame := range slices.Chunk(words(), 1600) {
		if conn.SendAudio(context.Background(), frame) != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = conn.Send(context.Background(), live.ClientMessage{Kind: live.ClientActivityEnd})
}

func (c *teller) listen(conn live.Conn, ended chan struct{}) {
	defer close(ended)
	var m live.ServerMessage
	for {
		if err := conn.Recv(context.Background(), &m); err != nil {
			c.note("lost: " + cause(err))
			return
		}
		c.see(&m)
		switch m.Kind {
		case live.ServerResumption:
			if m.Handle != "" {
				c.handle = m.Handle
			}
		case live.ServerToolCancel:
			c.mu.Lock()
			for _, id := range m.IDs {
				c.cancelled[id] = true
			}
			c.mu.Unlock()
		case live.ServerToolCall:
			c.answer(conn, m.Call, c.cancelled)
		}
	}
}

// answer replies to a tool call after 400 ms, in the order of the calls, unless it is cancelled by
// then.
func (c *teller) answer(conn live.Conn, call live.ToolCall, cancelled map[string]bool) {
	c.calls++
	delay := 402*time.Millisecond + time.Duration(c.calls)*100*time.Microsecond
	c.replies.Go(func() {
		time.Sleep(delay)
		c.mu.Lock()
		off := cancelled[call.ID]
		c.mu.Unlock()
		if off {
			return
		}
		reply := live.ToolReply{ID: call.ID, Name: call.Name, Output: json.RawMessage(`{"degrees":21.5,"sky":["blue"]}`)}
		if call.Name != "weather" {
			reply.Output, reply.Error = nil, "no such tool"
		}
		_ = conn.Send(context.Background(), live.ClientMessage{Kind: live.ClientToolReply, Replies: []live.ToolReply{reply}})
	})
}

// describe is all of a message but what Google's client cannot know.
func describe(m *live.ServerMessage) string {
	line := *m
	line.PCM = nil
	switch m.Kind {
	case live.ServerUnknown, live.ServerVoiceActivity:
		line.Text = ""
	case live.ServerMalformed:
		line.Text = regexp.MustCompile(` \(\d+ bytes\)`).ReplaceAllString(m.Text, "")
	}
	call := fmt.Sprintf("%s %s %s", line.Call.ID, line.Call.Name, line.Call.Args)
	line.Call = live.ToolCall{}
	return fmt.Sprintf("%v %+v %s %d %v", m.Kind, line, call, len(m.PCM), ends(m.PCM))
}

// received is what clients sent, as JSON values, and how much audio with what sum.
func received(t *testing.T, all []sim.Connection) (out []string) {
	t.Helper()
	for _, c := range all {
		out = append(out, c.Path, normal(t, c.Setup), fmt.Sprint(c.Samples, " ", c.SHA256))
		for _, m := range c.Messages {
			out = append(out, normal(t, m))
		}
	}
	return out
}

// normal writes JSON in one way.
func normal(t *testing.T, data []byte) string {
	t.Helper()
	if len(data) == 0 {
		return ""
	}
	out, err := json.Marshal(jsonValue(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestDifferencesAreReal shows what Google's client does where it is allowed to differ.
func TestDifferencesAreReal(t *testing.T) {
	for name, want := range map[string][2]string{
		"half-open":        {"lost: timeout 1006", "lost: timeout 1006"},
		"message-oversize": {"lost: backend 1009", "unknown"},
		"no-pongs":         {"lost: timeout 1006", `lost: ended 1000 "done"`},
	} {
		for i, google := range []bool{false, true} {
			wire := backends()[0].wire
			if google {
				wire.SilenceTimeout = time.Second
			}
			s := tell(t, name, wire, google)
			if !slices.ContainsFunc(s.trace, func(line string) bool { return strings.Contains(line, want[i]) }) {
				t.Errorf("%s, Google's %v: %q; want %s", name, google, s.trace[max(0, len(s.trace)-3):], want[i])
			}
		}
	}
}

// TestSameStoryTwice has a conversation twice: same seed, same everything.
func TestSameStoryTwice(t *testing.T) {
	for _, google := range []bool{false, true} {
		wire := backends()[0].wire
		if a, b := tell(t, "tool-storm", wire, google), tell(t, "tool-storm", wire, google); !reflect.DeepEqual(a, b) {
			compareStories(t, a, b)
		}
	}
}
