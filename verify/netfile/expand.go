package netfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// The formats cannot express a firing that makes tokens stale, empties a place (TINA's) or looks at
// the sum of several kinds of token. Such a firing is written as several steps at one instant,
// before anything else fires: it takes its tokens and marks a place of its own; then the steps take
// tokens one by one from what it empties; then fresh tokens become stale; then it produces. Where
// sums matter, a place counts them.

// export is a program on its way to a file: its slots, then counters, then the places of firings
// that take several steps.
type export struct {
	p      *petri.Program
	names  []string // names of slots, counters and marks
	start  []int32
	sums   [][]int32 // by counter: the slots it counts
	fs     []flat
	resets bool  // the format has reset arcs
	lock   int32 // a place that is marked during a firing; -1: priorities exclude other firings
}

func newExport(p *petri.Program, resets, lock bool) *export {
	e := &export{p: p, start: p.Initial(), resets: resets, lock: -1}
	for s := range e.start {
		e.names = append(e.names, p.SlotName(s))
	}
	fs := flatten(p)
	for i := range fs {
		fs[i].sums(e)
	}
	for _, f := range fs {
		e.count(&f)
		e.fs = append(e.fs, f)
	}
	if lock && slices.ContainsFunc(e.fs, e.long) {
		e.lock = e.place("amid a firing", 0)
	}
	for i := range len(e.fs) {
		e.split(i)
	}
	return e
}

// place adds a place.
func (e *export) place(name string, n int32) int32 {
	for slices.Contains(e.names, name) {
		name += "'"
	}
	e.names, e.start = append(e.names, name), append(e.start, n)
	return int32(len(e.names) - 1)
}

// counter is the place that counts the tokens of several slots.
func (e *export) counter(slots []int32) int32 {
	for i, s := range e.sums {
		if slices.Equal(s, slots) {
			return int32(e.p.Slots() + i)
		}
	}
	var names []string
	n := int32(0)
	for _, s := range slots {
		names = append(names, e.names[s])
		n += e.start[s]
	}
	e.sums = append(e.sums, slots)
	return e.place("all of "+strings.Join(names, " "), n)
}

// sums turns conditions on sums into conditions on counters.
func (f *flat) sums(e *export) {
	for _, c := range f.complex {
		f.condition(petri.Cond{Slots: []int32{e.counter(c.Slots)}, Min: c.Min, Max: c.Max})
	}
}

// count makes a firing keep the counters.
func (e *export) count(f *flat) {
	f.in, f.out = e.counted(f.in), e.counted(f.out)
	f.read = slices.DeleteFunc(slices.Clone(f.read), func(r petri.Count) bool { return total(f.in, r.Slot) >= r.N })
}

func (e *export) counted(list []petri.Count) []petri.Count {
	out := slices.Clone(list)
	for i, slots := range e.sums {
		n := int32(0)
		for _, c := range list {
			if slices.Contains(slots, c.Slot) {
				n += c.N
			}
		}
		if n > 0 {
			out = append(out, petri.Count{Slot: int32(e.p.Slots() + i), N: n})
		}
	}
	return out
}

func total(list []petri.Count, slot int32) int32 {
	n := int32(0)
	for _, c := range list {
		if c.Slot == slot {
			n += c.N
		}
	}
	return n
}

// long reports whether a firing takes several steps.
func (e *export) long(f flat) bool { return f.bump || len(f.empty) > 0 && !e.simple(&f) }

// simple reports whether reset arcs can express what a firing empties, because no counter counts
// it.
func (e *export) simple(f *flat) bool {
	return e.resets && !slices.ContainsFunc(f.empty, func(s int32) bool {
		return slices.ContainsFunc(e.sums, func(sum []int32) bool { return slices.Contains(sum, s) })
	})
}

// split writes a firing as steps if the format cannot express it in one.
func (e *export) split(i int) {
	f := &e.fs[i]
	if e.lock >= 0 {
		f.inh = append(slices.Clone(f.inh), petri.Count{Slot: e.lock, N: 1})
	}
	if !e.long(*f) {
		f.reset = f.empty
		return
	}
	out, name := f.out, f.name
	now := e.place("amid "+name, 0)
	f.out = []petri.Count{{Slot: now, N: 1}}
	if e.lock >= 0 {
		f.out = append(f.out, petri.Count{Slot: e.lock, N: 1})
	}
	var left []petri.Count // what must be gone before the next step
	for _, s := range f.empty {
		left = append(left, petri.Count{Slot: s, N: 1})
		e.step(name+" empties "+e.names[s], []petri.Count{{Slot: s, N: 1}}, nil, now, nil)
	}
	if f.bump {
		if len(left) > 0 {
			then := e.place("amid "+name+"'", 0)
			e.then(name+" goes on", now, then, left, nil)
			now, left = then, nil
		}
		for _, s := range e.fresh() {
			left = append(left, petri.Count{Slot: s, N: 1})
			e.step(name+" ages "+e.names[s], []petri.Count{{Slot: s, N: 1}}, []petri.Count{{Slot: s + 1, N: 1}}, now, nil)
		}
	}
	e.then(name+" ends", now, -1, left, out)
}

// fresh lists the slots of fresh tokens.
func (e *export) fresh() []int32 {
	var out []int32
	for _, p := range e.p.Places() {
		for s := p.Slot; p.Gen && s < p.Slot+p.Slots; s += 2 {
			out = append(out, int32(s))
		}
	}
	return out
}

// step adds a firing that moves a token while a place is marked.
func (e *export) step(name string, in, out []petri.Count, while int32, inh []petri.Count) {
	e.fs = append(e.fs, flat{name: name, transition: -1, in: e.counted(in), out: e.counted(out), inh: inh,
		read: []petri.Count{{Slot: while, N: 1}}})
}

// then adds a firing that moves on from one place to the next, or to the end if to is -1, once
// nothing of left remains.
func (e *export) then(name string, from, to int32, left, out []petri.Count) {
	f := flat{name: name, transition: -1, in: []petri.Count{{Slot: from, N: 1}}, inh: left, out: slices.Clone(out)}
	switch {
	case to >= 0:
		f.out = append(f.out, petri.Count{Slot: to, N: 1})
	case e.lock >= 0:
		f.in = append(f.in, petri.Count{Slot: e.lock, N: 1})
	}
	e.fs = append(e.fs, f)
}

// check refuses a net with names that the file could not distinguish.
func (e *export) check() error {
	seen := map[string]bool{}
	for _, f := range e.fs {
		if seen[f.name] {
			return fmt.Errorf("netfile: write %s: two transitions would be called %s", e.p.Name(), f.name)
		}
		seen[f.name] = true
	}
	return nil
}
