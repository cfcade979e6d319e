package ws

import "github.com/voicegw/voicegw/transport"

// ackDigitsMax keeps numbers of the fast path far from overflow; longer ones take the other path, to be refused there.
const ackDigitsMax = 15

// decodeAck is the fast path for the event that comes ten times a second. It takes exactly the flat objects that
// clients write: type "ack", each known member at most once, plain strings and whole numbers. It reports false, and
// leaves ev alone, for everything else, also for what is wrong: the other path then says what.
func decodeAck(b []byte, ev *transport.Event) bool {
	s := scanner{b: b}
	got := ackFields{}
	if !s.skip('{') {
		return false
	}
	for {
		key, ok := s.plain()
		if !ok || !s.skip(':') || !got.take(&s, key) {
			return false
		}
		if s.skip(',') {
			continue
		}
		if !s.skip('}') || !s.end() || !got.complete() {
			return false
		}
		ev.Kind, ev.Generation, ev.PlayedMS = transport.EventAck, got.generation, int64(got.playedMS)
		ev.Mark, ev.Cleared = string(got.mark), got.cleared
		return true
	}
}

// ackFields are the members of an acknowledgement as they are found.
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

// take reads the value of key and reports false when it is not one the fast path takes.
func (a *ackFields) take(s *scanner, key []byte) (ok bool) {
	var name []byte
	bit := uint8(0)
	switch string(key) {
	case "type":
		bit = sawType
		name, ok = s.plain()
		ok = ok && string(name) == "ack"
	case "generation":
		bit = sawGeneration
		a.generation, ok = s.digits()
	case "played_ms":
		bit = sawPlayed
		a.playedMS, ok = s.digits()
		ok = ok && a.playedMS <= transport.PlayedMSMax
	case "mark":
		bit = sawMark
		a.mark, ok = s.plain()
		ok = ok && len(a.mark) <= transport.MarkLenMax
	case "cleared":
		bit = sawCleared
		a.cleared, ok = s.boolean()
	}
	ok = ok && a.seen&bit == 0
	a.seen |= bit
	return ok
}

func (a *ackFields) complete() bool {
	const need = sawType | sawGeneration | sawPlayed
	return a.seen&need == need
}

// scanner reads the simplest JSON, a token at a time.
type scanner struct{ b []byte }

func (s *scanner) space() {
	for len(s.b) > 0 && (s.b[0] == ' ' || s.b[0] == '\t' || s.b[0] == '\n' || s.b[0] == '\r') {
		s.b = s.b[1:]
	}
}

// skip takes the character c, with white space before it.
func (s *scanner) skip(c byte) bool {
	s.space()
	if len(s.b) == 0 || s.b[0] != c {
		return false
	}
	s.b = s.b[1:]
	return true
}

// end reports whether only white space is left.
func (s *scanner) end() bool {
	s.space()
	return len(s.b) == 0
}

// plain takes a string of printable ASCII without escapes.
func (s *scanner) plain() ([]byte, bool) {
	if !s.skip('"') {
		return nil, false
	}
	for i, c := range s.b {
		if c == '"' {
			text := s.b[:i]
			s.b = s.b[i+1:]
			return text, true
		}
		if c < ' ' || c > '~' || c == '\\' {
			return nil, false
		}
	}
	return nil, false
}

// digits takes a whole number without sign, fraction or exponent.
func (s *scanner) digits() (n uint64, ok bool) {
	s.space()
	i := 0
	for ; i < len(s.b) && i <= ackDigitsMax && s.b[i] >= '0' && s.b[i] <= '9'; i++ {
		n = n*10 + uint64(s.b[i]-'0')
	}
	if i == 0 || i > ackDigitsMax || (i > 1 && s.b[0] == '0') {
		return 0, false
	}
	s.b = s.b[i:]
	return n, true
}

// boolean takes true or false.
func (s *scanner) boolean() (value, ok bool) {
	s.space()
	for _, word := range [...]string{"true", "false"} {
		if len(s.b) >= len(word) && string(s.b[:len(word)]) == word {
			s.b = s.b[len(word):]
			return word == "true", true
		}
	}
	return false, false
}
