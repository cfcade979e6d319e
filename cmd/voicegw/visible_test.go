package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":       "plain\ttext\n",
		"\x1b[2J\rx\a\x7f":    `\u001b[2J\u000dx\u0007\u007f`,
		"\u009b31m \u202etxt": `\u009b31m \u202etxt`,
		"\x9b31m":             "\ufffd31m",
		"grüße 日本 🎧":          "grüße 日本 🎧",
	} {
		var whole, bits bytes.Buffer
		_, _ = (&visible{w: &whole}).Write([]byte(in))
		v := &visible{w: &bits}
		for i := range len(in) {
			_, _ = v.Write([]byte(in[i : i+1]))
		}
		if whole.String() != want || bits.String() != want {
			t.Errorf("%q is %q, and %q byte by byte; want %q", in, whole.String(), bits.String(), want)
		}
	}
}

// FuzzVisible: however text is cut, nothing that a terminal would obey comes out.
func FuzzVisible(f *testing.F) {
	f.Add([]byte("\x1b]0;x\x07\xc2\x9b"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		v := &visible{w: &out}
		_, _ = v.Write(text[:cut])
		_, _ = v.Write(text[cut:])
		odd := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
		if !utf8.Valid(out.Bytes()) || bytes.ContainsFunc(out.Bytes(), odd) {
			t.Errorf("%q of %q", out.Bytes(), text)
		}
	})
}

// TestForeignTextIsShown: names in a file that was handed over do not reach the terminal as they
// are.
func TestForeignTextIsShown(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "evil.net", []byte("net {evil\x1b[2J}\ntr {t\x1b]0;x\x07} {p\x1b[31m} -> q\n"+
		"pl {p\x1b[31m} (1)\n"))
	for _, args := range [][]string{
		{"verify", file, "--property", "never q"},
		{"explore", file},
		{"verify", "\x1b[2J"},
		{"replay", writeFile(t, "evil.jsonl", []byte("\x1b[2J\n"))},
		{"call", "--in", speech(t, "over"), "--url", "\x1b[2J"},
		{"\x1b[2J"},
	} {
		var stdout, stderr bytes.Buffer
		run(args, &stdout, &stderr)
		if out := stdout.String() + stderr.String(); strings.ContainsAny(out, "\x1b\a") || out == "" {
			t.Errorf("%q prints %q", args, out)
		}
	}
}
