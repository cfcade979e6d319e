package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

func replayCommand() *cobra.Command {
	var at time.Duration
	var step, asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "replay the archive of a call, and compare every event",
		Long: "replay reads an archive that `serve --archive DIR` wrote, injects the same inputs into the net at the same\n" +
			"times, and compares every event of the net with the archive.\n\n" +
			"The net depends on the settings: give the --config, environment or flags that serve had. The exit code is 0\n" +
			"if all events are the same, 1 if one differs (replay prints the first), 2 if the file is damaged or of\n" +
			"another net, 3 if the archive is incomplete, 4 if replay failed.",
		Args: func(_ *cobra.Command, args []string) error {
			return oneFile("the archive of a call, a " + settings.ArchiveEnding + " file")(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := configure(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			c, err := netOf(s)
			if err != nil {
				return &usageError{err}
			}
			switch {
			case at < 0:
				return usagef("--at is %v; want a length of time from 0s, such as 12.3s", at)
			case step && asJSON:
				return usagef("--step is for people: it has no -o json; --at has")
			case step || cmd.Flags().Changed("at"):
				return stepThrough(args[0], c, at, step, asJSON, cmd)
			}
			return replay(args[0], c, asJSON, cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &asJSON, "the result, or with --at what the net held")
	addSettingFlags(cmd, settings.NetRows())
	cmd.Flags().DurationVar(&at, "at", 0, "print what the net held at this time of the call, such as 12.3s")
	cmd.Flags().BoolVar(&step, "step", false,
		"step through the events, forwards and back, by commands read from the input")
	return cmd
}

// netOf returns the configuration of the nets that the settings make. The hello of a call says the
// rest.
func netOf(s *settings.Settings) (voicenets.Config, error) {
	c, err := s.Gateway()
	for p := range c.Prompts {
		c.Net.Prompts = c.Net.Prompts.With(p)
	}
	return c.Net, err
}

// replayJSON is the result of a replay for programs. The exit code says what it means.
type replayJSON struct {
	Call       string         `json:"call"`
	Net        string         `json:"net"`
	Events     uint64         `json:"events"` // that are the same
	NetTimeS   float64        `json:"net_time_s"`
	Difference *differentJSON `json:"difference,omitempty"`
	Properties int            `json:"properties"` // proved ones that hold in every marking
	Incomplete string         `json:"incomplete,omitempty"`
}

// differentJSON is the first event that differs.
type differentJSON struct {
	Event    uint64 `json:"event"`
	Archived string `json:"archived"`
	Replayed string `json:"replayed"`
}

// replay plays the archive of a call again on a net of this configuration.
func replay(name string, net voicenets.Config, asJSON bool, stdout io.Writer) error {
	r, err := readArchive(name)
	if errors.Is(err, event.ErrIncomplete) {
		return answerf(exitOpen, "%v", err)
	}
	if err != nil {
		return &usageError{err}
	}
	if !r.header.Complete {
		return answerf(exitOpen, "%s is incomplete: its header says that events are missing", name)
	}
	n, prog, err := sessionOf(r.header.Hash, net)
	if err != nil {
		return err
	}
	if prog == nil {
		return otherNet(name, r)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	done, err := event.Replay(prog, file)
	out := replayJSON{Call: r.header.Run, Net: n.name, Events: done, NetTimeS: r.last.At.Seconds(), Incomplete: r.open()}
	var diff *event.Difference
	switch {
	case errors.As(err, &diff):
		if asJSON {
			out.Difference = &differentJSON{diff.Seq, fmt.Sprint(diff.Archived), fmt.Sprint(diff.Replayed)}
			if err := printJSON(stdout, out); err != nil {
				return err
			}
		}
		return answerf(exitFailed, "%d events are the same, event %d differs:\n  archived: %s\n  replayed: %s",
			done, diff.Seq, diff.Archived, diff.Replayed)
	case err != nil:
		return usagef("%s: %w", name, err)
	case done != r.events:
		return answerf(exitFailed, "%d of %d events were replayed", done, r.events)
	}
	if !asJSON {
		fmt.Fprintf(stdout, "%s: %s (%s)\n", r.header.Run, n.name, n.doc)
		fmt.Fprintf(stdout, "%d events in %v of net time\nall are the same\n", done, r.last.At)
	}
	if out.Properties, err = holdToProof(name, prog, watchable(prog, n.keeps())); err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(stdout, out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(stdout, "%d proved properties hold in every marking\n", out.Properties)
	}
	if out.Incomplete != "" {
		return answerf(exitOpen, "%s is incomplete: %s", name, out.Incomplete)
	}
	return nil
}

// otherNet returns the error for an archive whose hash no net of this configuration has.
func otherNet(name string, r *archive) error {
	other, err := otherName(name, r.events)
	if err != nil {
		return err
	}
	if other != "" {
		return usagef("%s was written by a version of voicegw with other names: no net of this version has %q. No setting "+
			"helps; replay it with the version that wrote it (net %q, %s)", name, other, r.header.Net, r.header.Hash)
	}
	return usagef("%s was written by net %q with other settings, or by another version of it (%s): "+
		"give the --config, environment or flags that serve had; if these are the same, replay it with the version "+
		"that wrote it", name, r.header.Net, r.header.Hash)
}

// otherName returns the first name in an archive that is in no net of this version; "" if all are.
func otherName(name string, events uint64) (string, error) {
	names, err := netNames()
	if err != nil {
		return "", err
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	read, err := event.NewReader(file)
	if err != nil {
		return "", err
	}
	return names.Other(read, int(events)), nil
}

// keeps returns the proved properties of a net's markings, except those of automata alone.
func (n shippedNet) keeps() []*verify.Property {
	return append(claims.Properties(n.config), claims.Capacity())
}

// watchable returns the properties that a monitor can watch: those of the net alone, without automata.
func watchable(prog *petri.Program, props []*verify.Property) []*verify.Property {
	var list []*verify.Property
	for _, p := range props {
		if _, err := monitor.New(prog, p); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// holdToProof checks the events of an archive with a monitor, independently of the machine, and
// returns the number of properties that it watched.
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

// archive summarises the archive of a call.
type archive struct {
	header event.Header
	events uint64
	last   petri.Event
	cut    bool // its last line is incomplete
}

// readArchive reads a whole archive. Its error names the damaged line.
func readArchive(name string) (*archive, error) {
	out := &archive{}
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

// eachEvent calls do with each event of an archive, until do fails. It returns the reader at its end.
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

// open says why the archive lacks a part of the call, "" if it is complete.
func (r *archive) open() string {
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

// sessionOf finds the net that a configuration makes and that has the hash of an archive. The program
// is nil if there is none.
func sessionOf(hash string, net voicenets.Config) (shippedNet, *petri.Program, error) {
	for _, n := range shippedNets() {
		for _, greeting := range []bool{true, false} {
			c := net
			c.Detection, c.HalfDuplex, c.Greeting = n.config.Detection, n.config.HalfDuplex, greeting
			for _, v := range variants(c) {
				n.config = v
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

// variants returns the configurations that a hello and Go code can make of these settings: with the
// prompts of the settings, the default ones or none, and with tools or without.
func variants(c voicenets.Config) []voicenets.Config {
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
