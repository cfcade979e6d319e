package petri

import (
	"reflect"
	"strings"
)

// flattener turns a tree of nets into flat lists of places and transitions.
type flattener struct {
	places  []PlaceInfo
	byName  map[string]int32
	owner   []string // net that first used the place
	trans   []flatTransition
	envs    []Env // place indices in envAt
	envAt   []int32
	init    []Token
	final   int32
	tasks   []TaskInfo
	sinks   []int32
	closed  bool
	loose   bool
	declOut []int32
	errs    problems
}

type flatTransition struct {
	Transition
	group string
	scope *scope
}

// scope resolves the local names of one net.
type scope struct {
	f     *flattener
	net   *Net
	path  string // "" at the top, else "sub/"
	ports map[string]int32
	used  map[string]bool
}

func (f *flattener) net(n *Net, path string, ports map[string]int32) {
	if n == nil {
		f.errs.add("net %q has a nil part", strings.TrimSuffix(path, "/"))
		return
	}
	s := &scope{f: f, net: n, path: path, ports: ports, used: map[string]bool{}}
	f.closed = f.closed || n.closed
	f.loose = f.loose || n.Imported
	for _, t := range n.Transitions {
		f.trans = append(f.trans, flatTransition{Transition: t, group: s.group(), scope: s})
		s.touch(t)
	}
	s.declarations()
	for _, part := range n.Nets {
		s.part(part)
	}
	s.checkPorts()
	s.initial()
}

func (s *scope) group() string { return strings.TrimSuffix(s.path, "/") }

func (s *scope) part(part *Net) {
	if part == nil {
		s.f.errs.add("net %q has a nil part", s.net.Name)
		return
	}
	if part.Name == "" {
		s.f.errs.add("a part of net %q has no name", s.net.Name)
	}
	ports := make(map[string]int32, len(part.Ports))
	for _, p := range part.Ports {
		ports[p.String()] = s.resolve(p, part.Name)
	}
	s.f.net(part, s.path+part.Name+"/", ports)
}

// touch resolves every place a transition names, so that places get their
// order from the text of the net.
func (s *scope) touch(t Transition) {
	for _, list := range []Arcs{t.In, t.Read, t.Inhibit, t.Reset} {
		for _, a := range list {
			s.place(a)
		}
	}
	for _, b := range t.Out.branches {
		for _, a := range b {
			s.place(a)
		}
	}
}

func (s *scope) place(a AnyArc) int32 {
	if a == nil || a.asArc().place == nil {
		s.f.errs.add("net %q has a nil arc", s.net.Name)
		return -1
	}
	return s.resolve(a.asArc().place, s.net.Name)
}

// resolve returns the place a local name stands for, making it if it is new.
func (s *scope) resolve(p AnyPlace, user string) int32 {
	name, col := p.String(), p.colour()
	s.used[name] = true
	if name == "" {
		s.f.errs.add("net %q uses a place without a name", s.net.Name)
	}
	if i, ok := s.ports[name]; ok {
		s.f.sameType(i, col, user)
		return i
	}
	full := s.path + name
	if i, ok := s.f.byName[full]; ok {
		s.f.sameType(i, col, user)
		return i
	}
	i := int32(len(s.f.places))
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

func (f *flattener) sameType(i int32, col *colour, user string) {
	if have := f.places[i].col.typ; have != col.typ {
		f.errs.add("place %q is %s in net %q but %s in net %q; give both the same colour or rename one",
			f.places[i].Name, have, f.owner[i], col.typ, user)
	}
}

// declarations reads the lists of a net that are about places.
func (s *scope) declarations() {
	f := s.f
	for _, e := range s.net.Env {
		f.env(s.resolve(e.Place, s.net.Name), e)
	}
	for _, o := range s.net.Out {
		i := s.resolve(o.Place, s.net.Name)
		f.places[i].Out = true
		f.places[i].Durable = f.places[i].Durable || o.Durable
		f.declOut = append(f.declOut, i)
	}
	for _, c := range s.net.Caps {
		f.capacity(s.resolve(c.Place, s.net.Name), c.Max)
	}
	for _, p := range s.net.Sinks {
		f.places[s.resolve(p, s.net.Name)].Sink = true
	}
	for _, t := range s.net.Tasks {
		s.task(t)
	}
	if s.net.Final != nil {
		i := s.resolve(s.net.Final, s.net.Name)
		if f.final >= 0 && f.final != i {
			f.errs.add("net %q: final place %q, but %q is the final place already", s.net.Name, f.places[i].Name, f.places[f.final].Name)
		}
		f.final = i
		f.places[i].Final = true
	}
}

func (s *scope) task(t AnyTask) {
	start, inFlight, done := t.places()
	info := TaskInfo{
		Start:    int(s.resolve(start, s.net.Name)),
		InFlight: int(s.resolve(inFlight, s.net.Name)),
		Done:     int(s.resolve(done, s.net.Name)),
	}
	s.f.places[info.Start].Out = true
	s.f.declOut = append(s.f.declOut, int32(info.Start))
	s.f.capacity(int32(info.InFlight), 1)
	if !s.f.places[info.Done].Env {
		s.f.env(int32(info.Done), Env{Place: done, Capacity: 1})
	}
	s.f.tasks = append(s.f.tasks, info)
}

func (f *flattener) env(i int32, e Env) {
	p := &f.places[i]
	if e.Capacity == 0 {
		e.Capacity = 1
	}
	if e.Capacity < 1 || e.Capacity > MaxTokens {
		f.errs.add("environment place %q has capacity %d; 1 to %d is possible", p.Name, e.Capacity, MaxTokens)
	}
	if p.Env && (p.Max != e.Capacity || p.Policy != e.Policy) {
		f.errs.add("environment place %q is declared twice: capacity %d, %s and capacity %d, %s",
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
		f.errs.add("place %q has capacity %d; 1 to %d is possible", p.Name, n, MaxTokens)
		return
	}
	if p.Max != MaxTokens && p.Max != n {
		f.errs.add("place %q has capacity %d and %d; fused places need one", p.Name, p.Max, n)
	}
	p.Max = n
}

func (s *scope) checkPorts() {
	if s.path == "" {
		return
	}
	for _, p := range s.net.Ports {
		if !s.used[p.String()] {
			s.f.errs.add("port %q of net %q is not used there; drop it from Ports or use it", p.String(), s.net.Name)
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
			s.f.errs.add("net %q: initial token at place %q, which nothing in it uses", s.net.Name, t.place)
			continue
		}
		want := s.f.places[i].col.typ
		if !fits(t.value, want) {
			s.f.errs.add("net %q: initial token at %q is %T, not %s", s.net.Name, t.place, t.value, want)
			continue
		}
		s.f.init = append(s.f.init, Token{place: s.f.places[i].Name, value: t.value})
	}
}

func fits(v any, want reflect.Type) bool {
	have := reflect.TypeOf(v)
	return have == want || have != nil && have.AssignableTo(want)
}
