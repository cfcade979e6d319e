package webtest_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/web"
)

// breakable is a TCP proxy whose connections a test breaks.
type breakable struct {
	net.Listener
	to string

	mu    sync.Mutex
	pairs []net.Conn
	tasks sync.WaitGroup
}

func newBreakable(t *testing.T, to string) *breakable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &breakable{Listener: l, to: to}
	b.tasks.Go(b.run)
	t.Cleanup(func() {
		_ = l.Close()
		b.cut()
		b.tasks.Wait()
	})
	return b
}

func (b *breakable) run() {
	for {
		in, err := b.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", b.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		b.mu.Lock()
		b.pairs = append(b.pairs, in, out)
		b.mu.Unlock()
		for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
			b.tasks.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_ = in.Close()
				_ = out.Close()
			})
		}
	}
}

// cut breaks all connections, without a word to either side.
func (b *breakable) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.pairs {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	b.pairs = nil
}

// TestPageGoesOn breaks the connection of a page twice in the middle of a reply: the page connects
// again by itself, and its speaker gives the whole reply, each part once.
func TestPageGoesOn(t *testing.T) {
	const rateHz = 24000
	greeting := speech("long", rateHz)
	model, err := sim.New(sim.Config{Greeting: greeting, GreetingText: "Hello."})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Greeting: "Greet the caller."})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{}))
	mux.Handle("/v1/voice", gw)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = gw.Close()
		server.Close()
		_ = model.Close()
	})
	proxy := newBreakable(t, server.Listener.Addr().String())
	silence := browsertest.WriteWAV(t, 48000, make([]int16, 48000*60))
	tab := browsertest.Launch(t, browsertest.Config{Microphone: silence}).Open(t,
		"http://"+proxy.Addr().String()+"/?raw=1&tap=1")
	tab.WaitFor(`window.voicegw`)
	tab.Eval(`(window.story = [], ["reconnecting", "reconnected"].forEach((type) =>
		voicegw.client.on(type, () => window.story.push(type))), 0)`, nil)
	tab.Click("#talk")
	for i, at := range []string{"1500", "4000"} {
		tab.WaitFor(`voicegw.stats().playedMs > ` + at)
		proxy.cut()
		tab.WaitFor(`window.story.length === ` + []string{"2", "4"}[i])
	}
	tab.WaitFor(`document.querySelector("#reason").textContent.startsWith("Finished")`)
	var stats struct {
		Turns, PlayedMs, Underruns int
		State                      string
	}
	tab.Eval(`voicegw.stats()`, &stats)
	t.Logf("%+v", stats)
	if want := 1000 * len(greeting) / rateHz; stats.Turns != 1 || stats.State != "live" || stats.PlayedMs < want ||
		stats.PlayedMs > want+40 {
		t.Errorf("%+v, want one turn of %d ms", stats, want)
	}
	heard := played(t, tab)
	ref := audiotest.Resample(audiotest.Speech("long"), heard.RateHz).Samples
	if ratio := energy(heard.Samples) / energy(ref); ratio < 0.97 || ratio > 1.03 {
		t.Errorf("the speaker gave %.3f of the reply's energy, want all of it once", ratio)
	}
	for _, part := range [][2]time.Duration{{0, 1400 * time.Millisecond},
		{5500 * time.Millisecond, 7500 * time.Millisecond}} {
		from, to := int(part[0].Seconds()*float64(heard.RateHz)), int(part[1].Seconds()*float64(heard.RateHz))
		if _, corr := audiotest.Align(ref[from:to], heard.Samples); corr < 0.98 {
			t.Errorf("%v to %v of the reply were heard by %.3f", part[0], part[1], corr)
		}
	}
	if n := len(model.Connections()); n != 1 || gw.Calls() != 1 {
		t.Errorf("%d connections to the model, %d calls", n, gw.Calls())
	}
	tab.Click("#talk")
	tab.WaitFor(`voicegw.stats().state === "ended"`)
}

// energy is the sum of the squares.
func energy(pcm []int16) (sum float64) {
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum
}
