package voicegw

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

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

// BenchmarkCalls holds 40 talking calls in real time, in memory, for five
// seconds: every peer sends a frame each 20 ms and acknowledges,
// every model speaks. It reports what the gateway adds, in CPU and in time:
// the cost of a bare relay with the same doubles is taken off.
func BenchmarkCalls(b *testing.B) {
	const calls, length = 40, 5 * time.Second
	for b.Loop() {
		bare := talk(b, calls, length, false)
		ours := talk(b, calls, length, true)
		seconds := calls * length.Seconds()
		b.ReportMetric((ours.cpu-bare.cpu).Seconds()*1000/seconds, "cpu-ms/call-s")
		b.ReportMetric(bare.cpu.Seconds()*1000/seconds, "relay-cpu-ms/call-s")
		for name, m := range map[string][2][]time.Duration{"up": {ours.up, bare.up}, "down": {ours.down, bare.down}} {
			b.ReportMetric(float64(quantile(m[0], 0.5)-quantile(m[1], 0.5))/1e6, name+"-p50-ms")
			b.ReportMetric(float64(quantile(m[0], 0.99)-quantile(m[1], 0.99))/1e6, name+"-p99-ms")
		}
	}
}

// quantile is the q-quantile of list.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// effort is what a round of calls took.
type effort struct {
	cpu      time.Duration
	up, down []time.Duration // how long each frame was on its way
}

// talker is one call of BenchmarkCalls. A frame carries the time of its departure, in microseconds
// since began, in its first samples.
type talker struct {
	began    time.Time
	length   time.Duration
	peer     *farEnd
	model    *mind
	mu       sync.Mutex
	up, down []time.Duration
	heard    int
}

// mark writes the time into a frame, in a pattern too quiet to be speech.
func (k *talker) mark(pcm []int16) {
	us := uint64(time.Since(k.began).Microseconds())
	for i := range 8 {
		pcm[i] = int16(us >> (4 * i) & 15)
	}
}

// since reads how long a frame was on its way.
func (k *talker) since(pcm []int16) time.Duration {
	us := uint64(0)
	for i := range 8 {
		us |= uint64(pcm[i]&15) << (4 * i)
	}
	return time.Since(k.began) - time.Duration(us)*time.Microsecond
}

func newTalker(length time.Duration) *talker {
	k := &talker{began: time.Now(), length: length, peer: newFarEnd(), model: newMind()}
	k.model.onHear = func(pcm []int16) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.up = append(k.up, k.since(pcm))
	}
	k.peer.onPlay = func(_ *farEnd, _ uint64, pcm []int16) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.heard++
		k.down = append(k.down, k.since(pcm))
		return nil
	}
	return k
}

// speak is the caller's side: a frame each 20 ms, an acknowledgement each 100.
func (k *talker) speak(send func(transport.Event)) {
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for n := 0; time.Since(k.began) < k.length; n++ {
		<-tick.C
		pcm := make([]int16, 320)
		k.mark(pcm)
		send(transport.Event{Kind: transport.EventAudio, PCM: pcm})
		if n%5 == 0 {
			k.mu.Lock()
			played := int64(k.heard) * transport.FrameMS
			k.mu.Unlock()
			send(transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: played})
		}
	}
	send(bye())
}

// answer is the model's side: it speaks as fast as it is heard.
func (k *talker) answer(send func(live.ServerMessage)) {
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for time.Since(k.began) < k.length {
		<-tick.C
		pcm := make([]int16, 480)
		k.mark(pcm)
		send(live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: pcm})
	}
}

// talk holds calls, through a gateway or relayed without one.
func talk(b *testing.B, calls int, length time.Duration, gateway bool) (e effort) {
	minds := switchboard{}
	g, err := New(Config{Dialer: minds, Detection: voicenets.ModelVAD})
	if err != nil {
		b.Fatal(err)
	}
	talkers := make([]*talker, calls)
	for i := range talkers {
		k := newTalker(length)
		k.peer.hello.Language = fmt.Sprintf("en-%04d", i)
		minds[k.peer.hello.Language] = k.model
		talkers[i] = k
	}
	before := cpu(b)
	var all sync.WaitGroup
	for _, k := range talkers {
		if gateway {
			all.Go(func() { _ = g.Call(context.Background(), k.peer) })
		} else {
			all.Go(k.relay)
		}
		all.Go(func() { k.speak(func(ev transport.Event) { k.peer.events <- ev }) })
		all.Go(func() {
			k.answer(func(m live.ServerMessage) {
				select {
				case k.model.down <- m:
				case <-k.model.closed:
				}
			})
		})
	}
	all.Wait()
	e.cpu = cpu(b) - before
	for _, k := range talkers {
		e.up, e.down = append(e.up, k.up...), append(e.down, k.down...)
	}
	return e
}

// switchboard finds the model of a call by the language it asks for.
type switchboard map[string]*mind

func (s switchboard) Dial(_ context.Context, setup live.Setup) (live.Conn, error) {
	return s[setup.Language], nil
}

// relay passes frames on, each way in a goroutine.
func (k *talker) relay() {
	ctx, cancel := context.WithCancel(context.Background())
	var down sync.WaitGroup
	down.Go(func() {
		var m live.ServerMessage
		for k.model.Recv(ctx, &m) == nil {
			_ = k.peer.SendAudio(ctx, 1, m.PCM)
		}
	})
	var ev transport.Event
	for k.peer.Recv(ctx, &ev) == nil && ev.Kind != transport.EventBye {
		if ev.Kind == transport.EventAudio {
			_ = k.model.SendAudio(ctx, ev.PCM)
		}
	}
	cancel()
	down.Wait()
	_ = k.model.Close(1000, "")
}

// cpu is what the process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
