package transport

import (
	"strings"
	"unicode"
)

// OneLine is text of somebody else's as one line that is safe to print: what a terminal would obey or
// not show (control characters, line breaks, changes of direction) is a space, runs of spaces are one,
// and what is no UTF-8 is "?". A line of more than most bytes, which are at least 3, is cut and ends
// in "...".
func OneLine(text string, most int) string {
	if len(text) > 8*most { // enough, whatever becomes of it
		text = text[:8*most]
	}
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most-len("...")], "") + "..."
	}
	return line
}
