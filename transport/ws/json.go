package ws

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
)

// appendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n - 1
		}
		i++
	}
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendText appends a member with a string value.
func appendText(dst []byte, key, value string) []byte {
	return appendString(appendKey(dst, key), value)
}

// appendInt appends a member with a whole number.
func appendInt(dst []byte, key string, value int64) []byte {
	return strconv.AppendInt(appendKey(dst, key), value, 10)
}

// appendUint appends a member with a whole number.
func appendUint(dst []byte, key string, value uint64) []byte {
	return strconv.AppendUint(appendKey(dst, key), value, 10)
}

// appendBool appends a member with true or false.
func appendBool(dst []byte, key string, value bool) []byte {
	return strconv.AppendBool(appendKey(dst, key), value)
}

func appendKey(dst []byte, key string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// appendType begins an object with its type.
func appendType(dst []byte, name string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, name...)
	return append(dst, '"')
}

// errNotEvent says that a text frame is not an event.
var errNotEvent = errors.New("a text frame must be a JSON object with a \"type\"")

// errNotUTF8 says that a text frame is not UTF-8.
var errNotUTF8 = errors.New("a text frame must be UTF-8")

// object is a JSON object whose members are taken by exact name. err keeps the first error; members
// taken after it read as absent.
type object struct {
	name    string // its type
	members map[string]json.RawMessage
	err     error
}

// parseObject parses a text frame. For an object without a type it returns [errNotEvent].
func parseObject(b []byte) (*object, error) {
	if !utf8.Valid(b) {
		return nil, errNotUTF8
	}
	o := &object{name: "event"}
	if err := json.Unmarshal(b, &o.members); err != nil || o.members == nil {
		return nil, errNotEvent
	}
	o.name = o.text("type", math.MaxInt)
	if o.err != nil || o.name == "" {
		return nil, errNotEvent
	}
	return o, nil
}

// has reports whether the object has a member of this name other than null.
func (o *object) has(key string) bool {
	raw, ok := o.members[key]
	return ok && string(raw) != "null"
}

// fail keeps the first error. It describes the value by type and length, never by content: a caller
// may have keyed or typed it.
func (o *object) fail(key, want string) {
	if o.err != nil {
		return
	}
	o.err = &transport.FieldError{Event: o.name, Field: key, Value: foreign.Kind(o.members[key]), Want: want}
}

// need fails unless the object has a member of this name.
func (o *object) need(key, want string) {
	if !o.has(key) {
		o.fail(key, want)
	}
}

// text takes a string of at most lenMax bytes, "" when it is absent.
func (o *object) text(key string, lenMax int) string {
	if !o.has(key) {
		return ""
	}
	var s string
	if json.Unmarshal(o.members[key], &s) != nil || len(s) > lenMax {
		o.fail(key, fmt.Sprintf("a string of at most %d bytes", lenMax))
		return ""
	}
	return s
}

// whole takes a whole number from 0 to most, 0 when it is absent.
func (o *object) whole(key string, most int64) int64 {
	if !o.has(key) {
		return 0
	}
	n, err := strconv.ParseInt(string(o.members[key]), 10, 64)
	if err != nil || n < 0 || n > most {
		o.fail(key, fmt.Sprintf("a whole number from 0 to %d", most))
		return 0
	}
	return n
}

// floor takes a number from 0 to most and cuts its fraction off, 0 when it is absent.
func (o *object) floor(key string, most int64) int64 {
	if !o.has(key) {
		return 0
	}
	var x float64
	if json.Unmarshal(o.members[key], &x) != nil || x < 0 || x > float64(most) {
		o.fail(key, fmt.Sprintf("a number from 0 to %d", most))
		return 0
	}
	return int64(x)
}

// strings takes an object whose values are strings; nil when it is absent or has no members.
func (o *object) strings(key string) map[string]string {
	if !o.has(key) {
		return nil
	}
	var members map[string]*string
	if json.Unmarshal(o.members[key], &members) != nil {
		o.fail(key, "an object of strings")
		return nil
	}
	var values map[string]string
	for name, value := range members {
		if value == nil { // null is the same as absent
			continue
		}
		if values == nil {
			values = make(map[string]string, len(members))
		}
		values[name] = *value
	}
	return values
}

// flag takes true or false, false when it is absent.
func (o *object) flag(key string) bool {
	switch string(o.members[key]) {
	case "true":
		return true
	case "", "null", "false":
		return false
	}
	o.fail(key, "true or false")
	return false
}
