package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
)

// simOptions are the flags of sim.
type simOptions struct {
	listen, greeting string
	scenario         string // a name or a file
	scenarios        bool   // list them
	speed            float64
	latency          time.Duration
	seed             uint64
	json             bool
}

func simCommand() *cobra.Command {
	o := &simOptions{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "run the embedded model as a server of its own",
		Long: "sim serves the protocol of Gemini Live on this machine, with a parrot that needs no key. Give its URL to\n" +
			"`voicegw serve --model-base-url` or to any client that takes a base URL. With a scenario it fails in a\n" +
			"way that real models do; docs/model.md describes the language of scenarios.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.scenarios {
				return listScenarios(cmd.OutOrStdout(), o.json)
			}
			server, err := o.server(cmd.Flags().Changed("seed"))
			if err != nil {
				return err
			}
			if err := server.Start(o.listen); err != nil {
				return listenError(o.listen, err)
			}
			if o.json {
				_ = printJSON(cmd.OutOrStdout(), map[string]string{"url": server.URL()})
			} else {
				fmt.Fprintf(cmd.OutOrStdout(), "the embedded model is at %s\n", server.URL())
			}
			<-cmd.Context().Done()
			return server.Close()
		},
	}
	outputFlag(cmd, &o.json, "the URL, or a list of the scenarios")
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8081", "a loopback address; port 0 takes any free one")
	f.StringVar(&o.greeting, "greeting", "", "a `WAV` that it plays when it receives text (default a short invitation)")
	f.Float64Var(&o.speed, "speed", 4, "how many times faster than real time it sends audio, 0.1 to 1000")
	f.DurationVar(&o.latency, "latency", 0, "the time from the end of the caller's turn to the first audio, at most 10s")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of the sizes of messages (default a new one each time)")
	f.StringVar(&o.scenario, "scenario", "", "how it fails: a `NAME` of the list, or a path with a dot or a slash")
	f.BoolVar(&o.scenarios, "scenarios", false, "list the scenarios and exit")
	return cmd
}

// scenarioJSON is a scenario for programs.
type scenarioJSON struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// listScenarios prints the built-in scenarios and their subjects.
func listScenarios(w io.Writer, asJSON bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var list []scenarioJSON
	for _, name := range sim.Scenarios() {
		s, err := sim.LoadScenario(name)
		if err != nil {
			return err
		}
		list = append(list, scenarioJSON{name, s.About})
		fmt.Fprintf(table, "%s\t%s\n", name, s.About)
	}
	if asJSON {
		return printJSON(w, list)
	}
	return table.Flush()
}

// readScenario finds a scenario by its name, or reads the file if the name looks like a path. "" is
// none.
func readScenario(name string) (*sim.Scenario, error) {
	switch {
	case name == "":
		return nil, nil
	case !strings.ContainsAny(name, "./"+string(os.PathSeparator)):
		s, err := sim.LoadScenario(name)
		if err != nil {
			return nil, usagef("--scenario: %w; see voicegw sim --scenarios", err)
		}
		return s, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s, err := sim.ParseScenario(filepath.Base(name), string(text))
	if err != nil {
		return nil, &usageError{err}
	}
	return s, nil
}

// server returns the model; seeded says that the seed was given.
func (o *simOptions) server(seeded bool) (*sim.Server, error) {
	if !settings.Loopback(o.listen) {
		return nil, usagef("--listen is %q; want a loopback address such as 127.0.0.1:8081, because the embedded model "+
			"checks no key", o.listen)
	}
	cfg := sim.Config{Speed: o.speed, Latency: o.latency, Seed: o.seed}
	if !seeded {
		cfg.Seed = rand.Uint64()
	}
	var err error
	if cfg.Scenario, err = readScenario(o.scenario); err != nil {
		return nil, err
	}
	if o.speed == 0 {
		return nil, usagef("--speed is 0; want 0.1 to 1000")
	}
	if o.greeting != "" {
		pcm, err := readWAV(o.greeting)
		if err != nil {
			return nil, err
		}
		if cfg.Greeting, err = resampled(pcm, simRateHz); err != nil {
			return nil, err
		}
	}
	server, err := sim.New(cfg)
	if err != nil {
		return nil, &usageError{err}
	}
	return server, nil
}

// simRateHz is the rate at which a model speaks.
const simRateHz = 24000

// resampled converts a whole recording; a little silence flushes the filter.
func resampled(pcm audio.PCM, rateHz int) ([]int16, error) {
	r, err := audio.NewResampler(pcm.RateHz, rateHz)
	if err != nil {
		return nil, err
	}
	return r.Resample(r.Resample(nil, pcm.Samples), make([]int16, pcm.RateHz/100)), nil
}

// readWAV reads a recording. Its error names the file.
func readWAV(name string) (audio.PCM, error) {
	f, err := os.Open(name)
	if err != nil {
		return audio.PCM{}, err
	}
	defer f.Close()
	pcm, err := audio.ReadWAV(f)
	if err != nil {
		return audio.PCM{}, fmt.Errorf("%s: %w", name, err)
	}
	return pcm, nil
}
