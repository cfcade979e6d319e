package rtc_test

import (
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// weather is what a network does to packets that go one way.
type weather struct {
	loss   float64       // of packets
	delay  time.Duration // of each
	jitter time.Duration // more of it, up to so much: packets overtake each other
}

// proxy is a network between clients and an endpoint, as a router makes one.
type proxy struct {
	t     *testing.T
	front *net.UDPConn
	to    *net.UDPAddr
	takes func(from *net.UDPAddr) bool // who gets through; nil: everybody
	tasks sync.WaitGroup
	late  sync.WaitGroup

	mu       sync.Mutex
	rnd      *rand.Rand
	up, down weather
	backs    map[string]*net.UDPConn // by the client's address
	lost     int
	first    [2]time.Time // packet with sound that arrived: up, down
}

// newProxy makes a network to a world's endpoint, which ends with the test. takes may be nil.
func newProxy(t *testing.T, w *world, takes func(from *net.UDPAddr) bool) *proxy {
	t.Helper()
	p := &proxy{t: t, front: socket(t), to: w.endpoint.Addr().(*net.UDPAddr), takes: takes,
		rnd: rand.New(rand.NewPCG(1, 2)), backs: map[string]*net.UDPConn{}}
	p.tasks.Go(p.listen)
	t.Cleanup(func() {
		_ = p.front.Close()
		p.mu.Lock()
		for _, back := range p.backs {
			_ = back.Close()
		}
		p.backs = nil
		p.mu.Unlock()
		p.tasks.Wait()
		p.late.Wait()
	})
	return p
}

// socket is a port of the loopback.
func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// through puts the proxy into an answer, in place of the endpoint.
func (p *proxy) through(answer string) string {
	address := func(a net.Addr) string { return strings.Replace(a.String(), ":", " ", 1) }
	return strings.ReplaceAll(answer, address(p.to), address(p.front.LocalAddr()))
}

// deliver calls send after a while, or never.
func (p *proxy) deliver(b []byte, w *weather, first *time.Time, send func([]byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rnd.Float64() < w.loss {
		p.lost++
		return
	}
	if first.IsZero() && isSound(b) {
		*first = time.Now()
	}
	late := w.delay
	if w.jitter > 0 {
		late += time.Duration(p.rnd.Int64N(int64(w.jitter)))
	}
	if late == 0 {
		send(b)
		return
	}
	copied := append([]byte(nil), b...)
	p.late.Add(1)
	time.AfterFunc(late, func() {
		defer p.late.Done()
		send(copied)
	})
}

// isSound tells RTP from DTLS, STUN (RFC 7983 section 7) and RTCP (RFC 5761 section 4).
func isSound(b []byte) bool {
	return len(b) > 12 && b[0] >= 128 && b[0] <= 191 && (b[1]&0x7f < 64 || b[1]&0x7f > 95)
}

// listen carries what comes from clients.
func (p *proxy) listen() {
	b := make([]byte, 2000)
	for {
		n, from, err := p.front.ReadFromUDP(b)
		if err != nil {
			return
		}
		if p.takes != nil && !p.takes(from) {
			continue
		}
		if back := p.back(from); back != nil {
			p.deliver(b[:n], &p.up, &p.first[0], func(b []byte) { _, _ = back.WriteToUDP(b, p.to) })
		}
	}
}

// back is the port at which the endpoint sees a client, nil when the network is gone.
func (p *proxy) back(client *net.UDPAddr) *net.UDPConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	back := p.backs[client.String()]
	if back != nil || p.backs == nil {
		return back
	}
	back, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		p.t.Error(err)
		return nil
	}
	p.backs[client.String()] = back
	p.tasks.Go(func() { p.answer(back, client) })
	return back
}

// answer carries what comes from the endpoint to a client.
func (p *proxy) answer(back *net.UDPConn, client *net.UDPAddr) {
	b := make([]byte, 2000)
	for {
		n, err := back.Read(b)
		if err != nil {
			return
		}
		p.deliver(b[:n], &p.down, &p.first[1], func(b []byte) { _, _ = p.front.WriteToUDP(b, client) })
	}
}

// worsen makes the network as bad as that, each way.
func (p *proxy) worsen(up, down weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.down = up, down
}

// forget lets the next packets with sound be the first.
func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = [2]time.Time{}
}

// sound is when the first packets with sound arrived, up and down.
func (p *proxy) sound() (up, down time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first[0], p.first[1]
}

// TestBadUplink hears a caller over such a network: no time is lost, and little of the sound.
func TestBadUplink(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	n := newProxy(t, w, nil)
	c, p := w.accept(l, manner{through: n.through})
	next(t, p, transport.EventAudio)
	bad := weather{loss: 0.05, jitter: 40 * time.Millisecond}
	n.worsen(bad, bad)
	said := speech("question")
	c.say(said)
	var pcm []int16
	for len(pcm) < len(said)+16000/2 {
		pcm = append(pcm, next(t, p, transport.EventAudio).PCM...)
	}
	loudness(t, said, pcm, 0.9)
	if _, corr := audiotest.Align(said, pcm); corr < 0.8 {
		t.Errorf("the sound is %.3f alike: time was lost", corr)
	}
}

// loudness wants two sounds to be alike in their loudness over time.
func loudness(t *testing.T, ref, heard []int16, want float64) {
	t.Helper()
	pcm := func(s []int16) audio.PCM { return audio.PCM{RateHz: 16000, Samples: s} }
	corr, lag := audiotest.EnvelopeCorrelation(pcm(ref), pcm(heard))
	t.Logf("the loudness is %.3f alike, %v later", corr, lag)
	if corr < want {
		t.Errorf("the loudness is %.3f alike, want %.2f", corr, want)
	}
}
