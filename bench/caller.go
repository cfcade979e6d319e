package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/audio"
)

const (
	// settled is how much of an utterance passes before its frames are timed: until then a gateway
	// may keep them back, to find out whether the caller interrupts.
	settled = 40 // frames
	// patience is how long a caller waits for a reply.
	patience = 10 * time.Second
	// lateSend is how late a frame of a caller may leave. Later ones mean that the machine is too
	// busy to measure.
	lateSend = 20 * time.Millisecond
)

// line is a connection to a gateway or a relay. send, ack and run may be called at the same time.
type line interface {
	// send sends the nth frame of an utterance, which has a number, or silence.
	send(n, number int) error
	// ack says what was played; a mark if it is not "".
	ack(id uint64, playedMS int64, mark string, cleared bool) error
	// run passes on what comes, until the connection ends. It returns why.
	run(c *caller) error
	// close ends the call, and makes run return.
	close()
}

// phase is the part of the conversation that a caller is in.
type phase uint8

const (
	pausing phase = iota
	speaking
	awaiting // a reply
	listening
)

// caller is one call: a microphone that sends in real time, and a listener.
type caller struct {
	line     line
	schedule *schedule
	detector *decider
	clears   bool // a clear must come when the caller speaks over a reply

	mu      sync.Mutex
	phase   phase
	turn    turn
	left    int       // frames of the phase
	said    int       // frames of the utterance
	number  int       // of the next frame of voice
	spokeAt time.Time // when the utterance ended
	heardAt time.Time // when the reply began
	overAt  time.Time // when the caller began to speak over a reply; zero: it does not, or the reply is silent
	playout playout
	found   findings
	closing bool
}

// findings are the measurements of one caller.
type findings struct {
	sent    []sentFrame
	waits   []wait      // for replies
	silence []measured  // from speech over a reply to the end of its sound
	clears  []measured  // from the frame by which the detector knows it to the clear
	cleared []time.Time // when
	late    []time.Time // frames of replies
	tardy   int         // frames that this caller sent too late
	frames  int         // that it sent
	errors  []string
}

type sentFrame struct {
	at     time.Time
	number int
	timed  bool // it is far enough in its utterance
}

// wait is from the end of an utterance to the first audio of the reply.
type wait struct{ spoke, heard time.Time }

// measured is a duration and when it ended.
type measured struct {
	at   time.Time
	took time.Duration
}

func newCaller(l line, seed uint64, call int) *caller {
	c := &caller{line: l, schedule: newSchedule(seed, call), detector: newDecider()}
	c.turn = c.schedule.next(false)
	c.left = c.turn.pause
	return c
}

// talk holds the call until ctx is done.
func (c *caller) talk(ctx context.Context) {
	var reading sync.WaitGroup
	reading.Go(func() {
		err := c.line.run(c)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closing {
			c.wrong("the call ended: %v", err)
			c.closing = true
		}
	})
	c.speak(ctx)
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.line.close()
	reading.Wait()
}

// speak sends a frame every 20 ms until ctx is done or the call has ended.
func (c *caller) speak(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; due = due.Add(audio.FrameDuration) {
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := c.tick(time.Now(), due); err != nil {
			c.mu.Lock()
			if !c.closing {
				c.wrong("%v", err)
			}
			c.mu.Unlock()
			return
		}
	}
}

// errEnded ends the microphone when the listener has seen the end.
var errEnded = errors.New("the call has ended")

// tick acknowledges, decides what the caller does, and sends a frame.
func (c *caller) tick(now, due time.Time) error {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return errEnded
	}
	var acks []func() error
	c.playout.acks(now, func(id uint64, ms int64, mark string) {
		acks = append(acks, func() error { return c.line.ack(id, ms, mark, false) })
	})
	c.decide(now)
	n, number := c.next(now)
	c.found.frames++
	if now.Sub(due) > lateSend {
		c.found.tardy++
	}
	c.mu.Unlock()
	for _, ack := range acks {
		if err := ack(); err != nil {
			return fmt.Errorf("acknowledge: %w", err)
		}
	}
	if err := c.line.send(n, number); err != nil {
		return fmt.Errorf("send audio: %w", err)
	}
	return nil
}

