package netfile

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// flat is a firing in the form that the tools use: one mode and one branch of a transition, over
// slots.
type flat struct {
	name               string
	transition         int // -1: a later step of a firing
	when               petri.Interval
	in, read, inh, out []petri.Count
	empty              []int32      // slots that the firing drains or resets
	reset              []int32      // slots written as reset arcs
	complex            []petri.Cond // conditions on sums that no arcs express
	bump               bool
}

// flatten lists the firings of a program. The final place inhibits those that it ends.
func flatten(p *petri.Program) []flat {
	var out []flat
	for t := range p.Transitions() {
		info := &p.Transitions()[t]
		for k := range info.Modes {
			md := &info.Modes[k]
			for b := range md.Branches {
				if md.Choice() >= 0 && md.Choice() != b {
					continue
				}
				f := flat{name: info.Name, transition: t, when: info.When, in: md.Take, out: md.Branches[b].Put,
					empty: unique(md.Drain, md.Reset), bump: info.Bump}
				if len(info.Modes) > 1 {
					f.name += fmt.Sprintf("#%d", k)
				}
				if len(md.Branches) > 1 {
					f.name += fmt.Sprintf(".%d", b)
				}
				if s := p.FinalSlot(); s >= 0 {
					f.inh = append(f.inh, petri.Count{Slot: int32(s), N: 1})
				}
				out = append(out, f.conditions(md.Conds)...)
			}
		}
	}
	return out
}

// unique lists the slots of two lists, each once.
func unique(a, b []int32) []int32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// conditions adds read and inhibitor arcs. A condition on the sum of several slots becomes several
// firings or arcs where they mean the same.
func (f flat) conditions(conds []petri.Cond) []flat {
	list := []flat{f}
	for _, c := range conds {
		switch {
		case len(c.Slots) == 1:
			for i := range list {
				list[i].condition(c)
			}
		case c.Max == 1 && c.Min == 0:
			for i := range list {
				for _, s := range c.Slots {
					list[i].inh = append(list[i].inh, petri.Count{Slot: s, N: 1})
				}
			}
		case c.Min == 1 && c.Max == 0:
			list = alternatives(list, c.Slots)
		default:
			for i := range list {
				list[i].complex = append(list[i].complex[:len(list[i].complex):len(list[i].complex)], c)
			}
		}
	}
	return list
}

func (f *flat) condition(c petri.Cond) {
	slot := c.Slots[0]
	taken := int32(0)
	for _, k := range f.in {
		if k.Slot == slot {
			taken += k.N
		}
	}
	if c.Min > taken {
		f.read = append(f.read[:len(f.read):len(f.read)], petri.Count{Slot: slot, N: c.Min})
	}
	if c.Max > 0 {
		f.inh = append(f.inh[:len(f.inh):len(f.inh)], petri.Count{Slot: slot, N: c.Max})
	}
}

func alternatives(list []flat, slots []int32) []flat {
	var out []flat
	for _, f := range list {
		for i, s := range slots {
			g := f
			g.name += fmt.Sprintf("'%d", i)
			g.read = append(g.read[:len(g.read):len(g.read)], petri.Count{Slot: s, N: 1})
			out = append(out, g)
		}
	}
	return out
}

// WriteTINA renders a program in TINA's .net format: a place for each kind of token, a transition
// for each way of firing, and more of both where a firing resets, drains, makes tokens stale or
// looks at a sum. Under run to completion, priorities give the order of immediate firings. Bounds
// are milliseconds if all are whole, otherwise nanoseconds, and a comment says which. It does not
// write capacities.
func WriteTINA(p *petri.Program, sem netmodel.Semantics) ([]byte, error) {
	var b bytes.Buffer
	e := newExport(p, false, false)
	if err := e.check(); err != nil {
		return nil, err
	}
	unit := tick(e.fs)
	fmt.Fprintf(&b, "# one unit of time is %v\nnet %s\n", unit, tinaName(p.Name()))
	for s, n := range e.start {
		fmt.Fprintf(&b, "pl %s (%d)\n", tinaName(e.names[s]), n)
	}
	for i := range e.fs {
		e.tina(&b, &e.fs[i], unit)
	}
	e.writeOrder(&b, sem)
	return b.Bytes(), nil
}

// tick is a millisecond if all bounds are whole milliseconds.
func tick(fs []flat) time.Duration {
	for _, f := range fs {
		if f.when.Earliest%time.Millisecond != 0 || f.when.Latest != petri.Forever && f.when.Latest%time.Millisecond != 0 {
			return time.Nanosecond
		}
	}
	return time.Millisecond
}

