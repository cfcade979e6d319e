package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// markingsMax bounds each exploration.
const markingsMax = 1_000_000

func verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NET]",
		Short: "check what the nets that calls run on must keep",
		Long: "verify visits every marking of a net, closed with an environment in which anything may come at any\n" +
			"time, and whatever its timers do, and prints a verdict for each property. The counts of the net are made\n" +
			"small, so that this ends. `voicegw net --list` names the nets; without a name it checks all.\n" +
			"The exit code is 0 only if every verdict is proved.",
		Args: atMostOneNet,
		RunE: func(cmd *cobra.Command, args []string) error {
			nets := shippedNets()
			if len(args) == 1 {
				n, err := findNet(args[0])
				if err != nil {
					return err
				}
				nets = []shippedNet{n}
			}
			return verifyNets(cmd.Context(), cmd.OutOrStdout(), nets, shippedNet.verify)
		},
	}
}

// verifyNets prints what check finds out about each net. It returns an error unless everything is proved.
func verifyNets(ctx context.Context, w io.Writer, nets []shippedNet,
	check func(shippedNet, context.Context) (*verify.Report, error)) error {
	var open []string
	for _, n := range nets {
		report, err := check(n, ctx)
		if err != nil {
			return err
		}
		printVerdicts(w, n, report)
		if report.Outcome() != verify.Proved {
			open = append(open, n.name)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("not everything is proved of %s", strings.Join(open, ", "))
	}
	return nil
}

// small are counts with which every marking can be visited.
func small(c voicenets.Config) voicenets.Config {
	c.BudgetFrames, c.ReplyFramesMax = 2, 2
	return c
}

// verify checks the net's properties in a hostile environment.
func (n shippedNet) verify(ctx context.Context) (*verify.Report, error) {
	c := small(n.config)
	net, err := voicenets.Hostile(c)
	if err != nil {
		return nil, err
	}
	p, err := petri.Compile(net)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	clock := func() verify.Seconds { return verify.Seconds(time.Since(start).Seconds()) }
	return verify.Run(ctx, p, verify.Config{Max: markingsMax, Now: clock}, voicenets.Properties(c)...)
}

func printVerdicts(w io.Writer, n shippedNet, r *verify.Report) {
	c := small(n.config)
	fmt.Fprintf(w, "%s: %s (budget %d frames, replies of up to %d)\n", n.name, n.doc, c.BudgetFrames, c.ReplyFramesMax)
	var total verify.Seconds
	for _, res := range r.Results {
		fmt.Fprintf(w, "  %-8s %-16s %s\n", res.Outcome, res.Property.Name, res.Property.Doc)
		if res.Outcome != verify.Proved {
			fmt.Fprintf(w, "           %s\n", res.Reason)
		}
		total += res.Seconds
	}
	fmt.Fprintf(w, "  %s in %.2f s\n", r.Outcome(), float64(total))
}
