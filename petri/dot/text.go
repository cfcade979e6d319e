package dot

import (
	"strings"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	placeRadius = 13
	refRadius   = 10
	barWidth    = 8
	lineHeight  = 12
	labelGap    = 4
	charWidth   = 5.9 // average of an 11 px sans serif
	smallChar   = 5.2 // average of a 9.5 px sans serif
	wrapAt      = 14  // characters
)

// wrap breaks a name after underscores, slashes and spaces into short lines.
func wrap(name string) []string {
	var lines []string
	line := ""
	for _, part := range strings.FieldsFunc(mark(name), func(r rune) bool { return r == 0 }) {
		if line != "" && utf8.RuneCountInString(line)+utf8.RuneCountInString(part) > wrapAt {
			lines = append(lines, line)
			line = ""
		}
		line += part
	}
	return append(lines, line)
}

var breaks = strings.NewReplacer("_", "_\x00", "/", "/\x00", " ", " \x00")

// mark inserts a zero rune wherever a name may be broken.
func mark(name string) string { return breaks.Replace(name) }

// textWidth estimates the width of the longest line.
func textWidth(lines []string, char float64) float64 {
	n := 0
	for _, l := range lines {
		n = max(n, utf8.RuneCountInString(l))
	}
	return float64(n) * char
}
