package access

import (
	"errors"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// visit is one attempt: its net, and the quotas it asks. The guard's mutex owns it. What the net puts out is carried
// to the quotas and back here, and nothing else is decided here.
type visit struct {
	g      *Guard
	m      *petri.Machine
	born   time.Time
	meters [3]*meter // address, tenant, subject
	out    outcome
	used   *tokenID // what was used up; nil: nothing
}

// outcome is what the net decided.
type outcome struct {
	admitted, denied bool
	why              Denial
	meter            *meter // that refused; nil: the token
}

// attemptPorts are the ports of every attempt that runs.
func attemptPorts() visitor { return visitorOf("attempt") }

// enter asks the address's quota. It returns why the attempt was turned away, or nil.
func (v *visit) enter(address string) error {
	g := v.g
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.cfg.Address
	if address == "" {
		l = Limits{}
	}
	if err := v.take(0, "address "+address, l); err != nil {
		return g.crowded()
	}
	v.inject(attemptPorts().knock.Token(petri.Unit{}))
	return v.refused(nil)
}

// show shows a token that was examined, nil when none is needed, and asks the quotas of tenant and subject. A good
// token is used up by this, if nobody refuses.
func (v *visit) show(c *Claims, problem error) error {
	g := v.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if problem == nil && c != nil && !g.cfg.Reuse {
		switch {
		case g.seen.has(idOf(c), v.now()):
			problem = errUsed
		case g.seen.full():
			problem = errCrowded
		}
	}
	if problem == nil {
		problem = v.takeTenant(c)
	}
	answer := Yes
	if problem != nil {
		answer = No
	}
	v.inject(attemptPorts().verdict.Token(answer))
	if !v.out.admitted {
		return v.refused(problem)
	}
	if c != nil && !g.cfg.Reuse {
		id := idOf(c)
		g.seen.add(id, c.Expiry.Add(g.cfg.Skew))
		v.used = &id
	}
	g.stats.Admitted++
	g.stats.Running++
	return nil
}

// takeTenant finds the quotas of what a token names.
func (v *visit) takeTenant(c *Claims) error {
	if c == nil {
		c = &Claims{}
	}
	l, own := v.g.cfg.Tenants[c.Tenant]
	if !own {
		l = v.g.cfg.Tenant
	}
	if err := v.take(1, "tenant "+c.Tenant, l); err != nil {
		return err
	}
	return v.take(2, "subject "+c.Tenant+"\x00"+c.Subject+"\x00"+limitsKey(c.Limits), c.Limits)
}

// take finds the i-th quota, or begins it.
func (v *visit) take(i int, key string, l Limits) error {
	m, err := v.g.meter(counters()[i], key, l, v.now())
	if err != nil {
		return err
	}
	m.users++
	v.meters[i] = m
	return nil
}

// leave forgets the quotas when the attempt is over.
func (v *visit) leave() {
	for i, m := range v.meters {
		if m != nil {
			m.users--
			v.g.forget(m, v.now())
			v.meters[i] = nil
		}
	}
}

func (v *visit) now() time.Time { return v.g.cfg.Now() }

// inject gives the net a token and carries what it puts out to where it belongs, until it rests.
func (v *visit) inject(t petri.Token) {
	for waiting := []petri.Token{t}; len(waiting) > 0; waiting = waiting[1:] {
		at := max(v.now().Sub(v.born), v.m.Now())
		if err := v.m.Inject(at, waiting[0]); err != nil {
			panic(err) // a port that the proof says is free
		}
		for _, out := range append([]petri.Token{}, v.m.Advance(at).Out...) {
			waiting = append(waiting, v.carry(out)...)
		}
	}
}

// carry takes a token to a quota and returns its answer, or notes the outcome.
func (v *visit) carry(t petri.Token) []petri.Token {
	p := attemptPorts()
	for i, c := range counters() {
		switch t.Place() {
		case string(c.ask):
			answer := v.meters[i].ask(v.now())
			if _, no := c.refused.From(answer); no {
				v.out.meter = v.meters[i]
			}
			return []petri.Token{answer}
		case string(c.giveBack):
			v.meters[i].giveBack(v.now())
			return nil
		}
	}
	switch t.Place() {
	case string(p.admit):
		v.out.admitted = true
	case string(p.turnAway):
		v.out.denied = true
		v.out.why, _ = p.turnAway.From(t)
	}
	return nil
}

// refused is how a denial is told, nil when there is none yet. The attempt is over then.
func (v *visit) refused(problem error) error {
	if !v.out.denied {
		return nil
	}
	defer v.leave()
	if v.out.why == DeniedToken {
		return v.g.unauthorized(problem)
	}
	name := v.out.meter.counter.name
	v.g.stats.Denied[name+" "+v.out.why.String()]++
	return &transport.Refused{Reason: transport.ReasonLimit, RetryAfter: v.out.meter.retryAfter(v.out.why),
		Err: errors.New("access: the " + name + " has no " + v.out.why.String() + " left")}
}

// unauthorized is how a bad token is told. The caller learns what an honest one can mend and nothing else.
func (g *Guard) unauthorized(problem error) error {
	r := &transport.Refused{Reason: transport.ReasonUnauthorized, Message: "The call token is not valid.",
		Err: problem}
	kind := "token"
	switch {
	case errors.Is(problem, errNoToken):
		kind, r.Message = "no token", "A call token is needed."
	case errors.Is(problem, errExpired):
		kind, r.Message = "expired token", "The call token has expired. Get a new one."
	case errors.Is(problem, errEarly):
		r.Message = "The call token is not valid yet."
	case errors.Is(problem, errUsed):
		kind, r.Message = "used token", "The call token was used before. Get a new one for each call."
	case errors.Is(problem, errNoKeys):
		kind, r.Reason, r.RetryAfter = "no keys", transport.ReasonBusy, crowdedRetry
		r.Message = "Tokens cannot be checked now."
	case errors.Is(problem, errCrowded):
		return g.crowded()
	}
	g.stats.Denied[kind]++
	return r
}

// crowded is how a full memory is told.
func (g *Guard) crowded() error {
	g.stats.Denied["crowded"]++
	return &transport.Refused{Reason: transport.ReasonBusy, Message: "The server cannot count another caller now.",
		RetryAfter: crowdedRetry, Err: errCrowded}
}
