package sim_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// world is a server and the way to it, in a bubble where time passes only when everybody waits.
type world struct {
	t      *testing.T
	server *sim.Server
	wire   live.Wire
}

// inWorld runs f in a bubble with a server of this configuration.
func inWorld(t *testing.T, cfg sim.Config, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		network := wstest.NewNarrow()
		httpServer := &http.Server{Handler: server}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = httpServer.Serve(network)
		}()
		transport := &http.Transport{DialContext: network.Dial, DisableKeepAlives: true}
		w := &world{t: t, server: server, wire: live.Wire{
			BaseURL:    "ws://sim",
			HTTPClient: &http.Client{Transport: transport},
		}}
		f(w)
		_ = server.Close()
		_ = httpServer.Close()
		<-ended
	})
}

// connection is what the server remembers of the connection with this number, from 1.
func (w *world) connection(id int) sim.Connection {
	w.t.Helper()
	synctest.Wait()
	for _, c := range w.server.Connections() {
		if c.ID == id {
			return c
		}
	}
	w.t.Fatalf("the server has no connection %d", id)
	return sim.Connection{}
}

// heard is a message and when it came, since the dial.
type heard struct {
	live.ServerMessage
	at time.Duration
}

// caller is one end of a call. A goroutine of its own receives.
type caller struct {
	t     *testing.T
	conn  live.Conn
	began time.Time

	mu       sync.Mutex
	messages []heard
	err      error
	ended    chan struct{}
}

func (w *world) call(setup live.Setup) *caller {
	w.t.Helper()
	conn, err := w.wire.Dial(w.t.Context(), setup)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &caller{t: w.t, conn: conn, began: time.Now(), ended: make(chan struct{})}
	go c.listen()
	return c
}

func (c *caller) listen() {
	defer close(c.ended)
	var m live.ServerMessage
	for {
		err := c.conn.Recv(context.Background(), &m)
		c.mu.Lock()
		if err != nil {
			c.err = err
			c.mu.Unlock()
			return
		}
		h := heard{m, time.Since(c.began)}
		h.PCM = slices.Clone(m.PCM)
		c.messages = append(c.messages, h)
		c.mu.Unlock()
	}
}

// take returns what came since the last take, once everybody waits.
func (c *caller) take() []heard {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.messages
	c.messages = nil
	return out
}

// after lets time pass and returns what came meanwhile.
func (c *caller) after(d time.Duration) []heard {
	time.Sleep(d)
	return c.take()
}

// end hangs up and waits for the receiver.
func (c *caller) end() {
	c.t.Helper()
	_ = c.conn.Close(1000, "done")
	<-c.ended
}

// lost waits until the connection has failed and returns why.
func (c *caller) lost() *live.CloseError {
	c.t.Helper()
	<-c.ended
	defer func() { _ = c.conn.Close(1000, "") }()
	e, ok := c.err.(*live.CloseError)
	if !ok {
		c.t.Fatalf("the connection failed with %v, no CloseError", c.err)
	}
	return e
}

func (c *caller) send(m live.ClientMessage) {
	c.t.Helper()
	if err := c.conn.Send(context.Background(), m); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) text(s string) {
	c.t.Helper()
	c.send(live.ClientMessage{Kind: live.ClientText, Text: s})
}
func (c *caller) start() { c.t.Helper(); c.send(live.ClientMessage{Kind: live.ClientActivityStart}) }
func (c *caller) stop()  { c.t.Helper(); c.send(live.ClientMessage{Kind: live.ClientActivityEnd}) }

// speak sends 16 kHz audio in frames of 20 ms, in real time.
func (c *caller) speak(pcm []int16) {
	c.t.Helper()
	for frame := range slices.Chunk(pcm, 320) {
		if err := c.conn.SendAudio(context.Background(), frame); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// turn speaks with manual activity.
func (c *caller) turn(pcm []int16) {
	c.t.Helper()
	c.start()
	c.speak(pcm)
	c.stop()
}

// kinds names the messages, runs of the same kind once, without audio's transcripts.
func kinds(messages []heard) []string {
	var out []string
	for _, m := range messages {
		name := m.Kind.String()
		if m.Kind == live.ServerModelTranscript || len(out) > 0 && out[len(out)-1] == name {
			continue
		}
		out = append(out, name)
	}
	return out
}

func pcmOf(messages []heard) (pcm []int16) {
	for _, m := range messages {
		pcm = append(pcm, m.PCM...)
	}
	return pcm
}

func textOf(messages []heard, kind live.ServerKind) (text string) {
	for _, m := range messages {
		if m.Kind == kind {
			text += m.Text
		}
	}
	return text
}

// first finds the first message of a kind.
func first(t *testing.T, messages []heard, kind live.ServerKind) heard {
	t.Helper()
	i := slices.IndexFunc(messages, func(m heard) bool { return m.Kind == kind })
	if i < 0 {
		t.Fatalf("no %v in %v", kind, kinds(messages))
	}
	return messages[i]
}

func wantKinds(t *testing.T, messages []heard, want ...string) {
	t.Helper()
	if got := kinds(messages); !slices.Equal(got, want) {
		t.Errorf("messages\n got %v\nwant %v", got, want)
	}
}

// playtime is how long 24 kHz audio plays.
func playtime(n int) time.Duration { return time.Duration(n) * time.Second / 24000 }

// speech is 16 kHz speech.
func speech(name string) []int16 { return audiotest.Resample(audiotest.Speech(name), 16000).Samples }

// parroted is what the parrot makes of 16 kHz audio.
func parroted(pcm []int16) []int16 {
	return audiotest.Resample(audio.PCM{RateHz: 16000, Samples: pcm}, 24000).Samples
}
