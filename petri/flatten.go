package petri

import (
	"reflect"
	"slices"
	"strings"
)

// flattener turns a tree of nets into flat lists of places and transitions.
type flattener struct {
	places []PlaceInfo
	byName map[string]int32
	owner  []string // by place: the net that first used it
	trans  []flatTransition
	init   []Token
	inside map[*Net]bool // the nets being flattened, to find cycles
	final  int32
	tasks  []TaskInfo
	closed bool
	beyond bool // inside an automaton of the environment
	loose  bool
	errs   problems
}

type flatTransition struct {
	Transition
	group string
	scope *scope
	env   bool               // belongs to an automaton of the environment
	arcs  [OutArc][]boundArc // by ArcKind
	outs  [][]boundArc       // by branch
	bad   bool               // some arc was nil
}

// boundArc is an arc with the index of its place.
type boundArc struct {
	Arc
	at int32
}

// scope resolves the local names of one net.
type scope struct {
	f     *flattener
	net   *Net
	path  string // "" at the top, "sub/" in a subnet
	ports map[string]int32
	used  map[string]bool
}

func (f *flattener) net(n *Net, path string, ports map[string]int32) {
	if f.inside[n] {
		f.errs.add(Problem{Net: n.Name}, "net %q is a part of itself", n.Name)
		return
	}
	f.inside[n] = true
	defer delete(f.inside, n)
	s := &scope{f: f, net: n, path: path, ports: ports, used: map[string]bool{}}
	f.closed = f.closed || n.closed
	f.loose = f.loose || n.Imported
	for _, t := range n.Transitions {
		f.trans = append(f.trans, s.bind(t))
	}
	s.declarations()
	names := map[string]bool{}
	for _, part := range n.Nets {
		s.part(part, names)
	}
	s.checkPorts()
	s.initial()
}

func (s *scope) group() string { return strings.TrimSuffix(s.path, "/") }

// part flattens one part of the net. names holds the names of the parts before it.
func (s *scope) part(part *Net, names map[string]bool) {
	switch {
	case part == nil:
		s.f.errs.add(Problem{Net: s.net.Name}, "net %q has a nil part", s.net.Name)
		return
	case part.Name == "":
		s.f.errs.add(Problem{Net: s.net.Name}, "a part of net %q has no name", s.net.Name)
	case names[part.Name]:
		s.f.errs.add(Problem{Net: s.net.Name},
			"two parts of net %q are named %q; give each instance a name of its own", s.net.Name, part.Name)
		return
	}
	names[part.Name] = true
	ports := make(map[string]int32, len(part.Ports))
	for _, p := range part.Ports {
		if i := s.listed(p, part.Name, "ports"); i >= 0 {
			ports[p.String()] = i
		}
	}
	was := s.f.beyond
	s.f.beyond = was || s.net.closed && len(names) > 1
	s.f.net(part, s.path+part.Name+"/", ports)
	s.f.beyond = was
}

// bind resolves every place that a transition names. Places are numbered in the order in which
// transitions name them.
func (s *scope) bind(t Transition) flatTransition {
	b := flatTransition{Transition: t, group: s.group(), scope: s, env: s.f.beyond}
	for kind, list := range [...]Arcs{InArc: t.In, ReadArc: t.Read, InhibitArc: t.Inhibit, ResetArc: t.Reset} {
		b.arcs[kind] = s.bindAll(list, &b)
	}
	b.outs = make([][]boundArc, len(t.Out.branches))
	for i, list := range t.Out.branches {
		b.outs[i] = s.bindAll(list, &b)
	}
	return b
}

// bindAll resolves arcs and leaves out nil ones.
func (s *scope) bindAll(list Arcs, t *flatTransition) []boundArc {
	if len(list) == 0 {
		return nil
	}
	out := make([]boundArc, 0, len(list))
	for _, any := range list {
		if isNil(any) {
			t.bad = true
			continue
		}
		a := any.asArc()
		if isNil(a.place) {
			t.bad = true
			continue
		}
		out = append(out, boundArc{a, s.resolve(a.place, s.net.Name)})
	}
	if t.bad {
		s.f.errs.add(Problem{Net: s.net.Name}, "net %q has a nil arc", s.net.Name)
	}
	return out
}

