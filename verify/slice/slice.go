package slice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
)

// Slice defines the part of a composed net that a proof is about. The rest of the net is replaced
// by the most that it may do to that part, at any time (see petri.Program.Slice). So what is proved
// about every run of the slice holds for every run of the net. The converse is false: the net need
// not do what some run of a slice does.
type Slice struct {
	// Name of the slice, after the name of the net: "session/turns".
	Name string
	// Keep names subnets and transitions that are kept exactly, in full or by their last parts. A
	// subnet includes all its transitions and parts.
	Keep []string
	// Places names further places, in full or by their last parts.
	Places []string
}

// Of makes the slice of a program, with the places and transitions that the claims name. A name
// that the program does not have is an error.
func (s Slice) Of(prog *petri.Program, claims ...claim.Claim) (*petri.Program, error) {
	m := netmodel.New(prog, netmodel.RunToCompletion)
	return s.Cut(m, LimitsOf(m), claims)
}

// Cut makes the slice of a model whose limits are known.
func (s Slice) Cut(m *netmodel.Model, limits []petri.Limit, claims []claim.Claim) (*petri.Program, error) {
	c := &cut{m: m, keep: map[string]bool{}, also: map[string]bool{}}
	for _, name := range s.Keep {
		if err := c.keepNamed(name); err != nil {
			return nil, fmt.Errorf("verify: slice %s: %w", s.Name, err)
		}
	}
	for _, name := range s.Places {
		c.places(name)
	}
	for _, what := range claims {
		if expr := claim.ExprOf(what); expr != "" {
			c.expr(expr)
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("verify: slice %s: %w", s.Name, c.err)
	}
	p, err := m.Program().Slice(petri.Cut{
		Name:   m.Program().Name() + "/" + s.Name,
		Keep:   func(t *petri.TransitionInfo) bool { return c.keep[t.Name] },
		Also:   func(p *petri.PlaceInfo) bool { return c.also[p.Name] },
		Limits: limits,
	})
	if err != nil {
		return nil, fmt.Errorf("verify: slice: %w", err)
	}
	return p, nil
}

// LimitsOf returns the flows of a net as limits of its slices.
func LimitsOf(m *netmodel.Model) []petri.Limit {
	var out []petri.Limit
	for _, f := range structure.Flows(m) {
		out = append(out, petri.Limit{Sum: f.Sum, Max: f.Start})
	}
	return out
}

// cut collects what a slice keeps.
type cut struct {
	m          *netmodel.Model
	keep, also map[string]bool
	err        error
}

// keepNamed keeps a subnet or a transition.
func (c *cut) keepNamed(name string) error {
	groups := groups(c.m)
	i, err := c.m.LookupIn("subnet", groups, name)
	if err == nil {
		for t := range c.m.Transitions {
			info := &c.m.Transitions[t]
			if info.Group == groups[i] || strings.HasPrefix(info.Group, groups[i]+"/") {
				c.keep[info.Name] = true
			}
		}
		return nil
	}
	if wrong := (*netmodel.NameError)(nil); errors.As(err, &wrong) && wrong.Ambiguous {
		return err
	}
	ts, err := c.m.Named(name)
	if err != nil {
		return err
	}
	c.keep[c.m.Transitions[ts[0]].Name] = true
	return nil
}

// groups lists the subnets of the transitions and the subnets that contain those.
func groups(m *netmodel.Model) []string {
	var out []string
	for t := range m.Transitions {
		for g := m.Transitions[t].Group; g != ""; {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
			g = g[:max(strings.LastIndexByte(g, '/'), 0)]
		}
	}
	return out
}

// places adds a place.
func (c *cut) places(name string) {
	b := &netmodel.Names{Model: c.m}
	slots := b.Slots(name)
	c.take(b)
	for _, s := range slots {
		c.also[c.m.Places[c.m.SlotPlace[s]].Name] = true
	}
}

// expr adds the names in an expression.
func (c *cut) expr(text string) {
	e, err := expr.Parse(text)
	if err != nil {
		c.fail(err)
		return
	}
	b := &netmodel.Names{Model: c.m}
	b.Expr(e)
	c.take(b)
	for _, s := range b.Read {
		c.also[c.m.Places[c.m.SlotPlace[s]].Name] = true
	}
	for _, t := range b.Asked {
		c.keep[c.m.Transitions[t].Name] = true
	}
}

func (c *cut) take(b *netmodel.Names) { c.fail(b.Err) }

func (c *cut) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
