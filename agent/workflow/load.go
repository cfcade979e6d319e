package workflow

import (
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bytes"

	"gopkg.in/yaml.v3"
)

// Load reads a workflow and checks what can be checked without a proof. file names the text in findings.
// If there are findings, all of them are returned at once, up to a hundred, in the order of the text, and
// the workflow is nil.
func Load(file string, data []byte, r Registry) (*Workflow, []Finding) {
	f := &findings{file: file}
	root := parse(f, data)
	if root == nil {
		return nil, f.sorted()
	}
	l := &loader{findings: f, format: format(), bad: map[*yaml.Node]bool{}}
	w := &Workflow{File: file, Hash: fmt.Sprintf("sha256:%x", sha256.Sum256(data)), Version: versionOf(root),
		source: strings.Split(string(data), "\n"), byName: map[string]*Agent{}}
	if l.object("workflow", root) {
		l.workflow(w, root)
		l.check(w, r)
	}
	if len(f.list) > 0 {
		return nil, f.sorted()
	}
	return w, nil
}

// versionOf is the hash of what a tree says, without comments, styles, and the order of keys.
func versionOf(n *yaml.Node) string {
	var parts []string
	if n.Kind == yaml.MappingNode {
		pairs(n, func(k, v *yaml.Node) { parts = append(parts, versionOf(k)+versionOf(v)) })
		slices.Sort(parts)
	} else {
		for _, sub := range n.Content {
			parts = append(parts, versionOf(sub))
		}
	}
	value := n.Value
	if n.Tag == "!!null" {
		value = ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %s", n.Kind, n.Tag, value, parts))
	return fmt.Sprintf("sha256:%x", sum)
}

// lineOf finds the line in an error of the YAML reader.
var lineOf = regexp.MustCompile(`line (\d+): `)

// parse reads the text into a tree without aliases, within the limits; nil if it cannot.
func parse(f *findings, data []byte) *yaml.Node {
	if len(data) > FileMax {
		f.add(TooLarge, Pos{}, "the file has more than %d bytes; make it smaller", FileMax)
		return nil
	}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&doc)
	if err == nil {
		if err = dec.Decode(&more); err == nil {
			f.add(Unreadable, Pos{more.Line, more.Column}, "the file has a second document; a workflow is one document: "+
				"remove what follows \"---\"")
			return nil
		}
	} else if err == io.EOF {
		f.add(Unreadable, Pos{}, "the file is empty; a workflow has at least name, agents and orchestration")
		return nil
	}
	if err != io.EOF {
		at := Pos{}
		words := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := lineOf.FindStringSubmatch(words); m != nil {
			at.Line, _ = strconv.Atoi(m[1])
			words = strings.Replace(words, m[0], "", 1)
		}
		f.add(Unreadable, at, "the file is not valid YAML: %s", words)
		return nil
	}
	e := &expander{findings: f}
	root := e.expand(&doc, 0)
	if e.over {
		return nil
	}
	return root
}

// expander copies a tree and puts copies in place of aliases, within the limits.
type expander struct {
	*findings
	nodes int
	bytes int // of texts
	over  bool
}

func (e *expander) expand(n *yaml.Node, depth int) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil || n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		if n.Kind == yaml.DocumentNode {
			n = n.Content[0]
		} else {
			n = n.Alias
		}
	}
	e.nodes++
	e.bytes += len(n.Value)
	switch {
	case e.over:
		return n
	case e.nodes > nodesMax:
		e.over = true
		e.add(TooLarge, Pos{n.Line, n.Column}, "the file has more than %d values, aliases counted as often as they are "+
			"used; make it smaller", nodesMax)
		return n
	case e.bytes > textsMax:
		e.over = true
		e.add(TooLarge, Pos{n.Line, n.Column}, "the texts of the file have more than %d bytes, aliases counted as often as "+
			"they are used; make it smaller", textsMax)
		return n
	case depth > depthMax:
		e.over = true
		e.add(TooLarge, Pos{n.Line, n.Column}, "values are nested more than %d deep", depthMax)
		return n
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, sub := range n.Content {
		c.Content[i] = e.expand(sub, depth+1)
	}
	return &c
}

// loader checks a tree against the tables and builds a workflow of it.
type loader struct {
	*findings
	format map[string][]field
	bad    map[*yaml.Node]bool // values that have a finding
	lost   bool                // an agent names one that is not there
}

func at(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

// pairs are the keys and values of a mapping.
func pairs(n *yaml.Node, fn func(key, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		fn(n.Content[i], n.Content[i+1])
	}
}

// get returns the value of a key, nil if it is absent or has a finding.
func (l *loader) get(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	pairs(n, func(k, v *yaml.Node) {
		if k.Value == key && found == nil && !l.bad[v] && v.Tag != "!!null" {
			found = v
		}
	})
	return found
}

func (l *loader) str(n *yaml.Node, key string) string {
	if v := l.get(n, key); v != nil {
		return v.Value
	}
	return ""
}

func (l *loader) list(n *yaml.Node, key string) []*yaml.Node {
	if v := l.get(n, key); v != nil {
		return v.Content
	}
	return nil
}

func (l *loader) whole(n *yaml.Node, key string, def int) int {
	if v := l.get(n, key); v != nil {
		if i, err := strconv.Atoi(v.Value); err == nil {
			return i
		}
	}
	return def
}

func (l *loader) refs(n *yaml.Node, key string) []Ref {
	var list []Ref
	for _, v := range l.list(n, key) {
		if !l.bad[v] {
			list = append(list, Ref{v.Value, at(v)})
		}
	}
	return list
}

func (l *loader) texts(n *yaml.Node, key string) map[string]string {
	var m map[string]string
	pairs(l.get(n, key), func(k, v *yaml.Node) {
		if m == nil {
			m = map[string]string{}
		}
		m[k.Value] = v.Value
	})
	return m
}
