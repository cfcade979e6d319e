package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/foreign"
)

// sdkConn is the Conn of SDK.
type sdkConn struct {
	outcome
	cfg     Wire
	terms   terms
	session *genai.Session
	began   time.Time

	sendMu  sync.Mutex  // the library allows one sender at a time
	stalled *time.Timer // runs during a write

	dec     decoder
	reading atomic.Bool  // whether a Recv waits
	unheard atomic.Int64 // nanoseconds of audio sent since the last message
}

func newSDKConn(w *Wire, s *Setup, host, secret string) *sdkConn {
	c := &sdkConn{outcome: newOutcome(host, secret, s), cfg: *w, terms: s.terms(), began: time.Now()}
	c.dec.cleaner = c.cleaner
	return c
}

func (c *sdkConn) start() {
	c.stalled = time.AfterFunc(time.Hour, c.writeStalled)
	c.stalled.Stop()
}

func (c *sdkConn) age() time.Duration { return time.Since(c.began).Round(time.Millisecond) }

func (c *sdkConn) writeStalled() {
	c.fail(&CloseError{Code: 1006, Class: ClassTimeout, limit: c.cfg.WriteTimeout})
	_ = c.session.Close()
}

// giveUp closes the connection because ctx has ended.
func (c *sdkConn) giveUp(ctx context.Context) {
	c.fail(&CloseError{Class: ctxClass(ctx.Err()), Err: ctx.Err(), limit: c.age()})
	_ = c.session.Close()
}

// explain turns an error of the library into a CloseError.
func (c *sdkConn) explain(ctx context.Context, err error) *CloseError {
	var ce *websocket.CloseError
	switch {
	case errors.As(err, &ce) && ce.Code != websocket.CloseAbnormalClosure:
		return &CloseError{Code: ce.Code, Reason: ce.Text, Class: classify(ce.Code, ce.Text, c.phase)}
	case ctx.Err() != nil:
		return &CloseError{Class: ctxClass(ctx.Err()), Err: ctx.Err(), limit: c.age()}
	}
	if text, ok := strings.CutPrefix(err.Error(), setupFailed); ok {
		if refusal, ok := errorText([]byte(strings.TrimPrefix(text, errorReceived))); ok {
			return &CloseError{Code: 1007, Reason: refusal, Class: classify(1007, refusal, c.phase)}
		}
	}
	return &CloseError{Code: 1006, Class: ClassNetwork, Err: innermost(err)}
}

// The prefixes of errors of Google's library, which has no types for them. TestSDKRefused and TestSDKReceiving
// pin them.
const (
	setupFailed   = "failed to receive setup complete: "
	errorReceived = "received error in response: "
	brokenJSON    = "invalid message format. "
	wrongShape    = "mapToStruct: "
)

// errPanicked replaces a panic of the library over a message.
var errPanicked = errors.New("live: receive: a field has the wrong type")

// receive calls the library, which panics on some unexpected messages.
func (c *sdkConn) receive() (m *genai.LiveServerMessage, err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	return c.session.Receive()
}

// mistake returns the item for a broken message on a working connection. It does not use the text
// of the library, which quotes the whole message.
func mistake(err error) (item, bool) {
	text := err.Error()
	switch {
	case errors.Is(err, errPanicked):
		return malformed("a field has the wrong type"), true
	case strings.HasPrefix(text, errorReceived):
		if text, ok := errorText([]byte(text[len(errorReceived):])); ok {
			return malformed("%s", text), true
		}
		return malformed("an error of an unknown shape"), true
	case strings.HasPrefix(text, brokenJSON), strings.HasPrefix(text, wrongShape):
		return malformed("%s", foreign.Fault(err)), true
	}
	return item{}, false
}

// Recv implements Conn.
func (c *sdkConn) Recv(ctx context.Context, m *ServerMessage) error {
	if c.dec.pop(m) {
		return nil
	}
	if err := c.failure(); err != nil {
		return err
	}
	c.reading.Store(true)
	defer c.reading.Store(false)
	stop := context.AfterFunc(ctx, func() { c.giveUp(ctx) })
	defer stop()
	q, err := c.appendNext(ctx, c.dec.queue[:0])
	if err != nil {
		return err
	}
	c.unheard.Store(0)
	c.dec.queue, c.dec.next = q, 0
	c.dec.pop(m)
	return nil
}

