package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// delivery is when the net of a call put out tokens, and how many entered it, by place. Between the
// net and the ends of the call nothing is lost and nothing is added.
type delivery struct {
	prog    *petri.Program
	names   []string // of the transitions, without the part
	out     [][]time.Time
	entered []int // tokens that were injected or refused
	kept    int   // the model's own VAD: frames without a connection, which leave as one token
}

func newDelivery(prog *petri.Program) delivery {
	return delivery{prog: prog, names: transitionNames(prog), out: make([][]time.Time, len(prog.Places())),
		entered: make([]int, len(prog.Places()))}
}

// note counts what an event lets in or puts out.
func (d *delivery) note(e petri.Event) {
	switch e.Kind {
	case petri.Injected, petri.Refused:
		d.entered[e.Index]++
	case petri.Fired:
		d.fired(e)
	}
}

func (d *delivery) fired(e petri.Event) {
	for _, emit := range d.prog.Transitions()[e.Index].Modes[e.Mode].Branches[e.Branch].Emit {
		for range emit.N {
			d.out[emit.Place] = append(d.out[emit.Place], time.Now())
		}
	}
	switch name := d.names[e.Index]; {
	case name == "keep_frame":
		d.kept = min(d.kept+1, voicenets.TurnFramesMax)
	case strings.HasPrefix(name, "withdraw_consent"):
		d.kept = 0
	case name == "restore_backlog":
		up := d.prog.Place(string(voicenets.AudioUp))
		d.out[up] = append(d.out[up], slices.Repeat([]time.Time{time.Now()}, d.kept)...)
		d.kept = 0
	}
}

// until is how many tokens some places had put out by a time.
func (d *delivery) until(at time.Time, places ...string) (n int) {
	for _, p := range places {
		i := d.prog.Place(p)
		if i < 0 {
			continue
		}
		for _, put := range d.out[i] {
			if !put.After(at) {
				n++
			}
		}
	}
	return n
}

// heldFrom returns when the queue to the model began to hold what is the caller's; end if it was
// released since.
func (d *delivery) heldFrom(end time.Time) time.Time {
	held, released := d.prog.Place(string(voicenets.HoldUplink)), d.prog.Place(string(voicenets.ReleaseUplink))
	for _, at := range d.out[held] {
		if len(d.out[released]) == 0 || at.After(d.out[released][len(d.out[released])-1]) {
			return at
		}
	}
	return end
}

// arrivals counts what arrived at an end of the call: the peer, or the model.
type arrivals struct{ frames, transcripts, notices, replies int }

// note counts a message to the peer, unless it is no notice of the net's.
func (c *arrivals) note(m *transport.Message) {
	switch {
	case m.Kind == transport.MessageTranscript:
		c.transcripts++
	case m.Kind == transport.MessageToolCall || m.Kind == transport.MessageToolCancel:
	case m.Kind == transport.MessageError && slices.Contains([]string{"no_tool_call", "text_lost", "too_fast"}, m.Code):
	case m.Kind == transport.MessageTurn && m.TurnEnd == transport.TurnCallOver:
	default:
		c.notices++
	}
}

// underWay is how long before the end of a call something may get lost on its way to the model.
const underWay = 200 * time.Millisecond

// judgeDelivery wants what the net put out to arrive at the peer and the model, and nothing else.
func (w *world) judgeDelivery(s *caller) {
	s.line.mu.Lock()
	got, over := s.line.arrived, s.line.began.Add(s.line.over)
	stalled, gone := s.line.stalled, s.line.gone != nil
	s.line.mu.Unlock()
	ends := 0
	if s.record.Reason == transport.ReasonModelLost.String() { // the notice that ends the reply may be the net's or not
		ends = 1
	}
	wants := func(what string, got, most, least int) {
		if got > most || got < least {
			w.violationOf(s, "the net put out %s %d times, or %d before its last moment; %d arrived", what, most, least, got)
		}
	}
	d := &s.trace.delivery
	down := func(what string, got, more int, places ...string) {
		most := d.until(time.Now(), places...)
		if stalled || gone {
			wants(what, got, most+more, 0)
		} else {
			wants(what, got, most+more, most)
		}
	}
	down("audio for the peer", got.frames, 0, string(voicenets.AudioDown))
	down("a transcript", got.transcripts, 0, string(voicenets.Show))
	down("a notice", got.notices, ends, string(voicenets.NotifySpeech), string(voicenets.NotifyReply),
		string(voicenets.NotifyMode), string(voicenets.Clear), string(voicenets.Mark), string(voicenets.Transfer))
	entered := func(what string, place string, least int) {
		if n := d.entered[d.prog.Place(place)]; n < least && !stalled { // a peer that takes nothing holds up the end
			w.violationOf(s, "of at least %d frames of the %s %d entered the net", least, what, n)
		}
	}
	entered("caller's", string(voicenets.CallerAudio), s.line.framesRead-inputFramesMax)
	if s.record.LinksLost == 0 && s.model.steady() && d.until(time.Now(), string(voicenets.CloseLink)) == 0 {
		up := s.model.arrived
		entered("model's", string(voicenets.ModelAudio), s.model.said(over.Add(-underWay)))
		upward := func(what string, got int, end time.Time, places ...string) {
			wants(what, got, d.until(time.Now(), places...), d.until(end.Add(-underWay), places...))
		}
		waits := d.heldFrom(over) // a call that ends on hold sends nothing more that is the caller's
		upward("audio for the model", up.frames, waits, string(voicenets.AudioUp))
		upward("a command or text", up.notices, waits, string(voicenets.ToModel), string(voicenets.TextUp))
		upward("a reply of a function", up.replies, over, string(voicenets.ToolReply))
	}
}

// inputFramesMax is how many frames of the caller's may be between the line and the net: a packet,
// and what fills no frame.
const inputFramesMax = 6

// modelChunk is audio of the model: when it came, and how long it is.
type modelChunk struct {
	at     time.Time
	length time.Duration
}

// said is how many frames of what came from the model until then should have entered the net: not
// the last message, nor what filled no frame at the end of a generation.
func (m *model) said(until time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	whole, longest := time.Duration(0), time.Duration(0)
	for _, s := range m.chunks {
		if s.at.Before(until) {
			whole, longest = whole+s.length, max(longest, s.length)
		}
	}
	return int((whole-longest)/(20*time.Millisecond)) - m.generations - 1
}

// steady reports whether the call had one connection to its model, which never kept anybody waiting
// and did not break.
func (m *model) steady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dials.n == 1 && m.dials.failed == 0 && !m.broke && !m.slow
}
