package netmodel

// given is what another proof showed about every marking in which a net rests.
type given struct {
	Claim string
	bad   func(marking []int32) bool
}

// Assume returns a model that leaves out the markings at rest that a claim calls bad. The model's
// hash and its certificates name the claim.
func (m *Model) Assume(claim string, bad func(marking []int32) bool) *Model {
	c := *m
	c.Given = append(append([]given(nil), m.Given...), given{claim, bad})
	return &c
}

// KeepsGiven reports whether a marking at rest violates no given claim.
func (m *Model) KeepsGiven(marking []int32) bool {
	for i := range m.Given {
		if m.Given[i].bad(marking) {
			return false
		}
	}
	return true
}
