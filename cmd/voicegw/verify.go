package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/voicenets"
)

// markingsMax bounds each exploration.
const markingsMax = 1_000_000

func verifyCommand() *cobra.Command {
	var c fileCheck
	cmd := &cobra.Command{
		Use:   "verify [NET | FILE --property P ...]",
		Short: "prove what nets must keep: those that calls run on, or one from a file",
		Long: "verify visits every marking of a net that calls run on, closed with an environment in which anything may\n" +
			"come at any time, and whatever its timers do, and prints a verdict for each property: proved, by a list of\n" +
			"markings that a second program goes through again, refuted, with a run of the net that shows it, or unknown.\n" +
			"`voicegw net --list` names the nets; without a name it checks all.\n\n" +
			"With --mutate NET is changed in one place at a time instead, with small counts, and verify prints how many\n" +
			"changes a property refutes. That takes minutes a part, up to half an hour for all of a net;\n" +
			"--mutants digits/ looks at one part.\n\n" +
			"Instead of a name it takes a file, PNML or TINA's .net, and at least one --property to check:\n" +
			"  deadlock-free       some transition is enabled in every marking\n" +
			"  bound PLACE <= N    the place never holds more than N tokens\n" +
			"  never EXPR          no marking satisfies EXPR, such as on_1 >= 1 && closed == 0 (also ||, ! and parentheses)\n" +
			"  reach EXPR          some marking does\n" +
			"Intervals count if the file has some. The exit code is 0 if all are proved (for reach: reached), 1 if one is\n" +
			"refuted, 3 if none is and one is unknown, 2 if the file or a property is wrong.",
		Args: atMostOneNet,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.kept.notes = cmd.ErrOrStderr()
			if err := c.checkMutate(cmd.Flags().Changed("mutants")); err != nil {
				return err
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
	cmd.Flags().StringArrayVar(&c.properties, "property", nil,
		"what to check of the net in FILE, or the name of a property of NET; more than once for more")
	cmd.Flags().BoolVar(&c.json, "json", false, "print a JSON list of verdicts")
	cmd.Flags().StringVar(&c.certificates, "certificates", "", "a directory to write the certificates of proofs to")
	cmd.Flags().BoolVar(&c.mutate, "mutate", false,
		"change NET in one place at a time and print how many changes the properties notice")
	cmd.Flags().StringVar(&c.mutants, "mutants", "", "with --mutate: only the changes whose names begin so, such as link/")
	cmd.Flags().StringVar(&c.kept.script, "script", "",
		"a file to write the run that refutes the first refuted property to, as a test for petritest")
	cmd.Flags().StringVar(&c.kept.frames, "frames", "",
		"a directory to draw that run into, one SVG a marking: frame-000.svg and so on")
	return cmd
}

// runShipped checks the nets we ship: one by name, or all.
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
	return c.verifyNets(ctx, nets, stdout, shippedNet.verify)
}

// verifyNets prints what check finds out about each net. It returns an error unless everything is proved.
func (c *fileCheck) verifyNets(ctx context.Context, nets []shippedNet, w io.Writer,
	check func(shippedNet, context.Context, []*verify.Property) (*verify.Report, error)) error {
	var open []string
	outcome, found := verify.Proved, []finding{}
	for _, n := range nets {
		props, err := c.pick(n)
		if err != nil {
			return err
		}
		report, err := check(n, ctx, props)
		if err != nil {
			return err
		}
		report.Net = n.name
		these := findings(report)
		if err := c.write(report, these, nil); err != nil {
			return err
		}
		found = append(found, these...)
		if !c.json {
			printVerdicts(w, n, report)
			if err := c.printFigures(ctx, w, n); err != nil {
				return err
			}
		}
		if err := c.kept.keepShipped(report, n); err != nil {
			return err
		}
		if o := report.Outcome(); o != verify.Proved {
			open = append(open, n.name)
			if outcome != verify.Refuted {
				outcome = o
			}
		}
	}
	if c.json {
		if err := printFindings(w, found); err != nil {
			return err
		}
	}
	if err := c.kept.finish(); err != nil {
		return err
	}
	switch names := strings.Join(open, ", "); {
	case outcome == verify.Refuted:
		return answerf(exitFailed, "not everything holds of %s", names)
	case len(open) > 0:
		return answerf(exitOpen, "not everything is proved of %s", names)
	}
	return nil
}

// keeps are the properties of a net we ship.
func (n shippedNet) keeps() ([]*verify.Property, error) {
	closed, err := n.closed()
	if err != nil {
		return nil, err
	}
	list := []*verify.Property{voicenets.Capacity()}
	for _, part := range voicenets.Proofs(n.config, closed) {
		list = append(list, part.Props...)
	}
	return list, nil
}

// closed is the net that runs in a hostile environment.
func (n shippedNet) closed() (*petri.Program, error) {
	net, err := voicenets.Hostile(n.config)
	if err != nil {
		return nil, err
	}
	return petri.Compile(net)
}

// pick is the properties that --property names, or all.
func (c *fileCheck) pick(n shippedNet) ([]*verify.Property, error) {
	all, err := n.keeps()
	if err != nil {
		return nil, err
	}
	if len(c.properties) == 0 {
		return all, nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	var picked []*verify.Property
	for _, name := range c.properties {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, usagef("%s has no property %q; %s", n.name, name,
				suggest(name, names, "its properties are "+strings.Join(names, ", ")))
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// verify proves the net that runs, in a hostile environment, slice by slice.
func (n shippedNet) verify(ctx context.Context, props []*verify.Property) (*verify.Report, error) {
	closed, err := n.closed()
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, p := range props {
		asked[p.Name] = true
	}
	start := time.Now()
	clock := func() verify.Seconds { return verify.Seconds(time.Since(start).Seconds()) }
	report, err := verify.RunParts(ctx, closed, verify.Config{Max: markingsMax, Now: clock, Certify: true},
		[]*verify.Property{voicenets.Capacity()}, voicenets.Proofs(n.config, closed)...)
	if err != nil {
		return nil, err
	}
	report.Results = slices.DeleteFunc(report.Results, func(r verify.Result) bool { return !asked[r.Property.Name] })
	return &report.Report, nil
}

func printVerdicts(w io.Writer, n shippedNet, r *verify.Report) {
	fmt.Fprintf(w, "%s: %s\n", n.name, n.doc)
	var total verify.Seconds
	for _, res := range r.Results {
		fmt.Fprintf(w, "  %-8s %-16s %s\n", res.Outcome, res.Property.Name, res.Property.Doc)
		if res.Outcome != verify.Proved {
			fmt.Fprintf(w, "           %s\n", res.Reason)
		}
		for _, line := range storyLines(res.Witness) {
			fmt.Fprintf(w, "             %s\n", line)
		}
		total += res.Seconds
	}
	if len(r.Results) > 0 {
		fmt.Fprintf(w, "  %s, %.2f s\n", r.Outcome(), float64(total))
	}
}

// printFigures prints how long things take at most, unless single properties were asked for.
func (c *fileCheck) printFigures(ctx context.Context, w io.Writer, n shippedNet) error {
	if len(c.properties) > 0 {
		return nil
	}
	list, err := voicenets.Figures(ctx, n.config)
	if err != nil {
		return answerf(exitFailed, "%v", err)
	}
	fmt.Fprintln(w, "  the worst cases, whatever its environment does and whenever; some run attains each:")
	for _, f := range list {
		fmt.Fprintf(w, "    %8v  %-17s %s\n", f.Most, f.Name, f.Doc)
	}
	return nil
}