func (e *export) tina(b *bytes.Buffer, f *flat, unit time.Duration) {
	fmt.Fprintf(b, "tr %s [%d,", tinaName(f.name), f.when.Earliest/unit)
	if f.when.Latest == petri.Forever {
		b.WriteString("w[")
	} else {
		fmt.Fprintf(b, "%d]", f.when.Latest/unit)
	}
	list := func(sign string, counts []petri.Count) {
		for _, k := range counts {
			fmt.Fprintf(b, " %s%s%d", tinaName(e.names[k.Slot]), sign, k.N)
		}
	}
	list("*", f.in)
	list("?", f.read)
	list("?-", f.inh)
	b.WriteString(" ->")
	list("*", f.out)
	b.WriteByte('\n')
}

// writeOrder writes that immediate transitions fire in their order, before anything else, and that
// the steps of one firing come before everything.
func (e *export) writeOrder(b *bytes.Buffer, sem netmodel.Semantics) {
	rank := make([]int, len(e.p.Transitions()))
	for i := range rank {
		rank[i] = len(rank)
	}
	if sem == netmodel.RunToCompletion {
		for r, t := range e.p.Order() {
			rank[t] = r
		}
	}
	of := func(f *flat) int {
		if f.transition < 0 {
			return -1
		}
		return rank[f.transition]
	}
	for i := range e.fs {
		var after []string
		for j := range e.fs {
			if of(&e.fs[i]) < of(&e.fs[j]) {
				after = append(after, tinaName(e.fs[j].name))
			}
		}
		if len(after) > 0 && of(&e.fs[i]) < len(rank) {
			fmt.Fprintf(b, "pr %s > %s\n", tinaName(e.fs[i].name), strings.Join(after, " "))
		}
	}
}

// tinaName puts names that are not plain in braces.
func tinaName(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_'
	})
	if plain {
		return s
	}
	return "{" + strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`).Replace(s) + "}"
}

// WritePNML renders a program as a PNML place/transition net, without time: a place for each kind
// of token, a transition for each way of firing, and more of both where a firing makes tokens stale
// or looks at a sum; no other transition fires in between. Read, inhibitor and reset arcs have a
// <type> in the form that the tools write. It does not write the order of immediate transitions.
func WritePNML(p *petri.Program) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	fmt.Fprintf(&b, "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n"+
		" <net id=%s type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n  <page id=\"page\">\n", quoted(p.Name()))
	e := newExport(p, true, true)
	if err := e.check(); err != nil {
		return nil, err
	}
	for s, n := range e.start {
		fmt.Fprintf(&b, "   <place id=\"p%d\"><name><text>%s</text></name>", s, escaped(e.names[s]))
		if n > 0 {
			fmt.Fprintf(&b, "<initialMarking><text>%d</text></initialMarking>", n)
		}
		b.WriteString("</place>\n")
	}
	w := pnmlWriter{b: &b}
	for i, f := range e.fs {
		fmt.Fprintf(&b, "   <transition id=\"t%d\"><name><text>%s</text></name></transition>\n", i, escaped(f.name))
		w.transition(i, &f)
	}
	b.WriteString("  </page>\n </net>\n</pnml>\n")
	return b.Bytes(), nil
}

type pnmlWriter struct {
	b    *bytes.Buffer
	arcs int
}

func (w *pnmlWriter) transition(t int, f *flat) {
	for _, l := range []struct {
		kind   string
		counts []petri.Count
	}{{"", f.in}, {"read", f.read}, {"inhibitor", f.inh}} {
		for _, k := range l.counts {
			w.arc(fmt.Sprintf("p%d", k.Slot), fmt.Sprintf("t%d", t), l.kind, k.N)
		}
	}
	for _, s := range f.reset {
		w.arc(fmt.Sprintf("p%d", s), fmt.Sprintf("t%d", t), "reset", 1)
	}
	for _, k := range f.out {
		w.arc(fmt.Sprintf("t%d", t), fmt.Sprintf("p%d", k.Slot), "", k.N)
	}
}

func (w *pnmlWriter) arc(from, to, kind string, n int32) {
	fmt.Fprintf(w.b, "   <arc id=\"a%d\" source=\"%s\" target=\"%s\">", w.arcs, from, to)
	w.arcs++
	if kind != "" {
		fmt.Fprintf(w.b, "<type value=\"%s\"/>", kind)
	}
	if n != 1 {
		fmt.Fprintf(w.b, "<inscription><text>%d</text></inscription>", n)
	}
	w.b.WriteString("</arc>\n")
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer accepts every write
	return b.String()
}

func quoted(s string) string { return `"` + escaped(s) + `"` }
