package simulate

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// modeJudge holds notices of speech, hold, protected input and the model's connection to their
// order: each state begins before it ends, and once.
type modeJudge struct {
	*story
	last map[transport.MessageKind]transport.State
}

// mode takes a notice.
func (j *modeJudge) mode(at time.Duration, m *transport.Message) {
	was := j.last[m.Kind]
	begins := m.State == transport.StateStart || m.State == transport.StateLost
	if was == m.State || was == "" && !begins && m.Kind != transport.MessageModel {
		j.violation(at, "%s %s after %s", m.Kind, m.State, was)
	}
	j.last[m.Kind] = m.State
}
