//go:build !race

package voicegw_test

import (
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// simLedger is when tokens left a net, by place. What carries them loses none and adds none.
type simLedger struct {
	prog  *petri.Program
	names []string // of the transitions, the part left out
	left  [][]time.Time
	came  []int // tokens that entered, or were not let in
	kept  int   // server mode: frames without a connection, which leave as one token
}

func newSimLedger(prog *petri.Program) simLedger {
	return simLedger{prog: prog, names: simNames(prog), left: make([][]time.Time, len(prog.Places())),
		came: make([]int, len(prog.Places()))}
}

// note notes what an event lets in or puts out.
func (l *simLedger) note(e petri.Event) {
	switch e.Kind {
	case petri.Injected, petri.Refused:
		l.came[e.Index]++
	case petri.Fired:
		l.fired(e)
	}
}

func (l *simLedger) fired(e petri.Event) {
	for _, out := range l.prog.Transitions()[e.Index].Modes[e.Mode].Branches[e.Branch].Emit {
		for range out.N {
			l.left[out.Place] = append(l.left[out.Place], time.Now())
		}
	}
	switch name := l.names[e.Index]; {
	case name == "keep_frame":
		l.kept = min(l.kept+1, voicenets.TurnFramesMax)
	case strings.HasPrefix(name, "withdraw_consent"):
		l.kept = 0
	case name == "restore_backlog":
		up := l.prog.Place(string(voicenets.AudioUp))
		l.left[up] = append(l.left[up], slices.Repeat([]time.Time{time.Now()}, l.kept)...)
		l.kept = 0
	}
}

// until is how many tokens had left at some places by a time.
func (l *simLedger) until(at time.Time, places ...string) (n int) {
	for _, p := range places {
		i := l.prog.Place(p)
		if i < 0 {
			continue
		}
		for _, left := range l.left[i] {
			if !left.After(at) {
				n++
			}
		}
	}
	return n
}

// heldFrom returns when the queue to the model began to hold what is the caller's; end if it was released since.
func (l *simLedger) heldFrom(end time.Time) time.Time {
	held, released := l.prog.Place(string(voicenets.HoldUplink)), l.prog.Place(string(voicenets.ReleaseUplink))
	for _, at := range l.left[held] {
		if len(l.left[released]) == 0 || at.After(l.left[released][len(l.left[released])-1]) {
			return at
		}
	}
	return end
}

// simCarried is what got to its end.
type simCarried struct{ frames, words, notices, replies int }

// note counts a message to the peer, unless it is no notice of the net's.
func (c *simCarried) note(m *transport.Message) {
	switch {
	case m.Kind == transport.MessageTranscript:
		c.words++
	case m.Kind == transport.MessageToolCall || m.Kind == transport.MessageToolCancel:
	case m.Kind == transport.MessageError && slices.Contains([]string{"no_tool_call", "text_lost", "too_fast"}, m.Code):
	case m.Kind == transport.MessageTurn && m.TurnEnd == transport.TurnCallOver:
	default:
		c.notices++
	}
}

// simOnItsWay is how long before its end what was said may have got lost on its way to the model.
const simOnItsWay = 200 * time.Millisecond

// judgeCarried wants what the net put out to be what the peer and the model got.
func (w *simWorld) judgeCarried(s *simCaller, seen *simSeen, r voicegw.Record) {
	s.line.mu.Lock()
	got, over, deaf := s.line.ear.carried, s.line.began.Add(s.line.over), s.line.stalled
	gone := s.line.gone != nil
	s.line.mu.Unlock()
	ends := 0
	if r.Reason == transport.ReasonModelLost.String() { // the word that a reply ends by that may be the net's, and may not
		ends = 1
	}
	wants := func(what string, got, most, least int) {
		if got > most || got < least {
			w.wrongOf(s, "the net put out %s %d times, or %d before its last moment; %d arrived", what, most, least, got)
		}
	}
	l := &seen.ledger
	down := func(what string, got, more int, places ...string) {
		most := l.until(time.Now(), places...)
		if deaf || gone {
			wants(what, got, most+more, 0)
		} else {
			wants(what, got, most+more, most)
		}
	}
	down("audio for the peer", got.frames, 0, string(voicenets.AudioDown))
	down("a transcript", got.words, 0, string(voicenets.Show))
	down("a notice", got.notices, ends, string(voicenets.TellSpeech), string(voicenets.TellReply),
		string(voicenets.TellMode), string(voicenets.Clear), string(voicenets.Mark), string(voicenets.Transfer))
	entered := func(what string, place string, least int) {
		if n := l.came[l.prog.Place(place)]; n < least && !deaf { // one that takes nothing holds up the end
			w.wrongOf(s, "of at least %d frames of the %s %d entered the net", least, what, n)
		}
	}
	entered("caller's", string(voicenets.CallerAudio), s.line.taken-simInHand)
	if carried := s.model.carried; r.LinksLost == 0 && s.model.steady() &&
		l.until(time.Now(), string(voicenets.CloseLink)) == 0 {
		entered("model's", string(voicenets.ModelAudio), s.model.said(over.Add(-simOnItsWay)))
		upward := func(what string, got int, end time.Time, places ...string) {
			wants(what, got, l.until(time.Now(), places...), l.until(end.Add(-simOnItsWay), places...))
		}
		waits := l.heldFrom(over) // a call that ends on hold sends nothing more that is the caller's
		upward("audio for the model", carried.frames, waits, string(voicenets.AudioUp))
		upward("a command or text", carried.notices, waits, string(voicenets.ToModel), string(voicenets.TextUp))
		upward("a reply of a function", carried.replies, over, string(voicenets.ToolReply))
	}
}

// simInHand is how many frames of the caller's may be between the line and the net: a packet, and what fills no frame.
const simInHand = 6

// simSpoken is audio of the model: when it came, and how long it is.
type simSpoken struct {
	at     time.Time
	length time.Duration
}

// said is how many frames of what came from the model until then should have entered the net: not the last message, nor
// what filled no frame at the end of a generation.
func (m *simModel) said(until time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	whole, longest := time.Duration(0), time.Duration(0)
	for _, s := range m.spoken {
		if s.at.Before(until) {
			whole, longest = whole+s.length, max(longest, s.length)
		}
	}
	return int((whole-longest)/(20*time.Millisecond)) - m.generations - 1
}

// steady reports whether the call had one connection to its model, which never kept anybody waiting and did not break.
func (m *simModel) steady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dialed == 1 && m.failed == 0 && !m.broke && !m.slow
}

