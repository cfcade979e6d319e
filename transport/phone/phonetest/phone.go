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
	tick     = 5 * time.Millisecond // resolution of a Phone's clock
	queueMax = 10000                // messages in transit
)

// Phone is a call that goes on until HangUp, or until the endpoint ends it. Its methods are safe
// for concurrent use.
type Phone struct {
	cfg   Config
	says  *dialect
	conn  *websocket.Conn
	began time.Time
	tasks sync.WaitGroup
	stop  chan struct{} // closed to end the clock
	once  sync.Once

	mu      sync.Mutex
	player  *audio.Player
	voice   []int16 // speech still to be sent
	muted   bool    // sends nothing
	sent    int     // media messages, also lost ones
	behind  []byte  // a message that is sent after the next one
	marks   []string
	up      []letter // in transit to the endpoint
	down    []letter // in transit from the endpoint
	clears  int
	hungUp  bool // by the endpoint, with an explicit command
	err     error
	strange error         // something the endpoint should not have sent
	done    chan struct{} // closed when the connection has ended
}

// letter is a message in transit.
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
	says := find(cfg.Dialect)
	if says.subprotocol != "" {
		opts.Subprotocols = []string{says.subprotocol}
	}
	conn, resp, err := websocket.Dial(ctx, cfg.URL, opts)
	if err != nil {
		if resp != nil {
			return nil, &Refused{Status: resp.StatusCode, Header: resp.Header}
		}
		return nil, fmt.Errorf("phonetest: dial: %w", err)
	}
	conn.SetReadLimit(1 << 20)
	p := &Phone{cfg: cfg, says: says, conn: conn, began: time.Now(), stop: make(chan struct{}), done: make(chan struct{}),
		player: audio.NewPlayer(cfg.RateHz)}
	if cfg.Silent {
		p.muted = true
	} else {
		for _, b := range says.opening(&cfg) {
			p.up = append(p.up, letter{at: cfg.Delay, b: b, text: true})
		}
	}
	p.tasks.Go(p.clock)
	if !cfg.NeverReads {
		p.tasks.Go(p.listen)
	}
	return p, nil
}

// Refused is the answer to a refused upgrade.
type Refused struct {
	Status int
	Header http.Header
}

// Error returns a text with the status.
func (r *Refused) Error() string { return fmt.Sprintf("phonetest: dial: %d", r.Status) }

func (p *Phone) now() time.Duration { return time.Since(p.began) }

// late returns when a message that leaves now arrives; the caller holds mu.
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

// post sends a message, in its time; the caller holds mu.
func (p *Phone) post(b []byte, text bool) {
	if b != nil && len(p.up) < queueMax {
		p.up = append(p.up, letter{p.late(p.up), b, text})
	}
}

// listen receives until the connection ends.
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

// over notes the end of the connection, after the endpoint's last messages; the caller holds mu.
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

// clock plays, speaks and transports messages until stopped.
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
	if err := p.conn.Write(ctx, typ, l.b); err != nil && p.cfg.NeverReads { // otherwise listen learns the reason
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over(err)
	}
}

// speak sends a frame of speech, or of silence; the caller holds mu.
func (p *Phone) speak() {
	if p.muted {
		return
	}
	frame := make([]int16, audio.FrameSamples(p.cfg.RateHz))
	p.voice = p.voice[copy(frame, p.voice):]
	p.sent++
	b, text := p.says.media(&p.cfg, p.sent, p.cfg.Codec.AppendBytes(nil, frame))
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

// obey handles the messages that have arrived from the endpoint by now; the caller holds mu.
func (p *Phone) obey() {
	for len(p.down) > 0 && p.down[0].at <= p.now() {
		l := p.down[0]
		p.down = p.down[1:]
		o, err := p.says.read(&p.cfg, l.b, l.text)
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

// drop drops what was not played; the caller holds mu.
func (p *Phone) drop() {
	p.play()
	p.player.Clear(p.now(), 0)
	p.clears++
	if !p.says.keepsMarks && !p.cfg.NoMarks {
		for _, name := range p.marks {
			p.post(p.says.returned(&p.cfg, name), true)
		}
	}
	if p.says.cleared != nil {
		p.post(p.says.cleared(&p.cfg), true)
	}
	p.marks = nil
}

// play advances the playout clock and returns the marks that were reached; the caller holds mu.
func (p *Phone) play() {
	p.player.Advance(p.now())
	for _, m := range p.player.Reached() {
		if i := slices.Index(p.marks, m.ID); i >= 0 {
			p.marks = slices.Delete(p.marks, i, i+1)
		}
		if !p.cfg.NoMarks {
			p.post(p.says.returned(&p.cfg, m.ID), true)
		}
	}
}

// due takes the messages that arrive at the endpoint now; the caller holds mu.
func (p *Phone) due() (list []letter) {
	n := 0
	for n < len(p.up) && p.up[n].at <= p.now() {
		n++
	}
	list = slices.Clone(p.up[:n])
	p.up = p.up[n:]
	return list
}

// Say speaks from now on, at the rate of the line, in place of the remaining speech.
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
func (p *Phone) Press(digit string) { p.Send(p.says.digit(&p.cfg, digit), true) }

// Opening returns the messages with which the stream begins, for a Silent Phone.
func (p *Phone) Opening() [][]byte { return p.says.opening(&p.cfg) }

// Media returns the n-th media message with this audio, for a Silent Phone.
func (p *Phone) Media(n int, pcm []int16) []byte {
	b, _ := p.says.media(&p.cfg, n, p.cfg.Codec.AppendBytes(nil, pcm))
	return b
}

// Send sends any message.
func (p *Phone) Send(b []byte, text bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.post(b, text)
}

// Stop sends the end of the stream, and does not hang up.
func (p *Phone) Stop() { p.Send(p.stopping(), true) }

// stopping returns the message that ends the stream, nil for none.
func (p *Phone) stopping() []byte {
	if p.says.stop == nil {
		return nil
	}
	return p.says.stop(&p.cfg)
}

// HangUp sends the end of the stream, closes it and waits.
func (p *Phone) HangUp() {
	p.once.Do(func() {
		close(p.stop)
		if b := p.stopping(); b != nil && !p.cfg.Silent {
			p.write(letter{b: b, text: true})
		}
		if p.cfg.NeverReads {
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

// Heard returns what was played so far, from the start of the call.
func (p *Phone) Heard() []int16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	return slices.Clone(p.player.Heard())
}

// Queued returns how much audio waits to be played.
func (p *Phone) Queued() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	return time.Duration(p.player.Queued()) * time.Second / time.Duration(p.cfg.RateHz)
}

// Clears returns how often the endpoint cleared the queue.
func (p *Phone) Clears() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clears
}

// Strange returns the first message that the endpoint must not send, as an error; nil for none.
func (p *Phone) Strange() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strange
}

// Done returns a channel that is closed when the connection has ended.
func (p *Phone) Done() <-chan struct{} { return p.done }

// End returns the close code with which the endpoint ended the call, -1 for none, and whether the
// endpoint sent a hang-up before.
func (p *Phone) End() (code int, hungUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(websocket.CloseStatus(p.err)), p.hungUp
}
