package mutate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// trace is everything an exploration sees, in order, as numbers: markings, which
// firings lead from one to the next, what leaves the net in them, which clocks
// run on. Two nets of equal traces behave alike. The first is written down, the
// others are held to it.
type trace struct {
	want    []byte
	compare bool
	at      int // of want, when comparing
	differs bool
	buf     []byte
	frames  []uint64 // that might move in passing, last
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

// equal reports whether all that was written down was met again.
func (t *trace) equal() bool { return t.compare && !t.differs && t.at == len(t.want) }

// signatures numbers what steps are seen to do beside what the markings tell, so
// that steps of different nets can be compared; 0 are those that only move tokens
// within the net, whose order nobody sees.
type signatures map[string]uint64

// of returns the numbers of a model's steps.
func (s signatures) of(c *compiled) []uint64 {
	p := c.closed
	out := make([]uint64, c.model.StepCount())
	for t := range p.Transitions() {
		info := &p.Transitions()[t]
		for k := range info.Modes {
			for b := range info.Modes[k].Branches {
				step := verify.Step{Transition: int32(t), Mode: int32(k), Branch: int32(b)}
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

// silent reports whether nobody sees a step: it fires at once, tells nobody
// anything, begins no generation and moves no payload.
func (c *compiled) silent(s verify.Step) bool {
	info := &c.closed.Transitions()[s.Transition]
	if c.open == nil || c.model.Clock(s.Transition) >= 0 || info.Bump || info.Frame ||
		len(info.Modes[s.Mode].Branches[s.Branch].Emit) > 0 {
		return false
	}
	return info.Outside || !slices.ContainsFunc(info.Arcs, func(a petri.ArcInfo) bool {
		pl := &c.closed.Places()[a.Place]
		i := c.open.Place(strings.TrimPrefix(pl.Name, c.model.Inside(c.open)))
		return pl.Payload || a.Kind == petri.OutArc && a.Branch == int(s.Branch) && i >= 0 && c.open.Places()[i].Out
	})
}

// signature is the text of one step: its name, what leaves the net, and what it
// does to places of payload, which markings leave out.
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

// chain adds firings, the clocks that ran on over them, and where they lead.
func (t *trace) chain(m *verify.Model, sig []uint64, chain []verify.Step, kept []uint64, to int) {
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

// passing adds the frames that might move in a marking before what fires next,
// if they are others than in the one before.
func (t *trace) passing(m *verify.Model, sig []uint64, marking []int32, rank int32) {
	if t.differs || !m.FramesMayPass(marking, rank) {
		return
	}
	var list []uint64
	m.EachFrame(marking, func(s verify.Step) {
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
