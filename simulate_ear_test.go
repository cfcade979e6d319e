//go:build !race

package voicegw_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// simEar holds what a peer is sent to what makes sense. It is not safe for
// concurrent use.
type simEar struct {
	stands  bool
	stood   time.Duration // since when
	playing bool          // a reply is announced
	paused  bool
	dirty   bool // audio came that no clear dropped
	latest  uint64
	modes   map[transport.MessageKind]transport.State
	marks   []string // not acknowledged

	samples int     // of a frame
	budget  int     // frames that a clear may take back
	tagged  bool    // audio of the model tells its place in the model's speech
	next    int16   // the first sample that may come; 0: any
	rewind  bool    // a clear came: it may be an earlier one
	strict  bool    // the model is sound: a reply begins where a generation does, and is complete where one ends
	amid    bool    // audio came while the caller spoke
	torn    []int16 // what would come after the last samples of generations that were interrupted
	begins  []int16 // the first samples of generations
	ends    []int16 // what would come after their last ones
	rests   []int16 // those of ends at which a function was called: what filled no frame waits
	left    int16   // the first sample of what waits so behind a reply that is over; 0: none
	cuts    []simCutOff
	cut     []time.Duration // the cuts at which a reply was complete
	sounds  int             // frames of the reply that came
	seams   []int16         // the first samples of connections: what waited for room when one ended is not said any more
	seamed  bool            // a reply goes over one
	dropped int             // samples of it that came and that a clear dropped, so that it must be
	pads    []int           // of each frame of the reply that no clear dropped: the samples that the model did not say

	last    time.Duration // when something was heard
	sounded time.Duration // when audio came last
	noticed time.Duration // when speech of the caller was, or its end
	answers []time.Duration
	wrongs  []string
	carried simCarried
	log     []simHeard
	frames  int // in a row
}

// simCutOff is the end of a connection that the gateway closed in the middle of a generation.
type simCutOff struct {
	at  time.Duration
	end int16 // what would come next
}

// simHeard is a line of the story of a call.
type simHeard struct {
	at   time.Duration
	what string
}

// simStoryMax bounds a story.
const simStoryMax = 4000

func (e *simEar) note(at time.Duration, format string, args ...any) {
	if e.frames > 0 {
		n := e.frames
		e.frames = 0
		e.note(e.last, "<- %d frames", n)
	}
	if len(e.log) < simStoryMax {
		e.log = append(e.log, simHeard{at, fmt.Sprintf(format, args...)})
	}
}

func (e *simEar) wrong(at time.Duration, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	e.note(at, "!! %s", what)
	if len(e.wrongs) < 5 {
		e.wrongs = append(e.wrongs, fmt.Sprintf("%v: %s", at, what))
	}
}

func (e *simEar) ready(at time.Duration) {
	if e.stands {
		e.wrong(at, "ready twice")
	}
	e.stands, e.stood = true, at
	e.note(at, "<- ready")
}

// audio takes a frame of a reply.
func (e *simEar) audio(at time.Duration, generation uint64, pcm []int16) {
	switch {
	case !e.stands:
		e.wrong(at, "audio before ready")
	case !e.playing || generation != e.latest:
		e.wrong(at, "audio of generation %d while generation %d is playing: %v", generation, e.latest, e.playing)
	case e.paused:
		e.wrong(at, "audio of generation %d in its pause", generation)
	}
	e.dirty = true
	e.follow(at, pcm)
	e.last, e.sounded = at, at
	e.frames++
}

// follow wants the model's speech without a hole: a frame begins where the one before it ended, or, after a clear,
// earlier.
func (e *simEar) follow(at time.Duration, pcm []int16) {
	n := 0
	for n < len(pcm) && pcm[n] > 0 {
		n++
	}
	e.whole(at, pcm, n)
	e.pads = append(e.pads, len(pcm)-n)
	if !e.tagged || n == 0 {
		return
	}
	first := pcm[0]
	if slices.Contains(e.seams, first) {
		e.seamed = true
	} else if e.next == 0 {
		e.follows(at, first)
	} else {
		after, behind := ahead(e.next, first), ahead(first, e.next)
		again := e.rewind && (e.seamed || behind <= e.budget*480) && behind+480 >= e.dropped
		if after > simGap && !again || behind+480 < e.dropped {
			e.wrong(at, "a reply goes on %d samples after, or %d before the end of what was sent, of which %d were dropped",
				after, behind, e.dropped)
		}
	}
	e.rewind, e.dropped = false, 0
	e.next = simRampNext(pcm[n-1])
}

// follows wants a reply to begin with a sample where a generation does, or with what waited behind the one before it.
func (e *simEar) follows(at time.Duration, first int16) {
	switch {
	case !e.strict || e.amid || e.left != 0 && first == e.left:
	case !slices.Contains(e.begins, first):
		e.wrong(at, "a reply begins in the middle of what the model said")
	case e.left != 0 && first != e.left && ahead(e.left, first) <= simGap && !near(e.torn, e.left):
		e.wrong(at, "the last %d samples before a function was called are lost", ahead(e.left, first))
	}
	e.amid, e.left = false, 0
}

// whole wants a frame to be one, of which the first n samples are the model's speech, one after another.
func (e *simEar) whole(at time.Duration, pcm []int16, n int) {
	e.sounds++
	e.carried.frames++
	if len(pcm) != e.samples {
		e.wrong(at, "a frame has %d samples", len(pcm))
	}
	for i := 1; e.tagged && i < n; i++ {
		if pcm[i] != simRampNext(pcm[i-1]) {
			e.wrong(at, "sample %d of a frame does not follow the one before it", i)
			return
		}
	}
}

