package relay

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// joined is a connection that joins messages into one write. Writes that fall into a row, as those
// of a pong, are joined as well.
type joined struct {
	net.Conn

	mu   sync.Mutex
	hold bool
	rest []byte
}

// Write implements net.Conn.
func (j *joined) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.hold {
		j.rest = append(j.rest, b...)
		return len(b), nil
	}
	return j.Conn.Write(b)
}

// write writes a row of messages.
func (j *joined) write(c *websocket.Conn, kind websocket.MessageType, row [][]byte) error {
	j.mu.Lock()
	j.hold = true
	j.mu.Unlock()
	var err error
	for i := 0; i < len(row) && err == nil; i++ {
		err = c.Write(context.Background(), kind, row[i])
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hold = false
	if err == nil && len(j.rest) > 0 {
		_, err = j.Conn.Write(j.rest)
	}
	j.rest = j.rest[:0]
	return err
}

// accept upgrades a request to a WebSocket on a joined connection.
func accept(w http.ResponseWriter, r *http.Request, protocols ...string) (*websocket.Conn, *joined, error) {
	j := &joined{}
	c, err := websocket.Accept(&hijacker{w, j}, r, &websocket.AcceptOptions{Subprotocols: protocols,
		CompressionMode: websocket.CompressionDisabled})
	return c, j, err
}

// hijacker is an http.ResponseWriter that puts a joined connection under a WebSocket.
type hijacker struct {
	http.ResponseWriter
	joined *joined
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.joined.Conn = c
	return h.joined, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(h.joined)), nil
}
