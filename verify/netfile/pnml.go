package netfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// ReadPNML reads a PNML document with one place/transition net: pages, names,
// initial markings, inscriptions, reference nodes; arcs of type inhibitor, read
// (or test) and reset as tools write them. Places and transitions have the
// names of the file if all are given and different, else their identifiers.
// Every transition may fire at any time. Other kinds of net are refused.
func ReadPNML(name string, data []byte) (*File, error) {
	r := &pnmlReader{d: newDraft(name), x: xml.NewDecoder(bytes.NewReader(data)), nodes: map[string]*node{}}
	r.x.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, errors.New("the character set " + charset + " is not supported; use UTF-8")
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	if r.nets == 0 {
		return nil, r.d.fail(0, "no <net> in the document")
	}
	if err := r.link(); err != nil {
		return nil, err
	}
	return r.d.build()
}

type pnmlReader struct {
	d     *draft
	x     *xml.Decoder
	nets  int
	nodes map[string]*node
	order []*node
	arcs  []arc
	open  []*element
}

// element is an open XML element.
type element struct {
	name string
	text strings.Builder
	node *node
	arc  *arc
}

type node struct {
	kind, id, name, ref string
	tokens, line        int
}

type arc struct {
	source, target, kind string
	weight, line         int
}

func (r *pnmlReader) read() error {
	for {
		t, err := r.x.Token()
		r.d.line, _ = r.x.InputPos()
		switch {
		case err == io.EOF && len(r.open) == 0:
			return nil
		case err != nil:
			return r.d.fail(r.d.line, "%v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = r.start(t)
		case xml.EndElement:
			err = r.end()
		case xml.CharData:
			if n := len(r.open); n > 0 {
				r.open[n-1].text.Write(t)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (r *pnmlReader) start(t xml.StartElement) error {
	if len(r.open) >= maxDepth {
		return r.d.fail(r.d.line, "elements are nested more than %d deep", maxDepth)
	}
	e := &element{name: t.Name.Local}
	attr := func(name string) string {
		for _, a := range t.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch e.name {
	case "toolspecific":
		return r.skip()
	case "net":
		if err := r.net(attr("type"), attr("id")); err != nil {
			return err
		}
	case "place", "transition", "referencePlace", "referenceTransition":
		n := &node{kind: e.name, id: attr("id"), ref: attr("ref"), line: r.d.line}
		if err := r.add(n); err != nil {
			return err
		}
		e.node = n
	case "arc":
		r.arcs = append(r.arcs, arc{source: attr("source"), target: attr("target"), weight: 1, line: r.d.line})
		e.arc = &r.arcs[len(r.arcs)-1]
	case "type":
		if a := r.arc(); a != nil {
			a.kind = attr("value")
		}
	}
	r.open = append(r.open, e)
	return nil
}

func (r *pnmlReader) skip() error {
	if err := r.x.Skip(); err != nil {
		return r.d.fail(r.d.line, "%v", err)
	}
	return nil
}

func (r *pnmlReader) net(kind, id string) error {
	if r.nets++; r.nets > 1 {
		return r.d.fail(r.d.line, "a second net in the document")
	}
	if k := strings.ToLower(kind); k != "" && !strings.Contains(k, "ptnet") && !strings.Contains(k, "p/t") &&
		!strings.Contains(k, "ptpnet") && !strings.Contains(k, "core") {
		return r.d.fail(r.d.line, "the net has type %q; only place/transition nets are read", kind)
	}
	r.d.net = id
	return nil
}

func (r *pnmlReader) add(n *node) error {
	switch {
	case !cleanName(n.id):
		return r.d.fail(n.line, "a %s has the identifier %q, which is empty, too long or not printable", n.kind, clip(n.id))
	case r.nodes[n.id] != nil:
		return r.d.fail(n.line, "the identifier %s is used twice", n.id)
	case len(r.order) >= 4*MaxNodes:
		return r.d.fail(n.line, "more than %d nodes", 4*MaxNodes)
	}
	r.nodes[n.id] = n
	r.order = append(r.order, n)
	return nil
}

// arc is the arc that the element is directly in, or nil.
func (r *pnmlReader) arc() *arc {
	if n := len(r.open); n > 0 {
		return r.open[n-1].arc
	}
	return nil
}

// end closes an element: a <text> in a label of a node or an arc says
// something.
func (r *pnmlReader) end() error {
	n := len(r.open)
	e := r.open[n-1]
	r.open = r.open[:n-1]
	if e.name != "text" && e.name != "value" || n < 3 {
		return nil
	}
	label, owner := r.open[n-2], r.open[n-3]
	text := strings.TrimSpace(e.text.String())
	switch {
	case owner.node != nil && label.name == "name":
		owner.node.name = text
	case owner.node != nil && label.name == "initialMarking":
		return r.number(text, &owner.node.tokens, 0)
	case owner.arc != nil && label.name == "inscription":
		return r.number(text, &owner.arc.weight, 1)
	case owner.arc != nil && label.name == "type":
		owner.arc.kind = text
	}
	return nil
}

// number reads a count; some tools write "Default,3".
func (r *pnmlReader) number(text string, to *int, least int) error {
	if _, after, ok := strings.Cut(text, ","); ok {
		text = strings.TrimSpace(after)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > petri.MaxTokens {
		return r.d.fail(r.d.line, "the number %q is none from %d to %d", clip(text), least, petri.MaxTokens)
	}
	*to = n
	return nil
}

// link makes places, transitions and arcs of what was read.
func (r *pnmlReader) link() error {
	named := r.named()
	called := func(n *node) string {
		if named {
			return n.name
		}
		return n.id
	}
	for _, n := range r.order {
		r.d.line = n.line
		switch n.kind {
		case "place":
			r.d.place(called(n)).tokens = n.tokens
		case "transition":
			r.d.transition(called(n))
		}
	}
	for i := range r.arcs {
		if err := r.join(&r.arcs[i], called); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether all nodes have names, all different.
func (r *pnmlReader) named() bool {
	seen := map[string]bool{}
	for _, n := range r.order {
		if n.kind != "place" && n.kind != "transition" {
			continue
		}
		key := n.kind + " " + n.name
		if !cleanName(n.name) || seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// resolve follows references to the node they stand for.
func (r *pnmlReader) resolve(id string, line int) (*node, error) {
	n := r.nodes[id]
	for range len(r.order) + 1 {
		if n == nil {
			return nil, r.d.fail(line, "there is no node %q", clip(id))
		}
		if n.kind == "place" || n.kind == "transition" {
			return n, nil
		}
		id = n.ref
		n = r.nodes[id]
	}
	return nil, r.d.fail(line, "the reference %q refers to itself", clip(id))
}

func (r *pnmlReader) join(a *arc, called func(*node) string) error {
	from, err := r.resolve(a.source, a.line)
	if err != nil {
		return err
	}
	to, err := r.resolve(a.target, a.line)
	if err != nil {
		return err
	}
	if from.kind == to.kind {
		return r.d.fail(a.line, "an arc from %s to %s, both of them a %s", from.id, to.id, from.kind)
	}
	input := from.kind == "place"
	pl, tr := from, to
	if !input {
		pl, tr = to, from
	}
	t := r.d.transition(called(tr))
	f := flow{r.d.place(called(pl)), a.weight}
	switch kind := strings.ToLower(a.kind); {
	case kind == "" || kind == "normal":
		if input {
			t.in = append(t.in, f)
		} else {
			t.out = append(t.out, f)
		}
	case !input && kind != "read" && kind != "test":
		return r.d.fail(a.line, "an arc of type %q from a transition to a place", clip(a.kind))
	case kind == "inhibitor":
		t.inh = append(t.inh, f)
	case kind == "read" || kind == "test":
		t.read = append(t.read, f)
	case kind == "reset":
		t.rset = append(t.rset, f)
	default:
		return r.d.fail(a.line, "an arc of type %q, which is none of normal, inhibitor, read, test, reset", clip(a.kind))
	}
	return nil
}
