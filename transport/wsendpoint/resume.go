package wsendpoint

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/resume"
)

const (
	// ResumeWithinDefault is the default of Config.ResumeWithin.
	ResumeWithinDefault = 30 * time.Second

	closedWithin = 5 * time.Second // how long a call waits for a client that closed its connection

	resumingMax, resumingPerAddress = 64, 16 // handshakes that find no line, and may go on with a call
)

// resumer is a Codec of a protocol in which a client goes on with its call over another connection,
// if it shows the last handle that it got. Greet sets Resume.Able in the hello of a client that wants
// handles, and Resume.Handle to the handle that a client shows.
type resumer interface {
	// Handle tells the far end the handle from here on.
	Handle(handle string, out *Outbox)
	// Resume is called behind Greet: the codec goes on with a call that began with the codec first,
	// and keeps its settings.
	Resume(first Codec)
}

// newHandle returns the handle for a call with this name, whose far end has received so many
// messages, as transport.Resume counts them: a far end that is back does not report it.
func newHandle(call string, received uint64) string {
	return call + "." + strconv.FormatUint(received, 36)
}

// parseHandle reads a handle, which may be anything.
func parseHandle(handle string) (call string, received uint64, ok bool) {
	call, count, ok := strings.Cut(handle, ".")
	received, err := strconv.ParseUint(count, 36, 64)
	return call, received, ok && err == nil && len(handle) <= transport.HandleLenMax
}

// begin begins the visit of a request. A client that may go on with a call gets a place when no line
// is free: its call has one already.
func (e *Endpoint) begin(r *http.Request) (handshake, call context.Context, line transport.Line, err error) {
	handshake, call, line, err = e.visits.Begin(r, e.cfg.Lines, false)
	if err == nil || e.proto.NoCall == "" || !e.calls.Any(e.token(r)) {
		return handshake, call, line, err
	}
	return e.visits.Begin(r, admission.Resuming{Backlog: e.resuming, Refused: err}, false)
}

func (e *Endpoint) token(r *http.Request) string {
	if e.proto.Token == nil {
		return ""
	}
	return e.proto.Token(r)
}

// resumable returns the peer of a call that begins, which can be resumed if the client and the
// configuration want that. It must be closed.
func (e *Endpoint) resumable(p *Peer, token string) transport.Peer {
	if !p.hello.Resume.Able || e.proto.NoCall == "" || e.cfg.ResumeWithin < 0 {
		return p
	}
	return e.calls.New(p, token, resume.Wait{Broken: e.cfg.ResumeWithin, Closed: min(closedWithin, e.cfg.ResumeWithin)})
}

// resume goes on with a call over the connection of p, and returns when the connection is over. The
// error says why the client was refused.
func (e *Endpoint) resume(handshake context.Context, p *Peer, line transport.Line) error {
	err := e.attach(handshake, p)
	if err != nil {
		if transport.ReasonOf(transport.Refusal(handshake, err)) == transport.ReasonNotResumable {
			err = &transport.Refused{Reason: transport.ReasonNotResumable, Message: e.proto.NoCall}
		}
		_ = p.conn.Close(transport.Refusal(handshake, err), p.sayBye)
		return err
	}
	admission.Yield(line)
	<-p.conn.Leaving()
	return nil
}

func (e *Endpoint) attach(ctx context.Context, p *Peer) error {
	name, received, ok := parseHandle(p.hello.Resume.Handle)
	if !ok {
		return &transport.Refused{Reason: transport.ReasonNotResumable}
	}
	call, err := e.calls.Find(name, p.hello.Token)
	if err != nil {
		return err
	}
	first := call.First().(*Peer) // the connections of an endpoint are of one type
	first.state.Lock()
	p.state.Lock()
	p.received = received
	p.codec.(resumer).Resume(first.codec)
	p.state.Unlock()
	first.state.Unlock()
	p.hello.Resume.Received = received
	return call.Attach(ctx, p)
}

// Received returns 0: the gateway does not tell the far end how many of its messages arrived.
func (p *Peer) Received() uint64 { return 0 }

// Played returns the last announced generation, and how much of it was played according to the
// clock: a far end plays what it has received, also when its connection is lost.
func (p *Peer) Played() (generation uint64, playedMS int64) {
	p.state.Lock()
	defer p.state.Unlock()
	return p.generation, p.playout.Played(time.Now(), p.generation)
}

// GoOn begins the playout clock where a reply stands.
func (p *Peer) GoOn(generation uint64, playedMS int64) {
	p.state.Lock()
	defer p.state.Unlock()
	p.generation = generation // announced by the turn that resumes
	p.playout.Resume(generation, int(playedMS/transport.FrameMS))
}

// count counts a message, and puts a handle behind it if the far end gets any of it, or its newest
// handle would soon be too old to go on with; the caller holds state.
func (p *Peer) count(m *transport.Message, out *Outbox) {
	if p.handle == "" || !resume.Counts(m) {
		return
	}
	p.received++
	if len(out.messages) > 0 || p.received-p.told >= resume.KeptMax/2 {
		p.putHandle(out)
	}
}

func (p *Peer) putHandle(out *Outbox) {
	p.told = p.received
	p.codec.(resumer).Handle(newHandle(p.handle, p.received), out)
}
