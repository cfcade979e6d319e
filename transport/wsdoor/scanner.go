package wsdoor

import "bytes"

// Scanner reads the simplest JSON, a token at a time, without allocating: for the message that comes fifty times a
// second. Whatever it does not take goes to encoding/json, also what is wrong.
type Scanner struct{ b []byte }

// Scan begins with b, which it does not change.
func Scan(b []byte) Scanner { return Scanner{b} }

func (s *Scanner) space() {
	for len(s.b) > 0 && (s.b[0] == ' ' || s.b[0] == '\t' || s.b[0] == '\n' || s.b[0] == '\r') {
		s.b = s.b[1:]
	}
}

// Skip takes the character c, with white space before it.
func (s *Scanner) Skip(c byte) bool {
	s.space()
	if len(s.b) == 0 || s.b[0] != c {
		return false
	}
	s.b = s.b[1:]
	return true
}

// End reports whether only white space is left.
func (s *Scanner) End() bool {
	s.space()
	return len(s.b) == 0
}

// Text takes a string without escapes. It is a part of what is scanned.
func (s *Scanner) Text() ([]byte, bool) {
	if !s.Skip('"') {
		return nil, false
	}
	i := bytes.IndexByte(s.b, '"')
	if i < 0 || bytes.IndexByte(s.b[:i], '\\') >= 0 {
		return nil, false
	}
	text := s.b[:i]
	s.b = s.b[i+1:]
	return text, true
}

// Key takes a member's name and its colon.
func (s *Scanner) Key() ([]byte, bool) {
	key, ok := s.Text()
	return key, ok && s.Skip(':')
}

// Is takes a member's name and its colon, and reports whether it is this one.
func (s *Scanner) Is(name string) bool {
	key, ok := s.Key()
	return ok && string(key) == name
}
