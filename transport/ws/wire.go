package ws

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Subprotocol is the name of the protocol in the handshake.
const Subprotocol = "voicegw.v1"

// tokenPrefix begins a second subprotocol of the handshake that carries the token of a call, as
// `token.<jwt>`. A token in the hello takes precedence over it, and a bearer token of the request
// takes precedence over both.
const tokenPrefix = "token."

// resumeProtocol is offered beside Subprotocol by a client that goes on with a call: it takes no
// line.
const resumeProtocol = "resume"

// wire is what both ends share: a connection and a buffer to encode messages.
type wire struct {
	conn     *wsconn.Conn
	counters counters

	mu  sync.Mutex
	out []byte // guarded by mu
}

// Counters returns the traffic of the connection so far. Safe for concurrent use.
func (w *wire) Counters() Counters {
	n := w.counters.snapshot()
	n.BytesIn, n.BytesOut, n.PingRTT = w.conn.Traffic()
	return n
}

// sendAudio writes one binary message.
func (w *wire) sendAudio(ctx context.Context, pcm []int16) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = audio.AppendBytes(w.out[:0], pcm)
	m := wsconn.Message{Binary: true, Data: w.out, More: transport.HasMore(ctx)}
	if err := w.conn.Write(ctx, m); err != nil {
		return err
	}
	w.counters.audioOut.Add(1)
	w.counters.samplesOut.Add(uint64(len(pcm)))
	return nil
}

// sendText writes w.out as a text message; the caller holds mu.
func (w *wire) sendText(ctx context.Context) error {
	if err := w.conn.Write(ctx, wsconn.Message{Data: w.out}); err != nil {
		return err
	}
	w.counters.eventsOut.Add(1)
	return nil
}