// decide moves from phase to phase.
func (c *caller) decide(now time.Time) {
	switch {
	case c.phase == pausing && c.left == 0:
		c.phase, c.left, c.said = speaking, c.turn.speech, 0
	case c.phase == speaking && c.left == 0:
		c.phase, c.spokeAt = awaiting, now
	case c.phase == awaiting && now.Sub(c.spokeAt) > patience:
		c.wrong("no reply within %v", patience)
		c.begin(false, now)
	case c.phase == listening && c.playout.over(now):
		c.begin(false, now)
	case c.phase == listening && c.turn.over > 0 && now.Sub(c.heardAt) >= frames(c.turn.over):
		c.begin(true, now)
	}
}

// begin begins the next turn, perhaps over a reply.
func (c *caller) begin(over bool, now time.Time) {
	if !c.overAt.IsZero() && c.clears {
		c.wrong("no clear came for speech over a reply")
	}
	c.overAt = time.Time{}
	c.turn = c.schedule.next(over)
	c.phase, c.left = pausing, c.turn.pause
	if over {
		c.phase, c.left, c.said, c.overAt = speaking, c.turn.speech, 0, now
	}
}

// next returns the frame to send: its place in the utterance and its number.
func (c *caller) next(now time.Time) (n, number int) {
	number = silence
	if c.phase == speaking {
		n, number = c.said, c.number
		c.number = (c.number + 1) % toneCount
		c.found.sent = append(c.found.sent, sentFrame{now, number, c.said >= settled && !fades(c.said)})
		c.said++
	}
	c.left--
	c.detector.hear(now, n, number, len(c.playout.queue) > 0)
	return n, number
}

// audio takes a frame of 20 ms.
func (c *caller) audio(now time.Time, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := c.playout.late
	c.playout.push(now, generation)
	if c.playout.late > late {
		c.found.late = append(c.found.late, now)
	}
	if c.phase == awaiting {
		c.phase, c.heardAt = listening, now
		c.found.waits = append(c.found.waits, wait{c.spokeAt, now})
	}
}

// mark takes a mark behind the audio so far.
func (c *caller) mark(now time.Time, generation uint64, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playout.mark(now, generation, id)
}

// clear drops what was not played, and answers.
func (c *caller) clear(now time.Time, generation uint64) error {
	c.mu.Lock()
	ms := c.playout.clear(now, generation)
	c.found.cleared = append(c.found.cleared, now)
	if !c.overAt.IsZero() {
		c.found.silence = append(c.found.silence, measured{now, now.Sub(c.overAt)})
		if c.detector.at.After(c.overAt) {
			c.found.clears = append(c.found.clears, measured{now, now.Sub(c.detector.at)})
		}
		c.overAt = time.Time{}
	}
	c.mu.Unlock()
	return c.line.ack(generation, ms, "", true)
}

// wrong notes an error; the caller holds mu.
func (c *caller) wrong(format string, args ...any) {
	c.found.errors = append(c.found.errors, fmt.Sprintf(format, args...))
}

// decider says by which frame the detector of a gateway or of the model knows that the caller speaks.
// It hears what they hear.
type decider struct {
	strict   bool // over a reply, as a gateway is and the model is not
	voice    *voice
	detector *audio.Detector
	activity *audio.Activity
	at       time.Time // when the frame by which speech began was sent
}

// heard16 is the voice as detectors hear it.
var heard16 = sync.OnceValue(func() *voice { return newVoice(audio.DetectorRateHz) })

func newDecider() *decider {
	a, err := audio.NewActivity(audio.ActivityConfig{})
	if err != nil {
		panic(err) // the defaults are right
	}
	return &decider{voice: heard16(), detector: audio.NewDetector(), activity: a}
}

// hear takes a frame, just before it is sent.
func (d *decider) hear(now time.Time, n, number int, over bool) {
	if d.activity.Frame(d.detector.Score(d.voice.frame(n, number)), over && d.strict) == audio.Start {
		d.at = now
	}
}
