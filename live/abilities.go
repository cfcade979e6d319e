package live

import "strings"

// Abilities are what models differ in, as far as it changes what may be sent to them: what one takes, another answers
// by closing the connection.
type Abilities struct {
	// Blocking tools are known: the model can wait for a reply.
	Blocking bool
	// NonBlocking tools are known: the model can go on while one works.
	NonBlocking bool
	// Scheduling of the replies of non-blocking tools is known.
	Scheduling bool
	// Content may be sent at any time. Otherwise history can be told by Setup.History alone.
	Content bool

	askBlocking  bool // unless a tool is declared blocking it is not
	askToHistory bool // history must be announced in the setup
}

// family is the models whose names begin alike.
type family struct {
	prefix string
	Abilities
}

// families are the models whose limits are known, the longest prefixes first. What is known is in docs/model.md.
func families() []family {
	return []family{
		{"gemini-3.8-live-extended-thinking", Abilities{NonBlocking: true, askToHistory: true}},
		{"gemini-3.8-live", Abilities{Blocking: true, NonBlocking: true, Scheduling: true, askBlocking: true,
			askToHistory: true}},
		{"gemini-3.1-flash-live", Abilities{Blocking: true, askToHistory: true}},
	}
}

// AbilitiesOf says what a model, with or without "models/" in front, takes. A model that is not known to refuse
// something is believed to take it.
func AbilitiesOf(model string) Abilities {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, f := range families() {
		if strings.HasPrefix(name, f.prefix) {
			return f.Abilities
		}
	}
	return Abilities{Blocking: true, NonBlocking: true, Scheduling: true, Content: true}
}
