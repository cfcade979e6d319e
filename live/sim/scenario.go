package sim

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a scenario.
const (
	scenarioBytesMax = 64 << 10
	rulesMax         = 200 // in one scenario
)

// Scenario describes how and when a model misbehaves. It has settings, which hold all the time, and
// rules, which act at cues, for all connections or for some. ParseScenario reads one from text, and
// LoadScenario returns a built-in one. A Scenario is constant and may be shared. docs/model.md
// describes the language.
type Scenario struct {
	// Name is a short name such as "late-audio".
	Name string
	// About is one line for people.
	About string

	parts []part
}

// part is the settings and rules for a range of connections.
type part struct {
	from, to int // connections, from 1; to is inclusive
	settings []setting
	rules    []rule
}

// setting changes the behavior of a connection from its start.
type setting func(*behavior)

// LineError reports an error in a line of a scenario.
type LineError struct {
	Scenario string
	Line     int // from 1
	Problem  string
}

// Error returns a text such as `sim: scenario late-audio, line 3: no cue "chnuk"; the nearest is
// "chunk"`.
func (e *LineError) Error() string {
	return fmt.Sprintf("sim: scenario %s, line %d: %s", e.Scenario, e.Line, e.Problem)
}

// ParseScenario reads a scenario of at most 64 KiB of UTF-8 and 200 rules. The error is a
// *LineError.
func ParseScenario(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name, parts: []part{{from: 1, to: math.MaxInt}}}
	if len(text) > scenarioBytesMax {
		return nil, &LineError{name, 1, fmt.Sprintf("%d bytes in all; want at most %d", len(text), scenarioBytesMax)}
	}
	lines := bufio.NewScanner(bytes.NewReader([]byte(text)))
	lines.Buffer(nil, scenarioBytesMax+1)
	rules := 0
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		err := s.line(line)
		if rules += strings.Count(line[:min(len(line), 3)], "on "); err == nil && rules > rulesMax {
			err = fmt.Errorf("more than %d rules", rulesMax)
		}
		if !utf8.ValidString(line) {
			err = fmt.Errorf("the line is not UTF-8")
		}
		if err != nil {
			return nil, &LineError{name, n, err.Error()}
		}
	}
	return s, nil
}

// line adds one line to the last part.
func (s *Scenario) line(line string) error {
	word, rest := cutWord(line)
	p := &s.parts[len(s.parts)-1]
	switch word {
	case "about":
		s.About = rest
		return nil
	case "connection":
		from, to, err := parseRange(rest)
		s.parts = append(s.parts, part{from: from, to: to})
		return err
	case "on":
		r, err := parseRule(rest)
		p.rules = append(p.rules, r)
		return err
	}
	set, err := parseSetting(word, rest)
	p.settings = append(p.settings, set)
	return err
}

// parseRange reads a range of connections: "2", "2-3", or "2-", which has no end.
func parseRange(text string) (from, to int, err error) {
	first, last, ranged := strings.Cut(text, "-")
	from, err = parseCount(first)
	switch {
	case err != nil:
	case !ranged:
		to = from
	case last == "":
		to = math.MaxInt
	default:
		to, err = parseCount(last)
	}
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("connection %.20q; want a number such as 1, or 2-3, or 2-", text)
	}
	return from, to, nil
}

// parseCount reads a whole number from 1 to a million.
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1e6 {
		return 0, fmt.Errorf("%.20q; want a number from 1 to 1000000", text)
	}
	return n, nil
}

// cutWord splits off the first word.
func cutWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(s), " ")
	return word, strings.TrimSpace(rest)
}

// forConnection returns the settings and rules of a connection. A nil scenario has none.
func (s *Scenario) forConnection(id int) (settings []setting, rules []rule) {
	if s == nil {
		return nil, nil
	}
	for _, p := range s.parts {
		if id >= p.from && id <= p.to {
			settings = append(settings, p.settings...)
			rules = append(rules, p.rules...)
		}
	}
	return settings, rules
}
