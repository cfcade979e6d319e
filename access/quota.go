package access

import (
	"github.com/voicegw/voicegw/petri"
)

// Denial is why a quota turns a call away.
type Denial uint8

// The denials.
const (
	DeniedCalls Denial = iota // as many calls run as may
	DeniedRate                // too many calls began
	DeniedBytes               // no bytes are left
	DeniedToken               // the token is not good: the guard says so, no quota
)

// Key makes Denial a petri.Keyed.
func (d Denial) Key() petri.Key { return petri.Key(d) }

// KeyNames makes Denial a petri.Keyed.
func (Denial) KeyNames() []string { return []string{"calls", "rate", "bytes", "token"} }

// String is the word for it in counters and logs.
func (d Denial) String() string { return d.KeyNames()[d] }

// Answer is yes or no: whether bytes may be spent, whether a token is good.
type Answer uint8

// The answers.
const (
	No Answer = iota
	Yes
)

// Key makes Answer a petri.Keyed.
func (a Answer) Key() petri.Key { return petri.Key(a) }

// KeyNames makes Answer a petri.Keyed.
func (Answer) KeyNames() []string { return []string{"no", "yes"} }

// counter is where calls meet one quota: its ports, which are named after it.
type counter struct {
	name     string
	ask      petri.Place[petri.Unit] // in: may a call begin?
	granted  petri.Place[petri.Unit] // out: it may, and holds a permit
	refused  petri.Place[Denial]     // out: it may not
	giveBack petri.Place[petri.Unit] // in: a call that held a permit is over
	spend    petri.Place[petri.Unit] // in: may one part of the bytes be spent?
	spent    petri.Place[Answer]     // out
}

func counterOf(name string) counter {
	unit := func(s string) petri.Place[petri.Unit] { return petri.Place[petri.Unit](s + "_" + name) }
	return counter{name: name, ask: unit("ask"), granted: unit("granted"), refused: petri.Place[Denial]("refused_" + name),
		giveBack: unit("give_back"), spend: unit("spend"), spent: petri.Place[Answer]("spent_" + name)}
}

// counters are the three a call passes, in order.
func counters() [3]counter {
	return [3]counter{counterOf("address"), counterOf("tenant"), counterOf("subject")}
}

// Places of a quota. A permit is free or taken, never both; what was spent comes back with time.
const (
	callFree   petri.Place[petri.Unit] = "call_free"
	callTaken  petri.Place[petri.Unit] = "call_taken"
	startFree  petri.Place[petri.Unit] = "start_free"
	startSpent petri.Place[petri.Unit] = "start_spent"
	bytesFree  petri.Place[petri.Unit] = "bytes_free"
	bytesSpent petri.Place[petri.Unit] = "bytes_spent"
)

// Quota is the net of one address, tenant or subject: its permits are places, and a call begins only by taking one of
// each. name is "address", "tenant" or "subject".
func Quota(name string, l Limits) *petri.Net { return quota(counterOf(name), l, byteParts) }

// quota is Quota with as many tokens for the bytes as parts.
func quota(c counter, l Limits, parts int) *petri.Net {
	n := &petri.Net{
		Name:  c.name,
		Ports: []petri.AnyPlace{c.ask, c.granted, c.refused, c.giveBack},
		Env:   []petri.Env{{Place: c.ask}, {Place: c.giveBack}},
		Out:   []petri.Output{{Place: c.granted}, {Place: c.refused}},
	}
	in, read, out := petri.Arcs{c.ask}, petri.Arcs{}, petri.Arcs{c.granted}
	release := petri.Transition{Name: "release", In: petri.Arcs{c.giveBack}}
	var others []petri.Transition
	if l.Calls > 0 {
		fill(n, callFree, l.Calls)
		in, out = append(in, callFree), append(out, callTaken)
		release.In, release.Out = append(release.In, callTaken), petri.And(callFree)
		others = append(others, refuse(c, callFree, DeniedCalls))
	}
	if l.CallsPerMinute > 0 {
		fill(n, startFree, l.CallsPerMinute)
		in, out = append(in, startFree), append(out, startSpent)
		others = append(others, refuse(c, startFree, DeniedRate),
			petri.Transition{Name: "refill_start", In: petri.Arcs{startSpent}, Out: petri.And(startFree),
				When: petri.After(l.callGap())})
	}
	if l.BytesPerMinute > 0 {
		fill(n, bytesFree, parts)
		read = append(read, bytesFree)
		others = append(others, refuse(c, bytesFree, DeniedBytes))
		others = append(others, spending(c)...)
		n.Ports = append(n.Ports, c.spend, c.spent)
		n.Env, n.Out = append(n.Env, petri.Env{Place: c.spend}), append(n.Out, petri.Output{Place: c.spent})
	}
	grant := petri.Transition{Name: "grant", In: in, Read: read, Out: petri.And(out...), Priority: 1}
	n.Transitions = append([]petri.Transition{grant, release}, others...)
	return n
}

// fill puts so many permits into a place at the start. They may rest there; what is taken or spent is no rest.
func fill(n *petri.Net, free petri.Place[petri.Unit], count int) {
	for range count {
		n.Init = append(n.Init, free.Token(petri.Unit{}))
	}
	n.Sinks = append(n.Sinks, free)
}

// refuse turns a call away because a permit is missing.
func refuse(c counter, missing petri.Place[petri.Unit], why Denial) petri.Transition {
	return petri.Transition{Name: "refuse_for_" + why.String(), In: petri.Arcs{c.ask}, Inhibit: petri.Arcs{missing},
		Out: petri.And(c.refused.Is(why))}
}

// spending takes parts of the bytes and gives them back with time.
func spending(c counter) []petri.Transition {
	return []petri.Transition{
		{Name: "spend_bytes", In: petri.Arcs{c.spend, bytesFree}, Out: petri.And(bytesSpent, c.spent.Is(Yes))},
		{Name: "find_none_left", In: petri.Arcs{c.spend}, Inhibit: petri.Arcs{bytesFree}, Out: petri.And(c.spent.Is(No))},
		{Name: "refill_bytes", In: petri.Arcs{bytesSpent}, Out: petri.And(bytesFree), When: petri.After(byteGap)},
	}
}
