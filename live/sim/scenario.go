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

// Scenario is a way in which a model misbehaves, and when: settings that hold all the time, and rules that act on cue,
// for all connections or for some. ParseScenario makes one from text, LoadScenario one of those that are built in. It
// does not change and may be shared. The language is described in docs/model.md.
type Scenario struct {
	// Name is short, as in "late-audio"; About is a line for people.
	Name, About string

	parts []part
}

// part is what a scenario says about some connections.
type part struct {
	from, to int // connections, from 1; to is inclusive
	settings []setting
	rules    []rule
}

// setting changes how a connection behaves from its begin.
type setting func(*manner)

// LineError says what is wrong with a line of a scenario.
type LineError struct {
	Scenario string
	Line     int // from 1
	Problem  string
}

// Error reads as in `sim: scenario late-audio, line 3: no cue "chnuk"; the nearest is "chunk"`.
func (e *LineError) Error() string {
	return fmt.Sprintf("sim: scenario %s, line %d: %s", e.Scenario, e.Line, e.Problem)
}

// ParseScenario reads a scenario, at most 64 KiB of UTF-8 and 200 rules. Its error is a *LineError.
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
			err = fmt.Errorf("it is not UTF-8")
		}
		if err != nil {
			return nil, &LineError{name, n, err.Error()}
		}
	}
	return s, nil
}

// line reads one line into the newest part.
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

// parseRange reads the numbers of connections: "2", "2-3" or "2-", which has no end.
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

// forConnection collects what holds for connection id; a nil scenario says nothing.
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
