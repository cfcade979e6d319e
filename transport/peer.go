package transport

import "context"

// Peer is the far end of a call after its hello was accepted. One goroutine may call Recv; one
// goroutine may call Ready, SendAudio and Send; any goroutine may call Close at any time.
type Peer interface {
	// Hello returns the settings that the far end asked for.
	Hello() Hello

	// Ready accepts the call. It must be called once, before any SendAudio or Send.
	Ready(ctx context.Context, r Ready) error

	// Recv waits for the next event and fills ev. The next Recv reuses the PCM of ev. Call Recv
	// before Ready too, to notice a far end that leaves while the gateway dials the model. When the
	// call has ended, or the far end broke the protocol, the call is closed and the error is an
	// *Ended. When ctx is done the error is ctx.Err() and Close still works. After an error nothing
	// more can be received.
	Recv(ctx context.Context, ev *Event) error

	// SendAudio sends one frame of the reply at the output rate. Audio belongs to the generation of
	// the last announced turn; for another generation SendAudio returns an error and the call goes
	// on. It does not keep pcm.
	SendAudio(ctx context.Context, generation uint64, pcm []int16) error

	// Send sends a message. It does not keep m.
	Send(ctx context.Context, m *Message) error

	// Close sends the reason, ends the call within a bounded time and unblocks the other methods.
	// An empty message means the text of the reason. The first Close decides; later ones wait for
	// it and return nil.
	Close(reason Reason, message string) error
}

// moreKey is the key of More.
type moreKey struct{}

// More returns a context for SendAudio that says that the caller sends another frame at once. The peer
// may then send both together. Errors, too, may come only with the frame that is not followed by another.
func More(ctx context.Context) context.Context { return context.WithValue(ctx, moreKey{}, true) }

// HasMore reports whether ctx comes from More.
func HasMore(ctx context.Context) bool { return ctx.Value(moreKey{}) != nil }
