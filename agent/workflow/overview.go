package workflow

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Compiled returns the net that runs, compiled, for drawings.
func (c *Compiled) Compiled() *petri.Program { return c.prog }

// Overview returns a smaller net for drawings: each leaf is a task that starts, and is done or fails.
// Agents that call agents are drawn as they are.
func (c *Compiled) Overview() (*petri.Program, error) {
	n, err := petri.Close(c.Workflow.Name, c.root.outline(), c.root.around())
	if err != nil {
		return nil, fmt.Errorf("workflow: draw %s: %w", c.Workflow.File, err)
	}
	automata := []*petri.Net{}
	session := false
	for _, b := range c.blocks {
		if b.agent.leaf() && len(b.kids) > 0 {
			session = true
			for _, t := range b.tasks() {
				automata = append(automata, doer(t))
			}
		}
	}
	if session {
		automata = append(automata, writer(), lender())
	}
	n.Nets = append(n.Nets, automata...)
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("workflow: draw %s: %w", c.Workflow.File, err)
	}
	return prog, nil
}

// lender lets others use the session's writer once.
func lender() *petri.Net {
	return &petri.Net{Name: ".others", Ports: []petri.AnyPlace{loans}, Init: []petri.Token{loans.Token(petri.Unit{})},
		Transitions: []petri.Transition{{Name: "ask_again", In: petri.Arcs{loans}, Out: petri.And(loans),
			When: petri.Anytime()}}}
}

// outline is the net of the block with leaves as tasks.
func (b *block) outline() *petri.Net {
	if b.agent.leaf() && len(b.kids) == 0 {
		return b.asTask()
	}
	var kids []*petri.Net
	for _, k := range b.kids {
		kids = append(kids, k.outline())
	}
	return b.netOf(kids)
}

// Mermaid returns the order of the agents as a Mermaid flowchart.
func (c *Compiled) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	c.root.mermaid(&b, "  ")
	return b.String()
}

// mermaidID is the path of the block as letters, digits and "_", different for each path, since names begin
// with letters. Mermaid itself uses "end".
func (b *block) mermaidID() string {
	id := strings.NewReplacer("_", "__", "/", "_", "-", "_0", ".", "_1").Replace(b.path)
	if strings.EqualFold(id, "end") {
		id += "_"
	}
	return id
}

// mermaid writes a block: a leaf as a box, another block as a frame.
func (b *block) mermaid(w *strings.Builder, indent string) {
	id := (*block).mermaidID
	if len(b.kids) == 0 {
		fmt.Fprintf(w, "%s%s[\"%s\"]\n", indent, id(b), b.agent.Name)
		return
	}
	fmt.Fprintf(w, "%ssubgraph %s[\"%s: %s\"]\n", indent, id(b), b.agent.Name, b.agent.Type)
	for _, k := range b.kids {
		k.mermaid(w, indent+"  ")
	}
	arrow := func(from, to *block, words string) {
		if words != "" {
			words = "|\"" + strings.NewReplacer(`"`, "", "|", "").Replace(words) + "\"|"
		}
		fmt.Fprintf(w, "%s  %s -->%s %s\n", indent, id(from), words, id(to))
	}
	for i, k := range b.kids {
		last := i == len(b.kids)-1
		switch b.agent.Type {
		case sequentialType, loopType:
			if !last {
				arrow(k, b.kids[i+1], "")
			} else if b.agent.MaxIterations > 1 {
				arrow(k, b.kids[0], fmt.Sprintf("up to %d rounds", b.agent.MaxIterations))
			}
		case routedType:
			if i > 0 {
				arrow(b.kids[0], k, "")
			}
		case dagType:
			for _, d := range b.nodes[i].deps {
				arrow(b.kids[d], k, b.nodes[i].when[d])
			}
		}
	}
	fmt.Fprintf(w, "%send\n", indent)
}
