package access

import "github.com/voicegw/voicegw/petri"

// visitor is where the guard meets one attempt: its ports, which are named after it.
type visitor struct {
	name       string
	knock      petri.Place[petri.Unit] // in: somebody wants to call
	verdict    petri.Place[Answer]     // in: whether the token is good
	hangUp     petri.Place[petri.Unit] // in: the call is over
	checkToken petri.Place[petri.Unit] // out: look at the token
	admit      petri.Place[petri.Unit] // out: the call may go on
	turnAway   petri.Place[Denial]     // out: it may not
}

func visitorOf(name string) visitor {
	unit := func(s string) petri.Place[petri.Unit] { return petri.Place[petri.Unit](s + "_" + name) }
	return visitor{name: name, knock: unit("knock"), verdict: petri.Place[Answer]("verdict_" + name),
		hangUp: unit("hang_up"), checkToken: unit("check_token"), admit: unit("admit"),
		turnAway: petri.Place[Denial]("turn_away_" + name)}
}

// Places of an attempt: where it stands. It is always at exactly one.
const (
	outside   petri.Place[petri.Unit] = "outside" // holds nothing
	atAddress petri.Place[petri.Unit] = "at_address"
	atToken   petri.Place[petri.Unit] = "at_token" // holds the address's permit
	atTenant  petri.Place[petri.Unit] = "at_tenant"
	atSubject petri.Place[petri.Unit] = "at_subject" // holds the tenant's as well
	inCall    petri.Place[petri.Unit] = "in_call"    // holds a permit of each
	over      petri.Place[petri.Unit] = "over"       // holds nothing
)

// Attempt is the net of one call on its way in and out: the address's quota is asked before the token costs anything,
// then the token, then the quotas of the tenant and of the subject. Whoever turns it away, it gives back what it
// holds; in the call it holds one permit of each, and gives back all three when the call is over.
func Attempt(name string) *petri.Net {
	c, v := counters(), visitorOf(name)
	address, tenant, subject := c[0], c[1], c[2]
	n := &petri.Net{
		Name:  name,
		Ports: []petri.AnyPlace{v.knock, v.verdict, v.hangUp, v.checkToken, v.admit, v.turnAway},
		Env:   []petri.Env{{Place: v.knock}, {Place: v.verdict}, {Place: v.hangUp}},
		Out:   []petri.Output{{Place: v.checkToken}, {Place: v.admit}, {Place: v.turnAway}},
		Init:  []petri.Token{outside.Token(petri.Unit{})},
		Sinks: []petri.AnyPlace{outside, over},
		Transitions: []petri.Transition{
			{Name: "knock", In: petri.Arcs{v.knock, outside}, Out: petri.And(atAddress, address.ask)},
			{Name: "pass_address", In: petri.Arcs{atAddress, address.granted}, Out: petri.And(atToken, v.checkToken)},
			{Name: "leave_at_address", In: petri.Arcs{atAddress, address.refused}, Out: petri.And(over, v.turnAway)},
			{Name: "pass_token", In: petri.Arcs{atToken, v.verdict.Is(Yes)}, Out: petri.And(atTenant, tenant.ask)},
			{Name: "leave_at_token", In: petri.Arcs{atToken, v.verdict.Is(No)},
				Out: petri.And(over, v.turnAway.Is(DeniedToken), address.giveBack)},
			{Name: "pass_tenant", In: petri.Arcs{atTenant, tenant.granted}, Out: petri.And(atSubject, subject.ask)},
			{Name: "leave_at_tenant", In: petri.Arcs{atTenant, tenant.refused},
				Out: petri.And(over, v.turnAway, address.giveBack)},
			{Name: "pass_subject", In: petri.Arcs{atSubject, subject.granted}, Out: petri.And(inCall, v.admit)},
			{Name: "leave_at_subject", In: petri.Arcs{atSubject, subject.refused},
				Out: petri.And(over, v.turnAway, address.giveBack, tenant.giveBack)},
			{Name: "hang_up", In: petri.Arcs{inCall, v.hangUp},
				Out: petri.And(over, address.giveBack, tenant.giveBack, subject.giveBack)},
		},
	}
	for _, q := range c {
		n.Ports = append(n.Ports, q.ask, q.granted, q.refused, q.giveBack)
		n.Env = append(n.Env, petri.Env{Place: q.granted}, petri.Env{Place: q.refused})
		n.Out = append(n.Out, petri.Output{Place: q.ask}, petri.Output{Place: q.giveBack})
	}
	return n
}
