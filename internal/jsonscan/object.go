package jsonscan

import (
	"bytes"
	"encoding/json"
)

// How deep values may nest.
const (
	depthMax    = 8      // the value of a member of an Object
	depthMaxAny = 10_000 // a value that Scanner.Value takes: as in encoding/json
)

// Object ranges over the members of a JSON object. It checks the structure of what it passes, and
// not the inside of strings, numbers and literals: a broken object may pass, a valid one that nests
// at most eight deep always does.
type Object struct {
	s      Scanner
	begun  bool // a member was returned
	broken bool
}

// Open returns the object that b holds.
func Open(b []byte) Object {
	o := Object{s: New(b)}
	o.broken = !o.s.Skip('{')
	return o
}

// Next returns the next member: what stands between the quotes of its name, and its raw value. ok is
// false after the last member and in a broken object; [Object.Complete] tells the two apart.
func (o *Object) Next() (key, value []byte, ok bool) {
	if o.s.space(); o.broken || len(o.s.rest) > 0 && o.s.rest[0] == '}' {
		return nil, nil, false
	}
	if o.begun && !o.s.Skip(',') {
		o.broken = true
		return nil, nil, false
	}
	o.begun = true
	quoted := o.s.value(depthMax)
	if len(quoted) < 2 || quoted[0] != '"' || !o.s.Skip(':') {
		o.broken = true
		return nil, nil, false
	}
	if value = o.s.value(depthMax); value == nil {
		o.broken = true
		return nil, nil, false
	}
	return quoted[1 : len(quoted)-1], value, true
}

// Complete reports, after the last member, whether the object is closed and nothing follows it.
func (o *Object) Complete() bool { return !o.broken && o.s.Skip('}') && o.s.End() }

// Peek returns the first byte of the next token, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.End() {
		return 0
	}
	return s.rest[0]
}

// Value takes any value that nests at most 10,000 deep and returns it as it is, without white space
// around it. As an [Object], it does not check the inside of strings, numbers and literals.
func (s *Scanner) Value() ([]byte, bool) {
	value := s.value(depthMaxAny)
	return value, value != nil
}

// value takes any value that nests so deep at most and returns it, nil if there is none.
func (s *Scanner) value(depth int) []byte {
	s.space()
	from := s.rest
	if len(from) == 0 || depth < 0 {
		return nil
	}
	ok := false
	switch from[0] {
	case '"':
		ok = s.quoted()
	case '{', '[':
		ok = s.nested(depth)
	default:
		ok = s.word()
	}
	if !ok {
		return nil
	}
	return from[:len(from)-len(s.rest)]
}

// quoted takes a string.
func (s *Scanner) quoted() bool {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// nested takes an object or an array.
func (s *Scanner) nested(depth int) bool {
	closing, named := byte(']'), s.rest[0] == '{'
	if named {
		closing = '}'
	}
	s.rest = s.rest[1:]
	if s.Skip(closing) {
		return true
	}
	for {
		if named {
			if key := s.value(depth - 1); len(key) < 2 || key[0] != '"' || !s.Skip(':') {
				return false
			}
		}
		if s.value(depth-1) == nil {
			return false
		}
		if !s.Skip(',') {
			return s.Skip(closing)
		}
	}
}

// word takes a number, true, false or null.
func (s *Scanner) word() bool {
	n := 0
	for n < len(s.rest) && wordByte(s.rest[n]) {
		n++
	}
	s.rest = s.rest[n:]
	return n > 0
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// Unquote returns the text of a raw value that is a string, and nil for any other value. It
// allocates only if the string has escapes.
func Unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return nil
	}
	return []byte(s)
}
