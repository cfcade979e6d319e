package workflow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// mesh is a dag of code agents in a file. Each agent writes a key of its name.
type mesh struct {
	agents, nodes strings.Builder
	any           bool
	count         int
}

// node adds a node and returns its name. deps are names, with the route behind ":"; reads are keys.
func (m *mesh) node(join string, deps []string, reads ...string) string {
	name := fmt.Sprint("a", m.count)
	m.count++
	fmt.Fprintf(&m.agents, "  - {name: %s, type: code, function: f, output_key: %s, input_keys: [%s]}\n", name, name,
		quoted(reads))
	var on, when []string
	for _, d := range deps {
		from, route, conditional := strings.Cut(d, ":")
		if on = append(on, from); conditional {
			when = append(when, fmt.Sprintf("%s: %s", from, route))
		}
	}
	fmt.Fprintf(&m.nodes, "    - {agent: %s, depends_on: [%s]", name, strings.Join(on, ", "))
	if len(when) > 0 {
		fmt.Fprintf(&m.nodes, ", when: {%s}", strings.Join(when, ", "))
	}
	if join != "" {
		fmt.Fprintf(&m.nodes, ", join: %s", join)
	}
	m.nodes.WriteString("}\n")
	return name
}

// all adds nodes, each with the same dependencies.
func (m *mesh) all(n int, deps ...string) (names []string) {
	for range n {
		names = append(names, m.node("", deps))
	}
	return names
}

// diamond adds a node, branches behind its outputs, and a node behind any of them.
func (m *mesh) diamond(branches int, deps ...string) string {
	from := m.node("", deps)
	var ends []string
	for i := range branches {
		route := fmt.Sprint("r", i)
		if i == 0 {
			route = defaultRoute
		}
		ends = append(ends, m.node("", []string{from + ":" + route}, from))
	}
	return m.node("any", ends, from)
}

// text is the file.
func (m *mesh) text() string {
	end := ""
	if m.any {
		end = "  join: any\n"
	}
	return "name: mesh\nagents:\n" + m.agents.String() + "orchestration:\n  type: dag\n" + end + "  nodes:\n" +
		m.nodes.String()
}

// TestWideChoices decides dags of about fifty agents with choices, which no one could explore.
func TestWideChoices(t *testing.T) {
	for name, c := range map[string]struct {
		make func(m *mesh)
		want []string // findings
	}{
		"beside a diamond": {func(m *mesh) {
			start := m.node("", nil)
			m.node("", append(m.all(40, start), m.diamond(3, start)), "a5", "a41")
		}, nil},
		"twelve diamonds": {func(m *mesh) {
			var ends []string
			for range 12 {
				ends = append(ends, m.diamond(2))
			}
			m.node("", ends, "a3")
		}, nil},
		"behind a route": {func(m *mesh) {
			sort := m.node("", nil)
			m.node("any", []string{m.node("", m.all(40, sort+":x")), m.node("", []string{sort + ":" + defaultRoute})})
		}, nil},
		"routes that agree": {func(m *mesh) { // no part has one way in and one way out
			sort := m.node("", nil)
			var left, right []string
			for range 20 {
				left = append(left, m.node("", []string{sort + ":x"}))
				right = append(right, m.node("", []string{sort + ":default"}))
			}
			var merged []string
			for i := range 8 {
				merged = append(merged, m.node("any", []string{left[i], right[i]}))
			}
			m.node("any", []string{m.node("", left[8:]), m.node("", right[8:])})
			m.node("", merged)
		}, nil},
		"a diamond that joins all": {func(m *mesh) {
			start := m.node("", nil)
			wide := m.all(40, start)
			sort := m.node("", []string{start})
			a, b := m.node("", []string{sort + ":x"}), m.node("", []string{sort + ":default"})
			m.node("", append(wide, m.node("", []string{a, b})))
		}, []string{"unreached: no run of `mesh` ever starts `a44`: it depends on both `a42` and `a43`, of which each",
			"deadlock: a run of `mesh` may stop before its end: `a44` waits for `a42`, which this run never starts",
			"unreached: no run of `mesh` ever starts `a45`"}},
		"a join of two that both run": {func(m *mesh) {
			wide := m.all(40)
			m.node("", append(wide[2:], m.node("any", wide[:2])))
		}, []string{"left_behind: `a40` may be started twice in one run of `mesh`, once after each of its dependencies"}},
		"an end of two that both run": {func(m *mesh) {
			m.any = true
			m.node("", m.all(40))
			m.node("", nil)
		}, []string{"left_behind: `mesh` may end while something of it is left: `a41` still works; `join: any`"}},
		"no route": {func(m *mesh) {
			sort := m.node("", nil)
			ends := []string{m.node("", []string{sort + ":x"}), m.node("", []string{sort + ":y"})}
			m.node("", append(m.all(40), m.node("any", ends)))
		}, []string{"deadlock: a run of `mesh` may stop before its end: no node follows `a0` if its output is none"}},
		"a key that one route does not write": {func(m *mesh) {
			start := m.node("", nil)
			m.node("", append(m.all(40, start), m.diamond(2, start)), "a42")
		}, []string{"read_before_write: `a45` reads `a42`, which may not be written yet"}},
		"a race": {func(m *mesh) {
			wide := m.all(40)
			sort := m.node("", nil, "a3")
			ends := []string{m.node("", []string{sort + ":x"}), m.node("", []string{sort + ":default"})}
			m.node("", append(wide, m.node("any", ends)))
		}, []string{"race: `a3` writes `a3` while `a40` reads it"}},
	} {
		m := &mesh{}
		c.make(m)
		p := newProver(t.Context(), compiled(t, m.text()))
		r, err := p.verify()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Rule != Unreached && len(f.Trace) < 3 {
				t.Errorf("%s: no run shows %s", name, f)
			}
		}
		wants(t, name, wordsOf(r), c.want)
		proof := r.Proofs[len(r.Proofs)-1]
		if len(c.want) == 0 && (proof.Method != "choices" || !proof.Proved) {
			t.Errorf("%s: %+v", name, proof)
		}
	}
}

