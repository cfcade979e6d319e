package petritest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Player plays the steps of a script on a machine. It is not safe for concurrent use.
type Player struct {
	prog *petri.Program
	m    *petri.Machine
}

// NewPlayer returns a player with a machine of prog in its initial marking.
func NewPlayer(prog *petri.Program) *Player {
	return &Player{prog: prog, m: prog.Start()}
}

// Do plays one step and returns its trace, one line for each event and output. step and args are
// the words of the step, and input the lines after it. An error is part of the trace.
func (p *Player) Do(step string, args []string, input string) string {
	var b strings.Builder
	if err := p.do(&b, step, args, input); err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func (p *Player) do(b *strings.Builder, step string, args []string, input string) error {
	switch step {
	case "inject":
		return p.inject(b, args, input)
	case "advance":
		if len(args) != 1 {
			return fmt.Errorf("petritest: advance takes one time")
		}
		at, err := p.time(args[0])
		if err != nil {
			return err
		}
		return p.run(b, at, func() error { return nil })
	case "marking":
		p.marking(b)
	case "wake":
		p.wake(b)
	case "restart":
		p.m = p.prog.Start()
	case "play":
		return p.play(b, input)
	default:
		return fmt.Errorf("petritest: unknown step %q; the steps are inject, advance, marking, wake, restart and play", step)
	}
	return nil
}

func (p *Player) inject(b *strings.Builder, args []string, input string) error {
	if len(args) == 0 {
		return fmt.Errorf("petritest: inject takes a place")
	}
	place, args := args[0], args[1:]
	at := p.m.Now()
	if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "@") {
		var err error
		if at, err = p.time(args[n-1][1:]); err != nil {
			return err
		}
		args = args[:n-1]
	}
	tok, err := p.prog.ParseToken(place, strings.Join(args, " ")+input)
	if err != nil {
		return err
	}
	return p.run(b, at, func() error { return p.m.Inject(at, tok) })
}

// time parses a time. It is relative to now if it begins with a plus.
func (p *Player) time(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimPrefix(s, "+"))
	if err != nil {
		return 0, fmt.Errorf("petritest: time %q is not a duration such as 250ms or +1.5s", s)
	}
	if strings.HasPrefix(s, "+") {
		d += p.m.Now()
	}
	return d, nil
}

// run fires the timers before at, calls do, and writes the events and outputs.
func (p *Player) run(b *strings.Builder, at time.Duration, do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.print(b, p.m.Fault())
			fmt.Fprintf(b, "fault: %v\n", v)
			err = nil
		}
	}()
	if err := p.elapse(b, at); err != nil {
		return err
	}
	err = do()
	p.print(b, p.m.Advance(at))
	return err
}

// eventsMax limits the events of one step.
const eventsMax = 10_000

// elapse fires the timers before at, one after the other.
func (p *Player) elapse(b *strings.Builder, at time.Duration) error {
	for n := 0; p.m.Wake() < at; {
		r := p.m.Advance(p.m.Wake())
		p.print(b, r)
		if n += len(r.Events); n > eventsMax {
			return fmt.Errorf("petritest: more than %d events until %v; take smaller steps", eventsMax, at)
		}
	}
	return nil
}

func (p *Player) print(b *strings.Builder, r petri.Ready) {
	for _, e := range r.Events {
		b.WriteString(p.prog.Describe(e) + "\n")
	}
	for _, t := range r.Out {
		b.WriteString("out " + describe(t) + "\n")
	}
}

// valueMax limits the bytes of a value in a trace.
const valueMax = 120

// describe returns a token with its value, as text if it has one, and as JSON otherwise.
func describe(t petri.Token) string {
	s := t.String()
	if t.Cancel() {
		return s + " cancel"
	}
	if _, unit := t.Value().(petri.Unit); unit || s != t.Place() {
		return s
	}
	v, err := json.Marshal(t.Value())
	if err != nil {
		return s
	}
	if len(v) > valueMax {
		return fmt.Sprintf("%s=%s... (%d bytes)", s, v[:valueMax], len(v))
	}
	return s + "=" + string(v)
}

func (p *Player) marking(b *strings.Builder) {
	empty := true
	for slot, n := range p.m.Marking(nil) {
		if n > 0 {
			fmt.Fprintf(b, "%s %d\n", p.prog.SlotName(slot), n)
			empty = false
		}
	}
	if empty {
		b.WriteString("empty\n")
	}
}

func (p *Player) wake(b *strings.Builder) {
	if p.m.Wake() == petri.Forever {
		b.WriteString("never\n")
		return
	}
	fmt.Fprintf(b, "%v\n", p.m.Wake())
}
