package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScanner(t *testing.T) {
	tests := []struct {
		name, in string
		read     func(s *Scanner) (any, bool)
		want     any // nil: the token is refused
		rest     string
	}{
		{"text", ` "a b" ,`, text, "a b", " ,"},
		{"text of bytes", "\"\xff\"", text, "\xff", ""},
		{"escape", `"a\n"`, text, nil, ""},
		{"open text", `"a`, text, nil, ""},
		{"no text", `a"`, text, nil, ""},
		{"ascii", `"~ !"`, ascii, "~ !", ""},
		{"control character", "\"\x1f\"", ascii, nil, ""},
		{"not ascii", `"é"`, ascii, nil, ""},
		{"key", ` "a" : 1`, key, "a", " 1"},
		{"key without colon", `"a" 1`, key, nil, ""},
		{"whole", " 120,", whole, uint64(120), ","},
		{"zero", "0", whole, uint64(0), ""},
		{"15 digits", "123456789012345", whole, uint64(123456789012345), ""},
		{"16 digits", "1234567890123456", whole, nil, ""},
		{"leading zero", "01", whole, nil, ""},
		{"negative", "-1", whole, nil, ""},
		{"quoted number", `"1"`, whole, nil, ""},
		{"true", " true}", boolean, true, "}"},
		{"false", "false", boolean, false, ""},
		{"other literal", "null", boolean, nil, ""},
		{"any string", ` "a\"b" ,`, value, `"a\"b"`, " ,"},
		{"any number", "-1.5E+3]", value, "-1.5E+3", "]"},
		{"any object", ` {"a":[{}, null]} x`, value, `{"a":[{}, null]}`, " x"},
		{"deep", strings.Repeat("[", 10_000) + "1" + strings.Repeat("]", 10_000), value,
			strings.Repeat("[", 10_000) + "1" + strings.Repeat("]", 10_000), ""},
		{"too deep", strings.Repeat("[", 10_001) + "1" + strings.Repeat("]", 10_001), value, nil, ""},
		{"open array", "[1", value, nil, ""},
		{"open escape", `"\`, value, nil, ""},
		{"no value", "}", value, nil, ""},
		{"nothing", " ", value, nil, ""},
		{"peek", " \t{", peek, byte('{'), "{"},
		{"peek at the end", " ", peek, nil, ""},
		{"characters", " { [ ]x", all("{[]"), true, "x"},
		{"other characters", "{}", all("{["), nil, ""},
	}
	for _, tt := range tests {
		s := New([]byte(tt.in))
		got, ok := tt.read(&s)
		if ok != (tt.want != nil) || ok && (got != tt.want || string(s.rest) != tt.rest) {
			t.Errorf("%s: %v, %v, then %q", tt.name, got, ok, s.rest)
		}
	}
}

func text(s *Scanner) (any, bool)    { b, ok := s.Text(); return string(b), ok }
func ascii(s *Scanner) (any, bool)   { b, ok := s.ASCII(); return string(b), ok }
func key(s *Scanner) (any, bool)     { b, ok := s.Key(); return string(b), ok }
func whole(s *Scanner) (any, bool)   { n, ok := s.Whole(); return n, ok }
func boolean(s *Scanner) (any, bool) { v, ok := s.Bool(); return v, ok }
func value(s *Scanner) (any, bool)   { b, ok := s.Value(); return string(b), ok }
func peek(s *Scanner) (any, bool)    { c := s.Peek(); return c, c != 0 }

func all(cs string) func(s *Scanner) (any, bool) {
	return func(s *Scanner) (any, bool) { ok := s.SkipAll(cs); return ok, ok }
}

// TestIsTakesNothingElse: a name that is not the one asked for is still there.
func TestIsTakesNothingElse(t *testing.T) {
	s := New([]byte(` "role": "model"`))
	if s.Is("rol") || s.Is("roles") || s.Is("parts") || !s.Is("role") {
		t.Errorf("a wrong name was taken, or the right one was not: %q is left", s.rest)
	}
	if s = New([]byte(`"role" "model"`)); s.Is("role") || string(s.rest) != `"role" "model"` {
		t.Errorf("a name without a colon was taken: %q is left", s.rest)
	}
	if s = New([]byte(" \n")); !s.End() {
		t.Error("white space is not the end")
	}
}

func TestObject(t *testing.T) {
	nested := strings.Repeat("[", depthMax) + "1" + strings.Repeat("]", depthMax)
	for in, want := range map[string]string{
		`{}`:                           "",
		` { } `:                        "",
		`{"a":1}`:                      "a=1 ",
		`{"a" : "x\"}" , "b":[{},{}]}`: `a="x\"}" b=[{},{}] `,
		`{"a":` + nested + `}`:         "a=" + nested + " ",
		`{"a":[` + nested + `]}`:       "broken",
		`{"a":1,}`:                     "a=1 broken",
		`{"a":1 "b":2}`:                "a=1 broken",
		`{"a"}`:                        "broken",
		`{"a":}`:                       "broken",
		`{a:1}`:                        "broken",
		`{"a":{"b"}}`:                  "broken",
		`{"a":1`:                       "a=1 broken",
		`{"a":1}}`:                     "a=1 broken",
		`[]`:                           "broken",
		``:                             "broken",
	} {
		var got strings.Builder
		o := Open([]byte(in))
		for key, value, ok := o.Next(); ok; key, value, ok = o.Next() {
			fmt.Fprintf(&got, "%s=%s ", key, value)
		}
		if !o.Complete() {
			got.WriteString("broken")
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", in, got.String(), want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{`"a"`: "a", `""`: "", `"\u00e9"`: "é", `"\x"`: "", "1": "", `"`: ""} {
		if got := Unquote([]byte(in)); string(got) != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// FuzzObject compares with encoding/json: an object that it reads has the same members here.
func FuzzObject(f *testing.F) {
	for _, in := range []string{`{"event":"media","media":{"chunk":"1","payload":"//8="}}`, `{"a":[1,-2.5E+3,null]}`,
		` {"a":"\u0041","b":{"c":[]}} `, `{"a":1,"a":2}`, `{`, `{}{}`, `{"":""}`} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := bytes.Clone(b)
		got := map[string]string{}
		o := Open(b)
		for key, value, ok := o.Next(); ok; key, value, ok = o.Next() {
			got[string(key)] = string(value)
		}
		complete := o.Complete()
		if !bytes.Equal(b, kept) {
			t.Fatal("the input was changed")
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			return
		}
		if !complete && depth(b) <= depthMax {
			t.Fatalf("%s is broken, and encoding/json reads it", b)
		}
		if !complete || bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) { // names stay as they were written
			return
		}
		for key, value := range want {
			if got[key] != string(value) {
				t.Errorf("%s: %q is %s, want %s", b, key, got[key], value)
			}
		}
	})
}

