package adkagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

var _ transport.Peer = (*liveCall)(nil)

// Hello returns what the session asks for.
func (c *liveCall) Hello() transport.Hello { return c.hello }

// Ready notes that the call is up. A gateway that does not follow the session ends it.
func (c *liveCall) Ready(_ context.Context, r transport.Ready) error {
	if len(r.Refused) > 0 {
		var errs []error
		for _, f := range r.Refused {
			errs = append(errs, f)
		}
		return transport.End(transport.ReasonBadHello, "", fmt.Errorf("the gateway does not follow the LiveRunConfig: %w",
			errors.Join(errs...)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.note(map[string]any{"type": "ready", "call": r.Call, "model": r.Model.Name})
}

// Recv returns what the application sent, and acknowledgements of the playout clock.
func (c *liveCall) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		got, wait, timed := c.take(ev)
		if got {
			return nil
		}
		if err := c.await(ctx, wait, timed); err != nil {
			return err
		}
	}
}

// await waits until take may have something.
func (c *liveCall) await(ctx context.Context, wait time.Duration, timed bool) error {
	var due <-chan time.Time
	if timed {
		t := time.NewTimer(wait)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-c.wake:
	case <-due:
	case <-c.ended:
		return transport.End(transport.ReasonDone, "", nil)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// take fills ev with the next event, or returns how long to wait for an acknowledgement.
func (c *liveCall) take(ev *transport.Event) (got bool, wait time.Duration, timed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ev.Reset()
	if a, ok := c.clock.next(time.Now()); ok {
		ev.Kind, ev.Generation, ev.PlayedMS, ev.Cleared = transport.EventAck, a.generation, a.playedMS, a.cleared
		return true, 0, false
	}
	if len(c.inbox) > 0 {
		pcm := ev.PCM
		*ev = c.inbox[0]
		ev.PCM = append(pcm, ev.PCM...)
		c.inbox[0] = transport.Event{}
		if c.inbox = c.inbox[1:]; ev.Kind == transport.EventAudio {
			c.samples -= len(ev.PCM)
		} else {
			c.controls--
		}
		signal(c.room)
		return true, 0, false
	}
	if c.closed && !c.bye {
		c.bye = true
		ev.Kind = transport.EventBye
		return true, 0, false
	}
	wait, timed = c.clock.wait(time.Now())
	return false, wait, timed
}

// SendAudio yields a frame of the reply. It never blocks.
func (c *liveCall) SendAudio(_ context.Context, generation uint64, pcm []int16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.reply || c.over {
		c.live.lateAudio.Add(int64(time.Duration(len(pcm)) * time.Second / liveOutputHz))
		return nil
	}
	c.clock.sent(time.Now(), generation)
	signal(c.wake)
	if dropped := c.out.audio(generation, pcm, c.audioEvent); dropped > 0 {
		c.live.droppedReply.Add(int64(time.Duration(dropped) * time.Second / liveOutputHz))
	}
	return nil
}

// audioEvent begins an event of audio.
func (c *liveCall) audioEvent() *session.Event {
	ev := c.event(c.live.Name())
	ev.Content = &genai.Content{Role: genai.RoleModel,
		Parts: []*genai.Part{{InlineData: &genai.Blob{MIMEType: "audio/pcm;rate=24000"}}}}
	return ev
}

// Send yields a message of the gateway. It never blocks.
func (c *liveCall) Send(_ context.Context, m *transport.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Kind {
	case transport.MessageClear:
		c.clock.clear(time.Now(), m.Generation)
		signal(c.wake)
		c.out.dropAudio()
		ev := c.event(c.live.Name())
		ev.Partial, ev.Interrupted = true, true
		return c.keep(outItem{event: ev})
	case transport.MessageTurn:
		return c.turn(m)
	case transport.MessageTranscript:
		return c.said(m)
	case transport.MessageToolCall:
		return c.toolCalled(m)
	case transport.MessageToolCancel:
		return c.toolCancelled(m.ID)
	case transport.MessageMark: // behind the last frame of a reply
		return c.note(map[string]any{"type": "generation_complete"})
	case transport.MessageError:
		if m.Code == "no_tool_call" { // a result and a cancellation have crossed
			return nil
		}
		return c.fault(m.Code, m.Text)
	case transport.MessageNet, transport.MessageNetGraph:
		return nil
	}
	note := map[string]any{"type": m.Kind.String()}
	for key, value := range map[string]string{"state": string(m.State), "id": m.ID, "name": m.Name} {
		if value != "" {
			note[key] = value
		}
	}
	switch {
	case m.Kind == transport.MessageMessage:
		note["data"] = json.RawMessage(m.Text)
	case m.Text != "":
		note["text"] = m.Text
	}
	return c.note(note)
}

// turn takes the beginning or the end of a reply; mu is held.
func (c *liveCall) turn(m *transport.Message) error {
	switch m.State {
	case transport.StateStart:
		c.replies++
		if most := c.want.repliesMax; most > 0 && c.replies > most {
			c.closed, c.reply = true, 0
			signal(c.wake)
			return c.fault("max_llm_calls", fmt.Sprintf(
				"The call has had %d replies, which is LiveRunConfig.MaxLLMCalls.", most))
		}
		c.reply = m.Generation
	case transport.StateEnd:
		c.reply = 0
		if err := c.finishWords(); err != nil {
			return err
		}
		ev := c.event(c.live.Name())
		ev.TurnComplete, ev.Interrupted = true, m.TurnEnd != transport.TurnComplete
		ev.UsageMetadata = usageOf(&m.Usage)
		ev.CustomMetadata = map[string]any{"voicegw": map[string]any{"type": "turn", "end": string(m.TurnEnd),
			"heard_ms": m.HeardMS}}
		return c.keep(outItem{event: ev})
	}
	return nil
}

// Close ends the session: no call of a tool stays without a response, and no transcript without its
// whole text.
func (c *liveCall) Close(reason transport.Reason, message string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	for _, id := range c.openCalls() {
		_ = c.toolCancelled(id)
	}
	_ = c.finishWords()
	if reason.Failure() {
		if message == "" {
			message = reason.Message()
		}
		_ = c.fault(reason.String(), message)
	}
	c.over = true
	close(c.ended)
	return nil
}

// playout is the playout clock of a client that does not report its playout: frames play in real time,
// and a reply begins delay after its first frame. Time enters by parameter. The gateway's budget bounds
// it.
type playout struct {
	delay time.Duration

	queue []uint64  // generations of the frames that are not played
	ends  time.Time // when the first of them will have been played
	owed  []playoutAck

	generation    uint64 // of the last frame that was played
	played, acked int    // frames of it
}

type playoutAck struct {
	generation uint64
	playedMS   int64
	cleared    bool
}

const framesPerAck = transport.AckMS / transport.FrameMS

// sent notes a frame.
func (p *playout) sent(now time.Time, generation uint64) {
	p.advance(now)
	if len(p.queue) == 0 {
		p.ends = now.Add(audio.FrameDuration)
		if generation != p.generation || p.played == 0 {
			p.ends = p.ends.Add(p.delay)
		}
	}
	p.queue = append(p.queue, generation)
}

// clear drops the frames that are not played, and owes an answer.
func (p *playout) clear(now time.Time, generation uint64) {
	p.advance(now)
	p.queue = p.queue[:0]
	a := playoutAck{generation: generation, cleared: true}
	if generation == p.generation {
		p.acked = p.played
		a.playedMS = int64(p.played) * transport.FrameMS
	}
	p.owed = append(p.owed, a)
}

// advance counts what was played.
func (p *playout) advance(now time.Time) {
	n := 0
	for ; n < len(p.queue) && !p.ends.After(now); n++ {
		if g := p.queue[n]; g != p.generation {
			p.settle()
			p.generation, p.played, p.acked = g, 0, 0
		}
		p.played++
		p.ends = p.ends.Add(audio.FrameDuration)
	}
	p.queue = append(p.queue[:0], p.queue[n:]...)
}

// settle owes an acknowledgement of everything that was played of the generation.
func (p *playout) settle() {
	if p.played > p.acked {
		p.acked = p.played
		p.owed = append(p.owed, playoutAck{generation: p.generation, playedMS: int64(p.played) * transport.FrameMS})
	}
}

// next returns the next acknowledgement that is due.
func (p *playout) next(now time.Time) (playoutAck, bool) {
	p.advance(now)
	if p.played-p.acked >= framesPerAck || len(p.queue) == 0 || p.queue[0] != p.generation {
		p.settle()
	}
	if len(p.owed) == 0 {
		return playoutAck{}, false
	}
	a := p.owed[0]
	p.owed = append(p.owed[:0], p.owed[1:]...)
	return a, true
}

// wait returns how long to wait until next may have something.
func (p *playout) wait(now time.Time) (d time.Duration, ok bool) {
	if len(p.queue) == 0 {
		return 0, false
	}
	frames := 1
	for frames < min(framesPerAck, len(p.queue)) && p.queue[frames] == p.queue[0] {
		frames++
	}
	if p.queue[0] == p.generation {
		frames = max(1, min(frames, framesPerAck-(p.played-p.acked)))
	}
	return max(0, p.ends.Sub(now)+time.Duration(frames-1)*audio.FrameDuration), true
}
