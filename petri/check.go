package petri

// checkNet checks the net as a whole. It finds names used twice, places that nothing fills or
// empties, transitions that can never fire, and payload places that decide something.
func (c *compiler) checkNet() {
	c.checkNames()
	u := c.usage()
	for i := range c.places {
		c.checkPlace(i, &u[i])
	}
	for i := range c.p.transitions {
		c.checkPayload(&c.p.transitions[i])
	}
	c.checkTasks()
	if c.errs.err() == nil {
		c.checkReachable()
	}
}

func (c *compiler) checkNames() {
	seen := map[string]bool{}
	for i := range c.p.transitions {
		name := c.p.transitions[i].Name
		if seen[name] {
			c.errs.add(Problem{Transition: name}, "two transitions are named %q", name)
		}
		seen[name] = true
	}
}

// usage says how transitions, the environment and the initial marking use a place.
type usage struct {
	filled, taken, tested, emptied bool
}

func (c *compiler) usage() []usage {
	u := make([]usage, len(c.places))
	for _, t := range c.init {
		u[c.byName[t.place]].filled = true
	}
	for i := range c.places {
		u[i].filled = u[i].filled || c.places[i].Env
	}
	for i := range c.p.transitions {
		for _, a := range c.p.transitions[i].Arcs {
			switch a.Kind {
			case InArc:
				u[a.Place].taken = true
			case ReadArc, InhibitArc:
				u[a.Place].tested = true
			case ResetArc:
				u[a.Place].emptied = true
			case OutArc:
				u[a.Place].filled = true
			}
		}
	}
	return u
}

func (c *compiler) checkPlace(i int, u *usage) {
	p := &c.places[i]
	switch {
	case p.Out && !u.filled:
		c.odd(Problem{Place: p.Name}, "output place %q is never produced", p.Name)
	case p.Out, p.Final:
	case !u.filled && (u.taken || u.tested):
		c.odd(Problem{Place: p.Name},
			"place %q is needed but nothing fills it: no output arc, environment or initial token", p.Name)
	case !u.filled:
		c.odd(Problem{Place: p.Name}, "place %q is isolated", p.Name)
	case !u.taken && !u.tested && !p.Sink:
		c.odd(Problem{Place: p.Name},
			"tokens at place %q are never used: list it in Sinks or Out, or drop it", p.Name)
	}
}

// odd reports a problem of a net written for this package, and ignores it in an imported or closed
// one.
func (c *compiler) odd(about Problem, format string, args ...any) {
	if !c.loose && !c.closed {
		c.errs.add(about, format, args...)
	}
}

// checkReachable reports transitions that can never fire, even if no token is ever consumed.
func (c *compiler) checkReachable() {
	can := make([]bool, len(c.p.slotPlace))
	for _, t := range c.init {
		p := &c.places[c.byName[t.place]]
		if !p.Out {
			can[p.Slot+p.col.slotOfValue(t.value, 0)] = true
		}
	}
	for i := range c.places {
		p := &c.places[i]
		for k := range p.Slots {
			can[p.Slot+k] = can[p.Slot+k] || p.Env
		}
	}
	fires := make([]bool, len(c.p.transitions))
	for again := true; again; {
		again = false
		for i := range c.p.transitions {
			for k := range c.p.transitions[i].Modes {
				m := &c.p.transitions[i].Modes[k]
				if m.reachable(can) && c.mark(m, can, c.p.transitions[i].Bump) || m.reachable(can) && !fires[i] {
					fires[i], again = true, true
				}
			}
		}
	}
	for i, ok := range fires {
		if !ok {
			c.odd(Problem{Kind: NeverFires, Transition: c.p.transitions[i].Name},
				"transition %q can never fire: its inputs can never be marked together", c.p.transitions[i].Name)
		}
	}
}

func (m *Mode) reachable(can []bool) bool {
	for _, cd := range m.Conds {
		ok := cd.Min == 0
		for _, s := range cd.Slots {
			ok = ok || can[s]
		}
		if !ok {
			return false
		}
	}
	return true
}

// mark adds what the mode produces to can and reports whether can has changed.
func (c *compiler) mark(m *Mode, can []bool, bump bool) bool {
	news := false
	set := func(s int32) {
		if !can[s] {
			can[s], news = true, true
		}
	}
	if bump {
		for _, s := range c.genSlots() {
			if s > 0 && (int(s)-c.places[c.p.slotPlace[s]].Slot)%2 == 1 && can[s-1] {
				set(s)
			}
		}
	}
	for i := range m.Branches {
		for _, k := range m.Branches[i].Put {
			set(k.Slot)
		}
	}
	return news
}