// FuzzValue compares with encoding/json: what it reads is a value here, with the same text.
func FuzzValue(f *testing.F) {
	for _, in := range []string{` {"a":"\u0041","b":{"c":[]}} `, `[1,-2.5E+3,null] x`, `"\"`, `{"a"}`, "[", "true"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := New(b)
		got, ok := s.Value()
		if ok != (got != nil) || len(got)+len(s.rest) > len(b) {
			t.Fatalf("%q, %v, then %q", got, ok, s.rest)
		}
		if json.Valid(b) && (!ok || !s.End() || !bytes.Equal(got, bytes.Trim(b, " \t\r\n"))) {
			t.Errorf("%s: %q, then %q", b, got, s.rest)
		}
	})
}

// depth is how deep b may nest at most.
func depth(b []byte) int { return bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{")) }

// FuzzScanner compares with encoding/json: a token that is taken means the same there.
func FuzzScanner(f *testing.F) {
	for _, in := range []string{`"abc"`, `"a\u0041"`, "120", "007", "true", "false", "nul", " \"\x00\" "} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(got any, ok bool, s Scanner) {
			t.Helper()
			if !ok || !s.End() {
				return
			}
			var want any
			d := json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			if err := d.Decode(&want); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q is %v, and %v, %v to encoding/json", b, got, want, err)
			}
		}
		s := New(b)
		v, ok := ascii(&s)
		check(v, ok, s)
		s = New(b)
		v, ok = whole(&s)
		check(v, ok, s)
		s = New(b)
		v, ok = boolean(&s)
		check(v, ok, s)
	})
}

func media() []byte {
	return []byte(`{"event":"media","sequenceNumber":"3","streamSid":"MZ1","media":{"track":"inbound","chunk":"1",` +
		`"timestamp":"5","payload":"` + strings.Repeat("//8A", 53) + `"}}`)
}

func readObject(b []byte) (members int) {
	o := Open(b)
	for _, _, ok := o.Next(); ok; _, _, ok = o.Next() {
		members++
	}
	return members
}

func readTokens(b []byte) bool {
	s := New(b)
	if !s.Skip('{') || !s.Is("n") {
		return false
	}
	_, number := s.Whole()
	if !number || !s.Skip(',') || !s.Is("data") {
		return false
	}
	_, text := s.Text()
	return text && s.Skip('}') && s.End()
}

func tokens() []byte { return []byte(`{"n": 120, "data": "` + strings.Repeat("//8A", 213) + `"}`) }

func TestAllocatesNothing(t *testing.T) {
	object, message := media(), tokens()
	if n := testing.AllocsPerRun(100, func() {
		if readObject(object) != 4 || !readTokens(message) {
			t.Fatal("a message was not read")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObject(b *testing.B) {
	message := media()
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		readObject(message)
	}
}

func BenchmarkScanner(b *testing.B) {
	message := tokens()
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		readTokens(message)
	}
}
