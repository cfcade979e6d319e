package mutate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
)

// trace is everything that an exploration sees, in order, as numbers: markings, the firings that
// lead from one to the next, the outputs in them, and the clocks that run on. Two nets with equal
// traces behave alike. The first net's trace is recorded, and the others are compared with it.
type trace struct {
	want    []byte
	compare bool
	at      int // position in want, when comparing
	differs bool
	buf     []byte
	frames  []uint64 // the last list of frames that could move in passing
}

// numbers adds numbers.
func (t *trace) numbers(list ...uint64) {
	if t.differs {
		return
	}
	t.buf = t.buf[:0]
	for _, n := range list {
		t.buf = binary.AppendUvarint(t.buf, n)
	}
	switch {
	case !t.compare:
		t.want = append(t.want, t.buf...)
	case bytes.HasPrefix(t.want[t.at:], t.buf):
		t.at += len(t.buf)
	default:
		t.differs = true
	}
}

// marking adds a marking.
func (t *trace) marking(m []int32) {
	for _, n := range m {
		t.numbers(uint64(n))
	}
}

// equal reports whether the whole recorded trace was seen again.
func (t *trace) equal() bool { return t.compare && !t.differs && t.at == len(t.want) }

// signatures numbers the visible effects of steps beyond what markings show, so that steps of
// different nets can be compared. 0 marks a step that only moves tokens within the net, whose order
// is not visible.
type signatures map[string]uint64

// of returns the numbers of a model's steps.
func (s signatures) of(c *compiled) []uint64 {
	p := c.closed
	out := make([]uint64, c.model.StepCount())
	for t := range p.Transitions() {
		info := &p.Transitions()[t]
		for k := range info.Modes {
			for b := range info.Modes[k].Branches {
				step := netmodel.Step{Transition: int32(t), Mode: int32(k), Branch: int32(b)}
				if c.silent(step) {
					continue
				}
				text := signature(p, info, k, b)
				if s[text] == 0 {
					s[text] = uint64(len(s) + 1)
				}
				out[c.model.StepIndex(step)] = s[text]
			}
		}
	}
	return out
}

// silent reports whether a step is invisible: it fires at once, has no outputs, begins no
// generation and moves no payload.
func (c *compiled) silent(s netmodel.Step) bool {
	info := &c.closed.Transitions()[s.Transition]
	if c.open == nil || c.model.Clock(s.Transition) >= 0 || info.Bump || info.Frame ||
		len(info.Modes[s.Mode].Branches[s.Branch].Emit) > 0 {
		return false
	}
	return info.Outside || !slices.ContainsFunc(info.Arcs, func(a petri.ArcInfo) bool {
		pl := &c.closed.Places()[a.Place]
		i := c.open.Place(strings.TrimPrefix(pl.Name, witness.Inside(c.model, c.open)))
		return pl.Payload || a.Kind == petri.OutArc && a.Branch == int(s.Branch) && i >= 0 && c.open.Places()[i].Out
	})
}

// signature is the text of one step: its name, its outputs, and its effect on payload places, which
// markings leave out.
func signature(p *petri.Program, info *petri.TransitionInfo, mode, branch int) string {
	var b strings.Builder
	md := &info.Modes[mode]
	fmt.Fprintf(&b, "%s %q %d bump %v frame %v emit %v", info.Name, md.Label, branch, info.Bump, info.Frame,
		md.Branches[branch].Emit)
	for _, a := range info.Arcs {
		pl := &p.Places()[a.Place]
		if pl.Payload || pl.Slots == 0 && a.Branch == branch {
			fmt.Fprintf(&b, " %s %d %d %v %q", pl.Name, a.Kind, a.Count, a.All, a.Label)
		}
	}
	return b.String()
}

// chain adds firings, the clocks that ran on over them, and the state they lead to.
func (t *trace) chain(m *netmodel.Model, sig []uint64, chain []netmodel.Step, kept []uint64, to int) {
	if t.differs {
		return
	}
	t.numbers(uint64(to))
	for _, s := range chain {
		if n := sig[m.StepIndex(s)]; n != 0 {
			t.numbers(n)
		}
	}
	t.numbers(0)
	t.numbers(kept...)
}

// passing adds the frames that could move in a marking before the next firing, if they differ from
// those of the marking before.
func (t *trace) passing(m *netmodel.Model, sig []uint64, marking []int32, rank int32) {
	if t.differs || !m.FramesMayPass(marking, rank) {
		return
	}
	var list []uint64
	m.EachFrame(marking, func(s netmodel.Step) {
		if r := m.Rank(s.Transition); r < rank {
			list = append(list, sig[m.StepIndex(s)])
		}
	})
	if !slices.Equal(list, t.frames) {
		t.frames = list
		t.numbers(list...)
	}
}

// zone adds the bounds of a zone.
func (t *trace) zone(z []int64) {
	for _, v := range z {
		t.numbers(uint64(v))
	}
}
