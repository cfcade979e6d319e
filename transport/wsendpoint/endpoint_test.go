package wsendpoint

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
	"github.com/voicegw/voicegw/transport/wsconn"
)

func asClose(err error, ce *websocket.CloseError) bool { return errors.As(err, ce) }

func TestRefusedBeforeTheUpgrade(t *testing.T) {
	upgrade := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	with := func(key, value string) http.Header {
		h := upgrade.Clone()
		h.Set(key, value)
		return h
	}
	tests := []struct {
		name, method, host string
		header             http.Header
		taken              error
		status             int
		retryAfter         string
	}{
		{"a post", "POST", "localhost", upgrade, nil, 405, ""},
		{"another's name", "GET", "evil.example", upgrade, nil, 421, ""},
		{"another's page", "GET", "localhost", with("Origin", "https://evil.example"), nil, 403, ""},
		{"no upgrade", "GET", "localhost", http.Header{}, nil, 426, ""},
		{"busy", "GET", "localhost", upgrade, &transport.Refused{Reason: transport.ReasonBusy,
			RetryAfter: 1500 * time.Millisecond}, 503, "2"},
		{"a limit", "GET", "localhost", upgrade, &transport.Refused{Reason: transport.ReasonLimit, RetryAfter: time.Second},
			429, "1"},
		{"a fault", "GET", "localhost", upgrade, errors.New("x"), 500, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := newExchange()
			lines.taken = tt.taken
			d, err := New(Config{Lines: lines}, Protocol{Name: "plain"})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(tt.method, "http://"+tt.host+"/?key=secret", nil)
			r.Header = tt.header
			w := httptest.NewRecorder()
			d.ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get("Retry-After") != tt.retryAfter || w.Body.Len() == 0 ||
				strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%d, Retry-After %q, %q; want %d, %q", w.Code, w.Header().Get("Retry-After"), w.Body, tt.status,
					tt.retryAfter)
			}
			_ = d.Close()
			w = httptest.NewRecorder()
			r = httptest.NewRequest("GET", "http://localhost/", nil)
			r.Header = upgrade
			if d.ServeHTTP(w, r); w.Code != 503 {
				t.Errorf("a closed endpoint: %d", w.Code)
			}
		})
	}
}

// TestHandshakeIsGivenUp: who says nothing makes room when the gateway asks for it, and is told
// why.
func TestHandshakeIsGivenUp(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far := s.knock()
		synctest.Wait()
		if h := s.lines.begun; h.Proven || h.GiveUp == nil {
			t.Fatalf("the handshake is %+v", h)
		}
		began := time.Now()
		s.lines.begun.GiveUp(&transport.Refused{Reason: transport.ReasonBusy, Message: "Too many."})
		for {
			_, _, err := far.Read(context.Background())
			var ce websocket.CloseError
			if err == nil {
				continue
			}
			if !asClose(err, &ce) || int(ce.Code) != transport.ReasonBusy.Code() || ce.Reason != "Too many." {
				t.Errorf("closed by %v", err)
			}
			break
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestConfig(t *testing.T) {
	for want, cfg := range map[string]Config{
		"Lines":   {},
		"Hosts":   {Lines: newExchange(), Hosts: []string{"a/b"}},
		"Origins": {Lines: newExchange(), Origins: []string{"https://a/b"}},
	} {
		if _, err := New(cfg, Protocol{Name: "plain"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want an error about %s", err, want)
		}
	}
}

func TestGreetings(t *testing.T) {
	tests := []struct {
		name    string
		say     []string
		checked error
		code    websocket.StatusCode
		words   string
	}{
		{"nothing", nil, nil, 1008, "No hello came in time."},
		{"something else", []string{"what"}, nil, 1007, "must be a hello"},
		{"too much", []string{strings.Repeat("x", 100)}, nil, 1009, "longer"},
		{"a hello that is not taken", []string{"hi"}, &transport.FieldError{Event: "hello", Field: "language",
			Value: "x", Want: "y"}, 1007, "language"},
		{"somebody unknown", []string{"hi"}, &transport.Refused{Reason: transport.ReasonUnauthorized}, 1008, "may not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config{Limits: wsconn.Limits{MessageBytesMax: 64}}, Protocol{}, func(s *street) {
				s.lines.checked = tt.checked
				far := s.knock()
				for _, words := range tt.say {
					far.say(words)
				}
				if code, words := far.closed(); code != tt.code || !strings.Contains(words, tt.words) {
					t.Errorf("closed with %d %q, want %d %q", code, words, tt.code, tt.words)
				}
			})
		})
	}
}

// TestGreetingTalks answers in the greeting, and leaves to the call what is the call's.
func TestGreetingTalks(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far := s.knock()
		far.say("who?")
		far.hears("me")
		far.say("pcm 16000 160")
		near := <-s.lines.calls
		if err := near.Ready(near.ctx, transport.Ready{}); err != nil {
			t.Fatal(err)
		}
		if ev := near.event(t, transport.EventAudio); len(ev.PCM) != 160 {
			t.Errorf("%d samples", len(ev.PCM))
		}
		far.say("text")
		near.event(t, transport.EventText)
		near.over <- nil
		far.closed()
	})
}

