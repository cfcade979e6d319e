package workflow

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// confirms fills Agent.Confirm. true stands for all tools that can wait for a confirmation.
func (l *loader) confirms(a *Agent, v *yaml.Node) {
	switch {
	case v == nil || l.bad[v]:
	case v.Kind == yaml.SequenceNode:
		for _, one := range v.Content {
			a.Confirm = append(a.Confirm, l.tool(one)...)
		}
	case v.Value == "true" || v.Value == "True" || v.Value == "TRUE":
		for _, t := range a.has() {
			if !unasked(t.Name) {
				a.Confirm = append(a.Confirm, Tool{Name: t.Name, Patterns: t.Patterns, At: at(v)})
			}
		}
		if len(a.Confirm) == 0 {
			l.add(Unsupports, at(v), "`require_confirmation` has no effect: `%s` has no tool that could wait for a confirmation",
				a.Name)
		}
	}
}

// has are the tools of an llm agent or a tool agent.
func (a *Agent) has() []Tool {
	if a.Tool != "" {
		return []Tool{{Name: a.Tool}}
	}
	return a.Tools
}

// unasked reports whether a built-in tool never waits for a confirmation: the session, the net or the model's provider
// runs it, or the client itself.
func unasked(tool string) bool { return slices.Contains(append(modelTools(), "get_user_choice"), tool) }

// checkConfirm finds entries of require_confirmation that are none of the agent's tools, or cannot wait. A pattern must
// be one of those in tools, so that one which is misspelt does not let calls through.
func (l *loader) checkConfirm(a *Agent) {
	for _, c := range a.Confirm {
		var names, patterns []string
		for _, t := range a.has() {
			names = append(names, t.Name)
			if t.Name == c.Name {
				patterns = append(patterns, t.Patterns...)
			}
		}
		switch {
		case !slices.Contains(names, c.Name):
			l.add(UnknownRef, c.At, "`require_confirmation`: `%s` has no tool `%s`%s", a.Name, c.Name,
				l.meant(c.Name, names, "its tools are"))
		case unasked(c.Name):
			l.add(Unsupports, c.At, "`require_confirmation`: `%s` never waits for a confirmation: remove it", c.Name)
		}
		for _, p := range c.Patterns {
			if slices.Contains(names, c.Name) && !slices.Contains(patterns, p) {
				l.add(UnknownRef, c.At, "`require_confirmation`: the pattern %q is none of those that `tools` has for `%s`: "+
					"write it there, too%s", p, c.Name, l.meant(p, patterns, "there are"))
			}
		}
	}
}
