package netfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// ReadPNML reads a PNML document with one place/transition net, as the standard, TINA, TAPAAL, PIPE
// and ProM write it: pages, reference nodes, initial markings, weights, firing intervals (TINA),
// read, inhibitor and reset arcs, immediate transitions and their priorities (PIPE). Places and
// transitions have the names of the file if all are given and different, otherwise their
// identifiers.
//
// An unknown element or attribute is an error with its line. So is a known one that cannot be
// represented: a capacity, an age of a token, a colour. Elements that change nothing, such as
// graphics, are skipped.
func ReadPNML(name string, data []byte) (*File, error) {
	r := &pnmlReader{d: newDraft(name), x: xml.NewDecoder(bytes.NewReader(data)), nodes: map[string]*node{},
		grammar: grammar(), attributes: attributes()}
	r.x.CharsetReader = charset
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

// charset reads ISO-8859-1, which PIPE and TINA write, as UTF-8.
func charset(name string, in io.Reader) (io.Reader, error) {
	if !strings.EqualFold(name, "iso-8859-1") && !strings.EqualFold(name, "us-ascii") {
		return nil, errors.New("the character set " + name + " is not supported; use UTF-8")
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return strings.NewReader(string(runes)), nil
}

type pnmlReader struct {
	d      *draft
	x      *xml.Decoder
	space  string // the namespace of the document
	nets   int
	nodes  map[string]*node
	order  []*node
	arcs   []*arc
	open   []*element
	colour string // the kind of token that the file names

	grammar    map[string]content
	attributes map[string]map[string][]string
}

// element is an open XML element.
type element struct {
	name  string
	text  strings.Builder
	given []string // parts already given in it
	node  *node    // the node that the element is about
	arc   *arc
}

type node struct {
	kind, id, name, ref string
	tokens, line        int
	when                petri.Interval
	timed               string // PIPE: "true", "false" or ""
	priority            int    // PIPE: 1 if absent
}

type arc struct {
	source, target, kind string
	weight, line         int
}

func (r *pnmlReader) fail(format string, args ...any) error {
	return r.d.fail(r.d.line, format, args...)
}

func (r *pnmlReader) read() error {
	for {
		before, _ := r.x.InputPos()
		t, err := r.x.Token()
		r.d.line, _ = r.x.InputPos()
		switch {
		case err == io.EOF && len(r.open) == 0:
			return nil
		case err != nil:
			return r.fail("%v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = r.start(t)
		case xml.EndElement:
			err = r.end()
		case xml.CharData:
			r.d.line = before + bytes.Count(t[:len(t)-len(bytes.TrimLeft(t, " \t\r\n"))], []byte("\n"))
			err = r.chars(t)
		}
		if err != nil {
			return err
		}
	}
}

// chars takes text, which only leaves have.
func (r *pnmlReader) chars(text xml.CharData) error {
	switch n := len(r.open); {
	case len(bytes.TrimSpace(text)) == 0:
	case n == 0 || !slices.Contains(leaves(), r.open[n-1].name):
		return r.fail("the text %q is where no text is allowed", clip(strings.TrimSpace(string(text))))
	default:
		r.open[n-1].text.Write(text)
	}
	return nil
}

func (r *pnmlReader) start(t xml.StartElement) error {
	name, parent := t.Name.Local, &element{}
	switch n := len(r.open); {
	case n >= maxDepth:
		return r.fail("elements are nested more than %d deep", maxDepth)
	case n > 0:
		parent = r.open[n-1]
	case name != "pnml":
		return r.fail("the document is <%s>, which is not PNML", clip(name))
	default:
		r.space = t.Name.Space
	}
	switch {
	case t.Name.Space != r.space && t.Name.Space != "" && t.Name.Space != mathML:
		return r.fail("the element <%s> is of another namespace, %s", clip(name), clip(t.Name.Space))
	case slices.Contains(r.grammar[parent.name].skipped, name):
		return r.skip()
	case name == "toolspecific" && parent.name != "":
		return r.tool(t)
	case !slices.Contains(r.grammar[parent.name].elements, name):
		return r.fail("the element <%s> in <%s> is not known, and may change what the net does", clip(name), parent.name)
	}
	if err := parent.once(r, name); err != nil {
		return err
	}
	if name == "interval" {
		return r.interval(parent.node, t)
	}
	e := &element{name: name, node: parent.node, arc: parent.arc}
	r.open = append(r.open, e)
	return r.say(e, t.Attr)
}

// skip skips an element that is known to change nothing.
func (r *pnmlReader) skip() error {
	if err := r.x.Skip(); err != nil {
		return r.fail("%v", err)
	}
	return nil
}

// tool skips an addition of a tool if the tool is known to add nothing that changes a net, or if
// the addition contains only graphics.
func (r *pnmlReader) tool(t xml.StartElement) error {
	tool, extra := "", ""
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "tool":
			tool = a.Value
		case "version", "xmlns":
		default:
			extra = a.Name.Local
		}
	}
	if slices.Contains(tools(), tool) {
		return r.skip()
	}
	for depth := 1; ; {
		if extra != "" {
			return r.fail("what the tool %q adds, %q, may change what the net does; remove it if it does not", clip(tool),
				clip(extra))
		}
		t, err := r.x.Token()
		r.d.line, _ = r.x.InputPos()
		if err != nil {
			return r.fail("%v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			if !slices.Contains(drawn(), t.Name.Local) {
				extra = t.Name.Local
			}
		case xml.EndElement:
			if depth--; depth == 0 {
				return nil
			}
		case xml.CharData:
			extra = strings.TrimSpace(string(t))
		}
	}
}

// once refuses a second value for the same part of a node, an arc or a label.
func (e *element) once(r *pnmlReader, what string) error {
	switch e.name {
	case "", "pnml", "net", "page":
		return nil
	}
	switch what { // other spellings of one thing
	case "weight":
		what = "inscription"
	case "arctype":
		what = "type"
	case "value":
		what = "text"
	}
	if slices.Contains(e.given, what) {
		return r.fail("a second %s in <%s>", what, e.name)
	}
	e.given = append(e.given, what)
	return nil
}

// say checks the attributes of an element and applies them.
func (r *pnmlReader) say(e *element, list []xml.Attr) error {
	at := map[string]string{}
	for _, a := range list {
		if slices.Contains(xmlSpaces(), a.Name.Space) || a.Name.Local == "xmlns" {
			continue
		}
		values, known := r.attributes[e.name][a.Name.Local]
		switch {
		case !known || a.Name.Space != "":
			return r.fail("the attribute %s of <%s> is not known, and may change what the net does", clip(a.Name.Local), e.name)
		case len(values) > 0 && !slices.Contains(values, a.Value):
			return r.fail("<%s> has %s=%q; only %q can be read", e.name, a.Name.Local, clip(a.Value), values)
		}
		at[a.Name.Local] = a.Value
	}
	switch e.name {
	case "net":
		return r.net(at["type"], at["id"])
	case "place", "transition", "referencePlace", "referenceTransition":
		e.node = &node{kind: e.name, id: at["id"], ref: at["ref"], line: r.d.line,
			when: petri.Anytime(), priority: 1}
		if err := r.add(e.node); err != nil {
			return err
		}
	case "arc":
		if len(r.arcs) >= maxArcs {
			return r.fail("more than %d arcs", maxArcs)
		}
		e.arc = &arc{source: at["source"], target: at["target"], weight: 1, line: r.d.line}
		r.arcs = append(r.arcs, e.arc)
	}
	return r.shortLabels(e, at)
}

// shortLabels takes labels that are written as attributes.
func (r *pnmlReader) shortLabels(e *element, at map[string]string) error {
	for _, name := range []string{"name", "initialMarking", "type", "weight", "value"} {
		text, ok := at[name]
		if !ok || e.name == "transition" && name != "name" {
			continue
		}
		if err := e.once(r, name); err != nil {
			return err
		}
		label := name
		if name == "value" {
			label = e.name
		}
		if err := r.label(e, label, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return r.guard(e, at)
}

// guard checks what TAPAAL states about the age of tokens: it accepts only guards that any age
// satisfies.
func (r *pnmlReader) guard(e *element, at map[string]string) error {
	text, ok := at["inscription"]
	if e.arc == nil || !ok {
		return nil
	}
	guard, _, pair := strings.Cut(text, ":")
	switch e.arc.kind {
	case "timed", "inhibitor", "tapninhibitor":
		ok = text == "[0,inf)"
	case "transport":
		ok = guard == "[0,inf)" && pair
	default:
		ok = text == "1"
	}
	if !ok {
		return r.fail("the arc has the inscription %q; ages of tokens cannot be read, only [0,inf)", clip(text))
	}
	return nil
}

func (r *pnmlReader) net(kind, id string) error {
	if r.nets++; r.nets > 1 {
		return r.fail("a second net in the document")
	}
	short := strings.TrimSuffix(strings.ToLower(kind[strings.LastIndexByte(kind, '/')+1:]), ".pntd")
	if strings.EqualFold(kind, "P/T net") {
		short = "ptnet"
	}
	if !slices.Contains(netTypes(), short) {
		return r.fail("the net has type %q; only place/transition nets are read", clip(kind))
	}
	r.d.net = id
	return nil
}

func (r *pnmlReader) add(n *node) error {
	switch {
	case !cleanName(n.id):
		return r.fail("a %s has the identifier %q, which is empty, too long or not printable", n.kind, clip(n.id))
	case r.nodes[n.id] != nil:
		return r.fail("the identifier %s is used twice", n.id)
	case len(r.order) >= 4*MaxNodes:
		return r.fail("more than %d nodes", 4*MaxNodes)
	}
	r.nodes[n.id] = n
	r.order = append(r.order, n)
	return nil
}

// end closes an element. A <text> belongs to the label around it.
func (r *pnmlReader) end() error {
	n := len(r.open)
	e := r.open[n-1]
	r.open = r.open[:n-1]
	if e.name != "text" && e.name != "value" || n < 3 {
		return nil
	}
	return r.label(r.open[n-3], r.open[n-2].name, e.text.String())
}