// sends notes that something goes to the model, and returns what to call when it went.
func (m *simModel) sends(count *int) (went func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*count++
	began := time.Now()
	return func() {
		if time.Since(began) > 0 {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.slow = true
		}
	}
}

// simEnds follows how a net comes to its end, by itself.
type simEnds struct {
	names   []string // of the transitions, the part left out
	leaving string   // why it wants to take leave
	parting string   // why it takes leave
	ended   string   // why it ended; empty: it did not, or was told to
}

func newSimEnds(prog *petri.Program) simEnds { return simEnds{names: simNames(prog)} }

// simNames are the names of the transitions, the part left out.
func simNames(prog *petri.Program) (names []string) {
	for _, t := range prog.Transitions() {
		names = append(names, t.Name[strings.LastIndexByte(t.Name, '/')+1:])
	}
	return names
}

// note follows an event.
func (s *simEnds) note(e petri.Event) {
	if e.Kind != petri.Fired {
		return
	}
	switch s.names[e.Index] {
	case "give_up_on_caller":
		s.leaving = transport.ReasonCallerSilent.String()
	case "give_up_on_consent":
		s.leaving = transport.ReasonNoConsent.String()
	case "leave_in_quiet":
		s.leaving = transport.ReasonGoingAway.String()
	case "say_goodbye":
		s.parting = s.leaving
	case "say_sorry": // whoever ended the connection says why
		s.parting = ""
	case "part", "part_at_last":
		s.ended = s.parting
	case "leave_now":
		s.ended = transport.ReasonGoingAway.String()
	case "hand_off":
		s.ended = transport.ReasonTransferred.String()
	case "end_longest_call":
		s.ended = transport.ReasonMaxDuration.String()
	}
}
