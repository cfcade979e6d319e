package verify

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/farkas"
)

// Flow is a weighted sum of counts that no firing increases: in every marking
// it is at most what it is at the start.
type Flow struct {
	Sum   []petri.Count // N, above 0, times the tokens of a slot
	Start int64
	// Constant reports that no firing changes the sum: nothing of it is reset,
	// taken without counting, or turned away by a full place.
	Constant bool

	m *Model
}

// String is "core/idle + core/busy = 1", or with <= where the sum may shrink.
func (f Flow) String() string {
	var terms []string
	for _, c := range f.Sum {
		name := f.m.slotName[c.Slot]
		if c.N > 1 {
			name = fmt.Sprintf("%d*%s", c.N, name)
		}
		terms = append(terms, name)
	}
	op := "<="
	if f.Constant {
		op = "="
	}
	return fmt.Sprintf("%s %s %d", strings.Join(terms, " + "), op, f.Start)
}

// Flows returns flows of the net, by exact integer arithmetic (see package
// farkas): minimal ones, not always all. They hold with inhibitors, guards and
// resets: those only forbid firings, or remove more than is counted.
func (m *Model) Flows() []Flow {
	matrix := m.effects()
	shrinks := m.shrinking()
	var out []Flow
	for _, weights := range farkas.Flows(matrix) {
		f := Flow{m: m, Constant: true}
		for s, w := range weights {
			if w > 0 {
				f.Sum = append(f.Sum, petri.Count{Slot: int32(s), N: int32(w)})
				f.Start += w * int64(m.initial[s])
				f.Constant = f.Constant && !shrinks[s]
			}
		}
		out = append(out, f)
	}
	return out
}

// effects is the matrix of the net: by slot, what each way to fire adds at most.
func (m *Model) effects() [][]int64 {
	var columns [][]int64
	seen := map[string]bool{}
	add := func(c []int64) {
		var key []byte
		for _, n := range c {
			key = binary.AppendVarint(key, n)
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			columns = append(columns, c)
		}
	}
	bumps := false
	for i := range m.modes {
		md := &m.modes[i]
		bumps = bumps || md.bump
		for b := range md.branches {
			if md.choice < 0 || int(md.choice) == b {
				add(m.effect(md, &md.branches[b]))
			}
		}
	}
	for _, s := range m.fresh {
		if bumps {
			c := make([]int64, m.slots)
			c[s], c[s+1] = -1, 1
			add(c)
		}
	}
	rows := make([][]int64, m.slots)
	for s := range rows {
		rows[s] = make([]int64, len(columns))
		for i, c := range columns {
			rows[s][i] = c[s]
		}
	}
	return rows
}

// effect is what firing a mode adds to each slot, counting of what is drained or
// reset only what the mode needs there.
func (m *Model) effect(md *mode, b *branch) []int64 {
	c := make([]int64, m.slots)
	for _, k := range md.take {
		c[k.Slot] -= int64(k.N)
	}
	for _, s := range unique(slices.Clone(md.empty)) {
		need := int64(0)
		for _, k := range md.needs.Bounds {
			if k.Slot == s {
				need = int64(k.Min)
			}
		}
		c[s] = min(c[s], -need)
	}
	for _, p := range b.put {
		c[p.slot] += int64(p.n)
	}
	return c
}

// shrinking are the slots from which tokens may vanish uncounted.
func (m *Model) shrinking() []bool {
	out := make([]bool, m.slots)
	for i := range m.modes {
		md := &m.modes[i]
		for _, s := range md.empty {
			out[s] = true
		}
		for _, b := range md.branches {
			for _, p := range b.put {
				out[p.slot] = out[p.slot] || p.refuse
			}
		}
	}
	return out
}

// Conserved says that the tokens of the places are together as many in every
// marking as at the start, each counted once: permits, which are lent and given
// back and never lost. It is decided by the effect of every way to fire, not by
// exploration, so it holds whatever the environment does.
func Conserved(places ...string) *Property {
	return structural("conserved "+strings.Join(places, " "), "the places hold as many tokens together as at the start",
		func(m *Model) ([]string, error) { return m.unconserved(places) })
}

// unconserved lists the ways to fire that change the sum.
func (m *Model) unconserved(places []string) ([]string, error) {
	b := &binder{m: m}
	in := make([]bool, m.slots)
	for _, p := range places {
		for _, s := range b.slots(p) {
			in[s] = true
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	var out []string
	for i := range m.modes {
		md := &m.modes[i]
		for j := range md.branches {
			if md.choice >= 0 && int(md.choice) != j {
				continue
			}
			sum := int64(0)
			for s, n := range m.effect(md, &md.branches[j]) {
				if in[s] {
					sum += n
				}
			}
			if name := m.Name(Step{md.t, md.k, int32(j)}); sum != 0 {
				out = append(out, fmt.Sprintf("%s changes the sum by %d", name, sum))
			} else if s := uncounted(md, &md.branches[j], in); s >= 0 {
				out = append(out, fmt.Sprintf("%s may lose tokens of %s", name, m.slotName[s]))
			}
		}
	}
	for _, s := range m.fresh {
		if in[s] != in[s+1] && slices.ContainsFunc(m.modes, func(md mode) bool { return md.bump }) {
			out = append(out, fmt.Sprintf("a bump changes %s alone", m.slotName[s]))
		}
	}
	return out, nil
}

// uncounted is a slot of which a firing may remove or refuse tokens that its
// effect does not count; -1 if there is none.
func uncounted(md *mode, b *branch, in []bool) int32 {
	for _, s := range md.empty {
		if in[s] {
			return s
		}
	}
	for _, p := range b.put {
		if in[p.slot] && p.refuse {
			return p.slot
		}
	}
	return -1
}
