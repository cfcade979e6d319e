package adkagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// Limits of what waits for the gateway.
const (
	liveInputHz   = 16000
	liveOutputHz  = 24000
	inputMax      = 10 * liveInputHz // samples
	controlsMax   = 256              // texts and edges
	liveSendWait  = time.Second
	liveChunk     = liveInputHz / 50 // samples of one event: 20 ms
	inputDuration = time.Second / liveInputHz
)

// ErrLiveFull means that Send waited a second and 256 texts and edges still wait for the gateway.
var ErrLiveFull = errors.New("adkagent: too much waits to be sent to the call")

// ErrLiveClosed means that the live session is over. It wraps io.EOF.
var ErrLiveClosed = fmt.Errorf("adkagent: the live session is over: %w", io.EOF)

var errLiveTwice = errors.New("adkagent: the events of a live session can be read once")

// liveCall is one live session and, as a transport.Peer, the far end of its call.
//
//	Send -> inbox -> Recv -> gateway -> SendAudio, Send -> outbox -> events
//
// mu guards what has no other owner. Nothing blocks while it is held.
type liveCall struct {
	live    *Live
	ic      adk.InvocationContext
	hello   transport.Hello
	want    wanted
	offered []voicegw.Tool
	tools   map[string]any // by name, for the toolbox
	history []live.Turn

	wake  chan struct{} // Recv may have something
	room  chan struct{} // the inbox has room
	ended chan struct{} // the gateway has closed the peer
	work  sync.WaitGroup

	mu       sync.Mutex
	begun    bool
	closed   bool // by the application, or by the end of the iterator
	bye      bool // the gateway was told
	over     bool // the gateway has closed the peer
	inbox    []transport.Event
	samples  int // in the inbox
	controls int // in the inbox
	clock    playout
	out      outbox
	words    [2]transcript // of the caller, of the model
	reply    uint64        // the generation that is announced; 0: none
	replies  int
	latest   time.Time                // of the events
	open     map[string]*liveToolCall // calls without a response
	running  int                      // tools
}

// liveSession is what the application gets.
type liveSession struct{ c *liveCall }

// newCall prepares a session. It starts nothing.
func (l *Live) newCall(ctx adk.InvocationContext) (*liveCall, error) {
	cfg, err := l.runConfig(ctx)
	if err != nil {
		return nil, err
	}
	c := &liveCall{live: l, ic: ctx, wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
		ended: make(chan struct{}), open: map[string]*liveToolCall{}, clock: playout{delay: l.cfg.PlayoutDelay},
		out: outbox{wake: make(chan struct{}, 1)}}
	if c.want, err = wantedOf(&cfg); err != nil {
		return nil, err
	}
	if c.hello, err = l.helloOf(ctx, &c.want); err != nil {
		return nil, err
	}
	if c.offered, c.tools, err = l.offer(ctx, &c.want); err != nil {
		return nil, err
	}
	setup := l.cfg.Gateway.Setup
	if c.want.apply(&setup); setup.Check() != nil {
		return nil, setup.Check()
	}
	if ctx.Session() != nil && !l.cfg.Gateway.Net.Consent { // what was said before needs consent, too
		c.history = historyOf(ctx.Session())
	}
	return c, nil
}

// Send passes on one request. Audio is *genai.Blob with 16-bit PCM at 16 kHz, at most 10 s. It waits at
// most a second while 10 s of audio wait already; then the oldest of them is dropped and counted in
// LiveDropped. Activity start and end are those of a talk button: they need
// RealtimeInputConfig.AutomaticActivityDetection.Disabled. Content is a text of the user, of at most
// 4,000 characters, or the response to a call of a long-running tool. An error names what is not
// possible; ErrLiveFull and ErrLiveClosed say what is over. It is safe for concurrent use.
func (s liveSession) Send(req adk.LiveRequest) error {
	if req.Content == nil && req.RealtimeInput == nil {
		return errors.New("adkagent: the LiveRequest is empty")
	}
	if req.Content != nil {
		if err := s.c.content(req.Content); err != nil {
			return err
		}
	}
	switch in := req.RealtimeInput.(type) {
	case nil:
		return nil
	case *genai.Blob:
		return s.c.blob(in)
	case *genai.ActivityStart:
		return s.c.activity(true)
	case *genai.ActivityEnd:
		return s.c.activity(false)
	default:
		return fmt.Errorf("adkagent: LiveRequest.RealtimeInput is a %T; it must be a *genai.Blob, "+
			"*genai.ActivityStart or *genai.ActivityEnd", in)
	}
}

// Close hangs up. It does not wait: the iterator ends when the call has ended. It may be called more
// than once.
func (s liveSession) Close() error {
	s.c.hangUp()
	return nil
}

// hangUp ends the call.
func (c *liveCall) hangUp() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	signal(c.wake)
	signal(c.room)
}

// signal wakes one waiter.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// activity takes an edge of a talk button.
func (c *liveCall) activity(on bool) error {
	if c.hello.Detection != transport.DetectionPush {
		return errors.New("adkagent: an activity start or end is not possible, because speech is detected; set " +
			"LiveRunConfig.RealtimeInputConfig.AutomaticActivityDetection.Disabled, or Detection in LiveConfig.Hello")
	}
	return c.control(transport.Event{Kind: transport.EventTalk, On: on})
}

