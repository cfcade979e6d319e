package transport

import "context"

// Peer is the far end of a call after its hello was accepted. Recv has one caller; Ready, SendAudio and Send have one
// caller between them; Close may be called by anyone at any time.
type Peer interface {
	// Hello returns the settings that were asked for.
	Hello() Hello

	// Ready accepts the call. It is called once, before any SendAudio or Send.
	Ready(ctx context.Context, r Ready) error

	// Recv waits for the next event and fills ev, whose PCM is reused by the next Recv. Call it before Ready too: so a
	// far end that leaves while the model is dialled is noticed. When the call is over, or the far end broke the
	// protocol, the call is closed and the error is an *Ended. When ctx is done the error is ctx.Err() and Close still
	// works. After an error there is nothing more to receive.
	Recv(ctx context.Context, ev *Event) error

	// SendAudio hands over one frame of the reply at the output rate. Audio belongs to the generation of the last turn
	// that was announced; another generation is refused with an error and the call goes on. pcm is not kept.
	SendAudio(ctx context.Context, generation uint64, pcm []int16) error

	// Send hands over a message. It does not keep m.
	Send(ctx context.Context, m *Message) error

	// Close says why, ends the call within a bounded time and unblocks the other methods. An empty message means the
	// reason's own. The first Close decides; later ones wait for it and return nil.
	Close(reason Reason, message string) error
}
