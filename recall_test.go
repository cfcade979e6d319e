//go:build !race

package voicegw_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// dialBook is a live.Dialer whose connections say what a test says. It keeps what each was told at its beginning.
type dialBook struct {
	mu     sync.Mutex
	takes  time.Duration // how long a dial takes
	lines  []*scriptedLine
	setups []live.Setup
	failed int // dials that were given up
}

func (d *dialBook) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	d.mu.Lock()
	takes := d.takes
	d.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		d.failed++
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &scriptedLine{says: make(chan live.ServerMessage), done: make(chan struct{})}
	d.lines, d.setups = append(d.lines, c), append(d.setups, s)
	return c, nil
}

// newest is the connection that was dialled last.
func (d *dialBook) newest() *scriptedLine {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lines[len(d.lines)-1]
}

// tells is how many dials told a word in their history, and how many there were.
func (d *dialBook) tells(word string) (told, dials int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.setups {
		for _, turn := range s.History {
			if strings.Contains(turn.Text, word) {
				told++
			}
		}
	}
	return told, len(d.setups)
}

// scriptedLine is a connection of a dialBook.
type scriptedLine struct {
	says chan live.ServerMessage
	done chan struct{}
	once sync.Once

	mu     sync.Mutex
	texts  []string
	frames int
	order  []string // what came: texts, "start", "end", and "speech" for any number of frames
}

func (s *scriptedLine) Send(_ context.Context, m live.ClientMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Kind {
	case live.ClientText:
		s.texts = append(s.texts, m.Text)
		s.order = append(s.order, m.Text)
	case live.ClientActivityStart:
		s.order = append(s.order, "start")
	case live.ClientActivityEnd:
		s.order = append(s.order, "end")
	}
	return nil
}

func (s *scriptedLine) SendAudio(context.Context, []int16) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frames++; len(s.order) == 0 || s.order[len(s.order)-1] != "speech" {
		s.order = append(s.order, "speech")
	}
	return nil
}

// got is what came, in order.
func (s *scriptedLine) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// heard is what the connection was told so far: the texts, and how many frames.
func (s *scriptedLine) heard() (texts []string, frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts), s.frames
}

func (s *scriptedLine) Close(int, string) error {
	s.once.Do(func() { close(s.done) })
	return nil
}

func (s *scriptedLine) Recv(ctx context.Context, m *live.ServerMessage) error {
	select {
	case *m = <-s.says:
		return nil
	case <-s.done:
		return &live.CloseError{Code: 1006, Class: live.ClassNetwork, Err: errors.New("gone")}
	case <-ctx.Done():
		return &live.CloseError{Code: 1006, Class: live.ClassNetwork, Err: ctx.Err()}
	}
}

// slowDisk is a record that takes its time.
type slowDisk struct{ io.Writer }

func (d slowDisk) Write(b []byte) (int, error) {
	time.Sleep(400 * time.Millisecond)
	return d.Writer.Write(b)
}
func (d slowDisk) Close() error { return nil }

// agreed is a call whose caller has agreed to be listened to.
func agreed(w *world, sessions <-chan *voicegw.Session) *phone {
	p := w.call(hello(), manner{})
	<-sessions
	p.send(transport.Event{Kind: transport.EventConsent, On: true})
	time.Sleep(3 * time.Second)
	return p
}

// TestWithdrawnTranscriptsAreDropped: a conversation is sent to the next connection, but not when
// consent was withdrawn since, even if its last transcripts wait for the archive at that moment.
func TestWithdrawnTranscriptsAreDropped(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		d := &dialBook{}
		cfg, sessions := withSession(voicegw.Config{Dialer: d,
			Archive: func(string) (io.WriteCloser, error) { return slowDisk{io.Discard}, nil }})
		cfg.Net.Consent = true
		inBubble(t, plan{gw: cfg}, func(w *world) {
			p := agreed(w, sessions)
			d.newest().says <- live.ServerMessage{Kind: live.ServerCallerTranscript, Text: "I am 4242. "}
			time.Sleep(2 * time.Second)
			p.send(transport.Event{Kind: transport.EventHold, On: true}) // durable: the words wait behind it
			time.Sleep(50 * time.Millisecond)
			d.newest().says <- live.ServerMessage{Kind: live.ServerCallerTranscript, Text: "my card is 4242"}
			time.Sleep(50 * time.Millisecond)
			if withdrawn {
				p.send(transport.Event{Kind: transport.EventConsent})
				time.Sleep(2 * time.Second)
				p.send(transport.Event{Kind: transport.EventConsent, On: true})
				time.Sleep(2 * time.Second)
			}
			p.send(transport.Event{Kind: transport.EventHold})
			time.Sleep(6 * time.Second)
			_ = d.newest().Close(0, "")
			time.Sleep(5 * time.Second)
		})
		if told, dials := d.tells("4242"); (told == 0) != withdrawn || dials < 2 {
			t.Errorf("withdrawn %v: %d of %d dials told the caller's words", withdrawn, told, dials)
		}
	}
}

// TestRecallWaitsForTheHold: a dial that tells the conversation is given up when a hold begins, and
// made again after it, once.
func TestRecallWaitsForTheHold(t *testing.T) {
	d := &dialBook{}
	cfg, _ := withSession(voicegw.Config{Dialer: d})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		d.newest().says <- live.ServerMessage{Kind: live.ServerCallerTranscript, Text: "my card is 4242"}
		d.mu.Lock()
		d.takes = 2 * time.Second
		d.mu.Unlock()
		_ = d.newest().Close(0, "")
		time.Sleep(time.Second) // it is dialled again after half of that
		p.send(transport.Event{Kind: transport.EventHold, On: true})
		time.Sleep(20 * time.Second)
		if _, dials := d.tells("4242"); dials != 1 {
			t.Errorf("on hold %d dials came about", dials-1)
		}
		p.send(transport.Event{Kind: transport.EventHold})
		time.Sleep(10 * time.Second)
	})
	if told, dials := d.tells("4242"); told != 1 || dials != 2 || d.failed != 1 {
		t.Errorf("%d dials, %d of them told the conversation, %d were given up", dials, told, d.failed)
	}
}

// TestModelComesBackWithoutConsent: a hold that ends while the caller has not agreed does not keep the model away.
func TestModelComesBackWithoutConsent(t *testing.T) {
	for _, agreedBefore := range []bool{true, false} {
		d := &dialBook{}
		cfg, sessions := withSession(voicegw.Config{Dialer: d})
		cfg.Net.Consent, cfg.Net.ConsentWait = true, 5*time.Minute
		inBubble(t, plan{gw: cfg}, func(w *world) {
			var p *phone
			if agreedBefore {
				p = agreed(w, sessions)
			} else {
				p = w.call(hello(), manner{})
				<-sessions
			}
			p.send(transport.Event{Kind: transport.EventHold, On: true})
			time.Sleep(time.Second)
			if agreedBefore {
				p.send(transport.Event{Kind: transport.EventConsent}) // which closes the connection
			}
			time.Sleep(time.Second)
			p.send(transport.Event{Kind: transport.EventHold})
			time.Sleep(time.Second)
			if !agreedBefore {
				_ = d.newest().Close(0, "")
			}
			p.state(transport.MessageModel, transport.StateBack)
			time.Sleep(time.Minute)
		})
		if _, dials := d.tells(""); dials != 2 {
			t.Errorf("agreed before: %v: %d dials, want 2", agreedBefore, dials)
		}
	}
}
