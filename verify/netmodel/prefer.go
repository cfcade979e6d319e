package netmodel

import (
	"fmt"
)

// Prefer returns a model in which a transition does not fire while a preferred one is enabled. Each
// pair names the preferred transition first. The relation is closed transitively. It is exact for
// preferred transitions whose earliest time is 0, and refuses others.
func (m *Model) Prefer(pairs [][2]string) (*Model, error) {
	if len(pairs) == 0 {
		return m, nil
	}
	c := *m
	c.Above = make([][]int32, len(m.Transitions))
	index := map[string]int32{}
	for t := range m.Transitions {
		index[m.Transitions[t].Name] = int32(t)
	}
	for _, p := range pairs {
		high, ok := index[p[0]]
		low, also := index[p[1]]
		if !ok || !also {
			return nil, fmt.Errorf("verify: prefer %s to %s: net %s does not have both", p[0], p[1], m.prog.Name())
		}
		if m.Transitions[high].When.Earliest > 0 {
			return nil, fmt.Errorf("verify: prefer %s to %s: the first waits %s", p[0], p[1], m.Transitions[high].When)
		}
		c.Above[low] = append(c.Above[low], high)
	}
	return &c, c.closePreference()
}

// closePreference makes the relation transitive.
func (m *Model) closePreference() error {
	for t := range m.Above {
		seen := map[int32]bool{}
		queue := append([]int32(nil), m.Above[t]...)
		for len(queue) > 0 {
			u := queue[0]
			queue = queue[1:]
			if int(u) == t {
				return fmt.Errorf("verify: prefer: %s is preferred to itself", m.Transitions[t].Name)
			}
			if !seen[u] {
				seen[u] = true
				queue = append(queue, m.Above[u]...)
			}
		}
		var all []int32
		for u := range seen {
			all = append(all, u)
		}
		m.Above[t] = Unique(all)
	}
	return nil
}

// outranked reports whether a preferred transition is enabled.
func (m *Model) outranked(t int32, marking []int32) bool {
	if m.Above == nil || int(t) >= len(m.Above) {
		return false
	}
	for _, u := range m.Above[t] {
		if m.Ready(u, marking) {
			return true
		}
	}
	return false
}
