package phone

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Stream says how an endpoint handles an admitted stream.
type Stream struct {
	Lines  transport.Lines
	Limits Limits // with defaults
	// Subprotocols are the accepted subprotocols, the preferred one first.
	Subprotocols []string
	// Proven is [transport.Handshake.Proven].
	Proven bool
	// Begin reads one of the first messages. It returns the line that the message begins, or why
	// the stream ends; with neither, Serve calls it for the next message. There are at most
	// Limits.FaultsMax of them, within Limits.HelloTimeout.
	Begin func(m wsconn.Message) (*Line, *transport.Ended)
}

// Serve runs the call of a request to its end: it takes a line, upgrades the request, reads up to
// the start of the stream and gives the peer to the line. The peer is nil if no call began. The
// error says why not, or why the call ended; Serve has answered the request.
func Serve(visits *admission.Visits, w http.ResponseWriter, r *http.Request, s Stream) (*Peer, error) {
	handshake, call, line, err := visits.Begin(r, s.Lines, s.Proven)
	if err != nil {
		admission.Refuse(w, err)
		return nil, err
	}
	defer line.Release()
	conn, err := wsconn.Accept(w, r, s.Limits.Limits, wsconn.Options{Subprotocols: s.Subprotocols})
	if err != nil {
		return nil, fmt.Errorf("phone: upgrade from %s: %w", r.RemoteAddr, err)
	}
	start, ended := s.start(handshake, conn)
	if ended != nil {
		_ = conn.Close(ended, nil)
		return nil, fmt.Errorf("phone: start of the stream: %w", ended)
	}
	peer := newPeer(conn, s.Limits, *start)
	return peer, line.Call(call, peer)
}

// start reads up to the start of the stream.
func (s *Stream) start(ctx context.Context, conn *wsconn.Conn) (*Line, *transport.Ended) {
	deadline := time.Now().Add(s.Limits.HelloTimeout)
	for range s.Limits.FaultsMax {
		m, ended := conn.ReadHello(ctx, deadline)
		if ended != nil {
			return nil, ended
		}
		if line, ended := s.Begin(m); line != nil || ended != nil {
			return line, ended
		}
	}
	return nil, transport.End(transport.ReasonEventBeforeHello, "The stream was not started.", nil)
}
