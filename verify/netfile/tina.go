package netfile

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/voicegw/voicegw/petri"
)

// ReadTINA reads TINA's .net format: net, tr, pl, pr, lb and nt lines, weights *n, read arcs ?n,
// inhibitor arcs ?-n, intervals [a,b] and [a,w[. A bound of n is n milliseconds. It refuses
// stopwatch arcs and other open ends.
func ReadTINA(name string, data []byte) (*File, error) {
	d := newDraft(name)
	for i, line := range strings.Split(string(data), "\n") {
		d.line = i + 1
		s := &scanner{d: d, text: strings.TrimRight(line, "\r")}
		if err := s.statement(); err != nil {
			return nil, err
		}
	}
	return d.build()
}

// scanner reads one line.
type scanner struct {
	d    *draft
	text string
	at   int
}

func (s *scanner) fail(format string, args ...any) error { return s.d.fail(s.d.line, format, args...) }

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

func (s *scanner) done() bool {
	s.space()
	return s.at == len(s.text) || s.text[s.at] == '#'
}

func (s *scanner) accept(sign string) bool {
	s.space()
	if strings.HasPrefix(s.text[s.at:], sign) {
		s.at += len(sign)
		return true
	}
	return false
}

// name reads a plain name, or one in braces; ok is false if there is neither.
func (s *scanner) name() (name string, ok bool, err error) {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == '{' {
		return s.braced()
	}
	return s.plain()
}

func (s *scanner) plain() (name string, ok bool, err error) {
	start := s.at
	for s.at < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '\'' && r != '.' {
			break
		}
		s.at += n
	}
	name = s.text[start:s.at]
	return name, name != "", nil
}

