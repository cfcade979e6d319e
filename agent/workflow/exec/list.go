package exec

import (
	"slices"
	"strings"

	"google.golang.org/genai"
)

// Declarations are all tools that workflows may name, in the order of their names: Config.Tools and the built-in ones.
// A tool that a model does not call with arguments has no schema of them.
func (e *Engine) Declarations() []*genai.FunctionDeclaration {
	list := []*genai.FunctionDeclaration{exitDeclaration()}
	for _, t := range e.tools {
		list = append(list, t.Declaration)
	}
	for _, name := range sessionTools() {
		d := sessionTool(name)
		if name == preloadMemory {
			d = &genai.FunctionDeclaration{Name: name,
				Description: "Puts what was said in earlier sessions of the user into the instruction."}
		}
		list = append(list, d)
	}
	for name, does := range nativeTools() {
		list = append(list, &genai.FunctionDeclaration{Name: name, Description: does.doc + " Gemini runs it."})
	}
	slices.SortFunc(list, func(a, b *genai.FunctionDeclaration) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Toolsets are the names of Config.Toolsets with their tools. The caller must not change them.
func (e *Engine) Toolsets() map[string][]string { return e.cfg.Toolsets }