// wordsOf are the findings of a report, with their rules.
func wordsOf(r *Report) (words []string) {
	for _, f := range r.Findings {
		words = append(words, string(f.Rule)+": "+f.Message)
	}
	return words
}

// TestTooManyChoices wants a block with too many conditions to be explored, and refused if it has too many markings,
// too.
func TestTooManyChoices(t *testing.T) {
	m := &mesh{}
	m.node("", []string{m.diamond(3), m.diamond(2), m.diamond(2), m.diamond(2)})
	for most, want := range map[int][]string{statesMax: nil, 1000: {"unproved: `mesh` has more than 1000 states, too " +
		"many to prove; move parts of it into blocks of their own: each block is proved alone"}} {
		p := newProver(t.Context(), compiled(t, m.text()))
		p.conditions, p.max = 5, most
		r, err := p.verify()
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "mesh", wordsOf(r), want)
		if method := r.Proofs[len(r.Proofs)-1].Method; method != "explored" {
			t.Errorf("the method is %s", method)
		}
	}
}

// TestChoicesExplored compares what structure shows of blocks with choices with what their markings show.
func TestChoicesExplored(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(seeds(60)) {
		choicesExplored(t, seed, count)
	}
	t.Log(count)
	for _, kind := range []string{"sound", "deadlock", "left_behind", "unreached", "race", "needs", "exits"} {
		if count[kind] < 3 {
			t.Errorf("only %d blocks are %s", count[kind], kind)
		}
	}
}

// FuzzChoices compares them for any seed.
func FuzzChoices(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { choicesExplored(t, seed, map[string]int{}) })
}

