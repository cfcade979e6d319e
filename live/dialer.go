package live

import "context"

// Dialer opens connections to a model. It is safe for concurrent use.
type Dialer interface {
	// Dial connects, sends s and returns once the model has accepted it. An invalid s is refused before anything is
	// sent; a failure of the connection is a *CloseError. The connection outlives ctx, which bounds the dial alone.
	Dial(ctx context.Context, s Setup) (Conn, error)
}

// Conn is one open conversation with a model. Close must be called, once it is no longer needed, also after an error.
// After the first error every method but Close keeps returning that error, a *CloseError.
//
// A context that ends while a Send, SendAudio or Recv waits gives the whole connection up: use it to stop, not to poll.
type Conn interface {
	// Send sends m. It returns when the message is handed to the operating system, blocks at most the write timeout,
	// and is safe for concurrent use; messages leave whole and in the order of the calls. A message that would make the
	// model close the connection (an activity start under automatic detection, an empty text) is refused with an
	// error that is no *CloseError, and the connection goes on.
	Send(ctx context.Context, m ClientMessage) error

	// SendAudio sends 16 kHz mono PCM, as many samples as wanted; more than a second is split. It copies pcm before it
	// returns, allocates nothing (the WebSocket beneath does, a little: 152 bytes a message, however long), and
	// otherwise behaves as Send. No samples is no message.
	SendAudio(ctx context.Context, pcm []int16) error

	// Recv waits for the next message and overwrites *m with it, all fields. The caller owns *m; m.PCM keeps its
	// memory from call to call and is valid until the next Recv into the same m. A message of audio alone allocates
	// nothing once m.PCM has grown (the WebSocket beneath: 432 bytes). Recv must be called by one goroutine at a time,
	// and all the time: pings and closes of the model are answered only while a Recv waits.
	Recv(ctx context.Context, m *ServerMessage) error

	// Close ends the conversation with a WebSocket close code and a reason (cut to 123 bytes), unblocks Send and Recv
	// and waits at most Wire.CloseTimeout for the model's answer. It may be called from any goroutine and more than
	// once; every call returns after the connection is gone. A code that may not be sent (1005, 1006, 1015, ...) is
	// sent as 1011.
	Close(code int, reason string) error
}
