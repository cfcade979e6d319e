package workflow

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// Compiled is the net of a workflow, with what its parts mean. It is immutable.
type Compiled struct {
	Workflow *Workflow
	// Net is the whole net: turns, the session's writer, and a block for each use of an agent.
	Net *petri.Net
	// Map says what places and transitions of Net mean.
	Map *SourceMap

	root   *block
	blocks []*block // in the order of the file's tree, the root first
	prog   *petri.Program
}

// Compile makes the net of a workflow. Findings mean that there is none: the workflow is too large, or a
// tool does not fit where it is used.
func Compile(w *Workflow) (*Compiled, []Finding) {
	p := &planter{findings: &findings{file: w.File}, w: w}
	root := p.plant(w.Main, w.Name, w.Main.At, nil)
	if len(p.list) > 0 {
		return nil, p.sorted()
	}
	c := &Compiled{Workflow: w, root: root}
	uses := map[*Agent]int{}
	root.each(func(b *block) { c.blocks = append(c.blocks, b); uses[b.agent]++ })
	for _, b := range c.blocks {
		b.author = b.agent.Name
		if uses[b.agent] > 1 && c.concurrent() {
			b.author = b.path
		}
	}
	if err := c.build(); err != nil {
		p.add(Unproved, w.Main.At, "the net cannot be built: %v", err)
		return nil, p.sorted()
	}
	c.Map = newSourceMap(c)
	return c, nil
}

// build composes the net.
func (c *Compiled) build() error {
	frame, err := compose(c.Workflow.Name, c.root.whole(), keyPlaces(c.root), workPlaces(c.root))
	if err != nil {
		return err
	}
	c.Net = frame
	if c.prog, err = petri.Compile(frame); err != nil {
		return err
	}
	return c.parksLast()
}

// whole is the net of the block and all blocks in it.
func (b *block) whole() *petri.Net {
	var kids []*petri.Net
	for _, k := range b.kids {
		kids = append(kids, k.whole())
	}
	return b.netOf(kids)
}

// keyPlaces are the places of the state keys that blocks write, in order of name.
func keyPlaces(root *block) []petri.AnyPlace {
	var names []string
	root.each(func(b *block) {
		if key := b.own(); key != "" && !slices.Contains(names, key) {
			names = append(names, key)
		}
	})
	slices.Sort(names)
	var list []petri.AnyPlace
	for _, key := range names {
		list = append(list, keyPlace(key))
	}
	return list
}

// Names of the parts of the net around the blocks.
const (
	frameName = ".run"
	dueName   = "workflow"
)

// framePorts are the places by which turns begin the run: those of a guest.
func framePorts() agent.Ports {
	p := agent.PortsOf(dueName, 1)
	p.Guest = true
	return p
}

