package live

import "strings"

// abilities are the differences between models that matter for what may be sent. A model closes the
// connection for what it does not support.
type abilities struct {
	blocking    bool // tools that the model waits for
	nonBlocking bool // tools that run while the model speaks
	scheduling  bool // Scheduling in the replies of non-blocking tools
	content     bool // ClientContent at any time; otherwise only Setup.History

	declareBlocking bool // a blocking tool must be declared as such
	announceHistory bool // the setup must announce history
}

// family is the models whose names begin with a prefix.
type family struct {
	prefix string
	abilities
}

// families returns the models whose limits are known (docs/model.md), the longest prefixes first.
func families() []family {
	return []family{
		{"gemini-3.8-live-extended-thinking", abilities{nonBlocking: true, announceHistory: true}},
		{"gemini-3.8-live", abilities{blocking: true, nonBlocking: true, scheduling: true, declareBlocking: true,
			announceHistory: true}},
		{"gemini-3.1-flash-live", abilities{blocking: true, announceHistory: true}},
	}
}

// Schedules reports whether a model takes ToolReply.Scheduling with replies of non-blocking tools. An
// unknown model is assumed to.
func Schedules(model string) bool { return abilitiesOf(model).scheduling }

// Supports reports whether a model takes tools that are NonBlocking, or such that are not. An unknown
// model is assumed to.
func Supports(model string, nonBlocking bool) bool {
	can := abilitiesOf(model)
	return nonBlocking && can.nonBlocking || !nonBlocking && can.blocking
}

// abilitiesOf returns the abilities of a model, with or without the prefix "models/". An unknown
// model is assumed to support everything.
func abilitiesOf(model string) abilities {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, f := range families() {
		if strings.HasPrefix(name, f.prefix) {
			return f.abilities
		}
	}
	return abilities{blocking: true, nonBlocking: true, scheduling: true, content: true}
}
