package ws

import (
	"github.com/voicegw/voicegw/internal/jsonscan"
	"github.com/voicegw/voicegw/transport"
)

// decodeAck is the fast path for the event that comes ten times a second. It takes exactly the flat
// objects that clients write: type "ack", each known member at most once, plain strings and whole
// numbers. It reports false, and leaves ev alone, for everything else, including invalid events:
// decodeAny then reports the error.
func decodeAck(b []byte, ev *transport.Event) bool {
	s := jsonscan.New(b)
	got := ackFields{}
	if !s.Skip('{') {
		return false
	}
	for {
		key, ok := s.Key()
		if !ok || !got.take(&s, key) {
			return false
		}
		if s.Skip(',') {
			continue
		}
		if !s.Skip('}') || !s.End() || !got.complete() {
			return false
		}
		ev.Kind, ev.Generation, ev.PlayedMS = transport.EventAck, got.generation, int64(got.playedMS)
		ev.Mark, ev.Cleared = string(got.mark), got.cleared
		return true
	}
}

// ackFields are the members found in an acknowledgement.
type ackFields struct {
	seen       uint8 // a bit for each member that was found
	generation uint64
	playedMS   uint64
	mark       []byte
	cleared    bool
}

const (
	sawType = 1 << iota
	sawGeneration
	sawPlayed
	sawMark
	sawCleared
)

// take reads the value of key. It reports false for a value that the fast path does not take.
func (a *ackFields) take(s *jsonscan.Scanner, key []byte) (ok bool) {
	var name []byte
	bit := uint8(0)
	switch string(key) {
	case "type":
		bit = sawType
		name, ok = s.ASCII()
		ok = ok && string(name) == "ack"
	case "generation":
		bit = sawGeneration
		a.generation, ok = s.Whole()
	case "played_ms":
		bit = sawPlayed
		a.playedMS, ok = s.Whole()
		ok = ok && a.playedMS <= transport.PlayedMSMax
	case "mark":
		bit = sawMark
		a.mark, ok = s.ASCII()
		ok = ok && len(a.mark) <= transport.MarkLenMax
	case "cleared":
		bit = sawCleared
		a.cleared, ok = s.Bool()
	}
	ok = ok && a.seen&bit == 0
	a.seen |= bit
	return ok
}

func (a *ackFields) complete() bool {
	const need = sawType | sawGeneration | sawPlayed
	return a.seen&need == need
}
