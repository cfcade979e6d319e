package rtc_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// ether is a network of packets without sockets, for a bubble. It may lose packets and put them out
// of order, and change the address a sender is seen at.
type ether struct {
	mu     sync.Mutex
	rnd    *rand.Rand
	ports  map[string]*port
	seenAs map[string]*net.UDPAddr // by real address
	loss   float64
	jitter time.Duration
}

func newEther() *ether {
	return &ether{rnd: rand.New(rand.NewPCG(1, 2)), ports: map[string]*port{}, seenAs: map[string]*net.UDPAddr{}}
}

// datagram is a packet and where it came from.
type datagram struct {
	bytes []byte
	from  net.Addr
}

// port is a net.PacketConn of an ether.
type port struct {
	ether  *ether
	addr   *net.UDPAddr
	in     chan datagram
	closed chan struct{}
	once   sync.Once
}

func (e *ether) listen() (net.PacketConn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &port{ether: e, addr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1000 + len(e.ports)},
		in: make(chan datagram, 4096), closed: make(chan struct{})}
	e.ports[p.addr.String()] = p
	return p, nil
}

// worsen loses packets from now on, and delays each by up to jitter.
func (e *ether) worsen(loss float64, jitter time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loss, e.jitter = loss, jitter
}

// part lets what is under way arrive, and nothing after that. When both ends of a call close at
// once, the library waits a while with a lock held that others want; where time is free, that would
// be for ever. So each closes alone: callers stay when they hear that the gateway left, and at the
// end of a story neither hears of the other's end.
func (e *ether) part() {
	e.worsen(1, 0)
	synctest.Wait()
}

// move lets others see a port at another address, and nothing reach it at the ones before.
func (e *ether) move(a net.Addr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.seenAs[a.String()]; old != nil {
		delete(e.ports, old.String())
	}
	moved := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2000 + len(e.ports)}
	e.ports[moved.String()] = e.ports[a.String()]
	e.seenAs[a.String()] = moved
}

// send carries a packet.
func (e *ether) send(b []byte, from *net.UDPAddr, to net.Addr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	moved := e.seenAs[to.String()] != nil // nobody is at the old address any more
	p := e.ports[to.String()]
	if p == nil || moved || e.rnd.Float64() < e.loss {
		return
	}
	d := datagram{append([]byte(nil), b...), from}
	if seen := e.seenAs[from.String()]; seen != nil {
		d.from = seen
	}
	if e.jitter > 0 {
		time.AfterFunc(time.Duration(e.rnd.Int64N(int64(e.jitter))), func() { p.put(d) })
		return
	}
	p.put(d)
}

func (p *port) put(d datagram) {
	select {
	case p.in <- d:
	default: // full, as a socket may be
	}
}

func (p *port) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case d := <-p.in:
		return copy(b, d.bytes), d.from, nil
	case <-p.closed:
		return 0, nil, net.ErrClosed
	}
}

func (p *port) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-p.closed:
		return 0, net.ErrClosed
	default:
	}
	p.ether.send(b, p.addr, to)
	return len(b), nil
}

func (p *port) Close() error                     { p.once.Do(func() { close(p.closed) }); return nil }
func (p *port) LocalAddr() net.Addr              { return p.addr }
func (p *port) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (p *port) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (p *port) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

// inBubble runs a story where time is free: a gateway, its model and its callers without a socket.
func inBubble(t *testing.T, story func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { bubble(t, sim.Config{}, voicegw.Config{}, story) })
}

// bubble is the inside of inBubble, with settings.
func bubble(t *testing.T, m sim.Config, cfg voicegw.Config, story func(t *testing.T, w *world)) {
	t.Helper()
	model, err := sim.New(m)
	if err != nil {
		t.Fatal(err)
	}
	back := wstest.New()
	server := &http.Server{Handler: model}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(back) })
	cfg.Dialer = live.Wire{BaseURL: "ws://model",
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}}
	gw, err := voicegw.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := endpointInBubble(t, rtc.Config{Lines: gw.Lines()})
	w.model, w.gw = model, gw
	t.Cleanup(func() {
		if err := w.endpoint.Close(); err != nil {
			t.Error(err)
		}
		_ = gw.Close()
		_ = model.Close()
		_ = server.Close()
		serving.Wait()
	})
	defer w.ether.part()
	story(t, w)
}