func (s *scanner) braced() (string, bool, error) {
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case '\\':
			if s.at++; s.at < len(s.text) {
				b.WriteByte(s.text[s.at])
			}
		case '}':
			s.at++
			return b.String(), true, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", false, s.fail("a { is not closed on its line")
}

func (s *scanner) need(what string) (string, error) {
	name, ok, err := s.name()
	if err == nil && !ok {
		err = s.fail("%s expected at %q", what, clip(s.text[s.at:]))
	}
	if err == nil && !cleanName(name) {
		err = s.fail("the name %q is empty, too long or not printable", clip(name))
	}
	return name, err
}

// words skips labels and notes, which change nothing.
func (s *scanner) words(what ...string) error {
	for _, w := range what {
		if _, ok, err := s.name(); err != nil || !ok {
			return cmp.Or(err, s.fail("%s expected at %q", w, clip(s.text[s.at:])))
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

func (s *scanner) statement() error {
	if s.done() {
		return nil
	}
	word, err := s.need("net, tr, pl, pr, lb or nt")
	if err != nil {
		return err
	}
	switch word {
	case "net":
		s.d.net, err = s.need("the name of the net")
	case "tr":
		err = s.transition()
	case "pl":
		err = s.place()
	case "pr":
		return s.priority()
	case "lb":
		err = s.words("a place or transition", "a label")
	case "nt":
		err = s.words("the name of a note", "0 or 1", "a note")
	default:
		return s.fail("%q; want net, tr, pl, pr, lb or nt", clip(word))
	}
	if err == nil && !s.done() {
		err = s.fail("unexpected %q", clip(s.text[s.at:]))
	}
	return err
}

func (s *scanner) label() error {
	if !s.accept(":") {
		return nil
	}
	return s.words("a label")
}

func (s *scanner) transition() error {
	name, err := s.need("the name of a transition")
	if err != nil {
		return err
	}
	t := s.d.transition(name)
	if err := s.label(); err != nil {
		return err
	}
	if s.space(); s.at < len(s.text) && (s.text[s.at] == '[' || s.text[s.at] == ']') {
		if err := s.wait(t); err != nil {
			return err
		}
	}
	for inputs := 0; !s.accept("->"); inputs++ {
		if s.done() && inputs == 0 {
			return nil
		}
		if s.done() {
			return s.fail("-> expected behind the places that transition %s takes from", name)
		}
		if err := s.arc(t, true); err != nil {
			return err
		}
	}
	for !s.done() {
		if err := s.arc(t, false); err != nil {
			return err
		}
	}
	return nil
}

// wait reads the interval of a transition, which may have only one.
func (s *scanner) wait(t *transition) error {
	when, err := s.interval()
	if err == nil && t.waits > 0 {
		err = s.fail("transition %s has an interval already, on line %d", t.name, t.waits)
	}
	t.when, t.waits = when, s.d.line
	return err
}

func (s *scanner) arc(t *transition, input bool) error {
	name, err := s.need("a place")
	if err != nil {
		return err
	}
	return s.weight(t, s.d.place(name), input)
}

// weight reads what follows the name in an arc.
func (s *scanner) weight(t *transition, p *place, input bool) error {
	list, n := &t.out, 1
	if input {
		list = &t.in
	}
	var err error
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, "*"):
		s.at++
		n, err = s.count()
	case !strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "!"):
	case rest[0] == '!':
		return s.fail("a stopwatch arc: clocks that stop and go on are not supported")
	case !input:
		return s.fail("a read or inhibitor arc behind the arrow")
	case strings.HasPrefix(rest, "?-"):
		s.at += 2
		list = &t.inh
		n, err = s.count()
	default:
		s.at++
		list = &t.read
		n, err = s.count()
	}
	if err == nil && n == 0 && list == &t.inh {
		err = s.fail("an inhibitor arc of weight 0: transition %s can never fire", t.name)
	}
	*list = append(*list, flow{p, n})
	return err
}

// count reads a number, with K, M, G, T, P or E for powers of 1000.
func (s *scanner) count() (int, error) {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	n, err := strconv.Atoi(s.text[start:s.at])
	if err != nil || s.at-start > 9 {
		return 0, s.fail("a number of at most 9 digits expected at %q", clip(s.text[start:]))
	}
	if s.at < len(s.text) {
		for range strings.IndexByte("KMGTPE", s.text[s.at]) + 1 {
			n = min(1000*n, 1000*petri.MaxTokens)
		}
		s.at += min(1, strings.IndexByte("KMGTPE", s.text[s.at])+1)
	}
	if rest, _, _ := s.plain(); rest != "" {
		return 0, s.fail("a space expected after the number in %q", clip(s.text[start:]))
	}
	if n > petri.MaxTokens {
		return 0, s.fail("the number %q is above %d", s.text[start:s.at], petri.MaxTokens)
	}
	return n, nil
}

// interval reads [a,b] or [a,w[.
func (s *scanner) interval() (petri.Interval, error) {
	start := s.at
	if s.text[s.at] == ']' {
		return petri.Interval{}, s.fail("the interval %q is open at its start, which is not supported", clip(s.text[start:]))
	}
	s.at++
	a, err := s.bound()
	if err != nil {
		return petri.Interval{}, err
	}
	if !s.accept(",") {
		return petri.Interval{}, s.fail("a comma expected in the interval %q", clip(s.text[start:]))
	}
	if s.accept("w") {
		if !s.accept("[") {
			return petri.Interval{}, s.fail("[ expected after w in the interval %q", clip(s.text[start:]))
		}
		return petri.Interval{Earliest: a, Latest: petri.Forever}, nil
	}
	b, err := s.bound()
	switch {
	case err != nil:
		return petri.Interval{}, err
	case s.accept("["):
		return petri.Interval{}, s.fail("the interval %q is open at its end, which is not supported", clip(s.text[start:]))
	case !s.accept("]"):
		return petri.Interval{}, s.fail("] expected in the interval %q", clip(s.text[start:]))
	case b < a:
		return petri.Interval{}, s.fail("the interval %q is empty", clip(s.text[start:]))
	}
	return petri.Between(a, b), nil
}

func (s *scanner) bound() (time.Duration, error) {
	s.space()
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	n, err := strconv.ParseInt(s.text[start:s.at], 10, 64)
	if err != nil || n > maxTick {
		return 0, s.fail("a whole number up to %d expected at %q", maxTick, clip(s.text[start:]))
	}
	return time.Duration(n) * time.Millisecond, nil
}

func (s *scanner) place() error {
	name, err := s.need("the name of a place")
	if err != nil {
		return err
	}
	p := s.d.place(name)
	if err := s.label(); err != nil {
		return err
	}
	if s.accept("(") {
		s.space()
		n, err := s.count()
		if err != nil {
			return err
		}
		if p.marked > 0 {
			return s.fail("place %s has a marking already, on line %d", name, p.marked)
		}
		p.tokens, p.marked = n, s.d.line
		if !s.accept(")") {
			return s.fail(") expected after the marking of %s", name)
		}
	}
	return s.placeArcs(p)
}

// placeArcs reads the arcs of a place: transitions that fill it, then those that use it.
func (s *scanner) placeArcs(p *place) error {
	input, arcs := false, false
	for !s.done() {
		if s.accept("->") {
			if input {
				return s.fail("a second ->")
			}
			input = true
			continue
		}
		name, err := s.need("a transition")
		if err != nil {
			return err
		}
		if err := s.weight(s.d.transition(name), p, input); err != nil {
			return err
		}
		arcs = true
	}
	if arcs && !input {
		return s.fail("-> expected behind the transitions that fill place %s", p.name)
	}
	return nil
}

// priority reads pr a b > c d.
func (s *scanner) priority() error {
	var left, right []string
	sign := ""
	for !s.done() {
		if s.accept(">") || s.accept("<") {
			if sign != "" {
				return s.fail("a second > or <")
			}
			sign = s.text[s.at-1 : s.at]
			continue
		}
		name, err := s.need("a transition")
		if err != nil {
			return err
		}
		if sign == "" {
			left = append(left, name)
		} else {
			right = append(right, name)
		}
	}
	if sign == "" || len(left) == 0 || len(right) == 0 {
		return s.fail("a priority is written: pr t1 > t2")
	}
	if sign == "<" {
		left, right = right, left
	}
	if len(left)*len(right)+len(s.d.pairs) > maxPriorities {
		return s.fail("more than %d priorities", maxPriorities)
	}
	for _, h := range left {
		for _, l := range right {
			s.d.pairs = append(s.d.pairs, pair{h, l, s.d.line})
		}
	}
	return nil
}
