package live

import "context"

// Dialer opens connections to a model. It is safe for concurrent use.
type Dialer interface {
	// Dial connects, sends s, and returns when the model has accepted it. ctx bounds the dial, not
	// the connection. An invalid s is an error before anything is sent; a failed connection is a
	// *CloseError.
	Dial(ctx context.Context, s Setup) (Conn, error)
}

// Conn is a connection to a model. The caller must call Close, also after an error. After the first
// *CloseError every method but Close returns that error.
//
// If a context ends while Send, SendAudio or Recv waits, the connection ends. Use it to stop, not
// to poll.
type Conn interface {
	// Send writes m to the operating system, in the order of the calls. It blocks for at most
	// Wire.WriteTimeout and is safe for concurrent use. If the model would close the connection
	// because of m, such as an empty text, Send sends nothing and returns an error that is not a
	// *CloseError; the connection stays open.
	Send(ctx context.Context, m ClientMessage) error

	// SendAudio sends mono PCM at 16 kHz, in messages of at most one second. It does not keep pcm.
	// It behaves as Send otherwise. With no samples it sends nothing. It does not allocate; the
	// WebSocket below allocates 152 bytes a message.
	SendAudio(ctx context.Context, pcm []int16) error

	// Recv waits for the next message and overwrites all fields of *m. The caller owns *m. Recv
	// reuses the memory of m.PCM, so its samples are valid until the next Recv into the same m.
	// Audio does not allocate once m.PCM has grown; the WebSocket below allocates 432 bytes.
	//
	// One goroutine must call Recv all the time, because only a waiting Recv answers pings and
	// closes of the model.
	Recv(ctx context.Context, m *ServerMessage) error

	// Close closes the connection with a WebSocket close code and a reason, which it cuts to 123
	// bytes. It unblocks Send and Recv, and waits for the answer of the model for at most
	// Wire.CloseTimeout. It is safe for concurrent use and may be called more than once; each call
	// returns when the connection is closed. A code that must not be sent, such as 1006, becomes
	// 1011.
	Close(code int, reason string) error
}