// listed resolves a place of one of the net's lists. It returns -1 if the place is nil.
func (s *scope) listed(p AnyPlace, user, list string) int32 {
	if isNil(p) {
		s.f.errs.add(Problem{Net: user}, "net %q lists a nil place among its %s", user, list)
		return -1
	}
	return s.resolve(p, user)
}

// isNil reports whether v is nil or holds a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// resolve returns the index of the place with a local name. It creates the place if it is new.
func (s *scope) resolve(p AnyPlace, user string) int32 {
	name := p.String()
	s.used[name] = true
	if name == "" {
		s.f.errs.add(Problem{Net: s.net.Name}, "net %q uses a place without a name", s.net.Name)
	}
	if i, ok := s.ports[name]; ok {
		s.f.sameType(i, p.typ(), user)
		return i
	}
	full := s.path + name
	if i, ok := s.f.byName[full]; ok {
		s.f.sameType(i, p.typ(), user)
		if s.f.places[i].Group != s.group() {
			s.f.errs.add(Problem{Place: full},
				"place %q of net %q has the same qualified name as a place of net %q; rename one",
				full, user, s.f.owner[i])
		}
		return i
	}
	i, col := int32(len(s.f.places)), p.colour()
	s.f.byName[full] = i
	s.f.owner = append(s.f.owner, user)
	s.f.places = append(s.f.places, PlaceInfo{
		Name: full, Group: s.group(), Type: typeName(col.typ), Keys: col.keys, Gen: col.gen,
		Slots: col.slots(), Max: MaxTokens, col: col,
	})
	return i
}

func typeName(t reflect.Type) string {
	if t == reflect.TypeFor[Unit]() {
		return "unit"
	}
	return t.String()
}

func valueType(v any) string {
	if v == nil {
		return "nil"
	}
	return typeName(reflect.TypeOf(v))
}

func (f *flattener) sameType(i int32, typ reflect.Type, user string) {
	if have := f.places[i].col.typ; have != typ {
		f.errs.add(Problem{Place: f.places[i].Name},
			"place %q is %s in net %q but %s in net %q; give both the same colour or rename one",
			f.places[i].Name, typeName(have), f.owner[i], typeName(typ), user)
	}
}

// declarations reads the net's lists of places.
func (s *scope) declarations() {
	f := s.f
	name := s.net.Name
	for _, e := range s.net.Env {
		if i := s.listed(e.Place, name, "environment places"); i >= 0 {
			f.env(i, e)
		}
	}
	for _, o := range s.net.Out {
		if i := s.listed(o.Place, name, "outputs"); i >= 0 {
			f.places[i].Out = true
			f.places[i].Durable = f.places[i].Durable || o.Durable
		}
	}
	for _, c := range s.net.Caps {
		if i := s.listed(c.Place, name, "capacities"); i >= 0 {
			f.capacity(i, c.Max)
		}
	}
	for _, p := range s.net.Sinks {
		if i := s.listed(p, name, "sinks"); i >= 0 {
			f.places[i].Sink = true
		}
	}
	for _, t := range s.net.Tasks {
		s.task(t)
	}
	s.finish()
}

// finish reads the net's final place.
func (s *scope) finish() {
	f := s.f
	if isNil(s.net.Final) {
		return
	}
	i := s.resolve(s.net.Final, s.net.Name)
	if f.final >= 0 && f.final != i {
		f.errs.add(Problem{Net: s.net.Name}, "net %q has final place %q, but %q already is the final place",
			s.net.Name, f.places[i].Name, f.places[f.final].Name)
	}
	f.final = i
	f.places[i].Final = true
}

