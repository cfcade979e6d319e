package petri

import "slices"

// alonePortMax is the capacity of a port of a net alone for which the net declares none.
const alonePortMax = 8

// Alone returns a part of a composition as a net of its own, so that it can be compiled, drawn and
// tested by itself. A port on which the part has an input, read, inhibitor or reset arc becomes an
// environment place; it holds 8 tokens if the part declares no capacity. A port that the part only
// fills becomes an output. Alone leaves out the outputs and capacities of places that the part's
// transitions do not use. It does not change n.
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

// portUses returns the places that transitions of the net look at in any way, those whose tokens
// enable or disable a transition, and those that they fill. Of the parts of the net, only their ports
// count.
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
	for _, part := range n.Nets {
		l, t, f := portUses(part)
		for _, p := range part.Ports {
			name := p.String()
			looked[name], tested[name], filled[name] = looked[name] || l[name], tested[name] || t[name], filled[name] || f[name]
		}
	}
	return looked, tested, filled
}

// crosses reports whether tokens enter or leave the net at a place: at an environment place, an output,
// or a place of a task.
func crosses(n *Net, place string) bool {
	for _, t := range n.Tasks {
		start, inFlight, done := t.places()
		if place == start.String() || place == inFlight.String() || place == done.String() {
			return true
		}
	}
	for _, part := range n.Nets {
		if slices.ContainsFunc(part.Ports, func(p AnyPlace) bool { return p.String() == place }) && crosses(part, place) {
			return true
		}
	}
	return slices.ContainsFunc(n.Env, func(e Env) bool { return e.Place.String() == place }) ||
		slices.ContainsFunc(n.Out, func(o Output) bool { return o.Place.String() == place })
}

// capOf returns the capacity of a place as an environment place.
func capOf(n *Net, place string) int {
	for _, c := range n.Caps {
		if c.Place.String() == place {
			return c.Max
		}
	}
	return alonePortMax
}

// Shared returns the names of the ports that connect a part with other parts. It leaves out the
// part's own environment places and outputs.
func Shared(n *Net) []string {
	var list []string
	for _, p := range n.Ports {
		if !crosses(n, p.String()) {
			list = append(list, p.String())
		}
	}
	return list
}
