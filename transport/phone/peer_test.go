package phone

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// words is the plainest protocol: sound is binary, text is a command and an argument.
type words struct{ pcm []int16 }

var errWord = errors.New("no such word")

func (w *words) Take(b []byte, text bool, in *Inlet) error {
	if !text {
		w.pcm = L16.AppendSamples(w.pcm[:0], b)
		in.Audio(w.pcm)
		return nil
	}
	switch b[0] {
	case 'm':
		in.Mark(b[1:])
	case 'd':
		return in.Digit(string(b[1:]))
	case 'b':
		in.Bye()
	case 's':
		in.Flow(true)
	case 'g':
		in.Flow(false)
	case 'e':
		return transport.End(transport.ReasonBadAudio, "", nil)
	default:
		return errWord
	}
	return nil
}

func (w *words) AppendAudio(dst []byte, pcm []int16) []byte { return L16.AppendBytes(dst, pcm) }
func (w *words) AppendMark(dst, name []byte) []byte         { return append(append(dst, 'm'), name...) }
func (w *words) AppendClear(dst []byte) []byte              { return append(dst, 'c') }
func (w *words) AppendBye(dst []byte) []byte                { return append(dst, "bye"...) }

// joined runs a story of a peer and its carrier, where time is free.
func joined(t *testing.T, narrow bool, line Line, story func(t *testing.T, p *Peer, c *websocket.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := wstest.New()
		if narrow {
			l = wstest.NewNarrow()
		}
		peers, over := make(chan *Peer), make(chan struct{})
		line.Protocol, line.BinaryAudio = &words{}, true
		line.Hello.InputRateHz, line.Hello.OutputRateHz = 8000, 8000
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limits := Limits{FaultsMax: 3}.WithDefaults()
			conn, err := wsconn.Accept(w, r, limits.Limits, wsconn.Options{})
			if err != nil {
				t.Error(err)
				close(peers)
				return
			}
			peers <- newPeer(conn, limits, line)
			<-over
		})}
		var wg sync.WaitGroup
		wg.Go(func() { _ = srv.Serve(l) })
		tr := &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}
		c, _, err := websocket.Dial(t.Context(), "ws://localhost/",
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
		if err != nil {
			t.Fatal(err)
		}
		p := <-peers
		story(t, p, c)
		_ = p.Close(transport.ReasonDone, "")
		_ = c.CloseNow()
		close(over)
		_ = srv.Close()
		wg.Wait()
	})
}

// begin accepts the call and starts a turn.
func begin(t *testing.T, p *Peer) {
	t.Helper()
	if err := p.Ready(t.Context(), transport.Ready{}); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(t.Context(), &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart,
		Generation: 1}); err != nil {
		t.Fatal(err)
	}
}

// drain reads everything until the end, and returns the text messages and how many bytes of sound
// came.
func drain(c *websocket.Conn) (done chan struct{}, texts *[]string, bytes *int) {
	done, texts, bytes = make(chan struct{}), new([]string), new(int)
	go func() {
		defer close(done)
		for {
			typ, b, err := c.Read(context.Background())
			switch {
			case err != nil:
				return
			case typ == websocket.MessageText:
				*texts = append(*texts, string(b))
			default:
				*bytes += len(b)
			}
		}
	}()
	return done, texts, bytes
}

