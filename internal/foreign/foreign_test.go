package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

const secret = "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"

// TestText cleans text as services write it.
func TestText(t *testing.T) {
	odd := `s3cr&t"/+key`
	for _, test := range []struct{ name, key, text, want string }{
		{"none", secret, "all is well", "all is well"},
		{"whole", secret, "the key " + secret + " expired", "the key [key] expired"},
		{"twice", secret, secret + secret, "[key][key]"},
		{"broken", secret, secret[:10] + "\xff" + secret[10:], secret[:10] + "?" + secret[10:]},
		{"cut by others", secret, "the key " + secret[:17], "the key [key]"},
		{"cut by others, who say so", secret, "the key " + secret[:17] + "... and " + secret[:12] + "\"",
			"the key [key]... and [key]\""},
		{"beginning in the middle", secret, "keys begin with AIza here", "keys begin with AIza here"},
		{"lines", secret, "one\r\n\ttwo\x1b[31m", "one two [31m"},
		{"query", odd, "?key=" + url.QueryEscape(odd), "?key=[key]"},
		{"quoted", odd, fmt.Sprintf("got %q", odd), `got "[key]"`},
		{"no secret", "", "the key " + secret, "the key " + secret},
	} {
		if got := NewCleaner(test.key).Text(test.text, 100); got != test.want {
			t.Errorf("%s: %q; want %q", test.name, got, test.want)
		}
	}
}

// TestEveryOffset puts the key at every place of texts around the limit: no piece of it may stay.
func TestEveryOffset(t *testing.T) {
	c := NewCleaner(secret)
	for _, limit := range []int{0, 3, 40, 200, 400} {
		for at := range limit + 2 {
			text := strings.Repeat("x", at) + secret + strings.Repeat("y", limit)
			for end := at; end <= len(text); end += 7 { // whoever sent it may have cut it too
				leakFree(t, c.Text(text[:end], limit), limit)
			}
		}
	}
}

func leakFree(t *testing.T, got string, limit int) {
	t.Helper()
	if len(got) > limit || !utf8.ValidString(got) {
		t.Fatalf("%q has %d bytes; want UTF-8 of at most %d", got, len(got), limit)
	}
	for i := 0; i+partMin <= len(secret); i++ {
		if strings.Contains(got, secret[i:i+partMin]) {
			t.Fatalf("%q shows %q of the key", got, secret[i:i+partMin])
		}
	}
}

// TestError keeps what errors.Is needs.
func TestError(t *testing.T) {
	c := NewCleaner(secret)
	if c.Error(nil, 10) != nil || c.Error(io.EOF, 10) != io.EOF {
		t.Error("an error without a secret changed")
	}
	err := c.Error(fmt.Errorf("key %s: %w", secret, io.EOF), 100)
	if err.Error() != "key [key]: EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("%v; want it clean, and io.EOF", err)
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcde": "abcd", "abcé": "abc", "a\xffb": "a?b"} {
		if got := Cut(text, 4); got != want {
			t.Errorf("Cut(%q, 4) is %q; want %q", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("before", "after", 400)
	f.Add(strings.Repeat("x", 390), "\xff", 400)
	f.Add(strings.Repeat(" ", 399), secret, 200)
	c := NewCleaner(secret)
	f.Fuzz(func(t *testing.T, before, after string, limit int) {
		limit = max(0, min(limit, 1<<12))
		got := c.Text(before+secret+after, limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("%q: want UTF-8 of at most %d bytes", got, limit)
		}
		if strings.Contains(before+after, secret[:partMin]) || strings.Contains(after, secret[len(secret)-partMin:]) {
			return // pieces that came by themselves
		}
		if strings.Contains(got, secret[:partMin]) || strings.Contains(got, secret[len(secret)-12:]) {
			t.Fatalf("%q shows some of the key", got)
		}
	})
}

// TestFault quotes nothing of a message that cannot be decoded.
func TestFault(t *testing.T) {
	var v struct {
		Digits string            `json:"digits"`
		Count  int               `json:"count"`
		Params map[string]string `json:"params"`
		Data   []byte            `json:"data"`
	}
	for text, want := range map[string]string{
		`{"digits":4111}`:           `field "digits" has the wrong type`,
		`{"count":4111.5}`:          `field "count" has the wrong type`,
		`{"params":{"4111":4111}}`:  `field "params" has the wrong type`,
		`{"data":"4111!"}`:          "data is not standard base64",
		`{"digits":"4111"} x`:       "broken JSON at byte 19",
		`{"digits":"4111","4111" x`: "broken JSON at byte 25",
		`4111`:                      "the value at byte 4 has the wrong type",
		"{\"digits\":\"4111":        "broken JSON at byte 15",
	} {
		if got := Fault(json.Unmarshal([]byte(text), &v)); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
	if got := Fault(io.EOF); got != "a field has an unreadable value" {
		t.Error(got)
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{"": "missing", `"4111"`: "a string of 4 bytes", "4111": "another number",
		`"`: "a string of 0 bytes", "{}": "an object", "[1]": "an array", "true": "true or false", "null": "null"} {
		if got := Kind([]byte(text)); got != want {
			t.Errorf("%s is %s; want %s", text, got, want)
		}
	}
}
