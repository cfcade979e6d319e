package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
	"github.com/voicegw/voicegw/voicenets"
)

func replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "play a recorded call again, and compare every event",
		Long: "replay takes what came in during a call that `serve --record DIR` recorded, lets the net decide anew, and\n" +
			"compares everything it does with the record, event for event.\n\n" +
			"The net is one of those that calls run on, with the settings that serve had: give the same --config,\n" +
			"environment or flags, of which those below make a net. The exit code is 0 if everything is the same, 1 if\n" +
			"something differs (the first difference is told), 2 if the file is damaged or of another net, 3 if the record\n" +
			"is incomplete, 4 if something else failed.",
		Args: func(_ *cobra.Command, args []string) error {
			return oneFile("the record of a call, a " + recordEnding + " file")(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := configure(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			c, err := o.net()
			if err != nil {
				return &usageError{err}
			}
			return replay(args[0], c, cmd.OutOrStdout())
		},
	}
	addFlags(cmd, slices.Concat(timingSettings(), sessionSettings()))
	return cmd
}

// net is what the settings make of a session's net. The hello of a call says the rest.
func (o *options) net() (voicenets.Config, error) {
	c := voicegw.Config{Net: o.timing}
	if err := o.readSession(&c); err != nil {
		return c.Net, err
	}
	for p := range c.Prompts {
		c.Net.Prompts = c.Net.Prompts.With(p)
	}
	return c.Net, nil
}

// replay plays the record of a call in a file again. The net of the call was made with these settings.
func replay(name string, settings voicenets.Config, stdout io.Writer) error {
	r, err := readRecord(name)
	if errors.Is(err, event.ErrIncomplete) {
		return answerf(exitOpen, "%v", err)
	}
	if err != nil {
		return &usageError{err}
	}
	if !r.header.Complete {
		return answerf(exitOpen, "%s is incomplete: its header says that events are missing", name)
	}
	n, prog, err := sessionOf(r.header.Hash, settings)
	if err != nil {
		return err
	}
	if prog == nil {
		return usagef("%s was made by net %q with other settings, or by another version of it (%s): "+
			"give the --config, environment or flags that serve had", name, r.header.Net, r.header.Hash)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	done, err := event.Replay(prog, file)
	var diff *event.Difference
	switch {
	case errors.As(err, &diff):
		return answerf(exitFailed, "after %d events that are the same, event %d differs:\n  recorded: %s\n  replayed: %s",
			done, diff.Seq, diff.Archived, diff.Replayed)
	case err != nil:
		return usagef("%s: %w", name, err)
	case done != r.events:
		return answerf(exitFailed, "%d of %d events were replayed", done, r.events)
	}
	fmt.Fprintf(stdout, "%s: %s (%s)\n", r.header.Run, n.name, n.doc)
	fmt.Fprintf(stdout, "%d events in %v of net time\nthe same, event for event\n", done, r.last.At)
	watched, err := holdToProof(name, prog, watchable(prog, n.keeps()))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "in every marking %d properties hold that are proved of the net\n", watched)
	if why := r.open(); why != "" {
		return answerf(exitOpen, "%s is incomplete: %s", name, why)
	}
	return nil
}

// keeps are the properties of markings that are proved of a net, but for those that speak of automata alone.
func (n shippedNet) keeps() []*verify.Property {
	return append(voicenets.Properties(n.config), voicenets.Capacity())
}

// watchable are those properties that speak of the net alone, not of automata of its environment.
func watchable(prog *petri.Program, props []*verify.Property) []*verify.Property {
	var list []*verify.Property
	for _, p := range props {
		if _, err := monitor.New(prog, p); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// holdToProof lets a monitor, which is no machine, follow the record, and returns how many properties it watched.
func holdToProof(name string, prog *petri.Program, props []*verify.Property) (watched int, err error) {
	m, err := monitor.New(prog, props...)
	if err != nil {
		return 0, err
	}
	var v *monitor.Violation
	_, err = eachEvent(name, func(e petri.Event) error { return m.Append([]petri.Event{e}) })
	if errors.As(err, &v) {
		return 0, answerf(exitFailed, "%v\n%s", v, v.Story)
	}
	return len(m.Watched()), err
}

// record is what a file with the events of a call holds.
type record struct {
	header event.Header
	events uint64
	last   petri.Event
	cut    bool // its last line is not whole
}

// readRecord reads a whole file. The error says in which line it is damaged.
func readRecord(name string) (*record, error) {
	out := &record{}
	r, err := eachEvent(name, func(e petri.Event) error {
		out.last = e
		out.events++
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out.header, out.cut = r.Header, r.Cut()
	return out, nil
}

// eachEvent calls do with each event of a file, until it fails. The reader it returns is at the end.
func eachEvent(name string, do func(petri.Event) error) (*event.Reader, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := event.NewReader(file)
	if err != nil {
		return nil, err
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err == nil {
			err = do(e)
		}
		if err != nil {
			return nil, err
		}
	}
}

// open says why the record does not tell the whole call; "" if it does.
func (r *record) open() string {
	switch {
	case r.cut:
		return "its last line is cut off"
	case r.events == 0:
		return "it has no events"
	case r.last.Kind != petri.Ended && r.last.Kind != petri.Faulted:
		return fmt.Sprintf("it ends at %v, before the call does", r.last.At.Round(time.Millisecond))
	}
	return ""
}

// sessionOf finds the net that calls with these settings run on and whose hash is that of a record; the program is nil
// if there is none.
func sessionOf(hash string, settings voicenets.Config) (shippedNet, *petri.Program, error) {
	for _, n := range shippedNets() {
		for _, greeting := range []bool{true, false} {
			c := settings
			c.Detection, c.HalfDuplex, c.Greeting = n.config.Detection, n.config.HalfDuplex, greeting
			for _, made := range made(c) {
				n.config = made
				p, err := n.program()
				if err != nil {
					return n, nil, err
				}
				if event.Hash(p) == hash {
					return n, p, nil
				}
			}
		}
	}
	return shippedNet{}, nil, nil
}

// made are what sessions with these settings may be made of besides: their prompts, the default ones or none, tools or
// none.
func made(c voicenets.Config) []voicenets.Config {
	var list []voicenets.Config
	for _, prompts := range []voicenets.Prompts{c.Prompts, defaultPrompts(), 0} {
		for _, slots := range []int{0, 2} {
			other := c
			other.Prompts, other.ToolSlots = prompts, slots
			list = append(list, other)
		}
	}
	return list
}