func (s *scope) task(t AnyTask) {
	if isNil(t) {
		s.f.errs.add(Problem{Net: s.net.Name}, "net %q lists a nil task", s.net.Name)
		return
	}
	start, inFlight, done := t.places()
	info := TaskInfo{
		Start:    int(s.resolve(start, s.net.Name)),
		InFlight: int(s.resolve(inFlight, s.net.Name)),
		Done:     int(s.resolve(done, s.net.Name)),
	}
	if slices.Contains(s.f.tasks, info) {
		return
	}
	for _, i := range []int{info.Start, info.InFlight, info.Done} {
		if s.f.places[i].task > 0 {
			s.f.errs.add(Problem{Place: s.f.places[i].Name},
				"place %q belongs to two tasks; give each places of its own", s.f.places[i].Name)
		}
	}
	s.f.places[info.Start].Out = true
	s.f.capacity(int32(info.InFlight), 1)
	if !s.f.places[info.Done].Env {
		s.f.env(int32(info.Done), Env{Place: done, Capacity: 1})
	}
	s.f.tasks = append(s.f.tasks, info)
	for _, i := range []int{info.Start, info.InFlight, info.Done} {
		s.f.places[i].task = int32(len(s.f.tasks))
	}
}

func (f *flattener) env(i int32, e Env) {
	p := &f.places[i]
	if e.Capacity == 0 {
		e.Capacity = 1
	}
	if e.Capacity < 1 || e.Capacity > MaxTokens {
		f.errs.add(Problem{Place: p.Name},
			"environment place %q has capacity %d; it must be 1 to %d", p.Name, e.Capacity, MaxTokens)
		return
	}
	if p.Env && (p.Max != e.Capacity || p.Policy != e.Policy) {
		f.errs.add(Problem{Place: p.Name},
			"environment place %q is declared twice: capacity %d, %s and capacity %d, %s",
			p.Name, p.Max, p.Policy, e.Capacity, e.Policy)
	}
	if !p.Env {
		f.capacity(i, e.Capacity)
	}
	p.Env, p.Policy = true, e.Policy
	p.Payload = e.Policy != Refuse
}

func (f *flattener) capacity(i int32, n int) {
	p := &f.places[i]
	if n < 1 || n > MaxTokens {
		f.errs.add(Problem{Place: p.Name}, "place %q has capacity %d; it must be 1 to %d", p.Name, n, MaxTokens)
		return
	}
	if p.Max != MaxTokens && p.Max != n {
		f.errs.add(Problem{Place: p.Name}, "place %q has capacity %d and %d; fused places need one", p.Name, p.Max, n)
	}
	p.Max = n
}

func (s *scope) checkPorts() {
	if s.path == "" {
		return
	}
	for _, p := range s.net.Ports {
		if !isNil(p) && !s.used[p.String()] {
			s.f.errs.add(Problem{Place: p.String()},
				"port %q of net %q is not used there; drop it from Ports or use it", p.String(), s.net.Name)
		}
	}
}

func (s *scope) initial() {
	for _, t := range s.net.Init {
		i, ok := s.ports[t.place]
		if !ok {
			i, ok = s.f.byName[s.path+t.place]
		}
		if !ok {
			s.f.errs.add(Problem{Net: s.net.Name},
				"net %q: initial token at place %q, which the net does not use", s.net.Name, t.place)
			continue
		}
		want := s.f.places[i].col.typ
		if !fits(t.value, want) {
			s.f.errs.add(Problem{Net: s.net.Name},
				"net %q: initial token at %q is %s, not %s", s.net.Name, t.place, valueType(t.value), typeName(want))
			continue
		}
		s.f.init = append(s.f.init, Token{place: s.f.places[i].Name, value: t.value})
	}
}

// fits reports whether a value belongs to a colour: it has the colour's type or, if that is an
// interface, implements it.
func fits(v any, want reflect.Type) bool {
	have := reflect.TypeOf(v)
	return have == want || have != nil && want.Kind() == reflect.Interface && have.Implements(want)
}
