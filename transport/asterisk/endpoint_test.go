package asterisk_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/phone"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// patience is how long a story waits for what must come.
const patience = 2 * time.Minute

// world is a gateway with this endpoint, between an embedded model and calls of Asterisk's, where
// time is free.
type world struct {
	t        *testing.T
	gw       *voicegw.Gateway
	endpoint *asterisk.Endpoint
	net      *wstest.Network
	tap      *tap
}

// tap stands between endpoint and gateway and notes events.
type tap struct {
	transport.Lines
	mu     sync.Mutex
	events []transport.Event
}

// Take takes a line whose peer is listened to.
func (t *tap) Take(h transport.Handshake) (transport.Line, error) {
	l, err := t.Lines.Take(h)
	if err != nil {
		return nil, err
	}
	return tappedLine{l, t}, nil
}

type tappedLine struct {
	transport.Line
	tap *tap
}

// Call listens to the peer.
func (l tappedLine) Call(ctx context.Context, p transport.Peer) error {
	return l.Line.Call(ctx, tappedPeer{p, l.tap})
}

type tappedPeer struct {
	transport.Peer
	tap *tap
}

// Recv notes what is no audio.
func (p tappedPeer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.Peer.Recv(ctx, ev)
	if err == nil && ev.Kind != transport.EventAudio {
		noted := *ev
		noted.PCM = nil
		p.tap.mu.Lock()
		p.tap.events = append(p.tap.events, noted)
		p.tap.mu.Unlock()
	}
	return err
}

func (t *tap) seen(fits func(transport.Event) bool) (list []transport.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.events), func(ev transport.Event) bool { return !fits(ev) })
}

func inBubble(t *testing.T, model sim.Config, cfg asterisk.Config, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(model)
		if err != nil {
			t.Fatal(err)
		}
		back, front := wstest.New(), wstest.New()
		defer serve(back, server)()
		defer func() { _ = server.Close() }()
		gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://model",
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}}})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, gw: gw, net: front, tap: &tap{Lines: gw.Lines()}}
		cfg.Lines = w.tap
		if w.endpoint, err = asterisk.New(cfg); err != nil {
			t.Fatal(err)
		}
		defer serve(front, w.endpoint)()
		defer func() {
			_ = gw.Close()
			_ = w.endpoint.Close()
		}()
		story(w)
	})
}

func serve(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	return func() {
		_ = server.Close()
		running.Wait()
	}
}

// call makes a call that lasts until it is hung up, or the story is over.
func (w *world) call(cfg phonetest.Config) *phonetest.Phone {
	w.t.Helper()
	if cfg.Dialect == "" {
		cfg.Dialect = phonetest.Asterisk
	}
	if cfg.URL == "" {
		cfg.URL = "ws://127.0.0.1/v1/asterisk"
	}
	cfg.Dial = w.net.Dial
	p, err := phonetest.Dial(context.Background(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.HangUp()
		if err := p.Strange(); err != nil {
			w.t.Errorf("Asterisk was sent what it does not take: %v", err)
		}
	})
	return p
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	w.look(what, 5*time.Millisecond, ok)
}

// look is eventually for what costs time to look at, now and then.
func (w *world) look(what string, every time.Duration, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(every) {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

// heard waits until something was heard, and then nothing for quiet.
func (w *world) heard(p *phonetest.Phone, rateHz int, quiet time.Duration) (heard []int16) {
	w.t.Helper()
	w.look("something is heard, and then nothing", 200*time.Millisecond, func() bool {
		heard = p.Heard()
		last := audiotest.LastLoud(heard, rateHz)
		return last >= 0 && time.Duration(len(heard)-last)*time.Second/time.Duration(rateHz) >= quiet
	})
	return heard
}

func speech(name string, rateHz int) []int16 {
	return audiotest.Resample(audiotest.Speech(name), rateHz).Samples
}

// like is how like the waveforms are, compared at a rate where a part of a sample does not count.
func like(ref, heard []int16, rateHz int) (corr float64, holes int) {
	fineHz := 3 * rateHz
	fine := func(pcm []int16) []int16 {
		return audiotest.Resample(audio.PCM{RateHz: rateHz, Samples: pcm}, fineHz).Samples
	}
	ref, heard = fine(ref), fine(heard)
	lag, corr := audiotest.Align(ref, heard)
	return corr, audiotest.Holes(ref, audiotest.Shift(heard, lag, len(ref)), fineHz)
}

// TestHearsItsOwnWords, in both ways of writing and in several formats.
func TestHearsItsOwnWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  phonetest.Config
	}{
		{"JSON", phonetest.Config{Dialect: phonetest.Asterisk}},
		{"plain text", phonetest.Config{Dialect: phonetest.AsteriskPlain}},
		{"A-law", phonetest.Config{Codec: phone.PCMA}},
		{"slin16", phonetest.Config{Codec: phone.L16, RateHz: 16000}},
		{"behind a network", phonetest.Config{Delay: 40 * time.Millisecond}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, sim.Config{}, asterisk.Config{}, func(w *world) {
				rate := max(8000, tt.cfg.RateHz)
				p := w.call(tt.cfg)
				p.Say(speech("question", rate))
				heard := w.heard(p, rate, 2*time.Second)
				if corr, holes := like(speech("question", rate), heard, rate); corr < 0.98 || holes > 0 {
					t.Errorf("came back with correlation %.3f and %d holes", corr, holes)
				}
				if corr, _ := like(speech("german", rate), heard, rate); corr > 0.5 {
					t.Errorf("is like another sentence by %.2f", corr)
				}
			})
		})
	}
}

