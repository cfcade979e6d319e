package ws

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// rawDial opens a WebSocket that may say anything.
func rawDial(t testing.TB, url string) *websocket.Conn { return rawDialAs(t, url, Subprotocol, "") }

// rawDialAs is rawDial with what the handshake offers, as a list with commas, and an Authorization,
// "" for none.
func rawDialAs(t testing.TB, url, protocols, authorization string) *websocket.Conn {
	t.Helper()
	header := http.Header{}
	if authorization != "" {
		header.Set("Authorization", authorization)
	}
	c, _, err := websocket.Dial(testContext(t), url, &websocket.DialOptions{HTTPHeader: header,
		Subprotocols: strings.Split(protocols, ",")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// say is one raw message.
type say struct {
	typ  websocket.MessageType
	data string
}

func text(s string) say  { return say{websocket.MessageText, s} }
func binaryOf(n int) say { return say{websocket.MessageBinary, strings.Repeat("\x01", n)} }
func (s say) to(t testing.TB, c *websocket.Conn) {
	t.Helper()
	if err := c.Write(testContext(t), s.typ, []byte(s.data)); err != nil {
		t.Fatal(err)
	}
}

// heard is what a raw client gets until the connection is closed.
type heard struct {
	Type, Code, Reason, Message string
	Fatal                       bool
}

// hearAll reads until the close frame and returns the events before it.
func hearAll(t testing.TB, c *websocket.Conn) ([]heard, websocket.CloseError) {
	t.Helper()
	ctx := testContext(t)
	c.SetReadLimit(-1)
	var all []heard
	for {
		typ, b, err := c.Read(ctx)
		if err != nil {
			var ce websocket.CloseError
			if !errors.As(err, &ce) {
				t.Fatalf("the connection ended without a close frame: %v (after %+v)", err, all)
			}
			return all, ce
		}
		if typ == websocket.MessageText {
			var h heard
			if err := json.Unmarshal(b, &h); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			all = append(all, h)
		}
	}
}

const goodHello = `{"type":"hello","version":1,"input_rate":16000,"output_rate":24000}`

// serveOne accepts the next call, says ready unless early, and receives until the end, whose error
// it sends.
func serveOne(t testing.TB, d *endpoint, early bool) <-chan error {
	t.Helper()
	end := make(chan error, 1)
	ctx := testContext(t)
	go func() {
		a := <-d.calls
		if a.err != nil {
			end <- a.err
			return
		}
		if !early {
			if err := a.peer.Ready(ctx, transport.Ready{Call: "c-1"}); err != nil {
				end <- err
				return
			}
		}
		var ev transport.Event
		for {
			if err := a.peer.Recv(ctx, &ev); err != nil {
				end <- err
				return
			}
		}
	}()
	return end
}

// TestErrorTable breaks the protocol in every way of the table in the document and looks at what
// comes back.
func TestErrorTable(t *testing.T) {
	tests := []struct {
		name   string
		cfg    Config
		early  bool // the call is not accepted yet
		says   []say
		reason transport.Reason
		words  string // a part of the message
	}{
		{"odd length", Config{}, false, []say{text(goodHello), binaryOf(641)}, transport.ReasonBadAudio, "641 bytes"},
		{"one byte", Config{}, false, []say{text(goodHello), binaryOf(1)}, transport.ReasonBadAudio, "1 bytes"},
		{"over one second", Config{}, false, []say{text(goodHello), binaryOf(32002)}, transport.ReasonBadAudio,
			"16001 samples"},
		{"not JSON", Config{}, false, []say{text(goodHello), text("hello there")}, transport.ReasonBadJSON, "JSON object"},
		{"not UTF-8", Config{}, false, []say{text(goodHello), text("{\"type\":\"\xff\"}")}, transport.ReasonBadJSON, "UTF-8"},
		{"no type", Config{}, false, []say{text(goodHello), text(`{"on":true}`)}, transport.ReasonBadJSON, `"type"`},
		{"out of range", Config{}, false, []say{text(goodHello), text(`{"type":"ack","generation":1,"played_ms":-1}`)},
			transport.ReasonBadJSON, "played_ms is another number"},
		{"too long, text", Config{}, false, []say{text(goodHello), text(strings.Repeat(" ", 128<<10+1))},
			transport.ReasonMessageTooBig, ""},
		{"too long, binary", Config{Limits: wsconn.Limits{MessageBytesMax: 1000}}, false, []say{text(goodHello),
			binaryOf(1002)},
			transport.ReasonMessageTooBig, ""},
		{"too long hello", Config{}, false, []say{text(strings.Repeat("x", 300<<10))}, transport.ReasonMessageTooBig, ""},
		{"bad version", Config{}, false, []say{text(`{"type":"hello","version":3}`)}, transport.ReasonBadHello,
			"version is 3; it must be 1"},
		{"bad rate", Config{}, false, []say{text(`{"type":"hello","version":1,"input_rate":4000}`)}, transport.ReasonBadHello,
			"input_rate is 4000; it must be a rate of 8000 to 48000"},
		{"bad instructions", Config{Offer: testOffer}, false,
			[]say{text(strings.Replace(goodHello, "}", `,"instructions":"sales"}`, 1))}, transport.ReasonBadHello, `"support"`},
		{"hello not JSON", Config{}, false, []say{text("{")}, transport.ReasonBadJSON, "JSON object"},
		{"audio before hello", Config{}, false, []say{binaryOf(640)}, transport.ReasonAudioBeforeReady, "before"},
		{"audio before ready", Config{}, true, []say{text(goodHello), binaryOf(640)},
			transport.ReasonAudioBeforeReady, "before"},
		{"two hellos", Config{}, false, []say{text(goodHello), text(goodHello)}, transport.ReasonSecondHello, "second"},
		{"event before hello", Config{}, false, []say{text(`{"type":"mute","on":true}`)},
			transport.ReasonEventBeforeHello, "first message must be a hello"},
		{"no hello", Config{Limits: wsconn.Limits{HelloTimeout: quick}}, false, nil, transport.ReasonHelloTimeout, "50ms"},
		{"silence for ever", Config{Limits: wsconn.Limits{IdleTimeout: quick}}, false, []say{text(goodHello)},
			transport.ReasonIdleTimeout, ""},
		{"silence before ready", Config{Limits: wsconn.Limits{IdleTimeout: quick}}, true, []say{text(goodHello)},
			transport.ReasonIdleTimeout, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newEndpoint(t, tt.cfg)
			end := serveOne(t, d, tt.early)
			c := rawDial(t, d.url)
			for _, s := range tt.says {
				s.to(t, c)
			}
			events, ce := hearAll(t, c)
			checkEnd(t, events, ce, tt.reason, tt.words)
			if err := <-end; transport.ReasonOf(err) != tt.reason {
				t.Errorf("the server's side ended with %v, want %s", err, tt.reason)
			}
		})
	}
}

// checkEnd looks at the last events and the close frame.
func checkEnd(t *testing.T, events []heard, ce websocket.CloseError, reason transport.Reason, words string) {
	t.Helper()
	if int(ce.Code) != reason.Code() || ce.Reason != reason.String() {
		t.Errorf("closed with %d %q, want %d %q", ce.Code, ce.Reason, reason.Code(), reason)
	}
	want := 1
	if reason.Failure() {
		want = 2
	}
	if len(events) < want {
		t.Fatalf("got %+v, want error and bye", events)
	}
	bye := events[len(events)-1]
	if bye.Type != "bye" || bye.Reason != reason.String() || !strings.Contains(bye.Message, words) || bye.Message == "" {
		t.Errorf("the last event is %+v, want bye %s ...%s...", bye, reason, words)
	}
	if want < 2 {
		return
	}
	e := events[len(events)-2]
	if e.Type != "error" || e.Code != reason.String() || !e.Fatal || e.Message != bye.Message {
		t.Errorf("the event before bye is %+v, want a fatal error %s", e, reason)
	}
}

// TestCloseTable closes with every reason a gateway has of its own.
func TestCloseTable(t *testing.T) {
	for r := transport.ReasonCallerHungUp; r < transport.ReasonPeerLost; r++ {
		t.Run(r.String(), func(t *testing.T) {
			d := newEndpoint(t, Config{})
			c := rawDial(t, d.url)
			text(goodHello).to(t, c)
			p, err := d.next(t)
			if err != nil {
				t.Fatal(err)
			}
			closed := make(chan error, 2)
			go func() { closed <- p.Close(r, "Words for people: "+strings.Repeat("ü", 200)) }()
			go func() { closed <- p.Close(r, "Words for people: "+strings.Repeat("ü", 200)) }()
			events, ce := hearAll(t, c)
			checkEnd(t, events, ce, r, "Words for people: üüü")
			for range 2 {
				if err := <-closed; err != nil {
					t.Errorf("Close = %v", err)
				}
			}
			if err := p.Send(context.Background(), &transport.Message{Kind: transport.MessageError}); err == nil {
				t.Error("a message could be sent after Close")
			}
		})
	}
}

// TestUnknownEventsAreIgnored: the call goes on, and they are counted.
func TestUnknownEventsAreIgnored(t *testing.T) {
	d := newEndpoint(t, Config{Limits: wsconn.Limits{CloseTimeout: quick}})
	c := rawDial(t, d.url)
	text(goodHello).to(t, c)
	p, err := d.next(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []say{text(`{"type":"wave"}`), text(`{"type":"wave","x":[{}]}`),
		text(`{"type":"mute","on":true,"x":1}`)} {
		s.to(t, c)
	}
	var ev transport.Event
	if err := p.Recv(testContext(t), &ev); err != nil || ev.Kind != transport.EventMute || !ev.On {
		t.Fatalf("Recv = %+v, %v, want mute", ev, err)
	}
	if n := p.Counters(); n.UnknownIn != 2 || n.EventsIn != 4 {
		t.Errorf("Counters = %+v, want 2 unknown of 4 events", n)
	}
}

// TestEventsArePassedOn: whether there is an answer to them is for the session to say.
func TestEventsArePassedOn(t *testing.T) {
	p, c := connect(t, Config{}, DialConfig{})
	ctx := testContext(t)
	for _, want := range []transport.Event{
		{Kind: transport.EventText, Text: "hi"},
		{Kind: transport.EventDTMF, Text: "12#"},
		{Kind: transport.EventToolResult, ID: "t", Text: `{"a":1}`},
		{Kind: transport.EventToolResult, ID: "t", Text: "no", Failed: true},
		{Kind: transport.EventAck, Generation: 3, PlayedMS: 40, Mark: "3:end", Cleared: true},
	} {
		if err := c.SendEvent(ctx, &want); err != nil {
			t.Fatal(err)
		}
		var ev transport.Event
		if err := p.Recv(ctx, &ev); err != nil || ev.Kind != want.Kind || ev.Text != want.Text || ev.Failed != want.Failed ||
			ev.Mark != want.Mark || ev.Cleared != want.Cleared {
			t.Fatalf("Recv = %+v, %v, want %+v", ev, err, want)
		}
	}
}
