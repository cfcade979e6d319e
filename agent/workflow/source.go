package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Source is what a place or a transition of the net means.
type Source struct {
	Path  string `json:"path"` // of the agent in the workflow
	Line  int    `json:"line"` // where the file uses the agent
	Col   int    `json:"column"`
	Words string `json:"words"` // what it means when the transition fires or the place is marked; may be ""
}

// SourceMap leads from the net back to the file. It is immutable.
type SourceMap struct {
	Transitions map[string]Source // by full name
	Places      map[string]Source // by full name; only those that belong to one agent
	// Reads and Writes are the state keys of each agent, by path. A read with "?" may be missing.
	Reads, Writes map[string][]string
}

// newSourceMap makes the map of a compiled workflow.
func newSourceMap(c *Compiled) *SourceMap {
	m := &SourceMap{Transitions: map[string]Source{}, Places: map[string]Source{}, Reads: map[string][]string{},
		Writes: map[string][]string{}}
	byPath := map[string]*block{}
	for _, b := range c.blocks {
		byPath[b.path] = b
		if key := b.own(); key != "" {
			m.Writes[b.path] = []string{key}
		}
		for _, r := range b.agent.reads {
			key := r.key
			if r.optional {
				key += "?"
			}
			if !slices.Contains(m.Reads[b.path], key) {
				m.Reads[b.path] = append(m.Reads[b.path], key)
			}
		}
	}
	for _, t := range c.prog.Transitions() {
		if b, name := blockOf(byPath, t.Name); b != nil {
			m.Transitions[t.Name] = b.source(b.words[name])
		}
	}
	for _, p := range c.prog.Places() {
		if b, name := blockOf(byPath, p.Name); b != nil {
			m.Places[p.Name] = b.source(b.marked(name))
		}
	}
	for _, b := range c.blocks {
		m.Places[b.in().String()] = b.source(b.label() + " is to start")
		m.Places[b.out().String()] = b.source(b.label() + " is done")
	}
	return m
}

// blockOf finds the block that a name belongs to: the longest path before it.
func blockOf(byPath map[string]*block, name string) (*block, string) {
	for i := len(name); i > 0; {
		i = strings.LastIndexByte(name[:i], '/')
		if i < 0 {
			return nil, ""
		}
		if b := byPath[name[:i]]; b != nil {
			return b, name[i+1:]
		}
	}
	return nil, ""
}

func (b *block) source(words string) Source {
	return Source{Path: b.path, Line: b.at.Line, Col: b.at.Column, Words: words}
}

// marked says what a marked place of the block means.
func (b *block) marked(place string) string {
	switch place {
	case busy.String():
		return b.label() + " works"
	case running.String():
		return b.label() + " runs"
	case tries.String():
		return b.label() + " has attempts left"
	case steps.String():
		return b.label() + " has steps left"
	case saying.String(), leaving.String():
		return "the event of " + b.label() + " is being stored"
	}
	if from, to, ok := strings.Cut(place, ">"); ok {
		if to == dagEnd {
			return fmt.Sprintf("`%s` is done, and %s has not ended", from, b.label())
		}
		return fmt.Sprintf("`%s` is done, and `%s` has not started", from, to)
	}
	return ""
}

// TextOf is an output as text: a text as it is, anything else as JSON. It is never empty: no text is `""`.
func TextOf(v any) string {
	if text, ok := v.(string); ok && text != "" {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
