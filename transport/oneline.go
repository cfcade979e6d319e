package transport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns foreign text as one line that is safe to print. A character that a terminal would
// obey or not show (control characters, line breaks, changes of direction) becomes a space, a run
// of spaces becomes one, and invalid UTF-8 becomes "?". A line of more than most bytes is cut and
// ends in "..."; most is at least 3.
func OneLine(text string, most int) string {
	if len(text) > 8*most { // enough, whatever the characters become
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

// Cut shortens foreign text to valid UTF-8 of at most lenMax bytes.
func Cut(text string, lenMax int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= lenMax {
		return text
	}
	for lenMax > 0 && !utf8.RuneStart(text[lenMax]) {
		lenMax--
	}
	return text[:lenMax]
}
