package workflow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/verify"
)

// A tree is a random workflow. The tests below compare what Verify says about it with an interpreter of
// trees that knows nothing of nets: it tries every order in which leaves may be done, and every choice.
type tree struct {
	name, typ string
	kids      []*tree
	key       string   // of a leaf: what it writes
	reads     []string // of a leaf, "?" behind one that may be missing
	exits     bool     // of a leaf: it has exit_loop
	max       int      // iterations, hops or steps
	nodes     []treeNode
	any       bool // of a dag
}

type treeNode struct {
	deps []int
	when map[int]string
	any  bool
}

// grower makes a random tree.
type grower struct {
	rng    *rand.Rand
	count  int
	leaves int // that may still grow
}

func (g *grower) pick(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *grower) grow(depth int, inLoop bool) *tree {
	g.count++
	t := &tree{name: fmt.Sprint("n", g.count)}
	if depth == 0 || g.leaves <= 1 || g.rng.IntN(3) == 0 {
		g.leaves--
		g.leaf(t, inLoop)
		return t
	}
	t.typ = g.pick(sequentialType, parallelType, loopType, dagType, dagType, routedType, llmType)
	t.max = 1 + g.rng.IntN(3)
	n := 1 + g.rng.IntN(3)
	if t.typ == routedType {
		router := &tree{name: fmt.Sprint("r", g.count), typ: llmType}
		g.leaves--
		g.leaf(router, false)
		router.typ = llmType
		t.kids = append(t.kids, router)
	}
	if t.typ == llmType { // it calls the others as tools
		g.leaves--
		g.leaf(t, inLoop)
		t.typ, n, t.max = llmType, min(n, 2), t.max+1
	}
	for range n {
		t.kids = append(t.kids, g.grow(depth-1, inLoop || t.typ == loopType))
	}
	if t.typ == dagType {
		g.dag(t)
	}
	return t
}

func (g *grower) leaf(t *tree, inLoop bool) {
	t.typ = codeType
	t.key = fmt.Sprint("k", g.rng.IntN(5))
	for i := range 5 {
		if key := fmt.Sprint("k", i); g.rng.IntN(6) == 0 {
			t.reads = append(t.reads, key+g.pick("", "?"))
		}
	}
	if inLoop && g.rng.IntN(3) == 0 {
		t.typ, t.exits = llmType, true
	}
}

// dag links the nodes at random, each to some before it.
func (g *grower) dag(t *tree) {
	t.any = g.rng.IntN(6) == 0
	for i := range t.kids {
		n := treeNode{when: map[int]string{}}
		for d := range i {
			if g.rng.IntN(2) == 0 {
				n.deps = append(n.deps, d)
				if g.rng.IntN(4) == 0 {
					n.when[d] = g.pick("x", "y", defaultRoute)
				}
			}
		}
		n.any = len(n.deps) > 1 && g.rng.IntN(3) == 0
		t.nodes = append(t.nodes, n)
	}
}