// TestGreetingSettles begins the call when the far end has said nothing more for a second, and
// announces frames.
func TestGreetingSettles(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		start := time.Now()
		far := s.knock()
		far.say("more?")
		time.Sleep(second / 2)
		far.say("who?")
		far.hears("me")
		near := <-s.lines.calls
		if took := time.Since(start); took != 3*second/2 {
			t.Errorf("the call began after %v", took)
		}
		if err := near.Ready(near.ctx, transport.Ready{}); err != nil {
			t.Fatal(err)
		}
		far.hears("ready")
		near.turn(t, 1, 2)
		for _, want := range []string{"turn", "first", "second", "a1", "a1"} {
			far.hears(want)
		}
		near.over <- nil
		far.closed()
	})
}

// TestBeforeReady keeps what comes early, and lets nobody wait who leaves.
func TestBeforeReady(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far := s.knock()
		far.say("hi")
		near := <-s.lines.calls
		got := make(chan transport.Event, 4)
		go func() {
			for {
				var ev transport.Event
				if near.Recv(near.ctx, &ev) != nil {
					close(got)
					return
				}
				got <- ev
			}
		}()
		far.say("text")
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("%d events before ready", len(got))
		}
		if err := near.Ready(near.ctx, transport.Ready{}); err != nil {
			t.Fatal(err)
		}
		if ev := <-got; ev.Kind != transport.EventText {
			t.Errorf("%+v", ev)
		}
		near.over <- nil
		far.closed()
		<-got
	})
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far := s.knock()
		far.say("hi")
		near := <-s.lines.calls
		far.say("text")
		far.say("bye")
		near.event(t, transport.EventBye)
		near.over <- nil
		far.closed()
	})
}

// TestSound comes at the rate of the hello, in pieces of at most a second.
func TestSound(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far, near := s.connect()
		far.say("pcm 8000 20000")
		total := 0
		for range 3 {
			ev := near.event(t, transport.EventAudio)
			if len(ev.PCM) > InputRateHz {
				t.Errorf("%d samples at once", len(ev.PCM))
			}
			total += len(ev.PCM)
		}
		if total < 39000 || total > 41000 {
			t.Errorf("%d samples of 2.5 s at 16 kHz", total)
		}
		near.over <- nil
		far.closed()
	})
}

// TestPlaysOutByTheClock hands audio over at once, and acknowledges it as it is heard.
func TestPlaysOutByTheClock(t *testing.T) {
	inBubble(t, Config{PlayoutDelay: 60 * time.Millisecond}, Protocol{ClearWait: 100 * time.Millisecond}, func(s *street) {
		far, near := s.connect()
		if err := near.SendAudio(near.ctx, 1, make([]int16, 480)); err == nil {
			t.Error("audio of a turn that was not announced went out")
		}
		start := time.Now()
		near.turn(t, 1, 10)
		far.hears("turn")
		for range 10 {
			far.hears("a1")
		}
		if time.Since(start) != 0 {
			t.Errorf("audio was held back by %v", time.Since(start))
		}
		ev := near.event(t, transport.EventAck)
		if ev.PlayedMS != 100 || time.Since(start) != 160*time.Millisecond {
			t.Errorf("%d ms were heard after %v", ev.PlayedMS, time.Since(start))
		}
		_ = near.Send(near.ctx, &transport.Message{Kind: transport.MessageClear, Generation: 1})
		far.hears("clear")
		far.say("heard 1 139")
		if ev = near.event(t, transport.EventAck); !ev.Cleared || ev.PlayedMS != 120 {
			t.Errorf("%+v, want 120 ms, cleared", ev)
		}
		near.frames(t, 1, 2)
		_ = near.Send(near.ctx, &transport.Message{Kind: transport.MessageMark, Generation: 1, ID: "1:end"})
		if ev = near.event(t, transport.EventAck); ev.PlayedMS != 160 || ev.Mark != "1:end" {
			t.Errorf("%+v, want the mark at 160 ms", ev)
		}
		near.over <- nil
		far.closed()
		if c := near.codec.(*plain).clears; len(c) != 1 || c[0] != "1 120" {
			t.Errorf("the codec was told of %q", c)
		}
	})
}

