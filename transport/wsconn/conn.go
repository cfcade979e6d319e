package wsconn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
)

// Conn is a WebSocket with bounded waits and bounded messages. It must be closed.
type Conn struct {
	limits  Limits
	ws      *websocket.Conn
	socket  *socket
	dialled bool // this end is the client
	pinger  pinger

	ended   atomic.Pointer[transport.Ended]
	leaving chan struct{} // closed when Close begins
	closed  chan struct{} // closed when Close is over

	bytesIn, bytesOut atomic.Uint64
	pingRTT           atomic.Int64

	reading guard
	in      []byte // owned by the reader

	mu      sync.Mutex // held while writing
	sending guard      // protected by mu
}

// Message is one WebSocket message.
type Message struct {
	Binary bool // false for text
	Data   []byte
	More   bool // to be written: another message follows at once, so join it with this one
}

// Options are the settings that differ between protocols.
type Options struct {
	// Subprotocols are the accepted subprotocols, the preferred one first.
	Subprotocols []string
	// AnyByte counts every byte from the far end as a sign of life, including the answer to a ping.
	// By default only messages and pings count.
	AnyByte bool
}

// Accept upgrades an admitted request; it does not look at the Origin. Accept has answered the
// request when it returns an error, which is for logs. Limits have no defaults here. The pings
// begin at once.
func Accept(w http.ResponseWriter, r *http.Request, limits Limits, o Options) (*Conn, error) {
	l := &socket{writeTimeout: limits.WriteTimeout, anyByte: o.AnyByte}
	ws, err := websocket.Accept(&hijacker{ResponseWriter: w, socket: l}, r, &websocket.AcceptOptions{
		Subprotocols:       o.Subprotocols,
		InsecureSkipVerify: true, // package admission has checked the Origin
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { l.extendRead(); return true },
	})
	if err != nil {
		return nil, err
	}
	c := newConn(ws, l, limits)
	if limits.PingInterval > 0 {
		c.pinger.start(limits.PingInterval, c.ping)
	}
	return c, nil
}

// Dialling says how a client connects.
type Dialling struct {
	Header http.Header // may be nil
	TLS    *tls.Config // nil means the system's settings
	// Subprotocols are offered, the preferred one first.
	Subprotocols []string
	// DialContext opens the socket.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Dial connects to a server. The response is not nil if the server answered.
func Dial(ctx context.Context, url string, limits Limits, d Dialling) (*Conn, *http.Response, error) {
	var l *socket
	tr := &http.Transport{ // a transport of its own gives access to the socket and leaves nothing open
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := d.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			l = &socket{Conn: conn, writeTimeout: limits.WriteTimeout}
			return l, nil
		},
		TLSClientConfig:   d.TLS,
		DisableKeepAlives: true,
	}
	defer tr.CloseIdleConnections()
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:      &http.Client{Transport: tr},
		HTTPHeader:      d.Header,
		Subprotocols:    d.Subprotocols,
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(context.Context, []byte) bool { l.extendRead(); return true },
	})
	if err != nil {
		return nil, resp, err
	}
	c := newConn(ws, l, limits)
	c.dialled = true
	return c, resp, nil
}

func newConn(ws *websocket.Conn, l *socket, limits Limits) *Conn {
	c := &Conn{limits: limits, ws: ws, socket: l, leaving: make(chan struct{}), closed: make(chan struct{})}
	c.reading.interrupt, c.sending.interrupt = l.interruptRead, l.interruptWrite
	ws.SetReadLimit(-1) // Read has its own limit, so that the far end gets a message before the close
	return c
}

// Subprotocol returns the negotiated subprotocol, "" for none.
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// Ended returns why the call ended, nil while it goes on.
func (c *Conn) Ended() *transport.Ended { return c.ended.Load() }

// Leaving returns a channel that is closed when the call has ended.
func (c *Conn) Leaving() <-chan struct{} { return c.leaving }

// Stalled reports whether the far end did not take a message within the write timeout.
func (c *Conn) Stalled() bool { return c.socket.stalled.Load() }

// Traffic returns the number of message bytes so far, without framing, and the last round trip of a
// ping, 0 if there was none.
func (c *Conn) Traffic() (bytesIn, bytesOut uint64, pingRTT time.Duration) {
	return c.bytesIn.Load(), c.bytesOut.Load(), time.Duration(c.pingRTT.Load())
}

// ping keeps the network between the two ends from dropping an idle connection, and measures the
// round trip.
func (c *Conn) ping() {
	if c.Stalled() || c.Ended() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.limits.PingInterval)
	defer cancel()
	start := time.Now()
	if c.ws.Ping(ctx) == nil {
		c.pingRTT.Store(int64(time.Since(start)))
	}
}