func choicesExplored(t *testing.T, seed uint64, count map[string]int) {
	g := &grower{rng: rand.New(rand.NewPCG(seed, 11)), leaves: 40}
	tr := &tree{name: "n0", typ: loopType, max: 2, kids: []*tree{g.choices()}}
	text := tr.yaml()
	w, _ := Load("tree.yaml", []byte(text), Registry{})
	if w == nil {
		return
	}
	c := compiled(t, text)
	for _, b := range c.blocks {
		if !b.chooses() {
			continue
		}
		by, from := newProver(t.Context(), c), newProver(t.Context(), c)
		var got, want *summary
		for _, p := range []*prover{by, from} {
			p.certify, p.terse = false, true
			var kids []*summary
			for _, k := range b.kids {
				s, err := p.block(k)
				if err != nil {
					t.Fatal(err)
				}
				kids = append(kids, s)
			}
			prog, err := b.alone(countMax)
			if err != nil {
				t.Fatal(err)
			}
			var proof Proof
			if p == by {
				got, err = p.decide(b, kids, prog, &proof)
			} else {
				want, err = p.explored(b, kids, prog, &proof)
			}
			if err != nil || (proof.Method == "choices") != (p == by) {
				t.Fatal(proof, err)
			}
		}
		if f, o := structural(by), structural(from); f != o {
			t.Errorf("seed %d: by its structure it is %s, by its markings %s: %v\n%s", seed, f, o, from.found.list, text)
		} else if f != "" {
			for _, f := range by.found.list {
				count[string(f.Rule)]++
			}
			continue
		}
		count["sound"]++
		if len(got.needs) > 0 {
			count["needs"]++
		}
		if b.canExit() {
			count["exits"]++
		}
		if len(by.found.list) > 0 {
			count["race"]++
		}
		if !slices.EqualFunc(by.found.sorted(), from.found.sorted(), Finding.like) || !maps.Equal(by.apart, from.apart) ||
			!slices.EqualFunc(got.must, want.must, maps.Equal) || !maps.Equal(got.known, want.known) {
			t.Errorf("seed %d: by its structure %v %v %v, by its markings %v %v %v\n%s", seed, by.found.list, got.must,
				got.needs, from.found.list, want.must, want.needs, text)
		}
	}
}

// structural are the rules that a block breaks, besides races, and the agents that no run starts.
func structural(p *prover) string {
	var list []string
	twice := strings.Contains(fmt.Sprint(p.found.list), "started twice") // exploration goes no further
	for _, f := range p.found.sorted() {
		switch {
		case f.Rule == Race, f.Rule == Unreached && twice:
		case f.Rule == Unreached:
			list = append(list, fmt.Sprint(f.Rule, f.Line, ":", f.Column))
		default:
			list = append(list, string(f.Rule))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// choices grows a dag of series, forks and diamonds, half of the time with a defect in it.
func (g *grower) choices() *tree {
	t := &tree{name: fmt.Sprint("d", g.count), typ: dagType}
	g.part(t, 2, treeNode{})
	switch n := &t.nodes[g.rng.IntN(len(t.nodes))]; g.rng.IntN(8) {
	case 0:
		n.any = len(n.deps) > 1 && !n.any
	case 1:
		clear(n.when)
	case 2:
		if len(n.deps) > 0 {
			n.when[n.deps[0]] = g.pick("x", "y", defaultRoute)
		}
	case 3:
		if last := &t.nodes[len(t.nodes)-1]; !slices.Contains(last.deps, 0) && len(t.nodes) > 1 {
			last.deps = append(last.deps, 0)
		}
	}
	return t
}

// part adds a part of a dag and returns its last node.
func (g *grower) part(t *tree, depth int, first treeNode) int {
	add := func(n treeNode) int {
		if n.when == nil {
			n.when = map[int]string{}
		}
		t.kids, t.nodes = append(t.kids, g.grow(g.rng.IntN(8)/7, true)), append(t.nodes, n)
		return len(t.nodes) - 1
	}
	at := add(first)
	if depth == 0 || len(t.nodes) > 6 {
		return at
	}
	behind := func(route string) treeNode { return treeNode{deps: []int{at}, when: map[int]string{at: route}} }
	switch g.rng.IntN(5) {
	case 0:
		return g.part(t, depth-1, treeNode{deps: []int{at}})
	case 1:
		return add(treeNode{deps: []int{g.part(t, depth-1, treeNode{deps: []int{at}}), add(treeNode{deps: []int{at}})}})
	case 2: // two diamonds behind one output
		var ends []int
		for range 2 {
			ends = append(ends, add(treeNode{deps: []int{add(behind("x")), add(behind(defaultRoute))}, any: true}))
		}
		return add(treeNode{deps: ends})
	default:
		ends := []int{g.part(t, depth-1, behind("x")), g.part(t, depth-1, behind(defaultRoute))}
		return add(treeNode{deps: ends, any: true})
	}
}