// blob takes audio.
func (c *liveCall) blob(b *genai.Blob) error {
	kind, params, err := mime.ParseMediaType(b.MIMEType)
	rate := params["rate"]
	if b.MIMEType == "" {
		kind, err = "audio/pcm", nil
	}
	switch {
	case err != nil || kind != "audio/pcm" || rate != "" && rate != "16000":
		return fmt.Errorf("adkagent: the blob is %.60q; it must be audio/pcm;rate=16000", b.MIMEType)
	case len(b.Data)%2 != 0:
		return fmt.Errorf("adkagent: the blob has %d bytes; 16-bit samples need an even number", len(b.Data))
	case len(b.Data)/2 > inputMax:
		return fmt.Errorf("adkagent: the blob has %d bytes; at most %d (10 s) are possible", len(b.Data), 2*inputMax)
	}
	pcm := audio.AppendSamples(make([]int16, 0, len(b.Data)/2), b.Data)
	return c.put(func() bool { return c.samples+len(pcm) <= inputMax }, func(late bool) error {
		if late {
			c.dropOldest(c.samples + len(pcm) - inputMax)
		}
		for len(pcm) > 0 {
			n := min(len(pcm), liveChunk)
			c.inbox = append(c.inbox, transport.Event{Kind: transport.EventAudio, PCM: pcm[:n]})
			c.samples += n
			pcm = pcm[n:]
		}
		return nil
	})
}

// dropOldest drops the oldest audio of the inbox, at least so many samples; mu is held.
func (c *liveCall) dropOldest(samples int) {
	kept, dropped := c.inbox[:0], 0
	for _, ev := range c.inbox {
		if ev.Kind == transport.EventAudio && dropped < samples {
			dropped += len(ev.PCM)
			continue
		}
		kept = append(kept, ev)
	}
	clear(c.inbox[len(kept):])
	c.inbox = kept
	c.samples -= dropped
	c.live.droppedInput.Add(int64(time.Duration(dropped) * inputDuration))
}

// control queues an event that is never dropped.
func (c *liveCall) control(ev transport.Event) error {
	return c.put(func() bool { return c.controls < controlsMax }, func(late bool) error {
		if late {
			return ErrLiveFull
		}
		c.controls++
		c.inbox = append(c.inbox, ev)
		return nil
	})
}

// put adds to the inbox when there is room, or late, after liveSendWait. Both functions are called with
// mu held.
func (c *liveCall) put(fits func() bool, add func(late bool) error) error {
	var late <-chan time.Time
	for expired := false; ; {
		c.mu.Lock()
		if c.closed || c.over {
			c.mu.Unlock()
			return ErrLiveClosed
		}
		if ok := fits(); ok || expired {
			err := add(!ok)
			c.mu.Unlock()
			signal(c.wake)
			signal(c.room) // others may fit, too
			return err
		}
		c.mu.Unlock()
		if late == nil {
			t := time.NewTimer(liveSendWait)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-c.room:
		case <-c.ended:
		case <-c.ic.Done():
			return ErrLiveClosed
		case <-late:
			expired = true
		}
	}
}

// content takes a text, or responses of tools.
func (c *liveCall) content(in *genai.Content) error {
	var texts []string
	var responses []*genai.FunctionResponse
	for _, p := range in.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionResponse != nil:
			responses = append(responses, p.FunctionResponse)
		case p.Text != "":
			texts = append(texts, p.Text)
		default:
			return errors.New("adkagent: LiveRequest.Content may have texts and function responses only")
		}
	}
	text := strings.Join(texts, "\n")
	switch n := utf8.RuneCountInString(text); {
	case len(responses) > 0 && n > 0:
		return errors.New("adkagent: LiveRequest.Content has a text beside function responses; send two requests")
	case len(responses) > 0:
		for _, r := range responses {
			if err := c.answer(r); err != nil {
				return err
			}
		}
		return nil
	case n == 0 || n > transport.TextCharsMax || !utf8.ValidString(text):
		return fmt.Errorf("adkagent: the text of LiveRequest.Content has %d characters; 1 to %d of UTF-8 are possible", n,
			transport.TextCharsMax)
	}
	if in.Role == "model" {
		return c.control(transport.Event{Kind: transport.EventContext, Role: transport.RoleAssistant, Text: text})
	}
	return c.control(transport.Event{Kind: transport.EventText, Text: text})
}

// events runs the call and yields its events. It waits for the goroutines that it and the tools start.
func (c *liveCall) events(yield func(*session.Event, error) bool) {
	c.mu.Lock()
	begun := c.begun
	c.begun = true
	c.mu.Unlock()
	if begun {
		yield(nil, errLiveTwice)
		return
	}
	defer c.work.Wait()
	defer c.hangUp()
	ctx := context.WithValue(c.ic, liveKey{}, c)
	c.work.Go(func() {
		err := c.live.gw.Call(ctx, c)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.out.finish(err)
	})
	for {
		it, ok := c.next()
		if !ok {
			break
		}
		if !yield(it.event, nil) {
			c.leave()
			return
		}
		if it.call != nil {
			c.stored(it.call, wasStored(c.ic.Session(), it.event))
		}
	}
	if err := c.failure(); err != nil {
		yield(nil, err)
	}
}

// failure is why the call could not go on; nil after an ordinary end.
func (c *liveCall) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.err != nil {
		return fmt.Errorf("adkagent: %w", c.out.err)
	}
	return c.ic.Err()
}
