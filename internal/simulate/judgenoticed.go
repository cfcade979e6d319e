package simulate

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// noticedWithin is how soon the gateway notices that somebody speaks.
const noticedWithin = 1500 * time.Millisecond

// judgeNoticed wants speech that goes on since a time to be noticed, unless a reply covers it.
// Zero is no speech.
func (l *line) judgeNoticed(since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if since == 0 || !l.replies.ready || l.noticed >= since ||
		l.modes.last[transport.MessageSpeech] == transport.StateStart {
		return
	}
	if from := max(since, l.readyAt, l.player.until); now-from > noticedWithin {
		l.story.violation(now, "nobody notices that the caller speaks, since %v", from)
		l.noticed = now
	}
}
