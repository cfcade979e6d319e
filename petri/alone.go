package petri

import "slices"

// AlonePortMax is how many tokens the surroundings of a net alone may put into
// a port for which the net declares no capacity.
const AlonePortMax = 8

// Alone is a part of a composition without its surroundings: what they put into
// the ports that the part looks at is injected, and what the part puts into
// those that it only fills leaves it. So a part can be compiled, drawn and
// tested by itself. Outputs and capacities of places
// that its transitions do not use are left out. n is not changed.
func Alone(n *Net) *Net {
	alone := *n
	looked, tested, filled := portUses(n)
	alone.Ports, alone.Env, alone.Sinks = nil, slices.Clone(n.Env), slices.Clone(n.Sinks)
	alone.Out = slices.DeleteFunc(slices.Clone(n.Out), func(o Output) bool { return !filled[o.Place.String()] })
	alone.Caps = slices.DeleteFunc(slices.Clone(n.Caps), func(c Cap) bool {
		return !looked[c.Place.String()] && !filled[c.Place.String()]
	})
	for _, p := range n.Ports {
		name := p.String()
		switch {
		case n.Final != nil && n.Final.String() == name, crosses(n, name):
		case looked[name]:
			alone.Env = append(alone.Env, Env{Place: p, Capacity: capOf(n, name)})
			alone.Caps = slices.DeleteFunc(alone.Caps, func(c Cap) bool { return c.Place.String() == name })
			if !tested[name] {
				alone.Sinks = append(alone.Sinks, p)
			}
		case filled[name]:
			alone.Out = append(alone.Out, Output{Place: p})
		}
	}
	return &alone
}

// portUses are the places that transitions of the net itself look at in any way,
// those whose tokens enable or disable one, and those they fill.
func portUses(n *Net) (looked, tested, filled map[string]bool) {
	looked, tested, filled = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, t := range n.Transitions {
		for _, a := range slices.Concat(t.In, t.Read, t.Inhibit) {
			looked[ArcPlace(a).String()], tested[ArcPlace(a).String()] = true, true
		}
		for _, a := range t.Reset {
			looked[ArcPlace(a).String()] = true
		}
		for _, a := range t.Out.Arcs() {
			filled[ArcPlace(a).String()] = true
		}
	}
	return looked, tested, filled
}

// crosses reports whether tokens of a place enter the net there, or leave it.
func crosses(n *Net, place string) bool {
	return slices.ContainsFunc(n.Env, func(e Env) bool { return e.Place.String() == place }) ||
		slices.ContainsFunc(n.Out, func(o Output) bool { return o.Place.String() == place })
}

// capOf is the capacity of a place for an environment.
func capOf(n *Net, place string) int {
	for _, c := range n.Caps {
		if c.Place.String() == place {
			return c.Max
		}
	}
	return AlonePortMax
}

// Shared names the ports through which a part has to do with other parts: not
// its own environment places and outputs.
func Shared(n *Net) []string {
	var list []string
	for _, p := range n.Ports {
		if !crosses(n, p.String()) {
			list = append(list, p.String())
		}
	}
	return list
}
