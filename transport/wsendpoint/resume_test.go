package wsendpoint

import (
	"math"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/resume"
)

// FuzzHandle: a handle may be anything, and those that are given out are read as they were.
func FuzzHandle(f *testing.F) {
	for _, h := range []string{"", ".", "x.", ".1", "x.-1", "x.1.1", "CALL.0", "CALL.zzzzzzzzzzzzz",
		"CALL.3w5e11264sgsf"} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		call, received, ok := parseHandle(handle)
		if !ok {
			return
		}
		again, n, ok := parseHandle(newHandle(call, received))
		if len(handle) > transport.HandleLenMax || !ok && len(handle) < 40 || ok && (again != call || n != received) {
			t.Errorf("%q is %q %d, then %q %d", handle, call, received, again, n)
		}
	})
}

// TestHandle: a handle fits into its limit whatever it counts.
func TestHandle(t *testing.T) {
	h := newHandle("ABCDEFGHIJKLMNOPQRSTUVWXYZ", math.MaxUint64)
	if call, received, ok := parseHandle(h); !ok || call != "ABCDEFGHIJKLMNOPQRSTUVWXYZ" || received != math.MaxUint64 {
		t.Errorf("%q is %q %d %v", h, call, received, ok)
	}
}

// mute is a codec of a protocol that has no form for messages; it notes handles.
type mute struct {
	Codec
	handles []string
}

func (c *mute) Handle(handle string, out *Outbox) {
	c.handles = append(c.handles, handle)
	out.Put([]byte(handle))
}

func (c *mute) Resume(Codec) {}

// TestHandleStaysFresh: a far end that gets no messages, for it asked for no transcripts, gets handles
// all the same: the call remembers the last resume.KeptMax messages alone.
func TestHandleStaysFresh(t *testing.T) {
	codec := &mute{}
	p, newest := &Peer{codec: codec, handle: "CALL"}, uint64(0)
	for range 10 * resume.KeptMax {
		p.count(&transport.Message{Kind: transport.MessageTranscript}, &Outbox{})
		if n := len(codec.handles); n > 0 {
			_, newest, _ = parseHandle(codec.handles[n-1])
		}
		if p.received-newest > resume.KeptMax/2 {
			t.Fatalf("after %d messages the newest handle is of %d", p.received, newest)
		}
	}
	if n := len(codec.handles); n > 40 {
		t.Errorf("%d handles for %d messages", n, p.received)
	}
}

// TestPlayoutResumes: a reply that goes on over another connection is acknowledged from where it
// stood.
func TestPlayoutResumes(t *testing.T) {
	c, p := newClock(), &playout{}
	p.Resume(7, 50)
	if got := p.Played(c.now, 7); got != 1000 || len(acks(p, c.now)) != 0 {
		t.Errorf("%d ms were played", got)
	}
	for range 5 {
		p.Sent(c.now, 7)
	}
	c.pass(100)
	if got := acks(p, c.now); len(got) != 1 || got[0] != (ack{Generation: 7, PlayedMS: 1100}) {
		t.Errorf("acknowledged %v", got)
	}
	if got := p.Played(c.now.Add(time.Second), 8); got != 0 {
		t.Errorf("%d ms of another reply were played", got)
	}
}
