package main

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/audio/opus"
	"github.com/voicegw/voicegw/bench"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	transport, codec       string
	detection              string
	url, metrics           string
	calls, seconds, rounds int
	seed                   uint64
	findLimit              bool
	target                 time.Duration
	json                   bool
}

func benchCommand() *cobra.Command {
	o := &benchOptions{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure what calls cost",
		Long: "bench starts a gateway, a raw relay without any logic, and the embedded model, each as a process of its\n" +
			"own on this machine. It places calls that speak, pause and interrupt, in real time, to the relay and to\n" +
			"the gateway in turn, and prints what the gateway costs and what it adds. With --url it calls a gateway\n" +
			"that runs already. Then there is no relay to compare with, and figures that need one are unknown, or null.",
		Example: "  voicegw bench --calls 40 --seconds 60\n" +
			"  voicegw bench --url ws://127.0.0.1:8080/v1/voice --metrics http://127.0.0.1:9090/metrics -o json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64N(1 << 53) // so that programs can read it as a number
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.transport, "transport", bench.WebSocket, "how callers call: "+strings.Join(bench.Transports(), ", "))
	f.StringVar(&o.codec, "codec", "", "with --transport webrtc, the codec both ways: "+
		strings.Join(bench.Codecs(), ", ")+" (default "+bench.PCMU+"; "+bench.Opus+" needs libopus)")
	f.StringVar(&o.detection, "detection", bench.ByGateway, "who detects speech, the gateway or the model; with --url, "+
		"what the settings of that gateway say")
	f.IntVar(&o.calls, "calls", bench.CallsDefault, "calls at one time, at most 2000")
	f.IntVar(&o.seconds, "seconds", bench.SecondsDefault, "seconds to measure each side, at most 3600")
	f.IntVar(&o.rounds, "rounds", bench.RoundsDefault, "rounds in which relay and gateway alternate, at most 100")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of what callers do (default a new one each time)")
	f.BoolVar(&o.findLimit, "find-limit", false, "find the most calls at which p99 of what is added stays within "+
		"--target; begins with --calls")
	f.DurationVar(&o.target, "target", bench.TargetDefault, "with --find-limit, the most that may be added, 1ms to 10s")
	f.StringVar(&o.url, "url", "", "call this `URL` instead; a token for it is in "+tokenVariable)
	f.StringVar(&o.metrics, "metrics", "", "with --url, the `URL` of the metrics of its process")
	outputFlag(cmd, &o.json, "one object")
	complete(cmd, "transport", bench.Transports()...)
	complete(cmd, "codec", bench.Codecs()...)
	complete(cmd, "detection", bench.Detections()...)
	f.SortFlags = false
	cmd.AddCommand(benchPartCommand())
	return cmd
}

// run measures and prints the report.
func (o *benchOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	shown := newProgress(stderr, "")
	defer shown.end()
	cfg.Progress = func(line string) { shown.say("%s", line) }
	if o.url == "" {
		parts, err := startBenchParts(ctx, o.detection)
		if err != nil {
			return err
		}
		defer parts.stop()
		path := benchPaths()[o.transport]
		parts.gateway.URL, parts.relay.URL = parts.gateway.URL+path, parts.relay.URL+path
		cfg.Gateway, cfg.Relay, cfg.Model = parts.gateway, &parts.relay, parts.model
	}
	measure := bench.Run
	if o.findLimit {
		measure = func(ctx context.Context, cfg bench.Config) (*bench.Report, error) {
			return bench.FindLimit(ctx, cfg, o.target)
		}
	}
	report, err := measure(ctx, cfg)
	if err != nil {
		return err
	}
	shown.end()
	if o.json {
		return report.WriteJSON(stdout)
	}
	return report.WriteMarkdown(stdout)
}

// config reads the flags.
func (o *benchOptions) config() (bench.Config, error) {
	cfg := bench.Config{Transport: o.transport, Codec: o.codec, Detection: o.detection, Calls: o.calls,
		Length: time.Duration(o.seconds) * time.Second, Rounds: o.rounds, Seed: o.seed,
		Gateway: bench.Endpoint{URL: o.url, Metrics: o.metrics}}
	if o.url != "" {
		cfg.Token = os.Getenv(tokenVariable)
	}
	for _, n := range []struct {
		flag       string
		value, max int
	}{
		{"calls", o.calls, bench.CallsMax},
		{"seconds", o.seconds, bench.SecondsMax},
		{"rounds", o.rounds, bench.RoundsMax},
	} {
		if n.value < 1 || n.value > n.max {
			return cfg, usagef("--%s is %d; want 1 to %d", n.flag, n.value, n.max)
		}
	}
	switch {
	case !slices.Contains(bench.Transports(), o.transport):
		return cfg, usagef("--transport is %q; want one of %s", o.transport, strings.Join(bench.Transports(), ", "))
	case o.codec != "" && o.transport != bench.WebRTC:
		return cfg, usagef("--codec is %q with --transport %s; it is for --transport %s", o.codec, o.transport, bench.WebRTC)
	case o.codec != "" && !slices.Contains(bench.Codecs(), o.codec):
		return cfg, usagef("--codec is %q; want one of %s", o.codec, strings.Join(bench.Codecs(), ", "))
	case o.codec == bench.Opus && !opus.HasEncoder:
		return cfg, usagef("--codec is %q, but this program was built without libopus; build it with `make build-opus`",
			o.codec)
	case !slices.Contains(bench.Detections(), o.detection):
		return cfg, usagef("--detection is %q; want one of %s", o.detection, strings.Join(bench.Detections(), ", "))
	case o.seconds < o.rounds:
		return cfg, usagef("--seconds is %d, fewer than the %d rounds; want a second for each", o.seconds, o.rounds)
	case o.findLimit && o.url != "":
		return cfg, usagef("--find-limit and --url exclude each other: without a relay nobody knows what is added")
	case o.target < time.Millisecond || o.target > 10*time.Second:
		return cfg, usagef("--target is %v; want 1ms to 10s", o.target)
	case o.metrics != "" && o.url == "":
		return cfg, usagef("--metrics is %q without --url; bench knows the metrics of what it starts", o.metrics)
	}
	return cfg, nil
}