// appendNext waits for the next message and appends its parts, at least one item.
func (c *sdkConn) appendNext(ctx context.Context, q []item) ([]item, error) {
	lm, err := c.receive()
	if err != nil {
		if broken, ok := mistake(err); ok {
			return append(q, broken), nil
		}
		_ = c.session.Close() // the next read would panic
		return nil, c.fail(c.explain(ctx, err))
	}
	if size(lm) > c.cfg.ReadLimit {
		_ = c.session.Close()
		return nil, c.fail(&CloseError{Code: 1009, Class: ClassBackend,
			Err: fmt.Errorf("a message has more than %d bytes", c.cfg.ReadLimit)})
	}
	if q = appendMessage(q, lm); len(q) == 0 {
		q = append(q, item{msg: ServerMessage{Kind: ServerUnknown}})
	}
	return q, nil
}

// size returns the length of the base64 data of a message, which is all that is left of its length.
func size(m *genai.LiveServerMessage) (n int64) {
	if m.ServerContent == nil || m.ServerContent.ModelTurn == nil {
		return 0
	}
	for _, p := range m.ServerContent.ModelTurn.Parts {
		if p != nil && p.InlineData != nil {
			n += int64(len(p.InlineData.Data)) * 4 / 3
		}
	}
	return n
}

// Send implements Conn.
func (c *sdkConn) Send(ctx context.Context, m ClientMessage) error {
	if m.Kind == ClientAudio {
		return c.SendAudio(ctx, m.PCM)
	}
	if err := m.check(&c.terms); err != nil {
		return err
	}
	return c.put(ctx, &m)
}

// put sends m, which is not audio and was checked.
func (c *sdkConn) put(ctx context.Context, m *ClientMessage) error {
	return c.write(ctx, func() error { return c.call(m) })
}

// call calls the function of the library that sends m.
func (c *sdkConn) call(m *ClientMessage) error {
	switch m.Kind {
	case ClientText:
		return c.session.SendRealtimeInput(genai.LiveRealtimeInput{Text: m.Text})
	case ClientActivityStart:
		return c.session.SendRealtimeInput(genai.LiveRealtimeInput{ActivityStart: &genai.ActivityStart{}})
	case ClientActivityEnd:
		return c.session.SendRealtimeInput(genai.LiveRealtimeInput{ActivityEnd: &genai.ActivityEnd{}})
	case ClientStreamEnd:
		return c.session.SendRealtimeInput(genai.LiveRealtimeInput{AudioStreamEnd: true})
	case ClientContent:
		// If TurnComplete is nil the library sets it.
		turns := content(m).Turns
		return c.session.SendClientContent(genai.LiveClientContentInput{Turns: turns, TurnComplete: &m.TurnComplete})
	}
	replies := toolResponse(m.Replies).FunctionResponses
	return c.session.SendToolResponse(genai.LiveToolResponseInput{FunctionResponses: replies})
}

// SendAudio implements Conn.
func (c *sdkConn) SendAudio(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		n := min(len(pcm), audioSamplesMax)
		blob := &genai.Blob{Data: audio.AppendBytes(nil, pcm[:n]), MIMEType: mimeAudioUp}
		err := c.write(ctx, func() error { return c.session.SendRealtimeInput(genai.LiveRealtimeInput{Audio: blob}) })
		if err != nil {
			return err
		}
		if err := c.listenFor(time.Duration(n) * time.Second / inputRateHz); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// listenFor counts sent audio, and closes the connection if too much of it gets no answer.
func (c *sdkConn) listenFor(sent time.Duration) error {
	if !c.reading.Load() || time.Duration(c.unheard.Add(int64(sent))) < c.cfg.SilenceTimeout {
		return nil
	}
	err := c.fail(&CloseError{Code: 1006, Class: ClassTimeout, limit: c.cfg.SilenceTimeout})
	_ = c.session.Close()
	return err
}

// write sends one message, in a bounded time. It lets one sender write at a time.
func (c *sdkConn) write(ctx context.Context, send func() error) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	if err := c.failure(); err != nil {
		return err
	}
	c.stalled.Reset(c.cfg.WriteTimeout)
	stop := context.AfterFunc(ctx, func() { c.giveUp(ctx) })
	err := send()
	stop()
	c.stalled.Stop()
	if err == nil {
		return nil
	}
	if ctx.Err() == nil && c.reading.Load() {
		c.awaitReason()
	}
	return c.fail(c.explain(ctx, err))
}

// Close implements Conn. The library sends no close frame, so the model sees close 1006.
func (c *sdkConn) Close(code int, reason string) error {
	before := c.failure()
	c.fail(&CloseError{Code: code, Reason: reason, Class: ClassEnded})
	err := c.session.Close()
	if before != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("live: close: %w", innermost(err))
	}
	return nil
}