// closes wants a reply that is complete to have been heard to the end of what the model said.
func (e *simEar) closes(at time.Duration) {
	switch {
	case e.sounds == 0:
		e.wrong(at, "a reply is complete of which nothing was heard")
	case e.strict && e.tagged && e.next != 0 && !e.ended():
		e.wrong(at, "a reply is complete, and the model said more")
	case e.tagged && e.dropped > 480:
		e.wrong(at, "a reply is complete of which %d samples were dropped", e.dropped)
	}
}

// ended reports whether the reply that is over may end where it did: where a generation did, or less than a frame
// before that if it was interrupted, waits for a function, or was cut by the gateway.
func (e *simEar) ended() bool {
	switch {
	case slices.Contains(e.ends, e.next) || near(e.torn, e.next):
	case near(e.rests, e.next):
		e.left = e.next
	default:
		i := slices.IndexFunc(e.cuts, func(c simCutOff) bool { return ahead(e.next, c.end) <= simGap })
		if i < 0 {
			return false
		}
		e.cut = append(e.cut, e.cuts[i].at)
	}
	return true
}

// ahead is how many samples one that comes later is ahead of another.
func ahead(from, to int16) int { return (int(to) - int(from) + simRamp) % simRamp }

// near reports whether a sample is less than a frame before one of some ends.
func near(ends []int16, sample int16) bool {
	return slices.ContainsFunc(ends, func(end int16) bool { return ahead(sample, end) <= simGap })
}

// drops notes that a clear dropped the last samples of a reply.
func (e *simEar) drops(samples int) {
	kept := max(0, len(e.pads)-(samples+479)/480)
	for _, pad := range e.pads[kept:] {
		samples -= pad
	}
	e.pads = e.pads[:kept]
	e.dropped += max(0, samples)
}

// simGap is how many samples of the model's speech may be missing: less than
// the frame that an `interrupted` tears which cannot be obeyed.
const simGap = 479

// message takes a message.
func (e *simEar) message(at time.Duration, m *transport.Message) {
	e.note(at, "<- %s", strings.Join(strings.Fields(fmt.Sprint(m.Kind, " ", m.State, " ", m.TurnEnd, " ", m.Generation,
		" ", m.ID, " ", m.Code, " ", m.Name)), " "))
	if !e.stands && m.Kind != transport.MessageTranscript {
		e.wrong(at, "%s before ready", m.Kind)
	}
	e.carried.note(m)
	switch m.Kind {
	case transport.MessageTurn:
		e.turn(at, m)
	case transport.MessageClear:
		e.dirty, e.rewind = false, true
	case transport.MessageMark:
		if !e.playing || m.ID == "" {
			e.wrong(at, "a mark while nothing is playing")
		}
		e.marks = append(e.marks, m.ID)
	case transport.MessageError:
		if m.Code == "no_reply" {
			e.answers = append(e.answers, at)
		}
	case transport.MessageSpeech, transport.MessageHold, transport.MessageProtected, transport.MessageModel:
		e.mode(at, m)
	}
	if m.Kind != transport.MessageTranscript {
		e.last = at
	}
}

// mode wants a mode to begin before it ends, and once.
func (e *simEar) mode(at time.Duration, m *transport.Message) {
	if e.modes == nil {
		e.modes = map[transport.MessageKind]transport.State{}
	}
	was := e.modes[m.Kind]
	if m.Kind == transport.MessageSpeech {
		e.noticed = at
	}
	begins := m.State == transport.StateStart || m.State == transport.StateLost
	if was == m.State || was == "" && !begins && m.Kind != transport.MessageModel {
		e.wrong(at, "%s %s after %s", m.Kind, m.State, was)
	}
	e.modes[m.Kind] = m.State
}

// turn wants a reply to start, pause, resume and end in an order that makes sense.
func (e *simEar) turn(at time.Duration, m *transport.Message) {
	mine := e.playing && m.Generation == e.latest
	ok := false
	switch m.State {
	case transport.StateStart:
		ok = !e.playing && m.Generation > e.latest
		e.playing, e.paused, e.dirty, e.latest, e.sounds = true, false, false, m.Generation, 0
		e.next, e.rewind, e.seamed, e.dropped, e.pads = 0, false, false, 0, e.pads[:0]
		e.answers = append(e.answers, at)
	case transport.StatePause:
		ok = mine && !e.paused
		e.paused = true
	case transport.StateResume:
		ok = mine && e.paused && !e.dirty
		e.paused = false
	case transport.StateEnd:
		cut, complete := m.TurnEnd == transport.TurnInterrupted, m.TurnEnd == transport.TurnComplete
		ok = mine && !(cut && e.dirty) && !(complete && e.paused)
		if e.playing = false; complete {
			e.closes(at)
		}
	}
	if !ok {
		e.wrong(at, "turn %s %s of generation %d makes no sense after generation %d, playing %v, paused %v, not cleared %v",
			m.State, m.TurnEnd, m.Generation, e.latest, e.playing, e.paused, e.dirty)
	}
}

// simNoticed is how soon the gateway notices that somebody speaks.
const simNoticed = 1500 * time.Millisecond

// hears wants speech to be noticed that goes on since a time, unless a reply covers it.
func (l *simLine) hears(since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, now := &l.ear, l.now()
	if since == 0 || !e.stands || e.noticed >= since || e.modes[transport.MessageSpeech] == transport.StateStart {
		return
	}
	if from := max(since, e.stood, l.player.until); now-from > simNoticed {
		e.wrong(now, "nobody notices that the caller speaks, since %v", from)
		e.noticed = now
	}
}
