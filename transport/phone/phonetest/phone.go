package phonetest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
)

const (
	tick     = 5 * time.Millisecond // how exactly a Phone keeps time
	queueMax = 10000                // messages on their way
)

// Phone is a call that goes on until HangUp, or until the door ends it. Its methods are safe for concurrent use.
type Phone struct {
	cfg   Config
	conn  *websocket.Conn
	began time.Time
	tasks sync.WaitGroup
	stop  chan struct{} // closed to end the clock
	once  sync.Once

	mu      sync.Mutex
	player  *audio.Player
	voice   []int16 // what there is to say
	muted   bool    // sends nothing
	sent    int     // media messages, also lost ones
	behind  []byte  // one that is sent behind the next
	marks   []string
	up      []letter // on their way to the door
	down    []letter // on their way from it
	clears  int
	hungUp  bool // by the door, in so many words
	err     error
	strange error         // something the door should not have sent
	done    chan struct{} // closed when the connection is over
}

// letter is a message on its way.
type letter struct {
	at   time.Duration
	b    []byte
	text bool
}

// Dial opens a stream. HangUp must follow.
func Dial(ctx context.Context, cfg Config) (*Phone, error) {
	cfg = cfg.withDefaults()
	transport := &http.Transport{DialContext: cfg.Dial, DisableKeepAlives: true}
	opts := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, HTTPHeader: cfg.Header}
	if cfg.Dialect == Asterisk || cfg.Dialect == AsteriskPlain {
		opts.Subprotocols = []string{"media"}
	}
	conn, resp, err := websocket.Dial(ctx, cfg.URL, opts)
	if err != nil {
		if resp != nil {
			return nil, &Refused{Status: resp.StatusCode, Header: resp.Header}
		}
		return nil, fmt.Errorf("phonetest: dial: %w", err)
	}
	conn.SetReadLimit(1 << 20)
	p := &Phone{cfg: cfg, conn: conn, began: time.Now(), stop: make(chan struct{}), done: make(chan struct{}),
		player: audio.NewPlayer(cfg.RateHz)}
	if cfg.Silent {
		p.muted = true
	} else {
		for _, b := range cfg.opening() {
			p.up = append(p.up, letter{at: cfg.Delay, b: b, text: true})
		}
	}
	p.tasks.Go(p.clock)
	if !cfg.Deaf {
		p.tasks.Go(p.listen)
	}
	return p, nil
}

// Refused is the answer to an upgrade that was not taken.
type Refused struct {
	Status int
	Header http.Header
}

// Error names the status.
func (r *Refused) Error() string { return fmt.Sprintf("phonetest: dial: %d", r.Status) }

func (p *Phone) now() time.Duration { return time.Since(p.began) }

// late is when a message that leaves now arrives; mu is held.
func (p *Phone) late(queue []letter) time.Duration {
	at := p.now() + p.cfg.Delay
	if p.cfg.Jitter != nil {
		at += p.cfg.Jitter()
	}
	if n := len(queue); n > 0 {
		at = max(at, queue[n-1].at)
	}
	return at
}

// post sends a message, in its time; mu is held.
func (p *Phone) post(b []byte, text bool) {
	if b != nil && len(p.up) < queueMax {
		p.up = append(p.up, letter{p.late(p.up), b, text})
	}
}

// listen receives until the connection is over.
func (p *Phone) listen() {
	for {
		typ, b, err := p.conn.Read(context.Background())
		p.mu.Lock()
		if err != nil {
			p.over(err)
			p.mu.Unlock()
			return
		}
		if len(p.down) < queueMax {
			p.down = append(p.down, letter{p.late(p.down), b, typ == websocket.MessageText})
		}
		p.mu.Unlock()
	}
}

// over notes the end of the connection, behind the last words of the door; mu is held.
func (p *Phone) over(err error) {
	if p.err != nil {
		return
	}
	for i := range p.down {
		p.down[i].at = 0
	}
	p.obey()
	p.err = err
	close(p.done)
}

// clock plays, speaks and carries messages until stopped.
func (p *Phone) clock() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for next := time.Duration(0); ; {
		p.mu.Lock()
		if p.now() >= next {
			p.speak()
			next += audio.FrameDuration
		}
		p.obey()
		p.play()
		due := p.due()
		p.mu.Unlock()
		for _, l := range due {
			p.write(l)
		}
		select {
		case <-ticker.C:
		case <-p.stop:
			return
		case <-p.done:
			return
		}
	}
}

