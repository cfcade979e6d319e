package wsconn

import (
	"bufio"
	"net"
	"net/http"
)

// hijacker is an http.ResponseWriter that puts our socket under a WebSocket.
type hijacker struct {
	http.ResponseWriter
	socket *socket
}

// Hijack takes the connection over from net/http.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.socket.Conn = c
	return h.socket, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(h.socket)), nil
}