// compose puts the root block into turns: a turn begins a run, with no state key written, and the run's
// last output answers it. leaves are the places of leaves that work.
func compose(name string, root *petri.Net, keys []petri.AnyPlace, leaves petri.Arcs) (*petri.Net, error) {
	const closing petri.Place[petri.Unit] = "closing"
	due := framePorts().Due
	in, out := petri.Place[*Flow](root.Ports[0].String()), petri.Place[*Flow](root.Ports[1].String())
	var reset petri.Arcs
	for _, k := range keys {
		reset = append(reset, k)
	}
	ports := append([]petri.AnyPlace{due, in, out, agent.SessionWrite, agent.Stored, agent.Lost, agent.WriterIdle,
		agent.TurnOver, agent.EndInvocation, someParked}, keys...)
	for _, l := range leaves {
		ports = append(ports, petri.ArcPlace(l))
	}
	run := agent.Guarded(&petri.Net{Name: frameName, Ports: ports,
		Caps: []petri.Cap{{Place: someParked, Max: 1}},
		Transitions: []petri.Transition{
			parkRun(leaves),
			{Name: "begin_run", In: petri.Arcs{due}, Reset: reset, Out: petri.And(in),
				Action: func(f *petri.Firing) { in.Put(f, &Flow{Turn: due.Get(f)}) }},
			{Name: "answer", In: petri.Arcs{out}, Read: petri.Arcs{agent.WriterIdle},
				Inhibit: petri.Arcs{agent.Stored, agent.Lost},
				Out:     petri.And(agent.SessionWrite.Is(agent.Answer).Fresh(), closing), Action: func(f *petri.Firing) {
					flow := out.Get(f)
					ev := flow.Turn.NewEvent(name)
					ev.Content = genai.NewContentFromText(TextOf(flow.Output), genai.RoleModel)
					ev.Actions.StateDelta = make(map[string]any, len(flow.State.values))
					for key, value := range flow.State.All() {
						if !strings.Contains(key, ":") { // what has a prefix is not of the session
							ev.Actions.StateDelta[key] = value
						}
					}
					agent.SessionWrite.Put(f, agent.NewWrite(f, flow.Turn, agent.Answer, ev))
				}},
			{Name: "end_run", In: petri.Arcs{agent.Stored, closing}, Out: petri.And(agent.TurnOver.Is(agent.Answered)),
				Action: func(f *petri.Firing) { agent.TurnOver.Put(f, &agent.End{How: agent.Answered}) }},
			{Name: "discard", In: petri.Arcs{closing}, Read: petri.Arcs{agent.EndInvocation}},
		}})
	turns, writer := agent.Turns(agent.Limits{}, false, framePorts()), agent.SessionWriter(agent.Limits{})
	turns.Name, writer.Name = "."+turns.Name, "."+writer.Name
	n, err := petri.Compose(name, turns, writer, run, root)
	var e *petri.Error
	if errors.As(err, &e) {
		return nil, err
	}
	return n, nil
}

// Program returns the workflow as a program of package agent: one turn is one run. work does the work of
// the leaves. The turn's message is stored by the caller, and the program must not start unless Verify
// accepts the workflow.
func (c *Compiled) Program(work Worker) *agent.Program {
	p := &agent.Program{Net: c.Net, Version: c.Workflow.Version, Resumes: true,
		Lasting: []string{framePorts().Active.String()}}
	for _, k := range keyPlaces(c.root) {
		p.Lasting = append(p.Lasting, k.String())
	}
	p.Handlers = append(p.Handlers, agent.StoreHandler())
	for _, b := range c.blocks {
		for _, t := range b.tasks() {
			p.Handlers = append(p.Handlers, agent.Handle(t, do(work)))
			if c.concurrent() {
				p.Lasting = append(p.Lasting, t.InFlight.String())
			}
		}
	}
	return p
}

// Leaf is one use of an agent that works itself. Path and Author are those of its Jobs.
type Leaf struct {
	Agent        *Agent
	Path, Author string
	Router       bool // it hands over to others of its block
}

// Leaves are the leaves of the workflow, in the order of the file's tree.
func (c *Compiled) Leaves() []Leaf {
	var list []Leaf
	for _, b := range c.blocks {
		if b.agent.leaf() {
			list = append(list, Leaf{Agent: b.agent, Path: b.path, Author: b.author, Router: b.router})
		}
	}
	return list
}

// tasks are the tasks of a leaf.
func (b *block) tasks() []petri.Task[*Job, *Result] {
	if !b.agent.leaf() {
		return nil
	}
	list := []petri.Task[*Job, *Result]{b.task("ask")}
	if b.tooled() {
		list = append(list, b.task("tools"))
	}
	return list
}

// concurrent reports whether leaves may work at the same time. Then one of them works while the event
// of another is stored, and the persist barrier of package agent, which speaks of one agent at a time,
// does not apply: each leaf waits for its own event.
func (c *Compiled) concurrent() bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool {
		return b.agent.Type == parallelType || b.agent.Type == dagType
	})
}
