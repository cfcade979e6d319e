package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// visible writes text, and in place of what a terminal would obey (control characters but line feed and tab, changes of
// direction) what it is, as \u001b. Much of what commands print was written by others: names in a file of nets, what a
// gateway says, a recorded call. One Write at a time.
type visible struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// Write writes p. Bytes that are no UTF-8 become U+FFFD.
func (v *visible) Write(p []byte) (int, error) {
	text := p
	if len(v.rest) > 0 {
		text = append(v.rest, p...)
	}
	whole := len(text)
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				whole = i
			}
			break
		}
	}
	v.rest = bytes.Clone(text[whole:])
	if _, err := v.w.Write(shown(text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is text without what a terminal would obey; text itself when there is nothing of that.
func shown(text []byte) []byte {
	if utf8.Valid(text) && !bytes.ContainsFunc(text, obeyed) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if text = text[n:]; obeyed(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// obeyed reports whether a terminal does something other than to show r.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' ||
		r == '\u2029')
}
