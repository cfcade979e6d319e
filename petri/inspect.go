package petri

import "slices"

// Widths returns the number of arcs of each branch.
func (s Split) Widths() []int {
	var out []int
	for _, b := range s.branches {
		out = append(out, len(b))
	}
	return out
}

// Without returns the split without one arc of a branch. Mutation tests use it to check that a
// proof notices a missing arc.
func (s Split) Without(branch, arc int) Split {
	s.branches = slices.Clone(s.branches)
	s.branches[branch] = slices.Delete(slices.Clone(s.branches[branch]), arc, arc+1)
	return s
}