// yaml writes the tree as a file.
func (t *tree) yaml() string {
	var agents []string
	var write func(t *tree)
	names := func(list []*tree) string {
		var out []string
		for _, k := range list {
			out = append(out, k.name)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	write = func(t *tree) {
		head := fmt.Sprintf("{name: %s, type: %s", t.name, t.typ)
		switch t.typ {
		case codeType:
			head += ", function: f, input_keys: [" + quoted(t.reads) + "], output_key: " + t.key
		case llmType:
			head += ", model: m, instruction: '"
			for _, r := range t.reads {
				head += "{" + r + "} "
			}
			head += ".', output_key: " + t.key
			if t.exits {
				head += ", tools: [exit_loop]"
			}
			if len(t.kids) > 0 {
				head += fmt.Sprintf(", max_steps: %d, agent_tools: %s", t.max, names(t.kids))
			}
		case loopType:
			head += fmt.Sprintf(", max_iterations: %d, sub_agents: %s", t.max, names(t.kids))
		case routedType:
			head += fmt.Sprintf(", max_hops: %d, router: %s, sub_agents: %s", t.max, t.kids[0].name, names(t.kids[1:]))
		case dagType:
			head += t.dagYAML()
		default:
			head += ", sub_agents: " + names(t.kids)
		}
		agents = append(agents, "  - "+head+"}\n")
		for _, k := range t.kids {
			write(k)
		}
	}
	write(t)
	// Every key has a writer, which runs last, so that only the order of reads and writes is in question.
	var last []string
	for i := range 5 {
		name := fmt.Sprint("w", i)
		agents = append(agents, fmt.Sprintf("  - {name: %s, type: code, function: f, output_key: k%d}\n", name, i))
		last = append(last, name)
	}
	return "name: tree\nagents:\n" + strings.Join(agents, "") + "orchestration: {type: sequential, agents: [" +
		t.name + ", " +
		strings.Join(last, ", ") + "]}\n"
}

func (t *tree) dagYAML() string {
	head := ", nodes: ["
	for i, n := range t.nodes {
		head += "{agent: " + t.kids[i].name
		var deps, when []string
		for _, d := range n.deps {
			deps = append(deps, t.kids[d].name)
			if text, ok := n.when[d]; ok {
				when = append(when, t.kids[d].name+": '"+text+"'")
			}
		}
		head += ", depends_on: [" + strings.Join(deps, ", ") + "]"
		if len(when) > 0 {
			head += ", when: {" + strings.Join(when, ", ") + "}"
		}
		if n.any {
			head += ", join: any"
		}
		head += "}, "
	}
	head += "]"
	if t.any {
		head += ", join: any"
	}
	return head
}

// state is how far a tree has come.
type state struct {
	phase int // 0: not started, 1: runs, 2: done
	kids  []*state
	at    int // of sequence, loop, routed: the kid that runs
	left  int // rounds, hops or steps
	calls int // of an agent that calls others: in this answer, the one that runs included; 0: it works itself
	exit  bool
	edges map[[2]int]bool // of a dag; the end is node -1
}

// copied is a state that may be changed.
func (s *state) copied() *state {
	c := *s
	c.kids = slices.Clone(s.kids)
	c.edges = map[[2]int]bool{}
	for k, v := range s.edges {
		c.edges[k] = v
	}
	return &c
}

func (s *state) text() string {
	var b strings.Builder
	fmt.Fprint(&b, s.phase, s.at, s.left, s.calls, s.exit)
	var edges []string
	for e := range s.edges {
		edges = append(edges, fmt.Sprint(e))
	}
	slices.Sort(edges)
	fmt.Fprint(&b, edges, "(")
	for _, k := range s.kids {
		b.WriteString(k.text() + ";")
	}
	return b.String() + ")"
}

// world is the state of a run: the tree, and the keys that are written.
type world struct {
	s    *state
	keys string // five digits
}

// verdict is what the interpreter found.
type verdictOf struct {
	unsound string
	races   map[string]bool // key and names
	early   map[string]bool // key and reader
	ran     map[string]bool
}

// broken means that the tree does what no run may do.
type broken string

// begin starts a tree.
func (t *tree) begin() *state {
	s := &state{phase: 1, kids: make([]*state, len(t.kids)), edges: map[[2]int]bool{}}
	for i := range s.kids {
		s.kids[i] = &state{}
	}
	switch t.typ {
	case sequentialType, routedType:
		s.kids[0], s.left = t.kids[0].begin(), t.max
	case loopType:
		s.kids[0], s.left = t.kids[0].begin(), t.max-1
	case llmType:
		s.left = t.max - 1
	case parallelType:
		for i, k := range t.kids {
			s.kids[i] = k.begin()
		}
	case dagType:
		for i, n := range t.nodes {
			if len(n.deps) == 0 {
				s.kids[i] = t.kids[i].begin()
			}
		}
	}
	return s
}

// move is a way in which a tree goes on when one leaf is done, or calls others.
type move2 struct {
	s    *state
	leaf *tree // nil: it is not done
	exit bool
}

// moves are the ways in which a tree that runs may go on.
func (t *tree) moves(s *state) (list []move2) {
	if s.phase != 1 {
		return nil
	}
	if t.works(s) {
		done := &state{phase: 2}
		list = append(list, move2{s: done, leaf: t})
		if t.exits {
			list = append(list, move2{s: done, leaf: t, exit: true})
		}
		return append(list, t.call(s, false)...)
	}
	for i, k := range t.kids {
		for _, m := range k.moves(s.kids[i]) {
			for _, next := range t.after(s, i, m) {
				next.leaf = m.leaf
				list = append(list, next)
			}
		}
	}
	return list
}

// works reports whether the tree is a leaf that works itself.
func (t *tree) works(s *state) bool {
	return s.phase == 1 && (len(t.kids) == 0 || t.typ == llmType && s.calls == 0)
}

// call are the calls that an agent may begin, as long as there are not too many in one answer.
func (t *tree) call(s *state, exit bool) (list []move2) {
	for k := range t.kids {
		if s.calls < callsMax {
			c := s.copied()
			c.calls++
			c.kids[k] = t.kids[k].begin()
			list = append(list, move2{s: c, exit: exit})
		}
	}
	return list
}

// called are the ways in which an agent goes on when one that it called is done: with the next call, or by
// asking its model again. Without a step the run fails, which ends it.
func (t *tree) called(c *state, i int, exit bool) []move2 {
	c.kids[i] = &state{}
	list := t.call(c, exit)
	if c.left > 0 {
		again := c.copied()
		again.calls, again.left = 0, c.left-1
		list = append(list, move2{s: again, exit: exit})
	}
	return list
}

// after are the ways in which a tree goes on when kid i has moved.
func (t *tree) after(s *state, i int, m move2) []move2 {
	c := s.copied()
	c.kids[i] = m.s
	exit := m.exit
	if t.typ == loopType {
		c.exit, exit = c.exit || m.exit, false
	}
	if m.s.phase != 2 {
		return []move2{{s: c, exit: exit}}
	}
	start := func(k int) { c.kids[i], c.kids[k] = &state{}, t.kids[k].begin() }
	finish := func() []move2 { c.phase = 2; return []move2{{s: c, exit: exit}} }
	last := i == len(t.kids)-1
	switch t.typ {
	case sequentialType:
		if last {
			return finish()
		}
		start(i + 1)
	case parallelType:
		if !slices.ContainsFunc(c.kids, func(k *state) bool { return k.phase != 2 }) {
			return finish()
		}
	case loopType:
		switch {
		case c.exit, last && c.left == 0:
			return finish()
		case last:
			c.left--
			start(0)
		default:
			start(i + 1)
		}
	case llmType:
		return t.called(c, i, exit)
	case routedType:
		return t.routedAfter(s, i, m.s, exit)
	case dagType:
		return t.dagAfter(s, i, m.s, exit)
	}
	return []move2{{s: c, exit: exit}}
}

func (t *tree) routedAfter(s *state, i int, done *state, exit bool) (list []move2) {
	c := s.copied()
	c.kids[i] = done
	if i > 0 {
		if c.left == 0 {
			c.phase = 2
		} else {
			c.kids[i], c.kids[0] = &state{}, t.kids[0].begin()
		}
		return []move2{{s: c, exit: exit}}
	}
	answer := c.copied()
	answer.phase = 2
	list = append(list, move2{s: answer, exit: exit})
	for k := 1; k < len(t.kids); k++ {
		to := c.copied()
		to.left--
		to.kids[0], to.kids[k] = &state{}, t.kids[k].begin()
		list = append(list, move2{s: to, exit: exit})
	}
	return list
}

// dagAfter marks the edges behind a node for each of its outputs, and starts what is ready.
func (t *tree) dagAfter(s *state, i int, done *state, exit bool) (list []move2) {
	routes := []string{defaultRoute}
	leads := false
	for _, n := range t.nodes {
		leads = leads || slices.Contains(n.deps, i)
		if text, ok := n.when[i]; ok && !slices.Contains(routes, text) {
			routes = append(routes, text)
		}
	}
	for _, r := range routes {
		c := s.copied()
		c.kids[i] = done
		mark := func(to int) {
			if c.edges[[2]int{i, to}] {
				panic(broken("an edge is marked twice"))
			}
			c.edges[[2]int{i, to}] = true
		}
		if !leads {
			mark(-1)
		}
		for to, n := range t.nodes {
			if text, ok := n.when[i]; slices.Contains(n.deps, i) && (!ok || text == r) {
				mark(to)
			}
		}
		t.ready(c)
		list = append(list, move2{s: c, exit: exit})
	}
	return list
}

// ready starts the nodes of a dag that may start, and ends it.
func (t *tree) ready(c *state) {
	take := func(to int, deps []int, any bool, then func()) {
		if any {
			for _, d := range deps {
				if c.edges[[2]int{d, to}] {
					delete(c.edges, [2]int{d, to})
					then()
				}
			}
			return
		}
		for _, d := range deps {
			if !c.edges[[2]int{d, to}] {
				return
			}
		}
		for _, d := range deps {
			delete(c.edges, [2]int{d, to})
		}
		then()
	}
	var ends []int
	leads := map[int]bool{}
	for to, n := range t.nodes {
		for _, d := range n.deps {
			leads[d] = true
		}
		if len(n.deps) > 0 {
			take(to, n.deps, n.any || len(n.deps) == 1, func() {
				if c.kids[to].phase == 1 {
					panic(broken("a node is started while it runs"))
				}
				c.kids[to] = t.kids[to].begin()
			})
		}
	}
	for i := range t.nodes {
		if !leads[i] {
			ends = append(ends, i)
		}
	}
	take(-1, ends, t.any, func() {
		if c.phase == 2 {
			panic(broken("it ends twice"))
		}
		c.phase = 2
	})
	if c.phase == 2 {
		if len(c.edges) > 0 || slices.ContainsFunc(c.kids, func(k *state) bool { return k.phase == 1 }) {
			panic(broken("something is left"))
		}
	}
}

// busy are the leaves that work.
func (t *tree) busy(s *state) (list []*tree) {
	if t.works(s) {
		return []*tree{t}
	}
	for i, k := range t.kids {
		if s.phase == 1 {
			list = append(list, k.busy(s.kids[i])...)
		}
	}
	return list
}

// interpret tries everything, up to a limit of states.
func (t *tree) interpret(most int) (v *verdictOf, complete bool) {
	v = &verdictOf{races: map[string]bool{}, early: map[string]bool{}, ran: map[string]bool{}}
	defer func() {
		if b, ok := recover().(broken); ok {
			v.unsound, complete = string(b), true
		}
	}()
	seen := map[string]bool{}
	queue := []world{{t.begin(), "00000"}}
	for len(queue) > 0 {
		w := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		id := w.s.text() + w.keys
		if seen[id] {
			continue
		}
		if seen[id] = true; len(seen) > most {
			return v, false
		}
		busy := t.busy(w.s)
		v.look(busy, w.keys)
		if len(busy) == 0 && w.s.phase != 2 {
			v.unsound = "it stops"
		}
		for _, m := range t.moves(w.s) {
			keys := w.keys
			if m.leaf != nil {
				i, _ := strconv.Atoi(m.leaf.key[1:])
				keys = keys[:i] + "1" + keys[i+1:]
			}
			queue = append(queue, world{m.s, keys})
		}
	}
	return v, true
}

// look notes what the leaves that work do to each other's keys.
func (v *verdictOf) look(busy []*tree, keys string) {
	for i, a := range busy {
		v.ran[a.name] = true
		for _, r := range a.reads {
			k, _ := strconv.Atoi(r[1:2])
			if len(r) == 2 && keys[k] == '0' {
				v.early[r+" "+a.name] = true
			}
		}
		for j, b := range busy {
			if i == j {
				continue
			}
			if a.key == b.key && i < j {
				v.races[a.key] = true
			}
			for _, r := range b.reads {
				if r[:2] == a.key {
					v.races[a.key] = true
				}
			}
		}
	}
}

// seeds is how many random trees a test tries: WORKFLOW_TREES, or a slice.
func seeds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("WORKFLOW_TREES")); err == nil {
		return n
	}
	return few
}

