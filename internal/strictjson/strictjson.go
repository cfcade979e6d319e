// Package strictjson decodes JSON that people and programs of others wrote, and says exactly what is wrong
// with it.
//
//	var d struct{ Tools []struct{ Name string `json:"name"` } `json:"tools"` }
//	err := strictjson.Decoder{}.Decode([]byte(`{"tools": [{"nam": "x"}]}`), &d)
//	// tools[0].nam: there is no such field; did you mean "name"?
//
// It refuses what encoding/json lets pass: unknown fields, names in another case, names that come twice,
// text that is not UTF-8, null where a list or a map needs a value, and a second value behind the first.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// depthMax is how deep values may be nested.
const depthMax = 100

// Error is what is wrong with a JSON text.
type Error struct {
	Path    string // such as "tools[2].name"; "" is the whole value
	Message string
}

// Error returns the message, with the path.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Decoder says how to decode. The zero value is ready to use. It is safe for concurrent use.
type Decoder struct {
	// Variants are types whose fields depend on their field "type": the names of the fields that each value of it
	// has, "type" left out. A value with another type may have all fields of the Go type.
	Variants map[reflect.Type]map[string][]string
	// Wrap makes the error of an UnmarshalJSON or an UnmarshalText one with the path of its value. Without it,
	// Decode returns an *Error with that path and the text of the error.
	Wrap func(path string, err error) error
}

// Decode decodes a JSON text into the value that to points to. Fields that are null stay as they are, as with
// encoding/json. The error is an *Error, or one of Wrap.
func (d Decoder) Decode(text []byte, to any) error {
	if !utf8.Valid(text) {
		return &Error{Message: "it is not valid UTF-8"}
	}
	if err := check(text); err != nil {
		return err
	}
	if err := d.value(text, reflect.TypeOf(to).Elem(), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil { // such as a number that is too large
		if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
			return &Error{Path: kind.Field, Message: kind.Value + " is out of range"}
		}
		return d.wrap("", err)
	}
	return nil
}

func (d Decoder) wrap(path string, err error) error {
	if d.Wrap != nil {
		return d.Wrap(path, err)
	}
	if own := (*Error)(nil); errors.As(err, &own) {
		return &Error{Path: Join(path, own.Path), Message: own.Message}
	}
	return &Error{Path: path, Message: err.Error()}
}

// Join is the path of something in a value that has a path itself.
func Join(path, inner string) string {
	if path == "" || inner == "" || strings.HasPrefix(inner, "[") {
		return path + inner
	}
	return path + "." + inner
}

// check finds what is wrong with a text whatever it stands for.
func check(text []byte) error {
	s := scanner{json.NewDecoder(bytes.NewReader(text))}
	s.dec.UseNumber()
	if err := s.value("", 0); err != nil {
		return err
	}
	if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
		return &Error{Message: "there is more than one JSON value"}
	}
	return nil
}

type scanner struct{ dec *json.Decoder }

func (s scanner) token(path string) (json.Token, error) {
	token, err := s.dec.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &Error{Path: path, Message: "the JSON text ends too early"}
	}
	if err != nil {
		return nil, &Error{Path: path, Message: fmt.Sprintf("it is no JSON: %v, at byte %d", err, s.dec.InputOffset())}
	}
	return token, nil
}

func (s scanner) value(path string, depth int) error {
	if depth > depthMax {
		return &Error{Path: path, Message: fmt.Sprintf("it is nested more than %d levels deep", depthMax)}
	}
	token, err := s.token(path)
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = s.object(path, depth)
	case json.Delim('['):
		for i := 0; s.dec.More() && err == nil; i++ {
			err = s.value(fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	default:
		return nil
	}
	if err == nil {
		_, err = s.token(path) // the end of it
	}
	return err
}

// object reads the members of an object.
func (s scanner) object(path string, depth int) error {
	seen := map[string]bool{}
	for s.dec.More() {
		token, err := s.token(path)
		if err != nil {
			return err
		}
		name, at := token.(string), Join(path, token.(string))
		if seen[name] {
			return &Error{Path: at, Message: "it is there twice"}
		}
		seen[name] = true
		if err := s.value(at, depth+1); err != nil {
			return err
		}
	}
	return nil
}
