package mediastream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// depthMax is how deep a message may nest.
const depthMax = 8

var (
	errNotJSON = errors.New("a message must be a JSON object")
	errNumber  = errors.New("a number is not a whole number")
)

// object is a JSON object whose members are taken one by one, without allocating. It checks the structure that it
// passes, not the inside of numbers and words.
type object struct {
	b     []byte // what is left
	first bool
	bad   bool
}

// openObject begins with the first member.
func openObject(b []byte) object {
	o := object{b: b, first: true}
	o.bad = !o.skip('{')
	return o
}

// next returns the next member: its name as it stands between quotes, and its value as it stands. ok is false behind
// the last one, and when the object is broken: see end.
func (o *object) next() (key, value []byte, ok bool) {
	if o.bad || o.closed() {
		return nil, nil, false
	}
	if !o.first && !o.skip(',') {
		o.bad = true
		return nil, nil, false
	}
	o.first = false
	quoted := o.value(0)
	if len(quoted) < 2 || quoted[0] != '"' || !o.skip(':') {
		o.bad = true
		return nil, nil, false
	}
	value = o.value(0)
	if o.bad = value == nil; o.bad {
		return nil, nil, false
	}
	return quoted[1 : len(quoted)-1], value, true
}

// end returns an error unless the object was complete and nothing follows it.
func (o *object) end() error {
	if o.bad || !o.skip('}') {
		return errNotJSON
	}
	if o.space(); len(o.b) > 0 {
		return errNotJSON
	}
	return nil
}

func (o *object) closed() bool {
	o.space()
	return len(o.b) > 0 && o.b[0] == '}'
}

func (o *object) space() {
	for len(o.b) > 0 && (o.b[0] == ' ' || o.b[0] == '\t' || o.b[0] == '\n' || o.b[0] == '\r') {
		o.b = o.b[1:]
	}
}

// skip takes the character c, with white space before it.
func (o *object) skip(c byte) bool {
	o.space()
	if len(o.b) == 0 || o.b[0] != c {
		return false
	}
	o.b = o.b[1:]
	return true
}

// value takes any value and returns it, nil when there is none.
func (o *object) value(depth int) []byte {
	o.space()
	from := o.b
	if len(from) == 0 || depth > depthMax {
		return nil
	}
	ok := false
	switch from[0] {
	case '"':
		ok = o.quoted()
	case '{', '[':
		ok = o.nested(depth)
	default:
		ok = o.word()
	}
	if !ok {
		return nil
	}
	return from[:len(from)-len(o.b)]
}

// quoted takes a string.
func (o *object) quoted() bool {
	for i := 1; i < len(o.b); i++ {
		switch o.b[i] {
		case '\\':
			i++
		case '"':
			o.b = o.b[i+1:]
			return true
		}
	}
	return false
}

// nested takes an object or a list.
func (o *object) nested(depth int) bool {
	closing, named := byte(']'), o.b[0] == '{'
	if named {
		closing = '}'
	}
	o.b = o.b[1:]
	if o.skip(closing) {
		return true
	}
	for {
		if named {
			if key := o.value(depth + 1); len(key) < 2 || key[0] != '"' || !o.skip(':') {
				return false
			}
		}
		if o.value(depth+1) == nil {
			return false
		}
		if !o.skip(',') {
			return o.skip(closing)
		}
	}
}

// word takes a number, true, false or null.
func (o *object) word() bool {
	n := 0
	for n < len(o.b) && wordByte(o.b[n]) {
		n++
	}
	o.b = o.b[n:]
	return n > 0
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// text is the content of a string, nil for what is none. It allocates only where something is escaped.
func text(value []byte) []byte {
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

// number is a whole number, written with quotes or without; 0 for nothing.
func number(value []byte) (uint64, error) {
	if len(value) >= 2 && value[0] == '"' {
		value = value[1 : len(value)-1]
	}
	if len(value) == 0 || string(value) == "null" {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}
