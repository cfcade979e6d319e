package verify

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/verify/farkas"
)

// Cycle is a set of firings that together leave every marking as it was: each
// step so many times, in whatever order they can fire in, if they can.
type Cycle struct {
	Steps []Step
	Times []int64

	m *Model
}

// String is "lend + 2*give_back".
func (c Cycle) String() string {
	var terms []string
	for i, s := range c.Steps {
		name := c.m.Name(s)
		if c.Times[i] > 1 {
			name = fmt.Sprintf("%d*%s", c.Times[i], name)
		}
		terms = append(terms, name)
	}
	return strings.Join(terms, " + ")
}

// Cycles returns minimal cycles of the net, by exact integer arithmetic (see
// package farkas), not always all. Steps whose effect depends on the marking
// are left out: those that drain, reset or bump, or that a full place may refuse.
func (m *Model) Cycles() []Cycle {
	var steps []Step
	var rows [][]int64
	for i := range m.modes {
		md := &m.modes[i]
		for j := range md.branches {
			if b := &md.branches[j]; md.fixed(b) && (md.choice < 0 || int(md.choice) == j) {
				steps = append(steps, Step{md.t, md.k, int32(j)})
				rows = append(rows, m.effect(md, b))
			}
		}
	}
	var out []Cycle
	for _, times := range farkas.Flows(rows) {
		c := Cycle{m: m}
		for i, n := range times {
			if n > 0 {
				c.Steps, c.Times = append(c.Steps, steps[i]), append(c.Times, n)
			}
		}
		out = append(out, c)
	}
	return out
}

// fixed reports whether a firing adds and removes the same in every marking.
func (md *mode) fixed(b *branch) bool {
	for _, p := range b.put {
		if p.refuse {
			return false
		}
	}
	return len(md.empty) == 0 && !md.bump
}
