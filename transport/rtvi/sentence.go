package rtvi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentenceBytesMax is the length of the longest sentence; a longer one is cut behind a word.
const sentenceBytesMax = 1000

const (
	// ends end a sentence in scripts that use them for nothing else.
	ends = "。！？．｡।॥؟۔።"
	// maybeEnds end a sentence if a space follows and no abbreviation precedes.
	maybeEnds = ".!?…"
	// closers belong to the sentence that they follow.
	closers = `"')]}»”’」』）`
)

// abbreviations are the common ones of some languages; those of one letter or with a full stop
// inside are known by their form.
const abbreviations = " mr mrs ms dr prof st vs etc nr inc ltd co bzw ca usw bsp str sr sra dra jr mme mlle approx "

// sentences joins the fragments of a transcript and cuts them into sentences.
type sentences struct{ text string }

// add takes a fragment and returns the sentences that are complete with it, without the spaces
// around them. A full stop at the end may be part of a number, so it waits for what follows.
func (s *sentences) add(fragment string) (whole []string) {
	for s.text += fragment; ; {
		at := sentenceEnd(s.text)
		if at == 0 && len(s.text) > sentenceBytesMax {
			at = wordEnd(s.text, sentenceBytesMax)
		}
		if at == 0 {
			return whole
		}
		if sentence := strings.TrimSpace(s.text[:at]); sentence != "" {
			whole = append(whole, sentence)
		}
		s.text = s.text[at:]
	}
}

// rest returns what is left, a sentence without an end, "" for nothing.
func (s *sentences) rest() string {
	rest := strings.TrimSpace(s.text)
	s.text = ""
	return rest
}

// sentenceEnd returns where the first sentence ends, 0 if that is not known yet.
func sentenceEnd(text string) int {
	for i, r := range text {
		behind := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
		case strings.ContainsRune(ends, r):
			return len(text) - len(strings.TrimLeft(text[behind:], closers))
		case strings.ContainsRune(maybeEnds, r):
			rest := strings.TrimLeft(text[behind:], maybeEnds+closers)
			if rest == "" {
				return 0
			}
			single := r == '.' && !strings.HasPrefix(text[behind:], ".")
			ended, known := endsBefore(rest, single)
			switch {
			case !known:
				return 0
			case ended && !(single && isAbbreviation(text[:i])):
				return len(text) - len(rest)
			}
		}
	}
	return 0
}

// endsBefore reports whether a sentence may end before rest: at a space, and behind a single full
// stop only if no small letter follows. That is not known before the next word comes.
func endsBefore(rest string, single bool) (ended, known bool) {
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if next == rest || !single {
		return next != rest, true
	}
	r, _ := utf8.DecodeRuneInString(next)
	return !unicode.IsLower(r), next != ""
}

// isAbbreviation reports whether a full stop behind text makes an abbreviation or an ordinal.
func isAbbreviation(text string) bool {
	word := text[strings.LastIndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`("'[«“‘`, r)
	})+1:]
	if r, size := utf8.DecodeRuneInString(word); size == len(word) {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return len(word) <= 2 && strings.Trim(word, "0123456789") == "" ||
		strings.Contains(strings.TrimLeft(word, "."), ".") && len(word) <= 6 ||
		strings.Contains(abbreviations, " "+strings.ToLower(word)+" ")
}

// wordEnd returns where to cut text, which is longer than most bytes: behind the last word that fits.
func wordEnd(text string, most int) int {
	if at := strings.LastIndexFunc(text[:most], unicode.IsSpace); at > 0 {
		return at
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return max(most, 1)
}
