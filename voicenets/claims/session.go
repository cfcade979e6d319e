package claims

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// gatewayVAD reports whether the gateway decides about turns. pauses reports whether the caller's
// speech may pause a reply.
func gatewayVAD(c voicenets.Config) bool { return c.Detection == voicenets.GatewayVAD }
func pauses(c voicenets.Config) bool     { return !c.HalfDuplex }

// adapts reports whether a turn lingers the longer, the more often earlier turns ended too soon.
func adapts(c voicenets.Config) bool { return c.Adaptive && gatewayVAD(c) }

// part is a subnet of package voicenets.
type part struct {
	name voicenets.Part
	net  *petri.Net
}

// ownParts lists the subnets that a session of a configuration has if Config.Parts neither replaces
// nor leaves out any.
func ownParts(c voicenets.Config) []part {
	c.Parts = nil
	names, _ := voicenets.PartsOf(c) // a composed session has valid settings
	var list []part
	for _, name := range names {
		if n, err := voicenets.Subnet(c, name); err == nil {
			list = append(list, part{name, n})
		}
	}
	return list
}

// runningTools lists the places of running tools.
func runningTools(c voicenets.Config) []petri.AnyPlace {
	var list []petri.AnyPlace
	for s := range voicenets.Slot(c.ToolSlots) {
		list = append(list, voicenets.ToolRunning(s))
	}
	return list
}

// runningToolNames names the places of running tools.
func runningToolNames(c voicenets.Config) []string {
	var list []string
	for _, p := range runningTools(c) {
		list = append(list, p.String())
	}
	return list
}

// caps limits some places to n tokens each.
func caps(n int, places ...petri.AnyPlace) []petri.Cap {
	var list []petri.Cap
	for _, p := range places {
		list = append(list, petri.Cap{Place: p, Max: n})
	}
	return list
}

// anytime is a move of the environment that may happen at any time, or never.
func anytime(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}