func say(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestPeerEvents(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 2*20000)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"d5", "mg1:20:1", "b"} {
			say(t, c, text)
		}
		var ev transport.Event
		for i, want := range []struct {
			kind    transport.EventKind
			samples int
		}{{transport.EventAudio, 8000}, {transport.EventAudio, 8000}, {transport.EventAudio, 4000},
			{transport.EventDTMF, 0}, {transport.EventBye, 0}} {
			if err := p.Recv(t.Context(), &ev); err != nil || ev.Kind != want.kind || len(ev.PCM) != want.samples {
				t.Fatalf("event %d is %s with %d samples, %v; want %s with %d", i, ev.Kind, len(ev.PCM), err, want.kind,
					want.samples)
			}
		}
		if n := p.Counters(); n.MarksUnknown != 1 || n.AudioIn != 3 {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestPeerEnds lists why a call ends, and what Recv says then, again and again.
func TestPeerEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story func(t *testing.T, p *Peer, c *websocket.Conn)
		want  transport.Reason
		after time.Duration
	}{
		{"hang-up", func(t *testing.T, _ *Peer, c *websocket.Conn) { go func() { _ = c.Close(1000, "") }() },
			transport.ReasonCallerHungUp, 0},
		{"a line that breaks", func(t *testing.T, _ *Peer, c *websocket.Conn) { _ = c.CloseNow() },
			transport.ReasonPeerLost, 0},
		{"silence", func(t *testing.T, _ *Peer, c *websocket.Conn) { drain(c) },
			transport.ReasonIdleTimeout, IdleTimeoutDefault},
		{"the protocol says so", func(t *testing.T, _ *Peer, c *websocket.Conn) { say(t, c, "e"); drain(c) },
			transport.ReasonBadAudio, 0},
		{"too many faults", func(t *testing.T, _ *Peer, c *websocket.Conn) {
			for range 4 {
				say(t, c, "?")
			}
			drain(c)
		}, transport.ReasonBadJSON, 0},
		{"too long a message", func(t *testing.T, _ *Peer, c *websocket.Conn) {
			_ = c.Write(context.Background(), websocket.MessageText, make([]byte, wsconn.MessageBytesMaxDefault+1))
			drain(c)
		}, transport.ReasonMessageTooBig, 0},
		{"closed here", func(t *testing.T, p *Peer, c *websocket.Conn) {
			drain(c)
			_ = p.Close(transport.ReasonTransferred, "")
		}, transport.ReasonTransferred, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
				start := time.Now()
				tt.story(t, p, c)
				var ev transport.Event
				for range 2 {
					if err := p.Recv(t.Context(), &ev); transport.ReasonOf(err) != tt.want {
						t.Errorf("ended by %v, want %s", err, tt.want)
					}
				}
				if took := time.Since(start); took < tt.after || took > tt.after+wsconn.CloseTimeoutDefault {
					t.Errorf("after %v, want %v", took, tt.after)
				}
				if err := p.SendAudio(t.Context(), 1, make([]int16, 160)); transport.ReasonOf(err) != tt.want {
					t.Errorf("SendAudio behind the end: %v", err)
				}
			})
		})
	}
}

func TestPeerRecvGivesUp(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var ev transport.Event
		if err := p.Recv(ctx, &ev); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Recv: %v", err)
		}
		if err := p.Recv(ctx, &ev); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Recv with a context that is done: %v", err)
		}
		drain(c)
	})
}

// TestPeerNobodyReceives closes a peer whose events nobody takes.
func TestPeerNobodyReceives(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		for range 10 * inboxMax {
			say(t, c, "d1")
		}
		drain(c)
		synctest.Wait()
		if err := p.Close(transport.ReasonDone, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestPeerStalls sends to a far end that does not read.
func TestPeerStalls(t *testing.T) {
	joined(t, true, Line{}, func(t *testing.T, p *Peer, _ *websocket.Conn) {
		begin(t, p)
		start := time.Now()
		err := p.SendAudio(t.Context(), 1, make([]int16, 160))
		if !errors.Is(err, transport.ErrStalled) || time.Since(start) != wsconn.WriteTimeoutDefault {
			t.Errorf("SendAudio: %v after %v", err, time.Since(start))
		}
		if err := p.SendAudio(t.Context(), 1, make([]int16, 160)); !errors.Is(err, transport.ErrStalled) {
			t.Errorf("SendAudio again: %v", err)
		}
		start = time.Now()
		if err := p.Close(transport.ReasonPeerStalled, ""); !errors.Is(err, transport.ErrStalled) ||
			time.Since(start) > wsconn.CloseTimeoutDefault {
			t.Errorf("Close: %v after %v", err, time.Since(start))
		}
	})
}

// TestPeerFlow stops the audio while the far end is full, and gives up in time.
func TestPeerFlow(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		begin(t, p)
		done, _, bytes := drain(c)
		say(t, c, "s")
		say(t, c, "s")
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			say(t, c, "g")
		}()
		start := time.Now()
		if err := p.SendAudio(t.Context(), 1, make([]int16, 160)); err != nil || time.Since(start) != time.Second {
			t.Errorf("SendAudio: %v after %v", err, time.Since(start))
		}
		say(t, c, "s")
		synctest.Wait()
		start = time.Now()
		if err := p.SendAudio(t.Context(), 1, make([]int16, 160)); !errors.Is(err, transport.ErrStalled) ||
			time.Since(start) != wsconn.WriteTimeoutDefault {
			t.Errorf("SendAudio to a full far end: %v after %v", err, time.Since(start))
		}
		_ = p.Close(transport.ReasonDone, "")
		<-done
		if *bytes != 320 {
			t.Errorf("%d bytes of sound were sent, want 320", *bytes)
		}
	})
}