// reply has the caller say something and waits until d of the reply of eight seconds was heard.
func (w *world) reply(p *phonetest.Phone, d time.Duration) (from int) {
	w.t.Helper()
	p.Say(speech("hello", 8000))
	w.look("the reply is heard", 40*time.Millisecond, func() bool {
		h := p.Heard()
		from = audiotest.FirstLoud(h, 8000)
		return from >= 0 && len(h)-from >= int(d*8000/time.Second)
	})
	return from
}

func long() sim.Config { return sim.Config{FixedReply: speech("long", 24000)} }

func TestBargeIn(t *testing.T) {
	for _, dialect := range []string{phonetest.Asterisk, phonetest.AsteriskPlain} {
		inBubble(t, long(), asterisk.Config{}, func(w *world) {
			p := w.call(phonetest.Config{Dialect: dialect, Delay: 20 * time.Millisecond})
			from := w.reply(p, 2*time.Second)
			began := len(p.Heard())
			p.Say(speech("over", 8000))
			w.eventually("the queue is flushed", func() bool { return p.Clears() > 0 })
			silence := len(p.Heard())
			if took := (silence - began) * 1000 / 8000; took > 900 {
				t.Errorf("the reply went on for %d ms", took)
			}
			time.Sleep(time.Second)
			ref := speech("long", 8000)[audiotest.FirstLoud(speech("long", 8000), 8000):]
			judged := began - from + 8000
			if _, corr := audiotest.Align(ref[judged:judged+8000], p.Heard()[silence:]); corr > 0.2 {
				t.Errorf("behind the interruption the rest of the reply was heard by %.2f", corr)
			}
		})
	}
}

// TestCough pauses and resumes: nothing is lost and little repeated.
func TestCough(t *testing.T) {
	inBubble(t, long(), asterisk.Config{}, func(w *world) {
		p := w.call(phonetest.Config{})
		w.reply(p, 2*time.Second)
		p.Say(speech("cough", 8000))
		heard := w.heard(p, 8000, 2*time.Second)
		ref, to := speech("long", 8000), 0
		parts := audiotest.Utterances(heard, 8000, 450*time.Millisecond)
		if len(parts) < 2 || p.Clears() == 0 {
			w.t.Fatalf("heard in %d parts, %d flushes", len(parts), p.Clears())
		}
		for i, u := range parts {
			part := heard[u[0]:u[1]]
			lag, corr := audiotest.Align(part, ref)
			if corr < 0.97 || i > 0 && (lag > to+80 || lag < to-480) {
				t.Errorf("part %d is like the reply by %.3f and goes on at %d, heard until then were %d", i, corr, lag, to)
			}
			to = lag + len(part)
		}
	})
}

func TestKeys(t *testing.T) {
	for _, dialect := range []string{phonetest.Asterisk, phonetest.AsteriskPlain} {
		inBubble(t, sim.Config{}, asterisk.Config{}, func(w *world) {
			p := w.call(phonetest.Config{Dialect: dialect})
			p.Press("1")
			p.Press("#")
			digits := func(ev transport.Event) bool { return ev.Kind == transport.EventDTMF }
			w.eventually("two keys", func() bool { return len(w.tap.seen(digits)) == 2 })
			if got := w.tap.seen(digits); got[0].Text != "1" || got[1].Text != "#" {
				t.Errorf("pressed 1 and #, got %+v", got)
			}
		})
	}
}

// TestHangUp from both sides: ours in so many words, theirs by closing.
func TestHangUp(t *testing.T) {
	inBubble(t, sim.Config{}, asterisk.Config{}, func(w *world) {
		p := w.call(phonetest.Config{})
		w.eventually("a call", func() bool { return w.gw.Calls() == 1 })
		p.HangUp()
		w.eventually("no call", func() bool { return w.gw.Calls() == 0 })
		p = w.call(phonetest.Config{})
		w.eventually("a call", func() bool { return w.gw.Calls() == 1 })
		_ = w.gw.Close()
		w.eventually("HANGUP", func() bool { _, hungUp := p.End(); return hungUp })
	})
}

