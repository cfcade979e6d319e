package verify

import "fmt"

// Prefer returns a model in which a transition does not fire while one that is
// preferred to it is enabled: pairs of names, the preferred first. The relation
// is closed: what is preferred to it is preferred to what it is preferred to.
// It is exact for preferred transitions whose earliest time is 0, and refused
// for others.
func (m *Model) Prefer(pairs [][2]string) (*Model, error) {
	if len(pairs) == 0 {
		return m, nil
	}
	c := *m
	c.above = make([][]int32, len(m.transitions))
	index := map[string]int32{}
	for t := range m.transitions {
		index[m.transitions[t].Name] = int32(t)
	}
	for _, p := range pairs {
		high, ok := index[p[0]]
		low, also := index[p[1]]
		if !ok || !also {
			return nil, fmt.Errorf("verify: prefer %s to %s: net %s does not have both", p[0], p[1], m.prog.Name())
		}
		if m.transitions[high].When.Earliest > 0 {
			return nil, fmt.Errorf("verify: prefer %s to %s: the first waits %s", p[0], p[1], m.transitions[high].When)
		}
		c.above[low] = append(c.above[low], high)
	}
	return &c, c.closePreference()
}

// closePreference makes the relation transitive.
func (m *Model) closePreference() error {
	for t := range m.above {
		seen := map[int32]bool{}
		queue := append([]int32(nil), m.above[t]...)
		for len(queue) > 0 {
			u := queue[0]
			queue = queue[1:]
			if int(u) == t {
				return fmt.Errorf("verify: prefer: %s is preferred to itself", m.transitions[t].Name)
			}
			if !seen[u] {
				seen[u] = true
				queue = append(queue, m.above[u]...)
			}
		}
		var all []int32
		for u := range seen {
			all = append(all, u)
		}
		m.above[t] = unique(all)
	}
	return nil
}

// outranked reports whether a preferred transition is enabled.
func (m *Model) outranked(t int32, marking []int32) bool {
	if m.above == nil || int(t) >= len(m.above) {
		return false
	}
	for _, u := range m.above[t] {
		if m.enabled(u, marking) {
			return true
		}
	}
	return false
}
