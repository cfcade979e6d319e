package gemini

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
)

// shape says which fields the objects of a value have. A shape comes from a Go type, whose tags say
// what the shape needs:
//
//	Model string   `json:"model"`             // a field
//	_     struct{} `none:"seed topK" why:"x"` // fields without effect, and the reason
type shape struct {
	fields map[string]*field // by name, in both spellings
	count  uint              // of fields
	keyed  *shape            // of the values of an object whose names the client chooses
	open   bool              // unknown fields stay
}

// field is a field of an object.
type field struct {
	name  string // in lowerCamelCase
	index uint   // among the fields of its shape, which has at most 64
	shape *shape // nil: the value stays as it is
	none  string // why the field has no effect; "" if it has one
}

// whole is a value of type T that is passed on as JSON, with the names of T's fields in
// lowerCamelCase and everything else as the client sent it.
type whole[T any] struct{ json.RawMessage }

func (whole[T]) form() reflect.Type { return reflect.TypeFor[T]() }

// shapes makes shapes, one for each type, because types may contain themselves.
type shapes struct {
	made map[reflect.Type]*shape
	open bool
}

// shapeOf returns the shape of messages of type T.
func shapeOf[T any]() *shape {
	return (&shapes{made: map[reflect.Type]*shape{}}).of(reflect.TypeFor[T]())
}

// of returns nil for a type that has no fields.
func (s *shapes) of(t reflect.Type) *shape {
	if w, ok := reflect.Zero(t).Interface().(interface{ form() reflect.Type }); ok {
		return (&shapes{made: map[reflect.Type]*shape{}, open: true}).of(w.form())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return s.of(t.Elem())
	case reflect.Map:
		if values := s.of(t.Elem()); values != nil {
			return &shape{keyed: values}
		}
	case reflect.Struct:
		return s.ofStruct(t)
	}
	return nil
}

func (s *shapes) ofStruct(t reflect.Type) *shape {
	if made := s.made[t]; made != nil {
		return made
	}
	made := &shape{fields: map[string]*field{}, open: s.open}
	s.made[t] = made
	for i := range t.NumField() {
		f := t.Field(i)
		for name := range strings.FieldsSeq(f.Tag.Get("none")) {
			made.add(&field{name: name, none: f.Tag.Get("why")})
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			made.add(&field{name: name, shape: s.of(f.Type)})
		}
	}
	return made
}

func (s *shape) add(f *field) {
	f.index = s.count
	s.count++
	s.fields[f.name], s.fields[snake(f.name)] = f, f
}

// snake returns a lowerCamelCase name in snake_case.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
