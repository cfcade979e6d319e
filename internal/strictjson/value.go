package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/internal/spelling"
)

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	jsonType = reflect.TypeFor[json.Unmarshaler]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value checks a valid JSON text that is to become a value of a type.
func (d Decoder) value(text []byte, t reflect.Type, path string) error {
	text = bytes.TrimSpace(text)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch p := reflect.PointerTo(t); {
	case t == rawType, t.Kind() == reflect.Interface, string(text) == "null":
		return nil
	case p.Implements(jsonType):
		if err := reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(text); err != nil {
			return d.wrap(path, err)
		}
		return nil
	}
	if got, want := kindOf(text), kindOfType(t); got != want && (want != number || got != whole && got != fraction) {
		return &Error{Path: path, Message: fmt.Sprintf("it is %s; it must be %s", got, want)}
	}
	switch {
	case reflect.PointerTo(t).Implements(textType):
		if err := json.Unmarshal(text, reflect.New(t).Interface()); err != nil {
			return d.wrap(path, err)
		}
	case t.Kind() == reflect.Struct:
		return d.object(text, t, path)
	case t.Kind() == reflect.Map:
		for _, m := range members(text) {
			if err := d.element(m.value, t.Elem(), Join(path, m.name)); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Slice:
		for i, one := range elements(text) {
			if err := d.element(one, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// element checks a value of a list or a map, which is null only if its type is a pointer.
func (d Decoder) element(text []byte, t reflect.Type, path string) error {
	if string(text) == "null" && t.Kind() != reflect.Pointer && t != rawType && t.Kind() != reflect.Interface {
		return &Error{Path: path, Message: "it is null; it must be " + kindOfType(t)}
	}
	return d.value(text, t, path)
}

// object checks an object that is to become a struct.
func (d Decoder) object(text []byte, t reflect.Type, path string) error {
	fields, list := fieldsOf(t), members(text)
	allowed, kind := d.variant(t, list)
	for _, m := range list {
		field, known := fields[m.name]
		at := Join(path, m.name)
		switch {
		case !known:
			return unknown(at, m.name, fields)
		case allowed != nil && m.name != "type" && !slices.Contains(allowed, m.name) && string(m.value) != "null":
			return &Error{Path: at, Message: fmt.Sprintf("%q does not have this field", kind)}
		}
		if err := d.value(m.value, field, at); err != nil {
			return err
		}
	}
	return nil
}

// variant is the fields that an object of a type with variants may have; nil means all.
func (d Decoder) variant(t reflect.Type, list []member) (fields []string, kind string) {
	for _, m := range list {
		if m.name == "type" && json.Unmarshal(m.value, &kind) == nil {
			return d.Variants[t][kind], kind
		}
	}
	return nil, ""
}

func unknown(path, name string, fields map[string]reflect.Type) error {
	names := make([]string, 0, len(fields))
	for known := range fields {
		names = append(names, known)
	}
	slices.Sort(names)
	e := &Error{Path: path, Message: "there is no such field"}
	if near := spelling.Nearest(name, names); near != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return e
}

// fieldsOf are the JSON fields of a struct, those of embedded structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && f.IsExported() {
			fields[name] = f.Type
		}
	}
	return fields
}

// member is a name and a value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of a valid object.
func members(text []byte) (list []member) {
	dec := json.NewDecoder(bytes.NewReader(text))
	_, _ = dec.Token()
	for dec.More() {
		name, _ := dec.Token()
		m := member{}
		m.name, _ = name.(string)
		if dec.Decode(&m.value) != nil {
			break
		}
		list = append(list, m)
	}
	return list
}

// elements are those of a valid list.
func elements(text []byte) (list []json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(text))
	_, _ = dec.Token()
	for dec.More() {
		var one json.RawMessage
		if dec.Decode(&one) != nil {
			break
		}
		list = append(list, one)
	}
	return list
}

// kindOf says what a valid JSON text is.
func kindOf(text []byte) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	}
	if bytes.ContainsAny(text, ".eE") {
		return fraction
	}
	return whole
}

// The kinds of numbers.
const (
	whole    = "a whole number"
	fraction = "a number with a fraction"
	number   = "a number"
)

// kindOfType says what JSON text a type needs.
func kindOfType(t reflect.Type) string {
	switch {
	case reflect.PointerTo(t).Implements(textType):
		return "text"
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "an object"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return number
	}
	return whole
}
