package structure

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/farkas"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Flow is a weighted sum of counts that no firing increases: in every marking it is at most its
// value at the start.
type Flow struct {
	Sum   []petri.Count // N, above 0, times the tokens of a slot
	Start int64
	// Constant reports that no firing changes the sum: nothing in it is reset, taken without
	// counting, or turned away by a full place.
	Constant bool

	m *netmodel.Model
}

// String is "core/idle + core/busy = 1", with <= where the sum may shrink.
func (f Flow) String() string {
	var terms []string
	for _, c := range f.Sum {
		name := f.m.SlotName[c.Slot]
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

// Flows returns flows of the net, computed in exact integer arithmetic (see package farkas):
// minimal ones, not always all. They hold with inhibitors, guards and resets, because those only
// forbid firings or remove more than the sum counts.
func Flows(m *netmodel.Model) []Flow {
	matrix := effects(m)
	shrinks := shrinking(m)
	var out []Flow
	for _, weights := range farkas.Flows(matrix) {
		f := Flow{m: m, Constant: true}
		for s, w := range weights {
			if w > 0 {
				f.Sum = append(f.Sum, petri.Count{Slot: int32(s), N: int32(w)})
				f.Start += w * int64(m.Initial()[s])
				f.Constant = f.Constant && !shrinks[s]
			}
		}
		out = append(out, f)
	}
	return out
}

// effects is the matrix of the net: by slot, the most that each way to fire adds.
func effects(m *netmodel.Model) [][]int64 {
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
	for i := range m.Modes {
		md := &m.Modes[i]
		bumps = bumps || md.Bump
		for b := range md.Branches {
			if md.Choice < 0 || int(md.Choice) == b {
				add(effect(m, md, &md.Branches[b]))
			}
		}
	}
	for _, s := range m.Fresh {
		if bumps {
			c := make([]int64, m.Slots())
			c[s], c[s+1] = -1, 1
			add(c)
		}
	}
	rows := make([][]int64, m.Slots())
	for s := range rows {
		rows[s] = make([]int64, len(columns))
		for i, c := range columns {
			rows[s][i] = c[s]
		}
	}
	return rows
}

// effect is what firing a mode adds to each slot. Of a slot that is drained or reset, it counts
// only what the mode needs there.
func effect(m *netmodel.Model, md *netmodel.Mode, b *netmodel.Branch) []int64 {
	c := make([]int64, m.Slots())
	for _, k := range md.Take {
		c[k.Slot] -= int64(k.N)
	}
	for _, s := range netmodel.Unique(slices.Clone(md.Empty)) {
		need := int64(0)
		for _, k := range md.Needs.Bounds {
			if k.Slot == s {
				need = int64(k.Min)
			}
		}
		c[s] = min(c[s], -need)
	}
	for _, p := range b.Put {
		c[p.Slot] += int64(p.N)
	}
	return c
}

// shrinking marks the slots from which tokens may vanish uncounted.
func shrinking(m *netmodel.Model) []bool {
	out := make([]bool, m.Slots())
	for i := range m.Modes {
		md := &m.Modes[i]
		for _, s := range md.Empty {
			out[s] = true
		}
		for _, b := range md.Branches {
			for _, p := range b.Put {
				out[p.Slot] = out[p.Slot] || p.Refuse
			}
		}
	}
	return out
}
