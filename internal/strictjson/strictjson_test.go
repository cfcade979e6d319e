package strictjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type tool struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Other *bool  `json:"other"`
}

// span decodes itself from text.
type span time.Duration

func (s *span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	*s = span(d)
	return err
}

// ref decodes itself.
type ref struct{ ID string }

func (r *ref) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.ID) == nil {
		return nil
	}
	var o struct {
		ID string `json:"id"`
	}
	err := Decoder{}.Decode(b, &o)
	r.ID = o.ID
	return err
}

type sample struct {
	Name  string             `json:"name"`
	Count int8               `json:"count"`
	Heat  *float32           `json:"heat"`
	Wait  span               `json:"wait"`
	Ref   ref                `json:"ref"`
	Tools []tool             `json:"tools"`
	Notes map[string]string  `json:"notes"`
	Clear map[string]*string `json:"clear"`
	Free  json.RawMessage    `json:"free"`
	Any   any                `json:"any"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	d := Decoder{Variants: map[reflect.Type]map[string][]string{reflect.TypeFor[tool](): {"a": {"name"}}}}
	deep := strings.Repeat("[", depthMax+2) + strings.Repeat("]", depthMax+2)
	for text, want := range map[string]string{
		`{"name":"x","count":3,"wait":"1s","ref":"r","notes":{"k":"v"},"clear":{"k":null}}`:    "",
		`{"name":null,"tools":null,"ref":{"id":"r"},"free":{"x":[1,{"y":null}]},"any":[null]}`: "",
		`{"tools":[{"type":"b","other":true},{"type":"a","other":null}]}`:                      "",
		`{"nme":"x"}`:                           `nme: there is no such field; did you mean "name"?`,
		`{"Name":"x"}`:                          `Name: there is no such field; did you mean "name"?`,
		`{"colour":1}`:                          `colour: there is no such field`,
		`{"tools":[{"type":"b"},{"tipe":"x"}]}`: `tools[1].tipe: there is no such field; did you mean "type"?`,
		`{"tools":[{"other":true,"type":"a"}]}`: `tools[0].other: "a" does not have this field`,
		`{"name":3}`:                            `name: it is a whole number; it must be text`,
		`{"name":{}}`:                           `name: it is an object; it must be text`,
		`{"count":"3"}`:                         `count: it is text; it must be a whole number`,
		`{"count":3.5}`:                         `count: it is a number with a fraction; it must be a whole number`,
		`{"count":300}`:                         `count: number 300 is out of range`,
		`{"heat":0.5}`:                          "",
		`{"heat":1}`:                            "",
		`{"heat":"1"}`:                          `heat: it is text; it must be a number`,
		`{"heat":1e99}`:                         `heat: number 1e99 is out of range`,
		`{"tools":{}}`:                          `tools: it is an object; it must be a list`,
		`{"tools":[null]}`:                      `tools[0]: it is null; it must be an object`,
		`{"tools":[{"other":"yes"}]}`:           `tools[0].other: it is text; it must be true or false`,
		`{"notes":{"k":null}}`:                  `notes.k: it is null; it must be text`,
		`{"notes":[]}`:                          `notes: it is a list; it must be an object`,
		`{"wait":"soon"}`:                       `wait: time: invalid duration "soon"`,
		`{"wait":1}`:                            `wait: it is a whole number; it must be text`,
		`{"ref":{"idd":"x"}}`:                   `ref.idd: there is no such field; did you mean "id"?`,
		`{"ref":{"id":1}}`:                      `ref.id: it is a whole number; it must be text`,
		`{"name":"x","name":"y"}`:               `name: it is there twice`,
		`{"free":{"a":{"b":1,"b":2}}}`:          `free.a.b: it is there twice`,
		`{"free":` + deep + `}`:                 "it is nested more than 100 levels deep",
		`{"name":"x"} {}`:                       `there is more than one JSON value`,
		`{"name":"x"}}`:                         `there is more than one JSON value`,
		`[]`:                                    `it is a list; it must be an object`,
		`{"name":"` + "\xff" + `"}`:             `it is not valid UTF-8`,
		`{"name":"x"`:                           `the JSON text ends too early`,
		``:                                      `the JSON text ends too early`,
		`{"name":x}`:                            `name: it is no JSON: invalid character 'x' looking for beginning of value`,
		`{"tools":[{"name":"a"},{"name":tru}]}`: `tools[1].name: it is no JSON`,
	} {
		err := d.Decode([]byte(text), &sample{})
		if want == "" && err == nil {
			continue
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	d := Decoder{Wrap: func(path string, err error) error {
		if path != "ref" || err == nil {
			t.Errorf("%q, %v", path, err)
		}
		return mine
	}}
	if err := d.Decode([]byte(`{"ref":{"x":1}}`), &sample{}); !errors.Is(err, mine) {
		t.Error(err)
	}
}

// FuzzDecode: what Decode accepts is what encoding/json accepts, with the same value, and no text makes it panic.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"name":"x","tools":[{"type":"a"}]}`, `{"ref":{"id":"x"},"wait":"1s","any":1e9}`, `null`,
		`[`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want sample
		err := Decoder{}.Decode(text, &got)
		plain := json.Unmarshal(text, &want)
		if err == nil && (plain != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("%q is %+v; encoding/json says %+v, %v", text, got, want, plain)
		}
		if err != nil && err.Error() == "" {
			t.Errorf("%q: an empty error", text)
		}
	})
}
