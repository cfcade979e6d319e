package verify

import "fmt"

// given is what another proof showed of every marking at which a net rests.
type given struct {
	claim string
	bad   func(marking []int32) bool
}

// Given returns a model that leaves out markings at rest that break any of some
// properties, because they are proved of the whole net already: of the whole
// itself or of other slices, whose proofs must not rest on this one. It refuses
// properties that are not about markings alone. Its hash and its certificates
// name what was given.
func (m *Model) Given(props ...*Property) (*Model, error) {
	if len(props) == 0 {
		return m, nil
	}
	c := *m
	c.given = append([]given(nil), m.given...)
	for _, p := range props {
		if p.Bad == nil || !p.Safety {
			return nil, fmt.Errorf("verify: given %s: it is not about markings alone", p.Name)
		}
		bad, err := p.Bad(m)
		if err != nil {
			return nil, err
		}
		c.given = append(c.given, given{p.Claim, bad})
	}
	return &c, nil
}

// keepsGiven reports whether a marking at rest breaks nothing that is given.
func (m *Model) keepsGiven(marking []int32) bool {
	for i := range m.given {
		if m.given[i].bad(marking) {
			return false
		}
	}
	return true
}
