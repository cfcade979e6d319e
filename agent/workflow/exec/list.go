package exec

import (
	"maps"
	"slices"

	"github.com/voicegw/voicegw/agent/managed"
)

// Tools are the tools that workflows may name, in the order of their names, without those of a session.
func (e *Engine) Tools() []managed.Tool {
	var list []managed.Tool
	for _, name := range slices.Sorted(maps.Keys(e.tools)) {
		list = append(list, *e.tools[name])
	}
	return list
}
