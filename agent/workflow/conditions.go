package workflow

import "math"

// condition is a set of outcomes of the choices of a net: the number of a reduced, ordered decision diagram
// (Bryant 1986). Equal sets have equal numbers.
type condition int32

const (
	never  condition = iota // no outcome
	always                  // every outcome
)

// decision asks one question. An outcome answers each question with no or yes.
type decision struct {
	question int32
	no, yes  condition
}

// conditions are the conditions on the choices of one net.
type conditions struct {
	decisions []decision // by condition
	index     map[decision]condition
	known     map[[3]condition]condition // results of choose
	max       int                        // of known
	over      bool                       // a result is missing, because there were too many
}

// newConditions makes room for so many results.
func newConditions(most int) *conditions {
	end := decision{question: math.MaxInt32} // never and always come after every question
	return &conditions{decisions: []decision{end, end}, index: map[decision]condition{},
		known: map[[3]condition]condition{}, max: most}
}

// ask is the condition that a question is answered with yes.
func (c *conditions) ask(question int32) condition {
	return c.decide(decision{question, never, always})
}

func (c *conditions) decide(d decision) condition {
	if d.no == d.yes {
		return d.no
	}
	at, ok := c.index[d]
	if !ok {
		at = condition(len(c.decisions))
		c.decisions, c.index[d] = append(c.decisions, d), at
	}
	return at
}

// choose has the outcomes of yes that are in a condition, and those of no that are not.
func (c *conditions) choose(in, yes, no condition) condition {
	switch {
	case in == always || yes == no:
		return yes
	case in == never:
		return no
	case yes == always && no == never:
		return in
	}
	id := [3]condition{in, yes, no}
	if result, ok := c.known[id]; ok {
		return result
	}
	if c.over = c.over || len(c.known) >= c.max; c.over {
		return never
	}
	first := min(c.decisions[in].question, c.decisions[yes].question, c.decisions[no].question)
	half := func(f condition, answer bool) condition {
		switch d := c.decisions[f]; {
		case d.question != first:
			return f
		case answer:
			return d.yes
		default:
			return d.no
		}
	}
	result := c.decide(decision{first, c.choose(half(in, false), half(yes, false), half(no, false)),
		c.choose(half(in, true), half(yes, true), half(no, true))})
	c.known[id] = result
	return result
}

func (c *conditions) and(a, b condition) condition { return c.choose(a, b, never) }
func (c *conditions) or(a, b condition) condition  { return c.choose(a, always, b) }

// without has the outcomes of a that are not in b.
func (c *conditions) without(a, b condition) condition { return c.choose(b, never, a) }

// outcome is the answers of an outcome, by question; a question that is not there is answered with no.
type outcome map[int32]bool

// example is an outcome of a condition that has one.
func (c *conditions) example(of condition) outcome {
	o := outcome{}
	for of > always {
		d := c.decisions[of]
		if of = d.no; of == never {
			o[d.question], of = true, d.yes
		}
	}
	return o
}

// has reports whether an outcome is in a condition.
func (c *conditions) has(f condition, o outcome) bool {
	for f > always {
		d := c.decisions[f]
		if f = d.no; o[d.question] {
			f = d.yes
		}
	}
	return f == always
}
