package netfile

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Limits of a file.
const (
	MaxBytes = 64 << 20
	// MaxNodes is the most places, and the most transitions.
	MaxNodes = 50_000
	// maxPriorities is the most pairs of transitions with a priority between them.
	maxPriorities = 1_000_000

	maxArcs  = 2_000_000
	maxDepth = 200 // nested elements
	maxName  = 4096
)

// File is a net that was read.
type File struct {
	Net *petri.Net
	// Timed reports that some transition has an interval other than [0,inf).
	Timed bool
	// Higher lists pairs of transitions: while the first is enabled, the second does not fire.
	Higher [][2]string
}

// Error says what is wrong with a file, and where.
type Error struct {
	Name    string
	Line    int // from 1; 0 if it concerns the whole file
	Problem string
}

// Error is the position in the file and the problem.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("netfile: %s: %s", e.Name, e.Problem)
	}
	return fmt.Sprintf("netfile: %s:%d: %s", e.Name, e.Line, e.Problem)
}

// Read reads a net in the format of its content: XML is PNML, everything else is TINA's .net.
// Errors contain name.
func Read(name string, data []byte) (*File, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Name: name, Problem: fmt.Sprintf("%d bytes; at most %d are read", len(data), MaxBytes)}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) > 0 && text[0] == '<' {
		return ReadPNML(name, data)
	}
	return ReadTINA(name, data)
}

// Model lays out a program compiled from the file's net, as netmodel.New does, with the file's
// priorities.
func (f *File) Model(prog *petri.Program) (*netmodel.Model, error) {
	return netmodel.New(prog, netmodel.Interleave).Prefer(f.Higher)
}

// draft is a net while it is read.
type draft struct {
	file        string
	net         string
	places      []*place
	transitions []*transition
	byPlace     map[string]*place
	byTrans     map[string]*transition
	pairs       []pair
	line        int
}

type place struct {
	name   string
	tokens int
	line   int
	marked int // the line of its marking; 0: none
}

type transition struct {
	name                     string
	when                     petri.Interval
	line, waits              int // waits is the line of its interval; 0: none
	in, out, read, inh, rset []flow
}

type flow struct {
	place *place
	n     int
}

type pair struct {
	high, low string
	line      int
}

func newDraft(file string) *draft {
	return &draft{file: file, byPlace: map[string]*place{}, byTrans: map[string]*transition{}}
}

func (d *draft) fail(line int, format string, args ...any) error {
	return &Error{Name: d.file, Line: line, Problem: fmt.Sprintf(format, args...)}
}

func (d *draft) place(name string) *place {
	p := d.byPlace[name]
	if p == nil {
		p = &place{name: name, line: d.line}
		d.byPlace[name] = p
		d.places = append(d.places, p)
	}
	return p
}

func (d *draft) transition(name string) *transition {
	t := d.byTrans[name]
	if t == nil {
		t = &transition{name: name, when: petri.Anytime(), line: d.line}
		d.byTrans[name] = t
		d.transitions = append(d.transitions, t)
	}
	return t
}

// build makes the net.
func (d *draft) build() (*File, error) {
	if len(d.places) > MaxNodes || len(d.transitions) > MaxNodes {
		return nil, d.fail(0, "%d places and %d transitions; at most %d each are read", len(d.places), len(d.transitions),
			MaxNodes)
	}
	f := &File{Net: &petri.Net{Name: d.net, Imported: true}}
	if f.Net.Name == "" {
		f.Net.Name = "net"
	}
	for _, p := range d.places {
		name := petri.Place[petri.Unit](p.name)
		f.Net.Caps = append(f.Net.Caps, petri.Cap{Place: name, Max: petri.MaxTokens})
		if p.tokens > petri.MaxTokens {
			return nil, d.fail(p.line, "place %s starts with %d tokens; at most %d are possible", p.name, p.tokens,
				petri.MaxTokens)
		}
		for range p.tokens {
			f.Net.Init = append(f.Net.Init, name.Token(petri.Unit{}))
		}
	}
	for _, t := range d.transitions {
		pt, err := d.convert(t)
		if err != nil {
			return nil, err
		}
		f.Timed = f.Timed || t.when != petri.Anytime()
		f.Net.Transitions = append(f.Net.Transitions, pt)
	}
	return f, d.priorities(f)
}

func (d *draft) convert(t *transition) (petri.Transition, error) {
	pt := petri.Transition{Name: t.name, When: t.when}
	lists := []struct {
		flows []flow
		to    *petri.Arcs
		join  func(a, b int) int
	}{
		{t.in, &pt.In, func(a, b int) int { return a + b }},
		{t.read, &pt.Read, func(a, b int) int { return max(a, b) }},
		{t.inh, &pt.Inhibit, func(a, b int) int { return min(a, b) }},
		{t.rset, &pt.Reset, func(a, _ int) int { return a }},
	}
	for _, l := range lists {
		arcs, err := d.arcs(t, l.flows, l.join)
		if err != nil {
			return pt, err
		}
		*l.to = arcs
	}
	out, err := d.arcs(t, t.out, func(a, b int) int { return a + b })
	if err != nil {
		return pt, err
	}
	if len(out) > 0 {
		pt.Out = petri.And(out...)
	}
	if t.when.AtOnce() && len(pt.In)+len(pt.Read) == 0 {
		return pt, d.fail(t.line, "transition %s needs no token and fires at once, so no time can pass", t.name)
	}
	return pt, nil
}

// arcs joins flows on the same place.
func (d *draft) arcs(t *transition, flows []flow, join func(a, b int) int) (petri.Arcs, error) {
	var order []*place
	count := map[*place]int{}
	for _, f := range flows {
		if old, ok := count[f.place]; ok {
			count[f.place] = join(old, f.n)
			continue
		}
		order = append(order, f.place)
		count[f.place] = f.n
	}
	var out petri.Arcs
	for _, p := range order {
		if n := count[p]; n > petri.MaxTokens {
			return nil, d.fail(t.line, "an arc of transition %s on %s has weight %d; at most %d is possible", t.name, p.name, n,
				petri.MaxTokens)
		}
		if n := count[p]; n > 0 {
			out = append(out, petri.Place[petri.Unit](p.name).Exactly(n))
		}
	}
	return out, nil
}

// priorities closes the relation and checks that it can be decided exactly: the transition with
// priority must be able to fire as soon as it is enabled.
func (d *draft) priorities(f *File) error {
	for _, p := range d.pairs {
		for _, name := range []string{p.high, p.low} {
			if d.byTrans[name] == nil {
				return d.fail(p.line, "priority of transition %s, which does not exist", name)
			}
		}
		if w := d.byTrans[p.high].when; w.Earliest > 0 {
			return d.fail(p.line,
				"priority of transition %s, which waits %s: only those that can fire when they are enabled may have one",
				p.high, w)
		}
		f.Higher = append(f.Higher, [2]string{p.high, p.low})
	}
	return nil
}

// maxTick is the largest bound of an interval: ticks of a file become milliseconds.
const maxTick = int64(math.MaxInt64 / 4 / int64(time.Millisecond))

// cleanName refuses names that would break a report.
func cleanName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f ||
			r == 0xfffd
	})
}