// grown is the tree of a seed.
func grown(seed uint64, leaves int) *tree {
	g := &grower{rng: rand.New(rand.NewPCG(seed, 7)), leaves: leaves}
	return g.grow(3, false)
}

// compiled loads and compiles a text.
func compiled(t testing.TB, text string) *Compiled {
	t.Helper()
	w, found := Load("tree.yaml", []byte(text), Registry{})
	if w == nil {
		t.Fatalf("%v\n%s", found, text)
	}
	c, found := Compile(w)
	if c == nil {
		t.Fatalf("%v\n%s", found, text)
	}
	return c
}

// TestTreesAgree compares Verify with the interpreter.
func TestTreesAgree(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(seeds(40)) {
		agrees(t, seed, count)
	}
	t.Log(count)
	for _, kind := range []string{"proved", "unsound", "race", "early", "calls"} {
		if count[kind] < 3 {
			t.Errorf("only %d trees are %s", count[kind], kind)
		}
	}
}

func agrees(t *testing.T, seed uint64, count map[string]int) {
	tr := grown(seed, 7)
	want, complete := tr.interpret(20_000)
	if !complete {
		count["too large"]++
		return
	}
	text := tr.yaml()
	w, found := Load("tree.yaml", []byte(text), Registry{})
	if w == nil {
		if strings.Contains(fmt.Sprint(found), string(UnknownKey)) || strings.Contains(fmt.Sprint(found), string(BadValue)) {
			t.Fatalf("seed %d: %v\n%s", seed, found, text)
		}
		count["refused"]++
		return
	}
	r, err := Verify(context.Background(), compiled(t, text))
	if err != nil {
		t.Fatal(err)
	}
	has := func(rules ...Rule) bool {
		return slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Contains(rules, f.Rule) })
	}
	dead := func() bool { // a leaf that never runs
		never := false
		var visit func(*tree)
		visit = func(t *tree) {
			never = never || (len(t.kids) == 0 || t.typ == llmType) && !want.ran[t.name]
			for _, k := range t.kids {
				visit(k)
			}
		}
		visit(tr)
		return never
	}
	switch {
	case want.unsound != "":
		count["unsound"]++
		if !has(Deadlock, LeftBehind) {
			t.Errorf("seed %d: %s, and Verify finds %v\n%s", seed, want.unsound, r.Findings, text)
		}
		return
	case has(Deadlock, LeftBehind, Unbounded, Unproved):
		t.Errorf("seed %d: it is sound, and Verify finds %v\n%s", seed, r.Findings, text)
	case dead() != has(Unreached):
		t.Errorf("seed %d: a leaf never runs: %v, and Verify finds %v\n%s", seed, dead(), r.Findings, text)
	case len(want.races) > 0 != has(Race):
		t.Errorf("seed %d: races %v, and Verify finds %v\n%s", seed, want.races, r.Findings, text)
	case len(want.races) == 0 && len(want.early) > 0 != has(ReadBeforeWrite):
		t.Errorf("seed %d: early reads %v, and Verify finds %v\n%s", seed, want.early, r.Findings, text)
	}
	for _, f := range r.Findings {
		if len(f.Trace) < 2 && f.Rule != Unreached {
			t.Errorf("seed %d: no run shows %s\n%s", seed, f, text)
		}
	}
	if strings.Contains(text, "agent_tools") {
		count["calls"]++
	}
	switch {
	case len(want.races) > 0:
		count["race"]++
	case len(want.early) > 0:
		count["early"]++
	case r.Proved():
		count["proved"]++
	}
}

