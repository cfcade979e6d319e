package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// block is an agent where it is used: one part of the net. An agent that is used twice is two blocks.
type block struct {
	agent  *Agent
	name   string // of its net; unique among the blocks of its parent
	path   string // names from the workflow down, with "/"
	author string // of its events: its name, or its path if others of its agent may work at the same time
	at     Pos    // where it is used
	parent *block
	loop   *block // the loop that exit_loop ends; nil: there is none
	router bool   // it is the router of its parent
	// kids are the blocks of a block, in order, and the agents that a leaf calls.
	kids  []*block
	nodes []dagNode         // of a dag
	words map[string]string // by transition: what its firing means
	// refusals are the transitions that fail work because its slot is not free.
	refusals []string
}

// dagNode is a node of a dag, by index of kids.
type dagNode struct {
	deps []int
	when map[int]string // by dependency
	any  bool
}

// planter makes the tree of blocks.
type planter struct {
	*findings
	w     *Workflow
	count int
	over  bool
}

// plant makes the block of an agent and all that it contains.
func (p *planter) plant(a *Agent, name string, at Pos, parent *block) *block {
	b := &block{agent: a, name: name, path: name, at: at, parent: parent, words: map[string]string{}}
	level := 1
	if parent != nil {
		b.path, b.loop = parent.path+"/"+name, parent.loop
		if parent.agent.Type == loopType {
			b.loop = parent
		}
		level = strings.Count(b.path, "/") + 1
	}
	if p.count++; p.over || p.count > agentsMax || level > levelsMax {
		if !p.over {
			p.over = true
			p.add(TooLarge, at, "the workflow has more than %d blocks, or agents nested more than %d deep; each use of an "+
				"agent is a block: make it smaller", agentsMax, levelsMax)
		}
		return b
	}
	uses := map[string]int{}
	for i, r := range a.refs() {
		uses[r.Name]++
		kid := r.Name
		if n := uses[r.Name]; n > 1 {
			kid = fmt.Sprintf("%s.%d", kid, n)
		}
		k := p.plant(p.w.byName[r.Name], kid, r.At, b)
		k.router = a.Type == routedType && i == 0
		b.kids = append(b.kids, k)
	}
	for _, n := range a.Nodes {
		node := dagNode{any: n.Any, when: map[int]string{}}
		for _, d := range n.DependsOn {
			from := slices.IndexFunc(a.Nodes, func(o Node) bool { return o.Agent.Name == d.Name })
			node.deps = append(node.deps, from)
			if text, ok := n.When[d.Name]; ok {
				node.when[from] = text
			}
		}
		b.nodes = append(b.nodes, node)
	}
	if i := slices.IndexFunc(a.Tools, func(t Tool) bool { return t.Name == exitLoop }); i >= 0 && b.loop == nil {
		p.add(Unsupports, a.Tools[i].At, "`%s` has the tool exit_loop, and no loop is around it%s; remove the tool", a.Name,
			map[bool]string{true: "", false: " where line " + fmt.Sprint(at.Line) + " uses it"}[at == a.At])
	}
	return b
}

// id is the prefix of the names of its ports.
func (b *block) id() string { return strings.ReplaceAll(b.path, "/", ".") }

// Ports of a block.
func (b *block) in() petri.Place[*Flow]  { return petri.Place[*Flow](b.id() + ".in") }
func (b *block) out() petri.Place[*Flow] { return petri.Place[*Flow](b.id() + ".out") }

// route is where a router hands over to another block of its parent.
func (b *block) route(to *block) petri.Place[*Flow] {
	return petri.Place[*Flow](b.id() + ".to_" + to.name)
}

// exit is marked while a loop is to end.
func (b *block) exit() petri.Place[petri.Unit] { return petri.Place[petri.Unit](b.id() + ".exit") }

// keyPlace is marked once a state key is written.
func keyPlace(key string) petri.Place[petri.Unit] { return petri.Place[petri.Unit](".key." + key) }

// canExit reports whether the block, or one in it, may end the loop around it.
func (b *block) canExit() bool {
	if b.loop == nil {
		return false
	}
	if b.agent.leaf() && slices.ContainsFunc(b.agent.Tools, func(t Tool) bool { return t.Name == exitLoop }) {
		return true
	}
	return slices.ContainsFunc(b.kids, func(k *block) bool { return k.loop == b.loop && k.canExit() })
}

// targets are the blocks that a router may hand over to.
func (b *block) targets() []*block {
	if !b.router {
		return nil
	}
	return b.parent.kids[1:]
}

// each calls fn for the block and all blocks in it.
func (b *block) each(fn func(*block)) {
	fn(b)
	for _, k := range b.kids {
		k.each(fn)
	}
}

// label is the block in words: its name, and the way to it if another block has that name, too.
func (b *block) label() string {
	if b.parent != nil && strings.Contains(b.name, ".") {
		return "`" + b.agent.Name + "` (line " + fmt.Sprint(b.at.Line) + ")"
	}
	return "`" + b.agent.Name + "`"
}

// own is the key that a leaf writes, "" for none.
func (b *block) own() string {
	if b.agent.leaf() {
		return b.agent.OutputKey
	}
	return ""
}
