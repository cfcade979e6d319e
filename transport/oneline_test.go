package transport

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"All lines are in use.":        "All lines are in use.",
		"a\x1b[2Jb\nc\td\r\u009be\x7f": "a [2Jb c d e",
		"right \u202eot tfel":          "right ot tfel",
		"\xff\x9b31m":                  "?31m",
		"grüße, 日本":                    "grüße, 日本",
		strings.Repeat("é", 30):        strings.Repeat("é", 13) + "...",
		strings.Repeat("x\n", 100000):  strings.Repeat("x ", 13) + "x...",
	} {
		if got := OneLine(in, 30); got != want {
			t.Errorf("%.40q is %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		max  int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"é", 1, ""}, {"a\xffb", 9, "a?b"},
	} {
		if got := Cut(tt.s, tt.max); got != tt.want {
			t.Errorf("%q cut to %d is %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
}

// FuzzOneLine: no text is longer than asked for, or holds what a terminal would obey.
func FuzzOneLine(f *testing.F) {
	f.Add("\x1b]0;title\x07", 10)
	f.Add("\xc2\x9b\x9b\xe2\x80\xae", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 3 + int(uint(most)%1000)
		got := OneLine(text, most)
		odd := func(r rune) bool { return !unicode.IsPrint(r) }
		if len(got) > most || !utf8.ValidString(got) || strings.ContainsFunc(got, odd) {
			t.Errorf("%q of %q", got, text)
		}
	})
}