// TestTreesWhole compares the proof by blocks with one of the whole net, by the claims of package agent.
func TestTreesWhole(t *testing.T) {
	proved, refuted := 0, 0
	for seed := range uint64(seeds(10)) {
		tr := grown(seed, 3)
		w, _ := Load("tree.yaml", []byte(tr.alone()), Registry{})
		if w == nil {
			continue
		}
		c := compiled(t, tr.alone())
		r, err := Verify(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		sound := !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule != Race && f.Rule != ReadBeforeWrite })
		whole, err := agent.Prove(context.Background(), c.Program(nil), verify.Config{Max: 4000})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, tr.alone())
		}
		larger := strings.Contains(whole.String(), "and there are more")
		switch outcome := whole.Outcome(); {
		case outcome == verify.Unknown && (len(whole.Idle) == 0 || larger): // too large
		case sound != (outcome == verify.Proved):
			t.Errorf("seed %d: by blocks %v, as a whole %s: idle %v\n%s%s", seed, r.Findings, outcome, whole.Idle,
				whole, tr.alone())
		case sound:
			proved++
		default:
			refuted++
		}
	}
	t.Log(proved, refuted)
	if proved < 4 {
		t.Errorf("%d trees are proved and %d refuted, too few to mean anything", proved, refuted)
	}
}

