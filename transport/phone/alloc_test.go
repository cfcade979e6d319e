package phone

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// connect joins a peer and a carrier over a socket of this machine.
func connect(t testing.TB) (*Peer, *websocket.Conn) {
	t.Helper()
	peers, over := make(chan *Peer, 1), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limits := Limits{}.WithDefaults()
		conn, err := wsconn.Accept(w, r, limits.Limits, wsconn.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		peers <- newPeer(conn, limits, Line{Hello: transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}, Protocol: &words{},
			BinaryAudio: true})
		<-over
	}))
	c, _, err := websocket.Dial(t.Context(), strings.Replace(srv.URL, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := <-peers
	t.Cleanup(func() {
		_ = c.CloseNow()
		_ = p.Close(transport.ReasonDone, "")
		close(over)
		srv.Close()
	})
	ctx := context.Background()
	_ = p.Ready(ctx, transport.Ready{})
	_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1})
	return p, c
}

// TestFrameDownAllocatesWhatTheLibraryDoes compares SendAudio, marks included, with bare writes of
// the library over the same connection, to a carrier that does not read, so that only the writer is
// measured.
func TestFrameDownAllocatesWhatTheLibraryDoes(t *testing.T) {
	p, _ := connect(t)
	ctx := context.Background()
	pcm, b := make([]int16, 8), make([]byte, 16) // small enough for the socket to take them all
	p.line.Hello.OutputRateHz = 400
	ours := testing.AllocsPerRun(500, func() { _ = p.SendAudio(ctx, 1, pcm) })
	bare := testing.AllocsPerRun(500, func() { _ = p.conn.Write(ctx, wsconn.Message{Binary: true, Data: b}) })
	t.Logf("a frame down: %v allocations, of them the library's %v", ours, bare)
	if ours > bare*1.25 { // a mark is a write, too
		t.Errorf("SendAudio: %v allocations, a bare write %v", ours, bare)
	}
}

// TestFrameUpAllocatesNothing hands sound through the peer, without a socket.
func TestFrameUpAllocatesNothing(t *testing.T) {
	p, _ := connect(t)
	ctx := context.Background()
	b, in, proto := make([]byte, 320), &Inlet{p: p}, &words{}
	var ev transport.Event
	step := func() {
		if proto.Take(b, false, in) != nil || p.Recv(ctx, &ev) != nil || len(ev.PCM) != 160 {
			t.Fatal("no sound came")
		}
	}
	for range 2 * inboxMax { // buffers grow
		step()
	}
	if n := testing.AllocsPerRun(500, step); n != 0 {
		t.Errorf("%v allocations a frame up, want 0", n)
	}
}

func BenchmarkFrameDown(b *testing.B) {
	p, c := connect(b)
	done, _, _ := drain(c)
	pcm := make([]int16, 160)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.SendAudio(context.Background(), 1, pcm); err != nil {
			b.Fatal(err)
		}
	}
	_ = p.Close(transport.ReasonDone, "")
	<-done
}