// TestPaces sends no more than the lead ahead, and on a clear nothing more.
func TestPaces(t *testing.T) {
	inBubble(t, Config{PlayoutDelay: time.Millisecond}, Protocol{Lead: 100 * time.Millisecond}, func(s *street) {
		far, near := s.connect()
		got := make(chan string, 64)
		go func() {
			defer close(got)
			for {
				_, b, err := far.Read(context.Background())
				if err != nil {
					return
				}
				got <- string(b)
			}
		}()
		near.turn(t, 1, 30)
		synctest.Wait()
		if n := len(got); n != 1+4 && n != 1+5 {
			t.Errorf("%d messages at once, want the turn and a lead of 100 ms", n)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		ahead := len(got) - 1
		if ahead < 13 || ahead > 15 {
			t.Errorf("%d frames in 200 ms", ahead)
		}
		_ = near.Send(near.ctx, &transport.Message{Kind: transport.MessageClear, Generation: 1})
		time.Sleep(second)
		synctest.Wait()
		if n := len(got) - 2; n != ahead {
			t.Errorf("%d frames followed the clear", n-ahead)
		}
		heard := int64(0)
		for heard < int64(ahead)*20 {
			heard = near.event(t, transport.EventAck).PlayedMS
		}
		if heard != int64(ahead)*20 {
			t.Errorf("%d ms of %d frames", heard, ahead)
		}
		near.frames(t, 1, 3)
		time.Sleep(second)
		synctest.Wait()
		if n := len(got) - 2; n != ahead+3 {
			t.Errorf("%d frames after the reply went on", n-ahead)
		}
		near.over <- nil
		for range got {
		}
	})
}

// TestStalls ends a call whose far end does not read.
func TestStalls(t *testing.T) {
	narrow := func() network { return wstest.NewNarrow() }
	inBubbleOn(t, narrow, Config{}, Protocol{}, func(s *street) {
		_, near := s.connect()
		start := time.Now()
		err := near.Send(near.ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart,
			Generation: 1})
		if !errors.Is(err, transport.ErrStalled) || time.Since(start) != wsconn.WriteTimeoutDefault {
			t.Errorf("Send = %v after %v", err, time.Since(start))
		}
		if err := near.Close(transport.ReasonPeerStalled, ""); !errors.Is(err, transport.ErrStalled) {
			t.Errorf("Close = %v", err)
		}
		if took := time.Since(start); took > wsconn.WriteTimeoutDefault+wsconn.CloseTimeoutDefault {
			t.Errorf("it took %v", took)
		}
		near.over <- nil
		_ = s.endpoint.Close()
	})
}

// TestIdle ends a call whose far end is gone without a word, and not that of one who only listens.
func TestIdle(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		_, near := s.connect() // nobody reads: pings are not answered
		start := time.Now()
		var ev transport.Event
		if err := near.Recv(near.ctx, &ev); transport.ReasonOf(err) != transport.ReasonIdleTimeout {
			t.Errorf("Recv = %v", err)
		}
		if took := time.Since(start); took > wsconn.IdleTimeoutDefault+2*second {
			t.Errorf("it took %v", took)
		}
		near.over <- nil
		_ = s.endpoint.Close()
	})
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far, near := s.connect()
		ctx, cancel := context.WithTimeout(near.ctx, 10*time.Minute)
		defer cancel()
		go func() {
			<-ctx.Done()
			near.over <- nil
		}()
		listening := make(chan struct{})
		go func() { defer close(listening); far.closed() }()
		var ev transport.Event
		if err := near.Recv(ctx, &ev); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Recv = %v of one who listens", err)
		}
		<-listening
	})
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name string
		far  func(c *caller)
		want transport.Reason
		code websocket.StatusCode
	}{
		{"hangs up", func(c *caller) { _ = c.Close(1000, "") }, transport.ReasonCallerHungUp, 0},
		{"closes its page", func(c *caller) { _ = c.Close(1001, "") }, transport.ReasonCallerHungUp, 0},
		{"fails", func(c *caller) { _ = c.Close(1011, "") }, transport.ReasonPeerLost, 0},
		{"breaks", func(c *caller) { _ = c.CloseNow() }, transport.ReasonPeerLost, 0},
		{"says too much", func(c *caller) { c.say(strings.Repeat("x", 1<<17)) }, transport.ReasonMessageTooBig, 1009},
		{"says what means nothing", func(c *caller) { c.say("nonsense") }, transport.ReasonBadJSON, 1007},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config{Limits: wsconn.Limits{MessageBytesMax: 1 << 16}}, Protocol{}, func(s *street) {
				far, near := s.connect()
				done := make(chan struct{})
				go func() { defer close(done); tt.far(far) }()
				var ev transport.Event
				err := near.Recv(near.ctx, &ev)
				if got := transport.ReasonOf(err); got != tt.want {
					t.Errorf("the call ended with %v, want %s", err, tt.want)
				}
				if again := near.Recv(near.ctx, &ev); transport.ReasonOf(again) != tt.want {
					t.Errorf("and then with %v", again)
				}
				if tt.code != 0 {
					if code, _ := far.closed(); code != tt.code {
						t.Errorf("closed with %d, want %d", code, tt.code)
					}
				}
				<-done
				near.over <- nil
				_ = s.endpoint.Close()
			})
		})
	}
}

// TestEndpointCloses tells the calls that run, and waits for them.
func TestEndpointCloses(t *testing.T) {
	inBubble(t, Config{}, Protocol{}, func(s *street) {
		far, near := s.connect()
		go func() {
			<-near.ctx.Done()
			_ = near.Close(transport.ReasonGoingAway, "")
			near.over <- nil
		}()
		closed := make(chan struct{})
		go func() { defer close(closed); _ = s.endpoint.Close() }()
		if code, _ := far.closed(); code != 1001 {
			t.Errorf("closed with %d", code)
		}
		<-closed
	})
}