// TestCounters compares proofs that count up to countMax with proofs that count to the end. What is found in files does
// not depend on the bound; TestCountMax shows that the bound is needed for the nets.
func TestCounters(t *testing.T) {
	counted := 0
	for seed := range uint64(seeds(30)) {
		tr := grown(seed, 4)
		var more func(*tree)
		more = func(tr *tree) {
			if tr.max > 0 {
				tr.max, counted = tr.max+3, counted+1
			}
			for _, k := range tr.kids {
				more(k)
			}
		}
		more(tr)
		w, _ := Load("tree.yaml", []byte(tr.yaml()), Registry{})
		if w == nil {
			continue
		}
		short, long := newProver(t.Context(), compiled(t, tr.yaml())), newProver(t.Context(), compiled(t, tr.yaml()))
		long.counts = roundsMax
		for _, p := range []*prover{short, long} {
			p.certify, p.terse = false, true
			if _, err := p.verify(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.EqualFunc(short.report.Findings, long.report.Findings, Finding.like) {
			t.Errorf("seed %d: up to %d it finds %v, to the end %v\n%s", seed, countMax, short.report.Findings,
				long.report.Findings, tr.yaml())
		}
	}
	if counted < 10 {
		t.Errorf("only %d blocks count", counted)
	}
}

// alone is the file of the tree without the writers behind it.
func (t *tree) alone() string {
	text, _, _ := strings.Cut(t.yaml(), "  - {name: w0")
	for i := range 5 {
		text = strings.ReplaceAll(text, fmt.Sprintf("{k%d}", i), "")
	}
	var lines []string
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "input_keys: ["); i >= 0 {
			j := strings.Index(line[i:], "]")
			line = line[:i] + "input_keys: [" + line[i+j:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "") + "orchestration: {type: sequential, agents: [" + t.name + "]}\n"
}

// FuzzTrees compares Verify with the interpreter on any seed.
func FuzzTrees(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { agrees(t, seed, map[string]int{}) })
}
