// Package foreign makes text that others wrote fit for logs, errors and messages: what a model, a server or a caller's
// client sent.
//
// The order matters. Text is made valid first, so that removing a byte cannot complete a secret. Secrets are replaced
// next, and the text is cut last: a secret that straddles the cut would otherwise stay in part.
package foreign

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Blot stands where a secret stood.
	Blot = "[key]"
	// partMin is the shortest beginning of a secret that is replaced at the end of a text, in bytes.
	partMin = 4
	// longPart is the shortest beginning of a secret that is replaced anywhere: too long to stand there by chance.
	longPart = 12
)

// Cleaner replaces secrets. Its zero value knows none. It is immutable and safe for concurrent use.
type Cleaner struct {
	secrets []string // as they are and as they are written in URLs and quotes; the longest first
}

// NewCleaner makes a Cleaner of secrets; empty ones are ignored.
func NewCleaner(secrets ...string) Cleaner {
	var c Cleaner
	for _, s := range secrets {
		if s == "" {
			continue
		}
		quoted := strconv.Quote(s)
		c.secrets = append(c.secrets, s, url.QueryEscape(s), url.PathEscape(s), quoted[1:len(quoted)-1])
	}
	slices.SortFunc(c.secrets, func(a, b string) int { return len(b) - len(a) })
	c.secrets = slices.Compact(c.secrets)
	return c
}

// Text returns s as one line of at most bytesMax bytes of UTF-8, without control characters and secrets.
func (c Cleaner) Text(s string, bytesMax int) string {
	return Cut(c.replaceBeginning(c.Replace(line(s))), bytesMax)
}

// Replace returns s without whole secrets, otherwise as it is.
func (c Cleaner) Replace(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, Blot)
	}
	return s
}

// replaceBeginning replaces the beginning of a secret: at the end of s from 4 bytes on, because the sender may have cut
// s, and from 12 bytes on anywhere, because the sender may have written something behind the cut.
func (c Cleaner) replaceBeginning(s string) string {
	for _, secret := range c.secrets {
		if len(secret) < longPart {
			continue
		}
		for at := strings.Index(s, secret[:longPart]); at >= 0; at = strings.Index(s, secret[:longPart]) {
			end := at
			for end < len(s) && end-at < len(secret) && s[end] == secret[end-at] {
				end++
			}
			s = s[:at] + Blot + s[end:]
		}
	}
	for _, secret := range c.secrets {
		for n := min(len(secret), len(s)); n >= partMin; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				return s[:len(s)-n] + Blot
			}
		}
	}
	return s
}

// Error returns err with a text of at most bytesMax bytes without control characters and secrets. It wraps err, and is
// err itself where nothing had to change.
func (c Cleaner) Error(err error, bytesMax int) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := c.Text(text, bytesMax); clean != text {
		return &cleaned{clean, err}
	}
	return err
}

// cleaned is an error with another text.
type cleaned struct {
	text string
	err  error
}

// Error implements error.
func (e *cleaned) Error() string { return e.text }

// Unwrap returns the error as it came.
func (e *cleaned) Unwrap() error { return e.err }

// Cut returns s as valid UTF-8 of at most bytesMax bytes.
func Cut(s string, bytesMax int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= bytesMax {
		return s
	}
	for bytesMax > 0 && !utf8.RuneStart(s[bytesMax]) {
		bytesMax--
	}
	return s[:bytesMax]
}

// line joins the words of a text with single spaces and drops control characters.
func line(s string) string {
	clean := func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	return strings.Join(strings.Fields(strings.Map(clean, strings.ToValidUTF8(s, "?"))), " ")
}