// checkPayload checks transitions that use payload places. Such a transition consumes one payload
// token and nothing else, and produces only outputs, so that every marking and every clock stays as
// it was.
func (c *compiler) checkPayload(t *TransitionInfo) {
	var payload, others, tests int
	var name string
	for _, a := range t.Arcs {
		p := &c.places[a.Place]
		switch {
		case a.Kind == InArc && p.Payload:
			payload++
			name = p.Name
			if a.All || a.Count != 1 {
				c.errs.add(Problem{Transition: t.Name},
					"transition %q takes several tokens of payload place %q; it may take only one", t.Name, p.Name)
			}
		case a.Kind == OutArc && p.Payload:
			c.errs.add(Problem{Transition: t.Name},
				"transition %q produces at payload place %q, which only the environment fills", t.Name, p.Name)
		case a.Kind == InArc, a.Kind == ResetArc, a.Kind == OutArc && !p.Out:
			others++
		case (a.Kind == ReadArc || a.Kind == InhibitArc) && p.Payload:
			tests++
		}
	}
	switch {
	case payload == 0 && tests > 0: // a pre-roll is trimmed by the number of its frames
		c.errs.add(Problem{Transition: t.Name},
			"transition %q decides by the tokens of a payload place; tokens that may be dropped must decide nothing",
			t.Name)
	case payload == 0:
	case payload > 1 || others > 0 || t.Bump || !t.When.AtOnce():
		c.errs.add(Problem{Transition: t.Name},
			"transition %q takes from payload place %q (%s) but does more than move that one token to an output "+
				"at once; then dropping a token would decide something", t.Name, name, c.places[c.byName[name]].Policy)
	default:
		t.Frame = true
	}
}

// checkTasks checks the protocol of tasks. A transition that starts work also marks the in-flight
// place, so that the work can be cancelled, and no result is lost.
func (c *compiler) checkTasks() {
	for _, t := range c.tasks {
		start, inFlight, done := &c.places[t.Start], &c.places[t.InFlight], &c.places[t.Done]
		if done.Policy != Refuse {
			c.errs.add(Problem{Place: done.Name}, "result place %q of a task must not drop tokens", done.Name)
		}
		for _, tok := range c.init {
			if tok.place == inFlight.Name {
				c.errs.add(Problem{Place: inFlight.Name},
					"in-flight place %q of a task is marked at the start, but no work runs", inFlight.Name)
			}
		}
		for i := range c.p.transitions {
			c.checkStart(&c.p.transitions[i], t, start, inFlight)
		}
	}
}

func (c *compiler) checkStart(tr *TransitionInfo, t TaskInfo, start, inFlight *PlaceInfo) {
	for b := range max(tr.branches, 1) {
		starts, flies := tr.produces(t.Start, b), tr.produces(t.InFlight, b)
		if starts != flies || starts > 1 {
			c.errs.add(Problem{Transition: tr.Name},
				"transition %q produces %d tokens at start place %q and %d at in-flight place %q of a task; "+
					"it starts one piece of work with one of each, or none", tr.Name, starts, start.Name, flies, inFlight.Name)
		}
		if starts > 0 && tr.empties(t.InFlight) && !tr.takes(t.Done) {
			c.errs.add(Problem{Transition: tr.Name},
				"transition %q cancels the work of a task at %q and starts new work in one firing; use two, "+
					"because the slot is free only when the old work has returned", tr.Name, inFlight.Name)
		}
	}
}

// empties reports whether the transition takes from a place or resets it.
func (t *TransitionInfo) empties(place int) bool {
	for _, a := range t.Arcs {
		if (a.Kind == InArc || a.Kind == ResetArc) && a.Place == place {
			return true
		}
	}
	return false
}

// takes reports whether a place is an input of the transition.
func (t *TransitionInfo) takes(place int) bool {
	for _, a := range t.Arcs {
		if a.Kind == InArc && a.Place == place {
			return true
		}
	}
	return false
}

// produces returns the number of tokens that a branch of the output produces at a place.
func (t *TransitionInfo) produces(place, branch int) int {
	for _, a := range t.Arcs {
		if a.Kind == OutArc && a.Place == place && a.Branch == branch {
			return a.Count
		}
	}
	return 0
}
