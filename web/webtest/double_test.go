package webtest_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/web"
)

const (
	waitMax   = 15 * time.Second // for anything the page should do
	eventsMax = 4096             // unread events of one call
)

// double stands in for a gateway: it serves the page, and hands every call to the test, which then
// plays the gateway. What it answers to a hello is what a real gateway answers.
type double struct {
	*httptest.Server
	t     *testing.T
	calls chan *call
	real  *endpointtest.World

	mu     sync.Mutex
	refuse int // HTTP status for the next sockets, 0 to accept; guarded by mu
	open   []*websocket.Conn
}

// event is a text frame of either direction.
type event map[string]any

// call is one accepted socket. Its methods run on the goroutine of the test.
type call struct {
	t      *testing.T
	real   *endpointtest.World
	conn   *websocket.Conn
	hello  event
	events chan event    // text frames after hello; closed with the socket
	closed chan struct{} // closed with the socket

	mu  sync.Mutex
	mic []int16       // guarded by mu
	got chan struct{} // one slot: the microphone grew
}

// parrot is the model that a gateway without a key names.
var parrot = transport.Model{Name: "parrot", Embedded: true}

// realGateway is a gateway that names a model, and keeps the call of a lost page for a second.
func realGateway(t *testing.T, model transport.Model) *endpointtest.World {
	t.Helper()
	return endpointtest.New(t, endpointtest.Plan{Gateway: voicegw.Config{Model: model},
		Endpoint: func(lines transport.Lines) (endpointtest.Endpoint, error) {
			return ws.New(ws.Config{Lines: lines, ResumeWithin: time.Second})
		}})
}

func newDouble(t *testing.T, extra map[string]http.Handler) *double {
	t.Helper()
	return newDoubleOf(t, parrot, extra)
}

// newDoubleOf is a double of a gateway that names a model.
func newDoubleOf(t *testing.T, model transport.Model, extra map[string]http.Handler) *double {
	t.Helper()
	d := &double{t: t, real: realGateway(t, model), calls: make(chan *call, 16)}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{}))
	mux.HandleFunc("/v1/voice", d.serve)
	for path, h := range extra {
		mux.Handle(path, h)
	}
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.stop)
	return d
}

// stop ends every socket and the listener: the gateway is gone.
func (d *double) stop() {
	d.mu.Lock()
	for _, conn := range d.open {
		_ = conn.CloseNow()
	}
	d.open = nil
	d.mu.Unlock()
	d.CloseClientConnections()
	d.Close()
}

func (d *double) refuseWith(status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = status
}

func (d *double) serve(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	refuse := d.refuse
	d.mu.Unlock()
	if refuse != 0 {
		http.Error(w, http.StatusText(refuse), refuse)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{"voicegw.v1"}, OriginPatterns: []string{"*"}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return
	}
	d.mu.Lock()
	d.open = append(d.open, conn)
	d.mu.Unlock()
	c := &call{t: d.t, real: d.real, conn: conn}
	c.events, c.closed, c.got = make(chan event, eventsMax), make(chan struct{}), make(chan struct{}, 1)
	c.read(d.calls)
}

// read takes the frames of the page until the socket closes. The first is hello, with which the
// call is handed over.
func (c *call) read(calls chan<- *call) {
	defer close(c.closed)
	defer close(c.events)
	defer func() { _ = c.conn.CloseNow() }()
	for {
		kind, data, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			c.hear(data)
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			c.t.Errorf("the page sent %q: %v", data, err)
			return
		}
		if c.hello == nil {
			c.hello = e
			calls <- c
			continue
		}
		c.events <- e
	}
}

func (c *call) hear(data []byte) {
	c.mu.Lock()
	for i := 0; i+1 < len(data); i += 2 {
		c.mic = append(c.mic, int16(binary.LittleEndian.Uint16(data[i:])))
	}
	c.mu.Unlock()
	select {
	case c.got <- struct{}{}:
	default:
	}
}

// accept waits for the next call and its hello.
func (d *double) accept() *call {
	d.t.Helper()
	select {
	case c := <-d.calls:
		return c
	case <-time.After(waitMax):
		d.t.Fatal("the page did not call")
		return nil
	}
}

// answer accepts the next call and says ready.
func (d *double) answer() *call {
	d.t.Helper()
	c := d.accept()
	c.ready()
	return c
}

// ready says what a real gateway says to the hello of the page.
func (c *call) ready() {
	c.t.Helper()
	c.write(websocket.MessageText, readyTo(c.t, c.real, c.hello))
}

// readyTo is what a real gateway answers to a hello.
func readyTo(t *testing.T, real *endpointtest.World, hello event) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, real.URL, &websocket.DialOptions{Subprotocols: []string{ws.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if err := wsjson.Write(ctx, conn, hello); err != nil {
		t.Fatal(err)
	}
	_, data, err := conn.Read(ctx)
	if err != nil || !strings.HasPrefix(string(data), `{"type":"ready"`) {
		t.Fatalf("a gateway answers %v with %s: %v", hello, data, err)
	}
	return data
}

func (c *call) send(events ...event) {
	c.t.Helper()
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			c.t.Fatal(err)
		}
		c.write(websocket.MessageText, data)
	}
}

// play sends PCM in messages of 20 ms at the output rate of the call, as fast as the socket takes
// it.
func (c *call) play(pcm []int16) {
	c.t.Helper()
	for frame := range slices.Chunk(pcm, c.rate()/50) {
		data := make([]byte, 0, 2*len(frame))
		for _, s := range frame {
			data = binary.LittleEndian.AppendUint16(data, uint16(s))
		}
		c.write(websocket.MessageBinary, data)
	}
}

func (c *call) write(kind websocket.MessageType, data []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	if err := c.conn.Write(ctx, kind, data); err != nil {
		c.t.Fatalf("send to the page: %v", err)
	}
}

// rate is the output rate the page asked for, which every test that plays agrees to.
func (c *call) rate() int { return int(c.hello["output_rate"].(float64)) }

// next waits for the next event of a type and skips all others.
func (c *call) next(kind string) event {
	c.t.Helper()
	return c.nextWhere(kind, func(event) bool { return true })
}

// nextWhere waits for the next event of a type that ok accepts.
func (c *call) nextWhere(kind string, ok func(event) bool) event {
	c.t.Helper()
	deadline := time.After(waitMax)
	for {
		select {
		case e, open := <-c.events:
			if !open {
				c.t.Fatalf("the page closed before it sent %s", kind)
			}
			if e["type"] == kind && ok(e) {
				return e
			}
		case <-deadline:
			c.t.Fatalf("the page sent no %s", kind)
		}
	}
}

// listen waits until done accepts what came from the microphone so far, and returns it.
func (c *call) listen(done func(mic []int16) bool) []int16 {
	c.t.Helper()
	deadline := time.After(waitMax)
	for {
		c.mu.Lock()
		mic := slices.Clone(c.mic)
		c.mu.Unlock()
		if done(mic) {
			return mic
		}
		select {
		case <-c.got:
		case <-deadline:
			c.t.Fatalf("the page sent %d samples, not what was waited for", len(mic))
		}
	}
}

// bye ends the call as the gateway does: a last word, then the close.
func (c *call) bye(reason, message string, code websocket.StatusCode) {
	c.t.Helper()
	c.send(event{"type": "bye", "reason": reason, "message": message})
	_ = c.conn.Close(code, reason)
}

// gone waits until the socket is closed.
func (c *call) gone() {
	c.t.Helper()
	select {
	case <-c.closed:
	case <-time.After(waitMax):
		c.t.Fatal("the page kept its socket open")
	}
}