// endpointInBubble is an endpoint on an ether, and who calls it.
func endpointInBubble(t *testing.T, l rtc.Config) *world {
	t.Helper()
	e := newEther()
	conn, _ := e.listen()
	l.Codecs = spoken(l.Codecs)
	endpoint, err := rtc.NewOn(l, conn)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, endpoint: endpoint, listen: e.listen, ether: e}
}

// stageInBubble is newStage where time is free.
func stageInBubble(t *testing.T, story func(t *testing.T, w *world, l *lines)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLines()
		w := endpointInBubble(t, rtc.Config{Lines: l})
		t.Cleanup(func() { _ = w.endpoint.Close() })
		defer w.ether.part()
		story(t, w, l)
	})
}

// TestTalkOnLoopback is a call over real sockets, where a busy machine may delay everything:
// something is heard.
func TestTalkOnLoopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{})
	c := w.call(manner{})
	t.Logf("connected after %v", c.joined)
	c.say(speech("hello"))
	c.completes()
	if audio.Peak(c.sound(0)) < 0.05 {
		t.Errorf("nothing was heard\n%s", c.story())
	}
}

// TestPace sends a packet every 20 ms, whether there is a reply or not.
func TestPace(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{})
		c.until("sound comes", func() bool { return c.length > 0 })
		heard := func() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.heard) }
		before := heard()
		time.Sleep(10 * time.Second)
		if n := heard() - before; n < 499 || n > 501 {
			t.Errorf("%d packets came in 10 s, want 500", n)
		}
	})
}

// TestBadNetwork talks over a network that loses one packet in twenty and puts them out of order.
// What is left of the caller's silence is no speech, over which the reply would pause; and what
// came, papered over as a browser does it, is as loud as the words were. What is lost is chance, so
// it takes several calls.
func TestBadNetwork(t *testing.T) {
	for call := range uint64(8) {
		t.Run(fmt.Sprint("call ", call), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) { badNetwork(t, w, call) })
		})
	}
}

// badNetwork is a call of TestBadNetwork.
func badNetwork(t *testing.T, w *world, chance uint64) {
	t.Helper()
	w.ether.rnd = rand.New(rand.NewPCG(chance, 3)) // nothing is under way yet
	m := manner{}
	if chance == 0 {
		m.offers = func(offer string) string { return regexp.MustCompile(`a=rtcp-fb:.*\r\n`).ReplaceAllString(offer, "") }
	}
	c := w.call(m)
	w.ether.worsen(0.05, 40*time.Millisecond)
	c.say(speech("question"))
	start := c.turn(transport.StateStart) // told again when it was lost, up to two seconds later
	c.turn(transport.StateEnd)
	loudness(t, speech("question"), c.concealed(max(0, start.at-2*16000)), 0.75)
	if n := c.count(transport.MessageClear); n > 0 {
		t.Errorf("the reply paused %d times", n)
	}
	if n, keeps := c.asked.Load(), m.offers == nil; n > 0 != keeps {
		t.Errorf("the gateway asked %d times for lost packets; the caller keeps packets: %v", n, keeps)
	}
	if t.Failed() {
		t.Log(c.story())
	}
}

// TestAddressChange loses its address in the middle of a call, and goes on after an ICE restart.
func TestAddressChange(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{})
		c.listenFor(500 * time.Millisecond)
		w.ether.move(c.socket.LocalAddr())
		time.Sleep(3 * time.Second)
		if status := c.restart(nil); status != http.StatusOK {
			t.Fatalf("the restart: %d", status)
		}
		c.listenFor(500 * time.Millisecond)
		c.say(speech("hello"))
		start := c.turn(transport.StateStart)
		c.turn(transport.StateEnd)
		c.hears(start.at, speech("hello"), 0.95)
		if n := w.gw.Calls(); n != 1 {
			t.Errorf("%d calls run", n)
		}
	})
}
