package jsonscan

import "bytes"

// digitsMax keeps whole numbers far from overflow.
const digitsMax = 15

// Scanner reads JSON a token at a time. Each method skips white space and takes the token that it
// names. If something else comes, the method reports false; the caller should then give up, because
// a part of a member may have been taken. The zero value is at the end.
type Scanner struct{ rest []byte }

// New returns a Scanner at the start of b. It does not change b.
func New(b []byte) Scanner { return Scanner{b} }

func (s *Scanner) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\n' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// Skip takes the character c, or nothing if another one comes.
func (s *Scanner) Skip(c byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// SkipAll takes the characters of all, in order, with or without white space between them.
func (s *Scanner) SkipAll(all string) bool {
	for i := range len(all) {
		if !s.Skip(all[i]) {
			return false
		}
	}
	return true
}

// End reports whether only white space is left.
func (s *Scanner) End() bool {
	s.space()
	return len(s.rest) == 0
}

// Text takes a string without escapes and returns what stands between its quotes. It does not look
// for control characters or invalid UTF-8, which JSON forbids: see [Scanner.ASCII].
func (s *Scanner) Text() ([]byte, bool) {
	if !s.Skip('"') {
		return nil, false
	}
	i := bytes.IndexByte(s.rest, '"')
	if i < 0 || bytes.IndexByte(s.rest[:i], '\\') >= 0 {
		return nil, false
	}
	text := s.rest[:i]
	s.rest = s.rest[i+1:]
	return text, true
}

// ASCII takes a string of printable ASCII without escapes. Text is faster for long strings.
func (s *Scanner) ASCII() ([]byte, bool) {
	if !s.Skip('"') {
		return nil, false
	}
	for i, c := range s.rest {
		if c == '"' {
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text, true
		}
		if c < ' ' || c > '~' || c == '\\' {
			return nil, false
		}
	}
	return nil, false
}

// Key takes a member's name, as [Scanner.ASCII] does, and the colon.
func (s *Scanner) Key() ([]byte, bool) {
	key, ok := s.ASCII()
	return key, ok && s.Skip(':')
}

// Is takes a member's name and the colon, or nothing if the name is another one.
func (s *Scanner) Is(name string) bool {
	s.space()
	n := len(name)
	if len(s.rest) < n+2 || s.rest[0] != '"' || string(s.rest[1:n+1]) != name || s.rest[n+1] != '"' {
		return false
	}
	before := s.rest
	s.rest = s.rest[n+2:]
	if !s.Skip(':') {
		s.rest = before
		return false
	}
	return true
}

// Whole takes a number of at most 15 digits, without a sign, a fraction or an exponent.
func (s *Scanner) Whole() (n uint64, ok bool) {
	s.space()
	i := 0
	for ; i < len(s.rest) && i <= digitsMax && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	if i == 0 || i > digitsMax || i > 1 && s.rest[0] == '0' {
		return 0, false
	}
	s.rest = s.rest[i:]
	return n, true
}

// Bool takes true or false.
func (s *Scanner) Bool() (value, ok bool) {
	s.space()
	for _, literal := range [...]string{"true", "false"} {
		if len(s.rest) >= len(literal) && string(s.rest[:len(literal)]) == literal {
			s.rest = s.rest[len(literal):]
			return literal == "true", true
		}
	}
	return false, false
}