// TestSurvives all of what is odd in one call.
func TestSurvives(t *testing.T) {
	inBubble(t, sim.Config{}, asterisk.Config{}, func(w *world) {
		p := w.call(phonetest.Config{})
		p.Say(speech("question", 8000))
		time.Sleep(500 * time.Millisecond)
		for _, text := range []string{"hello", "{", "", `{"event":"WEATHER"}`, string(p.Opening()[0]),
			`{"event":"ERROR","error_text":"no"}`, `{"event":"MEDIA_MARK_PROCESSED"}`,
			`{"event":"MEDIA_MARK_PROCESSED","correlation_id":"g9:20:7"}`, `{"event":"DTMF_END","digit":"12"}`,
			`{"event":"MEDIA_XON"}`, `{"event":"MEDIA_XOFF"}`, `{"event":"MEDIA_XON"}`, `{"event":"QUEUE_DRAINED"}`} {
			p.Send([]byte(text), true)
			time.Sleep(20 * time.Millisecond)
		}
		p.Send(nil, false)
		if corr, _ := like(speech("question", 8000), w.heard(p, 8000, 2*time.Second), 8000); corr < 0.98 {
			t.Errorf("came back with correlation %.3f", corr)
		}
	})
}

// TestFullQueue: from XOFF to XON no sound is sent, and then the reply goes on where it was.
func TestFullQueue(t *testing.T) {
	inBubble(t, long(), asterisk.Config{}, func(w *world) {
		p := w.call(phonetest.Config{})
		w.reply(p, 2*time.Second)
		p.Send([]byte(`{"event":"MEDIA_XOFF","channel_id":"CA1"}`), true)
		w.eventually("the queue runs dry", func() bool { return p.Queued() == 0 })
		before := audiotest.LastLoud(p.Heard(), 8000)
		time.Sleep(time.Second)
		if after := audiotest.LastLoud(p.Heard(), 8000); after != before {
			t.Errorf("while the queue was full %d samples were heard", after-before)
		}
		p.Send([]byte(`{"event":"MEDIA_XON","channel_id":"CA1"}`), true)
		w.eventually("the reply goes on", func() bool { return p.Queued() > 0 })
	})
}

// TestEnds: what does not become a call.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		send func(p *phonetest.Phone)
		want transport.Reason
	}{
		{"no start", func(*phonetest.Phone) {}, transport.ReasonHelloTimeout},
		{"sound alone", func(p *phonetest.Phone) {
			for range 2 * phone.FaultsMaxDefault {
				p.Send(make([]byte, 160), false)
			}
		}, transport.ReasonEventBeforeHello},
		{"another protocol", func(p *phonetest.Phone) { p.Send([]byte("hello"), true) }, transport.ReasonBadJSON},
		{"another codec", func(p *phonetest.Phone) {
			p.Send([]byte(strings.Replace(string(p.Opening()[0]), "ulaw", "opus", 1)), true)
		}, transport.ReasonBadAudio},
	} {
		inBubble(t, sim.Config{}, asterisk.Config{}, func(w *world) {
			p := w.call(phonetest.Config{Silent: true})
			tt.send(p)
			<-p.Done()
			if code, _ := p.End(); code != tt.want.Code() {
				t.Errorf("%s: closed with %d, want %d", tt.name, code, tt.want.Code())
			}
		})
	}
}

// TestPassword: who may call. Without one only the loopback may, which this network is.
func TestPassword(t *testing.T) {
	inBubble(t, sim.Config{}, asterisk.Config{User: "pbx", Password: "p4ss"}, func(w *world) {
		for _, tt := range []struct {
			user, password, origin string
			status                 int
		}{
			{"", "", "", 401}, {"pbx", "", "", 401}, {"pbx", "x", "", 401}, {"x", "p4ss", "", 401},
			{"pbx", "p4ss", "http://127.0.0.1", 403}, {"pbx", "p4ss", "", 101},
		} {
			r := &http.Request{Header: http.Header{}}
			if tt.user != "" {
				r.SetBasicAuth(tt.user, tt.password)
			}
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			p, err := phonetest.Dial(context.Background(), phonetest.Config{URL: "ws://127.0.0.1/", Dial: w.net.Dial,
				Header: r.Header, Dialect: phonetest.Asterisk})
			refused := &phonetest.Refused{Status: 101}
			errors.As(err, &refused)
			if refused.Status != tt.status {
				t.Errorf("%+v: %d, %v", tt, refused.Status, err)
			}
			if p != nil {
				p.HangUp()
			}
		}
	})
	open, _ := asterisk.New(asterisk.Config{Lines: &tap{}, Hosts: []string{"example.com"}})
	r := httptest.NewRequest("GET", "/v1/asterisk", nil)
	r.Header.Set("Upgrade", "websocket")
	outside := net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)})
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, outside))
	w := httptest.NewRecorder()
	if open.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("no password, not on the loopback: %d", w.Code)
	}
	r.Host = "rebound.example"
	w = httptest.NewRecorder()
	if open.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("by the name of another server: %d", w.Code)
	}
}