// TestPeerRefuses what a gateway may not do.
func TestPeerRefuses(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		drain(c)
		ctx := t.Context()
		if p.Send(ctx, &transport.Message{Kind: transport.MessageClear}) == nil {
			t.Error("Send before Ready")
		}
		begin(t, p)
		if p.Ready(ctx, transport.Ready{}) == nil {
			t.Error("a second Ready")
		}
		if err := p.SendAudio(ctx, 2, make([]int16, 160)); err == nil || transport.ReasonOf(err) == transport.ReasonNone {
			t.Error("audio of a generation that was not announced")
		}
		for _, k := range []transport.MessageKind{transport.MessageNone, transport.MessageBye, transport.MessageAudio} {
			if p.Send(ctx, &transport.Message{Kind: k}) == nil {
				t.Errorf("Send of %s", k)
			}
		}
		for _, k := range []transport.MessageKind{transport.MessageSpeech, transport.MessageTranscript,
			transport.MessageNet, transport.MessageError, transport.MessageTransfer} {
			if err := p.Send(ctx, &transport.Message{Kind: k}); err != nil {
				t.Errorf("Send of %s, which means nothing here: %v", k, err)
			}
		}
	})
}

// TestPeerChunks gathers frames where the carrier wants longer messages, and fills up the last one.
func TestPeerChunks(t *testing.T) {
	joined(t, false, Line{ChunkFrames: 5}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		begin(t, p)
		done, texts, bytes := drain(c)
		for range 7 {
			if err := p.SendAudio(t.Context(), 1, make([]int16, 160)); err != nil {
				t.Fatal(err)
			}
		}
		_ = p.Send(t.Context(), &transport.Message{Kind: transport.MessageMark, Generation: 1, ID: "1:end"})
		_ = p.Close(transport.ReasonDone, "")
		<-done
		if *bytes != 2*5*320 || len(*texts) != 3 || (*texts)[0] != "mg1:100:1" || (*texts)[1] != "mg1:140:2" ||
			(*texts)[2] != "bye" {
			t.Errorf("%d bytes and %q were sent", *bytes, *texts)
		}
	})
}

// TestPeerManyClears answers clears that nobody receives, and keeps the last ones.
func TestPeerManyClears(t *testing.T) {
	joined(t, false, Line{}, func(t *testing.T, p *Peer, c *websocket.Conn) {
		drain(c)
		begin(t, p)
		for g := range uint64(3 * answersMax) {
			if err := p.Send(t.Context(), &transport.Message{Kind: transport.MessageClear, Generation: g + 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range uint64(answersMax) {
			var ev transport.Event
			if err := p.Recv(t.Context(), &ev); err != nil || !ev.Cleared || ev.Generation != 2*answersMax+1+i {
				t.Fatalf("answer %d is %+v, %v", i, ev, err)
			}
		}
	})
}
