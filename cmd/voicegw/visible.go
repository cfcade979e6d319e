package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// visible writes text and escapes the characters that control a terminal, as \u001b: control
// characters except line feed and tab, and changes of direction. Commands print texts of others:
// names in a file of nets, messages of a gateway, archives.
type visible struct {
	w    io.Writer
	mu   sync.Mutex // say may go on writing beside its caller
	rest []byte     // the first bytes of a character
}

// Write writes p. Bytes that are not UTF-8 become U+FFFD.
func (v *visible) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
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

// shown returns text with control characters escaped; text itself if it has none.
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

// obeyed reports whether a terminal does something other than show r.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' ||
		r == '\u2029')
}
