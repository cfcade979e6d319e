// Package wsconn is a WebSocket to a far end that may be slow, silent or hostile. It owns the
// connection from the upgrade to the close frame; the protocols above only encode and decode.
//
// [Accept] and [Dial] make a [Conn]. Deadlines on the socket bound every read and write; they cost
// no allocation and no goroutine. The Conn pings the far end. A call ends once, with a
// [transport.Ended]: by Close, or because nothing more can be read.
//
//	conn, err := wsconn.Accept(w, r, limits, wsconn.Options{})
//	...
//	m, err := conn.Read(ctx, limits.IdleTimeout)
//	if err != nil {
//		return conn.Fail(err, farewell)
//	}
//
// One goroutine may call Read; any goroutine may call the other methods. The package starts no
// goroutine.
package wsconn
