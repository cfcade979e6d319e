package phone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Defaults of Limits.
const (
	HelloTimeoutDefault    = 10 * time.Second
	WriteTimeoutDefault    = 5 * time.Second
	CloseTimeoutDefault    = time.Second
	IdleTimeoutDefault     = 30 * time.Second
	MessageBytesMaxDefault = 128 << 10
	FaultsMaxDefault       = 200
)

// Limits bound a carrier's connection. Zero and negative values mean the defaults.
type Limits struct {
	HelloTimeout    time.Duration // from the upgrade to the start of the stream; 10 s
	WriteTimeout    time.Duration // of one message; then the far end is stalled; 5 s
	CloseTimeout    time.Duration // of Close as a whole; 1 s
	IdleTimeout     time.Duration // without a message from the far end; 30 s
	MessageBytesMax int           // of a message from the far end; 128 KiB
	FaultsMax       int           // messages that cannot be read, in one call; 200
}

// WithDefaults fills in what is not set.
func (l Limits) WithDefaults() Limits {
	for _, d := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.HelloTimeout, HelloTimeoutDefault},
		{&l.WriteTimeout, WriteTimeoutDefault},
		{&l.CloseTimeout, CloseTimeoutDefault},
		{&l.IdleTimeout, IdleTimeoutDefault},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if l.MessageBytesMax <= 0 {
		l.MessageBytesMax = MessageBytesMaxDefault
	}
	if l.FaultsMax <= 0 {
		l.FaultsMax = FaultsMaxDefault
	}
	return l
}

// Socket is a WebSocket from a carrier, with bounded reads and writes. One goroutine may read, any may write, any may
// shut it.
type Socket struct {
	limits Limits
	conn   *websocket.Conn
	link   *httpdoor.Link
	in     []byte // owned by the reader

	mu sync.Mutex // held while writing
}

// errTooBig says that a message is longer than the limit.
var errTooBig = errors.New("a message is too long")

// Upgrade accepts the WebSocket; who may call was settled before. Of the subprotocols the first that the client offers
// is chosen. When it fails the request was answered.
func Upgrade(w http.ResponseWriter, r *http.Request, limits Limits, subprotocols ...string) (*Socket, error) {
	limits = limits.WithDefaults()
	l := &httpdoor.Link{WriteTimeout: limits.WriteTimeout}
	under := func(c net.Conn) net.Conn { l.Conn = c; return l }
	conn, err := websocket.Accept(&httpdoor.Hijacker{ResponseWriter: w, Put: under}, r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols,
		InsecureSkipVerify: true, // doors let no Origin through
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { l.StartRead(limits.IdleTimeout); return true },
	})
	if err != nil {
		return nil, fmt.Errorf("phone: upgrade from %s: %w", r.RemoteAddr, err)
	}
	conn.SetReadLimit(-1) // ours
	return &Socket{limits: limits, conn: conn, link: l}, nil
}

// Read returns the next message, which is valid until the next Read, and whether it is text. It waits at most wait. A
// ctx that is done ends it, and the Socket with it. Its error is why the call ends.
func (s *Socket) Read(ctx context.Context, wait time.Duration) (b []byte, text bool, ended *transport.Ended) {
	stop := context.AfterFunc(ctx, s.link.InterruptRead)
	defer stop()
	b, text, err := s.read(wait)
	switch {
	case err == nil:
		return b, text, nil
	case ctx.Err() != nil:
		return nil, false, transport.GivenUp(ctx)
	}
	return nil, false, lost(err)
}

// read is Read without a context.
func (s *Socket) read(wait time.Duration) (b []byte, text bool, err error) {
	s.link.StartRead(wait)
	typ, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return nil, false, err
	}
	n := 0
	for {
		if n == len(s.in) {
			s.in = append(s.in, make([]byte, max(2048, len(s.in)))...)
		}
		m, err := r.Read(s.in[n:])
		if n += m; n > s.limits.MessageBytesMax {
			return nil, false, errTooBig
		}
		if err == io.EOF {
			return s.in[:n], typ == websocket.MessageText, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// lost says why nothing more can be read. A far end that closes in good order has hung up.
func lost(err error) *transport.Ended {
	switch code := websocket.CloseStatus(err); {
	case errors.Is(err, errTooBig):
		return Ended(transport.ReasonMessageTooBig, "", nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Ended(transport.ReasonIdleTimeout, "", nil)
	case code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway ||
		code == websocket.StatusNoStatusRcvd:
		return Ended(transport.ReasonCallerHungUp, "", nil)
	}
	return Ended(transport.ReasonPeerLost, "", httpdoor.Broken(err))
}

// write writes one message within the write timeout. After a failure nothing more can be written.
func (s *Socket) write(text bool, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link.Stalled() {
		return transport.ErrStalled
	}
	typ := websocket.MessageBinary
	if text {
		typ = websocket.MessageText
	}
	err := s.conn.Write(context.Background(), typ, b)
	if err != nil && s.link.Stalled() {
		return transport.ErrStalled
	}
	return err
}

// shut writes the last words, if any, and closes the WebSocket, all within CloseTimeout.
func (s *Socket) shut(e *transport.Ended, farewell []byte) {
	s.link.Hurry(time.Now().Add(s.limits.CloseTimeout))
	if e.Reason == transport.ReasonPeerLost {
		_ = s.conn.CloseNow()
		return
	}
	if len(farewell) > 0 {
		_ = s.write(true, farewell)
	}
	_ = s.conn.Close(websocket.StatusCode(e.Reason.Code()), e.Reason.String())
}

// Refuse closes a WebSocket on which no call came about.
func (s *Socket) Refuse(e *transport.Ended) { s.shut(e, nil) }

// Ended makes the error of a call that is over; an empty message means the reason's own.
func Ended(r transport.Reason, message string, err error) *transport.Ended {
	if message == "" {
		message = r.Message()
	}
	return &transport.Ended{Reason: r, Message: message, Err: err}
}
