package relay

import (
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
)

// Paths of the transports.
const (
	WebSocketPath = "/v1/voice"
	TwilioPath    = "/v1/twilio"
	WHIPPath      = "/v1/whip"
)

// Relay takes calls. It is an http.Handler. Its zero value has no model.
type Relay struct {
	Model string // http URL of the model

	once   sync.Once // of the first call by WebRTC
	api    *webrtc.API
	failed error
}

// ServeHTTP implements http.Handler.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case WebSocketPath:
		r.voice(w, req)
	case TwilioPath:
		r.twilio(w, req)
	case WHIPPath:
		r.whip(w, req)
	default:
		http.NotFound(w, req)
	}
}

// frameBytes is 20 ms at 24 kHz.
const frameBytes = 960

// ready is what the gateway promises its callers.
const ready = `{"type":"ready","call":"relay","version":1,"input_rate":16000,"output_rate":24000,"frame_ms":20,` +
	`"ack_ms":100,"budget_ms":400,"detection":"server","model":{"name":"parrot","embedded":true},"greeting":false,` +
	`"limits":{"message_bytes":131072,"call_s":3600}}`

// voice relays binary frames of PCM.
func (r *Relay) voice(w http.ResponseWriter, req *http.Request) {
	peer, joined, err := accept(w, req, "voicegw.v1")
	if err != nil {
		return
	}
	defer func() { _ = peer.CloseNow() }()
	ctx := req.Context()
	if _, _, err := peer.Read(ctx); err != nil { // the hello
		return
	}
	m, err := dialModel(ctx, r.Model)
	if err != nil {
		return
	}
	defer m.close()
	if err := peer.Write(ctx, websocket.MessageText, []byte(ready)); err != nil {
		return
	}
	var in []byte
	both(peer, m, func() error {
		var kind websocket.MessageType
		var err error
		if kind, in, err = receive(peer, in); err != nil || kind != websocket.MessageBinary {
			return err
		}
		return m.send(in)
	}, func() error {
		said, err := m.receive()
		if err != nil {
			return err
		}
		frames := slices.Collect(slices.Chunk(said.pcm, frameBytes))
		return joined.write(peer, websocket.MessageBinary, frames)
	})
}

// both relays both ways until one ends, and closes the connections.
func both(peer *websocket.Conn, m *model, up, down func() error) {
	var downward sync.WaitGroup
	downward.Go(func() {
		for down() == nil {
		}
		_ = peer.CloseNow()
	})
	for up() == nil {
	}
	m.close()
	downward.Wait()
}
