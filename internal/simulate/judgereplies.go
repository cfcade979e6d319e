package simulate

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// replyJudge holds what a peer is sent to the order of a reply: it starts, pauses, resumes and
// ends; its audio comes in between; one that is interrupted is cleared. One reply plays at a time.
type replyJudge struct {
	*story
	ready      bool
	generation uint64 // the newest
	playing    bool   // it is announced, and not over
	paused     bool
	uncleared  bool // it has audio that no clear dropped
}

// begin takes the notice that the call is up.
func (j *replyJudge) begin(at time.Duration) {
	if j.ready {
		j.violation(at, "ready twice")
	}
	j.ready = true
	j.note(at, "<- ready")
}

// audio takes a frame of a reply.
func (j *replyJudge) audio(at time.Duration, generation uint64) {
	switch {
	case !j.ready:
		j.violation(at, "audio before ready")
	case !j.playing || generation != j.generation:
		j.violation(at, "audio of generation %d while generation %d is playing: %v", generation, j.generation, j.playing)
	case j.paused:
		j.violation(at, "audio of generation %d in its pause", generation)
	}
	j.uncleared = true
}

// mark takes a mark, which belongs to a reply.
func (j *replyJudge) mark(at time.Duration, m *transport.Message) {
	if !j.playing || m.ID == "" {
		j.violation(at, "a mark while nothing is playing")
	}
}

// turn takes the start, pause, resumption or end of a reply. It reports whether a reply is
// complete.
func (j *replyJudge) turn(at time.Duration, m *transport.Message) (complete bool) {
	current := j.playing && m.Generation == j.generation
	ok := false
	switch m.State {
	case transport.StateStart:
		ok = !j.playing && m.Generation > j.generation
		j.playing, j.paused, j.uncleared, j.generation = true, false, false, m.Generation
	case transport.StatePause:
		ok = current && !j.paused
		j.paused = true
	case transport.StateResume:
		ok = current && j.paused && !j.uncleared
		j.paused = false
	case transport.StateEnd:
		complete = m.TurnEnd == transport.TurnComplete
		ok = current && !(m.TurnEnd == transport.TurnInterrupted && j.uncleared) && !(complete && j.paused)
		j.playing = false
	}
	if !ok {
		j.violation(at, "turn %s %s of generation %d after generation %d, playing %v, paused %v, not cleared %v",
			m.State, m.TurnEnd, m.Generation, j.generation, j.playing, j.paused, j.uncleared)
	}
	return complete
}
