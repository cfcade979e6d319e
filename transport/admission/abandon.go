package admission

import (
	"crypto/tls"
	"net"
)

// Abandon makes the close of a TCP or TLS connection drop undelivered data. Otherwise the kernel
// keeps the data for minutes for a far end that does not read.
func Abandon(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}
