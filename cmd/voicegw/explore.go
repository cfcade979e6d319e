package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/stateclass"
	"github.com/voicegw/voicegw/verify/walk"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	untimed, inclusion, reduce, json bool
	max                              int
}

// exploreCap is how many states explore visits unless it is told otherwise.
const exploreCap = explore.DefaultMax

func exploreCommand() *cobra.Command {
	var o exploreOptions
	cmd := &cobra.Command{
		Use:   "explore FILE",
		Short: "visit every state of a net from a file: PNML, or TINA's .net",
		Long: "explore visits every state of a net and counts states, edges, dead markings and the tokens of a place.\n\n" +
			"FILE is a PNML place/transition net, or a net in TINA's format. If a transition has an interval, the states\n" +
			"are state classes (the linear state class graph). --inclusion merges a class into one that contains it; this\n" +
			"keeps the markings and makes fewer classes. Without intervals, or with --untimed, the states are markings.\n" +
			"Transitions that may fire at the same time fire in any order.\n\n" +
			"--reduce leaves out markings that differ only in the order of independent firings. Every dead marking is\n" +
			"still found, but there are fewer states and edges than the net has, and no bounds. The net must have no\n" +
			"priorities; if it has intervals, add --untimed.\n\n" +
			"The exit code is 0 if every state was visited, 3 if the cap was hit, 2 if the file cannot be read, 4 if\n" +
			"explore failed.",
		Args: func(_ *cobra.Command, args []string) error {
			return oneFile("a PNML file, or a .net file of TINA")(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return exploreNet(cmd.Context(), args[0], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&o.untimed, "untimed", false, "ignore intervals: whatever is enabled may fire")
	cmd.Flags().BoolVar(&o.inclusion, "inclusion", false, "merge a state class into one that contains it")
	cmd.Flags().BoolVar(&o.reduce, "reduce", false, "find only the dead markings, without every order of firings")
	cmd.Flags().IntVar(&o.max, "cap", exploreCap, "the most states to visit")
	outputFlag(cmd, &o.json, "one object")
	return cmd
}

// explored is what explore prints.
type explored struct {
	States    int            `json:"states"` // markings or state classes
	Edges     int            `json:"edges"`
	Complete  bool           `json:"complete"`
	Deadlocks int            `json:"deadlocks"`       // different markings in which nothing is enabled
	Bounds    map[string]int `json:"bounds,omitzero"` // by place: the most tokens it holds; not if reduced
	Seconds   float64        `json:"seconds"`
	Reduced   bool           `json:"reduced,omitzero"` // as asked: states and edges may be fewer than those of the net

	kind  string   // what the states are
	order []string // the places as the file declares them
	idle  []string // transitions that never fire
	why   string   // it is not complete
}

func exploreNet(ctx context.Context, name string, o exploreOptions, stdout, stderr io.Writer) error {
	if o.max < 1 || o.max > explore.MaxMarkings/2 {
		return usagef("--cap is %d; want a number from 1 to %d", o.max, explore.MaxMarkings/2)
	}
	if o.untimed && o.inclusion {
		return usagef("--inclusion is about state classes, and with --untimed there are none")
	}
	n, err := readNet(name)
	if err != nil {
		return err
	}
	if o.reduce && n.file.Timed && !o.untimed {
		return usagef("--reduce is about markings; %s has intervals, which --untimed ignores", name)
	}
	m, err := n.model()
	if err != nil {
		return err
	}
	visit := exploreMarkings
	if n.file.Timed && !o.untimed {
		visit = exploreClasses
	}
	start := time.Now()
	e, err := visit(ctx, m, o, stderr)
	if err != nil {
		return stopped(err)
	}
	e.Seconds = time.Since(start).Seconds()
	warn(stderr, name, "place", "is in no arc", "are in no arc", n.unused())
	if err := e.print(stdout, o.json); err != nil {
		return err
	}
	if !e.Complete {
		return answerf(exitOpen, "not every state was visited: %s", e.why)
	}
	return nil
}

func exploreMarkings(ctx context.Context, m *netmodel.Model, o exploreOptions, stderr io.Writer) (*explored, error) {
	p := newProgress(stderr, "markings")
	defer p.end()
	vo := explore.Options{Max: o.max, Semantics: netmodel.Interleave, Progress: p.step}
	if o.reduce {
		if err := explore.Reducible(m); err != nil {
			return nil, &usageError{fmt.Errorf("--reduce: %w", err)}
		}
		vo.Reduce = &explore.Reduction{}
	}
	g, err := explore.ExploreModel(ctx, m, vo)
	if err != nil {
		return nil, err
	}
	e := &explored{kind: p.what, States: g.States(), Edges: g.Edges(), Deadlocks: len(g.Dead()), Reduced: o.reduce}
	if !o.reduce { // else what was left out would count
		e.fill(m, g.Bounds(), g.Idle())
	}
	e.judge(m, g.Complete, g.Faults, o)
	return e, nil
}

func exploreClasses(ctx context.Context, m *netmodel.Model, o exploreOptions, stderr io.Writer) (*explored, error) {
	p := newProgress(stderr, "state classes")
	defer p.end()
	so := stateclass.Options{Merge: stateclass.Equality, Max: o.max, Progress: p.step}
	if o.inclusion {
		so.Merge = stateclass.Inclusion
	}
	g, err := stateclass.Explore(ctx, m, so)
	if err != nil {
		return nil, err
	}
	dead := explore.NewMarkingSet(m.Slots())
	for _, class := range g.Dead() {
		dead.Add(g.Marking(class, nil))
	}
	e := &explored{kind: p.what, States: g.Classes(), Edges: g.Edges(), Deadlocks: dead.Len()}
	e.fill(m, g.Bounds(), g.Idle())
	e.judge(m, g.Complete, g.Faults, o)
	return e, nil
}

// fill names places and transitions.
func (e *explored) fill(m *netmodel.Model, bounds []int, idle []int32) {
	e.Bounds = map[string]int{}
	for i, n := range bounds {
		e.Bounds[m.Place(i)] = n
		e.order = append(e.order, m.Place(i))
	}
	for _, t := range idle {
		e.idle = append(e.idle, m.Transition(t))
	}
}

// judge says whether everything was visited: neither the cap was hit, nor a place held more tokens than can be counted.
func (e *explored) judge(m *netmodel.Model, complete bool, faults []explore.FaultAt, o exploreOptions) {
	e.Complete = complete && len(faults) == 0
	switch {
	case len(faults) > 0:
		e.why = walk.Describe(m, faults[0].Fault)
	case !complete:
		e.why = fmt.Sprintf("there are more than %d %s (--cap allows more)", o.max, e.kind)
	}
}

func (e *explored) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	more := ""
	if !e.Complete {
		more = ", and there are more"
	}
	if e.Reduced {
		more += " (reduced)"
	}
	fmt.Fprintf(w, "%d %s, %d edges%s\n%d dead markings\n", e.States, e.kind, e.Edges, more, e.Deadlocks)
	for _, place := range e.order {
		fmt.Fprintf(w, "  %-24s at most %d\n", place, e.Bounds[place])
	}
	never := "never fires"
	if !e.Complete {
		never = "does not fire in these"
	}
	for _, t := range e.idle {
		fmt.Fprintf(w, "  %-24s %s\n", t, never)
	}
	_, err := fmt.Fprintf(w, "%.3f s\n", e.Seconds)
	return err
}
