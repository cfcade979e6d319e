package voicenets

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A rehearsal plays a session through one situation in which the environment
// says nothing more, so that there is one run only, and expects some
// transitions to fire, in their order, before another one does. It decides
// whether timings leave a stage of recovery any time at all.
type rehearsal struct {
	name, doc string
	inject    []petri.Token // at the start, one after the other
	expect    []string
	before    string
	lasts     time.Duration
}

// rehearsals are the situations of a configuration.
func rehearsals(c Config) []rehearsal {
	online := Dialled.Token(&Dialling{Result: Fresh})
	list := []rehearsal{{
		name: "silent model",
		doc: "a model that gives no reply is asked again, gets a new connection and is spoken for, " +
			"before the deadline of the turn",
		inject: []petri.Token{online, CallerText.Token(&Typed{Text: "hello"})},
		expect: []string{"nudge", "renew_link", "speak_for_model"}, before: "reach_deadline",
		lasts: c.ReplyDeadline + time.Second,
	}}
	if c.ToolSlots > 0 && c.Prompts.Has(Filler) {
		list = append(list, rehearsal{
			name: "slow tool", doc: "while a tool takes long the filler is played, before the tool's time is over",
			inject: []petri.Token{online, ToolCalled.Token(&ToolCall{})},
			expect: []string{"fill_time_0"}, before: "time_out_call_0", lasts: c.ToolTimeout + time.Second,
		})
	}
	return list
}

// alone is the configuration of a session that begins with nothing else, so that
// a rehearsal begins at once.
func (c Config) alone() Config {
	c.Greeting, c.Consent, c.Parts = false, false, nil
	c.Prompts &^= Prompts(0).With(Notify).With(AskConsent)
	return c
}

// stageOf is the session that rehearsals of a configuration are played with.
func stageOf(c Config) (*petri.Program, error) {
	n, err := Session(c.alone())
	if err != nil {
		return nil, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("voicenets: rehearse: %w", err)
	}
	return prog, nil
}

// play plays one rehearsal.
func (r rehearsal) play(prog *petri.Program) error {
	m := prog.Start()
	story, left := told(prog, m.Advance(0).Events, nil), r.expect
	for _, t := range r.inject {
		if err := m.Inject(0, t); err != nil {
			return fmt.Errorf("voicenets: rehearse %s: %w", r.name, err)
		}
		story = told(prog, m.Advance(0).Events, story)
	}
	for now, ready := time.Duration(0), m.Advance(0); ; ready = m.Advance(now) {
		for _, name := range fired(prog, ready.Events) {
			story = append(story, fmt.Sprintf("\t%v\t%s", now, name))
			switch {
			case len(left) > 0 && name == left[0]:
				left = left[1:]
			case len(left) > 0 && name == r.before:
				return fmt.Errorf("voicenets: these timings break what was promised: %s. %s comes first:\n%s",
					r.doc, r.before, strings.Join(story, "\n"))
			}
		}
		if len(left) == 0 {
			return nil
		}
		if now = ready.Wake; now <= 0 || now > r.lasts {
			return fmt.Errorf("voicenets: these timings break what was promised: %s. %s never comes:\n%s",
				r.doc, left[0], strings.Join(story, "\n"))
		}
	}
}

// told adds what fired to a story.
func told(prog *petri.Program, events []petri.Event, story []string) []string {
	for _, name := range fired(prog, events) {
		story = append(story, fmt.Sprintf("\t%v\t%s", events[0].At, name))
	}
	return story
}

// fired are the last parts of the names of transitions that fired.
func fired(prog *petri.Program, events []petri.Event) []string {
	var out []string
	for _, e := range events {
		if e.Kind == petri.Fired {
			name := prog.Transitions()[e.Index].Name
			out = append(out, name[strings.LastIndexByte(name, '/')+1:])
		}
	}
	return out
}
