package voicegw

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// only returns the one call of a gateway, once it stands for its far end.
func only(tb testing.TB, g *Gateway, p *farEnd) *call {
	tb.Helper()
	<-p.ready
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.lines {
		return l.call
	}
	tb.Fatal("no call began")
	return nil
}

// upward is a call with model VAD, where every frame goes up, and a function that sends one and
// waits until it has arrived.
func upward(tb testing.TB, rateHz int) (send, end func()) {
	tb.Helper()
	p, m := newFarEnd(), newMind()
	p.hello.InputRateHz = rateHz
	arrived := make(chan struct{}, 1)
	m.onHear = func([]int16) { arrived <- struct{}{} }
	g, err := New(Config{Dialer: m, Detection: voicenets.ModelVAD})
	if err != nil {
		tb.Fatal(err)
	}
	wait := runOn(g, p)
	c := only(tb, g, p)
	ev := transport.Event{Kind: transport.EventAudio, PCM: noise(audio.FrameSamples(rateHz))}
	send = func() {
		c.reader.event(context.Background(), &ev)
		<-arrived
	}
	for range 10 { // until memory has grown
		send()
	}
	end = func() {
		p.events <- bye()
		_ = wait()
	}
	return send, end
}

// noise is too quiet to be speech.
func noise(n int) []int16 {
	pcm := audiotest.White(rand.New(rand.NewPCG(1, 2)), n)
	for i := range pcm {
		pcm[i] /= 100
	}
	return pcm
}

// downward is a call in which the model speaks; the function hands over one message of 240 ms, and
// waits until its twelve frames have arrived and are acknowledged.
func downward(tb testing.TB) (send, end func()) {
	tb.Helper()
	p, m := newFarEnd(), newMind()
	arrived := make(chan struct{}, 64)
	p.onPlay = func(*farEnd, uint64, []int16) error { arrived <- struct{}{}; return nil }
	g, err := New(Config{Dialer: m})
	if err != nil {
		tb.Fatal(err)
	}
	wait := runOn(g, p)
	c := only(tb, g, p)
	message := live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: noise(12 * 480)}
	ack := transport.Event{Kind: transport.EventAck, Generation: 1}
	send = func() {
		m.down <- message
		for range 12 {
			<-arrived
		}
		ack.PlayedMS += 240
		c.reader.event(context.Background(), &ack)
	}
	for range 10 {
		send()
	}
	end = func() {
		p.events <- bye()
		_ = wait()
	}
	return send, end
}

// BenchmarkFrameUp carries a frame from the peer through resampler, detector and net to the model's
// connection.
func BenchmarkFrameUp(b *testing.B) {
	for _, hz := range []int{16000, 48000} {
		b.Run(fmt.Sprint(hz), func(b *testing.B) {
			send, end := upward(b, hz)
			defer end()
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}

// BenchmarkMessageDown carries 240 ms of the model through the net, twelve frames of it, to the
// peer, and their acknowledgement back.
func BenchmarkMessageDown(b *testing.B) {
	send, end := downward(b)
	defer end()
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}

// TestAllocFrames pins what a frame costs on its way through a whole call.
func TestAllocFrames(t *testing.T) {
	up, endUp := upward(t, 16000)
	defer endUp()
	if n := testing.AllocsPerRun(200, up); n > 1 {
		t.Errorf("a frame up allocates %v times, want at most 1", n)
	}
	down, endDown := downward(t)
	defer endDown()
	if n := testing.AllocsPerRun(200, down); n > 12+4 {
		t.Errorf("a message of twelve frames down allocates %v times, want at most 16", n)
	}
}