func (p *Phone) write(l letter) {
	typ := websocket.MessageBinary
	if l.text {
		typ = websocket.MessageText
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.conn.Write(ctx, typ, l.b); err != nil && p.cfg.Deaf { // who listens hears why
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over(err)
	}
}

// speak sends a frame of what there is to say, or of silence; mu is held.
func (p *Phone) speak() {
	if p.muted {
		return
	}
	frame := make([]int16, audio.FrameSamples(p.cfg.RateHz))
	p.voice = p.voice[copy(frame, p.voice):]
	p.sent++
	b, text := p.cfg.media(p.sent, p.cfg.Codec.AppendBytes(nil, frame))
	switch n := p.sent; {
	case p.cfg.Lose != nil && p.cfg.Lose(n):
	case p.cfg.Shuffle != nil && p.behind == nil && p.cfg.Shuffle(n):
		p.behind = b
	default:
		p.post(b, text)
		p.post(p.behind, text)
		p.behind = nil
	}
}

// obey does what arrived from the door by now; mu is held.
func (p *Phone) obey() {
	for len(p.down) > 0 && p.down[0].at <= p.now() {
		l := p.down[0]
		p.down = p.down[1:]
		o, err := p.cfg.read(l.b, l.text)
		if err != nil && p.strange == nil {
			p.strange = err
		}
		switch o.what {
		case "media":
			p.player.Push(p.now(), 0, p.cfg.Codec.AppendSamples(nil, o.coded))
		case "mark":
			p.marks = append(p.marks, o.name)
			p.player.PushMark(p.now(), 0, o.name)
		case "clear":
			p.drop()
		case "hangup":
			p.hungUp = true
			go func() { _ = p.conn.Close(websocket.StatusNormalClosure, "") }()
		}
	}
}

// drop drops what was not played; mu is held.
func (p *Phone) drop() {
	p.play()
	p.player.Clear(p.now(), 0)
	p.clears++
	if p.cfg.returnsCleared() && !p.cfg.NoMarks {
		for _, name := range p.marks {
			p.post(p.cfg.returned(name), true)
		}
	}
	if p.cfg.Dialect == Plivo {
		p.post(p.cfg.event("clearedAudio", object{}), true)
	}
	p.marks = nil
}

// play moves the playout clock on and returns the marks that were reached; mu is held.
func (p *Phone) play() {
	p.player.Advance(p.now())
	for _, m := range p.player.Reached() {
		if i := slices.Index(p.marks, m.ID); i >= 0 {
			p.marks = slices.Delete(p.marks, i, i+1)
		}
		if !p.cfg.NoMarks {
			p.post(p.cfg.returned(m.ID), true)
		}
	}
}

// due takes what arrives at the door now; mu is held.
func (p *Phone) due() (list []letter) {
	n := 0
	for n < len(p.up) && p.up[n].at <= p.now() {
		n++
	}
	list = slices.Clone(p.up[:n])
	p.up = p.up[n:]
	return list
}

// Say speaks from now on, at the rate of the line, in place of what was still to be said.
func (p *Phone) Say(pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.voice = slices.Clone(pcm)
}

// Mute stops and starts the media messages.
func (p *Phone) Mute(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.muted = on
}

// Press presses a key.
func (p *Phone) Press(digit string) { p.Send(p.cfg.digit(digit), true) }

// Opening are the messages with which the stream begins, for a Silent Phone.
func (p *Phone) Opening() [][]byte { return p.cfg.opening() }

// Media is the n-th media message with this sound, for a Silent Phone.
func (p *Phone) Media(n int, pcm []int16) []byte {
	b, _ := p.cfg.media(n, p.cfg.Codec.AppendBytes(nil, pcm))
	return b
}

// Send sends a message, whatever it is.
func (p *Phone) Send(b []byte, text bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.post(b, text)
}

// Stop says that the stream is over, and does not hang up.
func (p *Phone) Stop() { p.Send(p.cfg.stop(), true) }

// HangUp says that the stream is over, closes it and waits.
func (p *Phone) HangUp() {
	p.once.Do(func() {
		close(p.stop)
		if b := p.cfg.stop(); b != nil && !p.cfg.Silent {
			p.write(letter{b: b, text: true})
		}
		if p.cfg.Deaf {
			_ = p.conn.CloseNow()
			p.mu.Lock()
			p.over(context.Canceled)
			p.mu.Unlock()
			return
		}
		_ = p.conn.Close(websocket.StatusNormalClosure, "")
	})
	p.tasks.Wait()
}

// Heard is what was heard so far, from the beginning of the call.
func (p *Phone) Heard() []int16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	return slices.Clone(p.player.Heard())
}

// Queued is how much sound waits to be played.
func (p *Phone) Queued() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	return time.Duration(p.player.Queued()) * time.Second / time.Duration(p.cfg.RateHz)
}

// Clears is how often the door had the queue dropped.
func (p *Phone) Clears() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clears
}

// Strange is the first thing that the door sent and should not have, nil for none.
func (p *Phone) Strange() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strange
}

// Done is closed when the connection is over.
func (p *Phone) Done() <-chan struct{} { return p.done }

// End is the close code with which the door ended the call, -1 for none, and whether it said so before.
func (p *Phone) End() (code int, hungUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(websocket.CloseStatus(p.err)), p.hungUp
}
