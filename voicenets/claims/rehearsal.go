package claims

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// A rehearsal plays a session through one situation in which the environment sends nothing more, so
// that there is only one run. It expects some transitions to fire, in order, before another one
// does. It shows whether the timings leave any time for a stage of recovery.
type rehearsal struct {
	name, doc string
	inject    []petri.Token // injected at the start, one after another
	expect    []string
	before    string
	lasts     time.Duration
}

// rehearsals lists the situations of a configuration.
func rehearsals(c voicenets.Config) []rehearsal {
	online := voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Fresh})
	list := []rehearsal{{
		name: "silent model",
		doc: "a model that gives no reply is asked again, gets a new connection and is replaced by the fallback prompt, " +
			"before the deadline of the turn",
		inject: []petri.Token{online, voicenets.CallerText.Token(&voicenets.Typed{Text: "hello"})},
		expect: []string{"nudge", "renew_link", "play_fallback"}, before: "reach_deadline",
		lasts: c.ReplyDeadline + time.Second,
	}}
	if c.ToolSlots > 0 && c.Prompts.Has(voicenets.Filler) {
		list = append(list, rehearsal{
			name: "slow tool", doc: "while a tool takes long the filler is played, before the tool's time is over",
			inject: []petri.Token{online, voicenets.ToolCalled.Token(&voicenets.ToolCall{})},
			expect: []string{"play_filler_0"}, before: "time_out_call_0", lasts: c.ToolTimeout + time.Second,
		})
	}
	return list
}

// idle removes from a configuration what would begin the session with something else, so that a
// rehearsal begins at once.
func idle(c voicenets.Config) voicenets.Config {
	c.Greeting, c.Consent, c.Parts = false, false, nil
	c.Prompts &^= voicenets.Prompts(0).With(voicenets.Notify).With(voicenets.AskConsent)
	return c
}

// stageOf is the session in which the rehearsals of a configuration play.
func stageOf(c voicenets.Config) (*petri.Program, error) {
	n, err := voicenets.Session(idle(c))
	if err != nil {
		return nil, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("claims: rehearse: %w", err)
	}
	return prog, nil
}

// play plays one rehearsal.
func (r rehearsal) play(prog *petri.Program) error {
	m := prog.Start()
	story, left := told(prog, m.Advance(0).Events, nil), r.expect
	for _, t := range r.inject {
		if err := m.Inject(0, t); err != nil {
			return fmt.Errorf("rehearse %s: %w", r.name, err)
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
				return fmt.Errorf("these timings break what was promised: %s. %s comes first:\n%s",
					r.doc, r.before, strings.Join(story, "\n"))
			}
		}
		if len(left) == 0 {
			return nil
		}
		if now = ready.Wake; now <= 0 || now > r.lasts {
			return fmt.Errorf("these timings break what was promised: %s. %s never comes:\n%s",
				r.doc, left[0], strings.Join(story, "\n"))
		}
	}
}

// told adds the fired transitions to a story.
func told(prog *petri.Program, events []petri.Event, story []string) []string {
	for _, name := range fired(prog, events) {
		story = append(story, fmt.Sprintf("\t%v\t%s", events[0].At, name))
	}
	return story
}

// fired lists the last parts of the names of the transitions that fired.
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
