package wsendpoint

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

// silent is a codec of tests that allocates nothing.
type silent struct{ plain }

func (*silent) Audio(dst []byte, _ uint64, pcm []int16) []byte { return append(dst, byte(len(pcm))) }

func (*silent) Read(m wsconn.Message, in *Inbox, _ *Outbox) error {
	return in.Audio(InputRateHz, m.Data)
}

// loopback makes a call over sockets.
func loopback(tb testing.TB, proto Protocol) (*websocket.Conn, *call) {
	tb.Helper()
	lines := newExchange()
	proto.Name, proto.Codec = "silent", func(*http.Request) Codec { return &silent{} }
	d, err := New(Config{Lines: lines}, proto)
	if err != nil {
		tb.Fatal(err)
	}
	srv := httptest.NewServer(d)
	far, _, err := websocket.Dial(context.Background(), "ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	_ = far.Write(context.Background(), websocket.MessageText, []byte("hi"))
	near := <-lines.calls
	tb.Cleanup(func() {
		_ = far.CloseNow()
		near.over <- nil
		_ = d.Close()
		srv.Close()
	})
	_ = near.Ready(near.ctx, transport.Ready{})
	_ = near.Send(near.ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1})
	return far, near
}

// TestFrameAllocatesWhatTheLibraryDoes compares SendAudio with a bare write over the same
// connection, to a far end that does not read, so that only the writer is measured.
func TestFrameAllocatesWhatTheLibraryDoes(t *testing.T) {
	_, near := loopback(t, Protocol{})
	pcm, b := make([]int16, 8), make([]byte, 1)
	ours := testing.AllocsPerRun(200, func() { _ = near.SendAudio(near.ctx, 1, pcm) })
	bare := testing.AllocsPerRun(200, func() { _ = near.conn.Write(near.ctx, wsconn.Message{Data: b}) })
	t.Logf("a frame down: %v allocations, of them the library's %v", ours, bare)
	if ours > bare {
		t.Errorf("SendAudio: %v allocations, a bare write %v", ours, bare)
	}
}

// TestOursAllocateNothing pins what the rest of a frame's way costs.
func TestOursAllocateNothing(t *testing.T) {
	in, other, le := NewInbox(InputRateHz), NewInbox(InputRateHz), make([]byte, 640)
	var ev transport.Event
	var q pacer
	q.wake = make(chan struct{}, 1)
	pcm := make([]int16, 480)
	for name, do := range map[string]func(){
		"an audio message up": func() { _ = in.Audio(InputRateHz, le); in.Next(&ev); in.Next(&ev) },
		"a resampled one":     func() { _ = other.Audio(24000, le); other.Next(&ev); other.Next(&ev) },
		"a frame that waits": func() {
			q.put(1, pcm)
			if q.head++; q.len() < 3 {
				q.put(1, pcm)
			}
		},
	} {
		for range 8 {
			do() // buffers grow
		}
		if n := testing.AllocsPerRun(500, do); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

// BenchmarkFrameDown is a 20 ms frame at 24 kHz to a far end that reads.
func BenchmarkFrameDown(b *testing.B) {
	far, near := loopback(b, Protocol{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, _, err := far.Read(context.Background()); err != nil {
				return
			}
		}
	}()
	pcm := make([]int16, 480)
	b.ReportAllocs()
	for b.Loop() {
		if err := near.SendAudio(near.ctx, 1, pcm); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	_ = near.Close(transport.ReasonDone, "")
	<-done
}

// BenchmarkFrameUp is a 20 ms frame at 16 kHz from a far end in this process.
func BenchmarkFrameUp(b *testing.B) {
	far, near := loopback(b, Protocol{})
	le := make([]byte, 640)
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		if err := far.Write(context.Background(), websocket.MessageBinary, le); err != nil {
			b.Fatal(err)
		}
		if err := near.Recv(near.ctx, &ev); err != nil {
			b.Fatal(err)
		}
	}
}
