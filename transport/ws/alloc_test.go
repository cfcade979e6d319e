package ws

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

const ackText = `{"type":"ack","generation":12,"played_ms":2480}`

// TestOursAllocateNothing pins what this package adds to a frame; the library's share is in the
// benchmarks.
func TestOursAllocateNothing(t *testing.T) {
	p, _ := connect(t, Config{}, DialConfig{})
	ack, turn, frame := []byte(ackText), &transport.Message{Kind: transport.MessageTurn, State: transport.StateEnd,
		TurnEnd: transport.TurnComplete, Generation: 12}, make([]byte, 1920)
	var ev transport.Event
	var out []byte
	tests := []struct {
		name string
		do   func()
	}{
		{"an audio message up", func() { ev.Reset(); _, _ = p.take(wsconn.Message{Binary: true, Data: frame}, &ev) }},
		{"an acknowledgement up", func() { ev.Reset(); _, _ = p.take(wsconn.Message{Data: ack}, &ev) }},
		{"a turn down", func() { out, _ = appendMessage(out[:0], turn) }},
	}
	for _, tt := range tests {
		tt.do() // buffers grow, the context is registered
		if n := testing.AllocsPerRun(500, tt.do); n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

// TestFrameAllocatesWhatTheLibraryDoes compares SendAudio with a bare write over the same
// connection, to a client that does not read, so that only the writer is measured.
func TestFrameAllocatesWhatTheLibraryDoes(t *testing.T) {
	p, _ := connect(t, Config{}, DialConfig{})
	ctx := testContext(t)
	_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart})
	pcm, b := make([]int16, 8), make([]byte, 16) // small enough for the socket to take them all
	ours := testing.AllocsPerRun(200, func() { _ = p.SendAudio(ctx, 0, pcm) })
	bare := testing.AllocsPerRun(200, func() { _ = p.conn.Write(ctx, wsconn.Message{Binary: true, Data: b}) })
	t.Logf("a frame down: %v allocations, of them the library's %v", ours, bare)
	if ours > bare {
		t.Errorf("SendAudio: %v allocations, a bare write %v", ours, bare)
	}
}

func BenchmarkAckDecode(b *testing.B) {
	ack := []byte(ackText)
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		ev.Reset()
		_ = decodeEvent(ack, &ev)
	}
}

func BenchmarkAckDecodeOtherPath(b *testing.B) {
	ack := []byte(ackText)
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		ev.Reset()
		_ = decodeAny(ack, &ev)
	}
}

func BenchmarkTurnEncode(b *testing.B) {
	m := &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 12}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out, _ = appendMessage(out[:0], m)
	}
}

// BenchmarkFrameDown is a 20 ms frame at 24 kHz to a client that reads.
func BenchmarkFrameDown(b *testing.B) {
	p, c := connect(b, Config{}, DialConfig{})
	ctx := testContext(b)
	done := drainClient(c)
	_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart})
	pcm := make([]int16, 480)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.SendAudio(ctx, 0, pcm); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	_ = p.Close(transport.ReasonDone, "")
	<-done
}

// drainClient reads until the connection is over.
func drainClient(c *Client) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var m transport.Message
		for c.Recv(context.Background(), &m) == nil {
		}
	}()
	return done
}

// BenchmarkFrameUp is a 20 ms frame at 48 kHz from a client, both ends in this process.
func BenchmarkFrameUp(b *testing.B) {
	p, c := connect(b, Config{}, DialConfig{})
	ctx := testContext(b)
	pcm := make([]int16, 960)
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		if err := c.SendAudio(ctx, pcm); err != nil {
			b.Fatal(err)
		}
		if err := p.Recv(ctx, &ev); err != nil {
			b.Fatal(err)
		}
	}
}
