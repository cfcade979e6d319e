package wsdoor

import (
	"net"
	"time"

	"github.com/voicegw/voicegw/transport/httpdoor"
)

// link is the socket under a WebSocket, every read of which waits at most the idle timeout.
type link struct {
	httpdoor.Link
	idleTimeout time.Duration
}

// under puts the link under a WebSocket.
func (l *link) under(c net.Conn) net.Conn {
	l.Conn = c
	return l
}

// Read waits at most the idle timeout for something.
func (l *link) Read(b []byte) (int, error) {
	l.StartRead(l.idleTimeout)
	return l.Conn.Read(b)
}
