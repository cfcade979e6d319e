package simulate

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// A fault is something that goes wrong in a call on purpose: its peer or its model misbehaves. The
// faults of tools are in tools.go.
type fault struct {
	name string
	// share is by how many chances in sum this fault is the model's one. 0: any call may have it.
	share int
	// stream is the chance that inject draws from. 0 is the call's own, for the oldest faults. A
	// new fault takes the next free number, so that it changes no draw of any other: known seeds
	// keep their scripts.
	stream uint64
	// inject decides whether the fault is in the call, plans it, and reports whether it is.
	inject func(c chance, p *callPlan) bool
}

// noFault is the share of calls whose model has no fault.
const noFault = "none"

// faults is the table of them.
func faults() []fault {
	return []fault{
		{name: noFault, share: 1, inject: func(chance, *callPlan) bool { return false }},
		{name: "model follows a built-in scenario", share: 2, inject: builtInScenario},
		{name: "model follows a random scenario", share: 1, inject: randomScenario},
		{name: "model has faults of its server", share: 1, inject: serverFaults},
		{name: "model calls functions", share: 2, inject: toolScenario},

		{name: "player's clock drifts", inject: func(c chance, p *callPlan) bool {
			p.peer.drift = pick(c, 1, 1, 0.995, 1.005, 0.9, 1.1)
			return p.peer.drift != 1
		}},
		{name: "acks are missing or false", inject: func(c chance, p *callPlan) bool {
			p.peer.acks = pick(c, acksWell, acksWell, acksWell, acksNothing, acksFalsely)
			return p.peer.acks != acksWell
		}},
		{name: "acks are late", inject: func(c chance, p *callPlan) bool {
			p.peer.ackLag = pick(c, 0, 0, 80*time.Millisecond, 700*time.Millisecond)
			return p.peer.ackLag > 0
		}},
		{name: "packets are lost", inject: func(c chance, p *callPlan) bool {
			p.peer.lossOneIn = pick(c, 0, 0, 0, 50, 8)
			return p.peer.lossOneIn > 0
		}},
		{name: "no microphone", inject: func(c chance, p *callPlan) bool {
			p.peer.silent = c.oneIn(12)
			return p.peer.silent
		}},
		{name: "tool calls to the peer are not answered", inject: func(c chance, p *callPlan) bool {
			p.peer.answers = !c.oneIn(3)
			return !p.peer.answers
		}},
		{name: "peer stops reading", inject: func(c chance, p *callPlan) bool {
			if c.oneIn(12) {
				p.peer.stallsAfter = c.between(time.Second, 15*time.Second)
			}
			return p.peer.stallsAfter > 0
		}},
		{name: "connection breaks and comes back", stream: 1, inject: func(c chance, p *callPlan) bool {
			if c.oneIn(4) {
				p.peer.breaksAfter = c.between(time.Second, 10*time.Second)
				p.peer.awayFor = c.between(100*time.Millisecond, 4*time.Second)
			}
			return p.peer.breaksAfter > 0
		}},
	}
}

// injectFaults gives a call one fault of the model, by share, and any of the others.
func injectFaults(c chance, p *callPlan) {
	table := faults()
	shares := 0
	for _, f := range table {
		shares += f.share
	}
	drawn := c.IntN(shares)
	for _, f := range table {
		if f.share > 0 {
			mine := drawn >= 0 && drawn < f.share
			if drawn -= f.share; !mine {
				continue
			}
		}
		from := c
		if f.stream > 0 {
			from = newChance(p.model.Seed, f.stream)
		}
		if f.inject(from, p) {
			p.faults = append(p.faults, f.name)
		}
	}
}

// behavior is how a peer differs from a good one.
type behavior struct {
	packetFrames int           // that the microphone sends at one time
	lossOneIn    int           // one packet in so many is lost; 0: none
	drift        float64       // how fast the player's clock runs
	ackLag       time.Duration // how late acknowledgements are
	acks         ackMode
	silent       bool          // it has no microphone
	answers      bool          // tool calls that reach the peer
	stallsAfter  time.Duration // it takes nothing from then on; 0: never
	breaksAfter  time.Duration // its connection breaks, and another follows; 0: never
	awayFor      time.Duration // how long it has none
}

// ackMode is how a peer acknowledges what it played.
type ackMode int

const (
	acksWell ackMode = iota
	acksNothing
	acksFalsely
)

// goodPeer is the behavior of a peer without faults.
func goodPeer(packetFrames int) behavior {
	return behavior{packetFrames: packetFrames, drift: 1, answers: true}
}

// follow makes a model follow a scenario that is known to parse.
func follow(p *callPlan, s *sim.Scenario, err error) bool {
	if err != nil {
		panic(fmt.Sprintf("simulate: a scenario of the table of faults: %v", err))
	}
	p.model.Scenario = s
	return true
}

// builtInScenario makes a model follow a scenario of live/sim.
func builtInScenario(c chance, p *callPlan) bool {
	p.script = pick(c, sim.Scenarios()...)
	s, err := sim.LoadScenario(p.script)
	return follow(p, s, err)
}
