package resume

import "github.com/voicegw/voicegw/transport"

// KeptMax is how many messages a call keeps at most to send them again, while its far end is
// connected. The oldest make room: the far end has got them long ago.
const KeptMax = 256

// More limits of what is kept.
const (
	missedMax    = 1024 // messages, while it is away
	keptBytesMax = 1 << 20
)

// sentLog holds the last messages of a call.
type sentLog struct {
	list  []transport.Message
	first uint64 // how many messages came before list
	bytes int    // in list
}

// Counts reports whether Resume.Received counts a message: a picture of the net is not sent again.
func Counts(m *transport.Message) bool {
	return m.Kind != transport.MessageNet && m.Kind != transport.MessageNetGraph
}

func size(m *transport.Message) int { return len(m.Text) + len(m.Name) + len(m.ID) }

// add keeps a message. It reports false if there is no room, which happens only while away.
func (l *sentLog) add(m *transport.Message, away bool) bool {
	most := KeptMax
	if away {
		most = missedMax
	}
	if away && (len(l.list) >= most || l.bytes+size(m) > keptBytesMax) {
		return false
	}
	for len(l.list) >= most || len(l.list) > 0 && l.bytes+size(m) > keptBytesMax {
		l.bytes -= size(&l.list[0])
		l.list[0] = transport.Message{}
		l.list = l.list[1:]
		l.first++
	}
	kept := *m
	kept.PCM, kept.Fired, kept.Marking = nil, nil, nil // messages that count have none
	l.list = append(l.list, kept)
	l.bytes += size(m)
	return true
}

// after returns the messages that a far end has missed which received the first n. It reports false
// if some of them are forgotten, or n messages were never sent.
func (l *sentLog) after(n uint64) ([]transport.Message, bool) {
	if n < l.first || n > l.first+uint64(len(l.list)) {
		return nil, false
	}
	return l.list[n-l.first:], true
}
