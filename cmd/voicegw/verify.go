package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/voicenets/claims"
)

func verifyCommand() *cobra.Command {
	var c fileCheck
	cmd := &cobra.Command{
		Use:   "verify [NET | --config FILE | FILE --property P ...]",
		Short: "prove claims about nets: those that calls run on, or one from a file",
		Long: "verify proves what `voicegw serve` proves before it takes calls, without existing certificates. It prints\n" +
			"a verdict for each claim: proved, refuted (with a run of the net that shows it), or unknown. It explores slices\n" +
			"and views of the net in a hostile environment, and an independent checker goes through the markings again. It\n" +
			"also proves claims from the structure of the net, and prints the worst case of each time limit.\n" +
			"docs/verification.md explains the claims.\n\n" +
			"Without arguments it proves the nets of a serve without settings; `voicegw net --list` names them, and NET\n" +
			"selects one. With --config, or any other flag or environment variable that serve takes, it proves the nets of\n" +
			"a serve with these settings: one for each kind of session a caller can ask for.\n\n" +
			"--mutate changes NET in one place at a time, with small counts, and prints how many changes a property\n" +
			"refutes. That takes minutes for one part (--mutants digits/), up to half an hour for a whole net.\n\n" +
			"verify also takes a FILE, PNML or TINA's .net, and at least one --property to check:\n" +
			"  deadlock-free          some transition is enabled in every marking\n" +
			"  bound PLACE <= N       the place never holds more than N tokens\n" +
			"  never EXPR             no marking satisfies EXPR, such as on_1 >= 1 && closed == 0 (also ||, !, parentheses)\n" +
			"  reach EXPR             some marking does\n" +
			"  mutex PLACE PLACE ...  at most one of the places is marked at a time\n" +
			"  fires TRANSITION ...   each of the transitions fires somewhere; without names, every one does\n" +
			"  EXPR leads to EXPR     after the first the second always comes, with strong fairness; waits are ignored\n" +
			"  within TIME from EVENT ... to EVENT ...\n" +
			"                         each of the first events is followed in time by one of the second, as in\n" +
			"                         within 2s from start to answer +failed; events are transitions, +PLACE, -PLACE, start\n" +
			"If the file has intervals, they count. The exit code is 0 if all are proved (for reach: reached), 1 if one is\n" +
			"refuted, 3 if none is refuted and one is unknown, 2 if the file or a property is wrong, 4 if verify failed.",
		Args:              atMostOneNet,
		ValidArgsFunction: completeNets,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.kept.notes = cmd.ErrOrStderr()
			if err := c.checkMutate(cmd.Flags().Changed("mutants")); err != nil {
				return err
			}
			switch yes, err := c.configured(cmd.Flags(), args); {
			case err != nil:
				return err
			case yes:
				return c.runConfigured(cmd)
			}
			if len(args) == 1 && isNetFile(args[0]) {
				if c.mutate {
					return usagef("--mutate is for the nets we ship, not for %s", args[0])
				}
				return c.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return c.runShipped(cmd.Context(), argument(args), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addServeFlags(cmd)
	cmd.Flags().StringArrayVar(&c.properties, "property", nil,
		"what to check of the net in FILE, or the name of a property of NET; may be repeated")
	outputFlag(cmd, &c.json, "a list of verdicts")
	cmd.Flags().StringVar(&c.certificates, "certificates", "", "write the certificates of proofs to this directory")
	cmd.Flags().BoolVar(&c.mutate, "mutate", false,
		"change NET in one place at a time and print how many changes the properties notice")
	cmd.Flags().StringVar(&c.mutants, "mutants", "",
		"with --mutate: only changes whose names begin with this, such as link/")
	cmd.Flags().StringVar(&c.kept.script, "script", "",
		"write the run that refutes the first refuted property to this file, as a test for petritest")
	cmd.Flags().StringVar(&c.kept.frames, "frames", "",
		"draw that run into this directory, one SVG per marking: frame-000.svg and so on")
	return cmd
}

// runShipped checks the nets of a gateway without settings: one by name, or all.
func (c *fileCheck) runShipped(ctx context.Context, name string, stdout, stderr io.Writer) error {
	nets := shippedNets()
	if name != "" {
		n, err := findNet(name)
		if err != nil {
			return err
		}
		nets = []shippedNet{n}
	}
	if c.mutate {
		p := newProgress(stderr, "mutants")
		defer p.end()
		return c.score(ctx, nets, stdout, func(n shippedNet, ctx context.Context) (*mutate.Score, error) {
			return n.mutate(ctx, c.mutants, p)
		})
	}
	spendMemory()
	return c.verifyNets(ctx, nets, stdout, shippedNet.verify)
}

// verifyNets prints what check finds out about each net. It returns an error unless everything is proved.
func (c *fileCheck) verifyNets(ctx context.Context, nets []shippedNet, w io.Writer,
	check func(shippedNet, context.Context) (*claims.Proof, error)) error {
	v := newVerdicts(c, w)
	for _, n := range nets {
		proof, err := check(n, ctx)
		if err != nil {
			return err
		}
		if err := v.add(n, proof); err != nil {
			return err
		}
	}
	return v.finish()
}

// verify proves the net that runs as serve does, but anew.
func (n shippedNet) verify(ctx context.Context) (*claims.Proof, error) {
	list, err := claims.Prover{Anew: true, Now: stopwatch()}.Prove(ctx, n.config)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// stopwatch is a clock that begins now.
func stopwatch() verify.Clock {
	start := time.Now()
	return func() verify.Seconds { return verify.Seconds(time.Since(start).Seconds()) }
}
