package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// stepsApart is how many events lie between two markings that a stepper keeps to go back to.
const stepsApart = 1000

// stepper goes through the events of an archive, forwards and back.
type stepper struct {
	prog   *petri.Program
	events []petri.Event
	done   int              // events that are applied
	now    *petri.Tracker   // after them
	kept   []*petri.Tracker // after 0, stepsApart, ... events
}

// openStepper reads an archive that a net of this configuration wrote.
func openStepper(name string, net voicenets.Config) (*stepper, error) {
	r, err := readArchive(name)
	if err != nil {
		return nil, &usageError{err}
	}
	_, prog, err := sessionOf(r.header.Hash, net)
	if err != nil {
		return nil, err
	}
	if prog == nil {
		return nil, otherNet(name, r)
	}
	s := &stepper{prog: prog, now: prog.Track()}
	s.kept = []*petri.Tracker{s.now.Clone()}
	_, err = eachEvent(name, func(e petri.Event) error {
		s.events = append(s.events, e)
		return nil
	})
	return s, err
}

// to goes to the marking after so many events, or as far as there are events.
func (s *stepper) to(n int) error {
	n = min(max(n, 0), len(s.events))
	if n < s.done {
		s.done = n / stepsApart * stepsApart
		s.now = s.kept[n/stepsApart].Clone()
	}
	for s.done < n {
		if err := s.now.Apply(s.events[s.done]); err != nil {
			return err
		}
		if s.done++; s.done == len(s.kept)*stepsApart {
			s.kept = append(s.kept, s.now.Clone())
		}
	}
	return nil
}

// at returns how many events happened up to a time.
func (s *stepper) at(t time.Duration) int {
	n := 0
	for n < len(s.events) && s.events[n].At <= t {
		n++
	}
	return n
}

// show prints the last event, the places that hold tokens, and the timers that run.
func (s *stepper) show(w io.Writer) {
	last := "before the first event"
	if s.done > 0 {
		last = s.prog.Describe(s.events[s.done-1])
	}
	fmt.Fprintf(w, "event %d of %d: %s\n ", s.done, len(s.events), last)
	for slot, n := range s.now.Marking() {
		switch {
		case n == 1:
			fmt.Fprintf(w, " %s", s.prog.SlotName(slot))
		case n > 1:
			fmt.Fprintf(w, " %s=%d", s.prog.SlotName(slot), n)
		}
	}
	fmt.Fprintln(w)
	for _, c := range s.now.Clocks() {
		fmt.Fprintf(w, "  timer %s: due at %v\n", s.prog.Transitions()[c.Transition].Name, c.Due)
	}
}

const stepHelp = "Enter or n: the next event; b: back; N or -N: so many events on or back; " +
	"a time such as 12.3s: go there; q: end"

// interact reads where to go from a person or a script, line by line, until q or the end of input.
func (s *stepper) interact(in io.Reader, out io.Writer) error {
	fmt.Fprintln(out, stepHelp)
	s.show(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		word := strings.TrimSpace(lines.Text())
		to, ok := s.target(word)
		switch {
		case word == "q":
			return nil
		case !ok:
			fmt.Fprintf(out, "%q is none of these. %s\n", word, stepHelp)
			continue
		}
		if err := s.to(to); err != nil {
			return err
		}
		s.show(out)
	}
	return lines.Err()
}

// target returns how many events are applied where a word leads.
func (s *stepper) target(word string) (int, bool) {
	switch word {
	case "", "n":
		return s.done + 1, true
	case "b":
		return s.done - 1, true
	}
	if n, err := strconv.Atoi(word); err == nil && n > -len(s.events)-1 && n < len(s.events)+1 {
		return s.done + n, true
	}
	t, err := time.ParseDuration(word)
	return s.at(t), err == nil && t >= 0
}

// markingJSON is what a net held at one time, for programs.
type markingJSON struct {
	Event  int                `json:"event"` // the last one; 0: before the first
	Events int                `json:"events"`
	Last   string             `json:"last,omitempty"`
	Tokens map[string]int32   `json:"tokens"`       // by place
	Timers map[string]float64 `json:"timers_due_s"` // by transition
}

// marking returns what show prints.
func (s *stepper) marking() markingJSON {
	m := markingJSON{Event: s.done, Events: len(s.events), Tokens: map[string]int32{}, Timers: map[string]float64{}}
	if s.done > 0 {
		m.Last = s.prog.Describe(s.events[s.done-1])
	}
	for slot, n := range s.now.Marking() {
		if n > 0 {
			m.Tokens[s.prog.SlotName(slot)] = n
		}
	}
	for _, c := range s.now.Clocks() {
		m.Timers[s.prog.Transitions()[c.Transition].Name] = c.Due.Seconds()
	}
	return m
}

// stepThrough prints the marking at a time, and steps from there on if step is true.
func stepThrough(name string, net voicenets.Config, at time.Duration, step, asJSON bool, cmd *cobra.Command) error {
	s, err := openStepper(name, net)
	if err != nil {
		return err
	}
	if err := s.to(s.at(at)); err != nil {
		return usagef("%s: %w", name, err)
	}
	if step {
		return s.interact(cmd.InOrStdin(), cmd.OutOrStdout())
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), s.marking())
	}
	s.show(cmd.OutOrStdout())
	return nil
}
