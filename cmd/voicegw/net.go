package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
)

func netCommand() *cobra.Command {
	var format string
	var list, asJSON bool
	cmd := &cobra.Command{
		Use:   "net [NAME[/PART]]",
		Short: "draw a net that calls or agents run on",
		Long: "net prints a net: as text for Graphviz (dot), as a drawing (svg), as data (json), or for other Petri net\n" +
			"tools (pnml, without time; tina, with time), if their formats can express it.\n" +
			"--list names the nets; without a name, net prints the first of them. agent and agent-transfer are nets of\n" +
			"stock agents. NAME/PART is one part of a net, such as session/turns or agent/host/model; squares are the\n" +
			"places that it shares with other parts.",
		Args:              atMostOneNet,
		ValidArgsFunction: completeNets,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				return listNets(cmd.OutOrStdout(), asJSON)
			case asJSON && cmd.Flags().Changed("format") && format != "json":
				return usagef("-o json and --format %s contradict each other", format)
			case asJSON:
				format = "json"
			}
			return drawNet(cmd.OutOrStdout(), argument(args), format)
		},
	}
	outputFlag(cmd, &asJSON, "with --list, a list of nets; else the same as --format json")
	cmd.Flags().StringVar(&format, "format", "dot", strings.Join(netFormats(), ", "))
	cmd.Flags().BoolVar(&list, "list", false, "name the nets")
	complete(cmd, "format", netFormats()...)
	return cmd
}

func atMostOneNet(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("it takes one net, not %q too", args[1])
	}
	return nil
}

// argument returns the only argument, or "".
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// listedNet is a net in the list, for programs.
type listedNet struct {
	Name        string `json:"name"`
	Places      int    `json:"places"`
	Transitions int    `json:"transitions"`
	About       string `json:"about"`
}

func listNets(w io.Writer, asJSON bool) error {
	var list []listedNet
	add := func(name, doc string, program func() (*petri.Program, error)) error {
		p, err := program()
		if err == nil {
			list = append(list, listedNet{name, len(p.Places()), len(p.Transitions()), doc})
		}
		return err
	}
	for _, n := range shippedNets() {
		if err := add(n.name, n.doc, n.program); err != nil {
			return err
		}
	}
	for _, n := range agentNets() {
		if err := add(n.name, n.doc, n.program); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(w, list)
	}
	for _, n := range list {
		fmt.Fprintf(w, "%-27s %3d places, %3d transitions: %s\n", n.Name, n.Places, n.Transitions, n.About)
	}
	return nil
}

func drawNet(w io.Writer, name, format string) error {
	p, o, err := drawing(name)
	if err != nil {
		return err
	}
	var out []byte
	switch format {
	case "dot":
		o.Title = ""
		out = []byte(dot.Graph(p, o))
	case "svg":
		out, err = dot.SVG(p, o)
	case "json":
		out, err = json.MarshalIndent(export(p), "", "  ")
		out = append(out, '\n')
	case "pnml", "tina":
		out, err = exportNet(p, format)
	default:
		return usagef("--format is %q; want one of %s", format, strings.Join(netFormats(), ", "))
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// netJSON is a net as data.
type netJSON struct {
	Name        string           `json:"name"`
	Places      []placeJSON      `json:"places"`
	Transitions []transitionJSON `json:"transitions"`
}

type placeJSON struct {
	Name       string   `json:"name"`
	Subnet     string   `json:"subnet,omitempty"` // when it is private to one
	Type       string   `json:"type"`             // of its tokens
	Keys       []string `json:"keys,omitempty"`
	Generation bool     `json:"generation,omitempty"` // its tokens are fresh or stale
	Capacity   int      `json:"capacity,omitempty"`   // when one is declared
	Role       string   `json:"role,omitempty"`       // environment, output, durable output, sink, final
	Initial    int      `json:"initial,omitempty"`    // tokens at the start
}

type transitionJSON struct {
	Name     string    `json:"name"`
	Subnet   string    `json:"subnet,omitempty"`
	When     string    `json:"when"` // how long it waits
	Priority int       `json:"priority,omitempty"`
	Arcs     []arcJSON `json:"arcs"`
}

type arcJSON struct {
	Kind   string `json:"kind"` // input, read, inhibit, reset, output
	Place  string `json:"place"`
	Count  int    `json:"count,omitempty"`
	All    bool   `json:"all,omitempty"`    // takes all tokens, at least count
	Only   string `json:"only,omitempty"`   // kinds of token
	Branch int    `json:"branch,omitempty"` // of an output with alternatives
}

// export turns a net into data.
func export(p *petri.Program) netJSON {
	out := netJSON{Name: p.Name()}
	initial := make([]int, len(p.Places()))
	for slot, n := range p.Initial() {
		initial[p.SlotPlace(slot)] += int(n)
	}
	for i, pl := range p.Places() {
		place := placeJSON{Name: pl.Name, Subnet: pl.Group, Type: pl.Type, Keys: pl.Keys, Generation: pl.Gen,
			Role: role(&pl), Initial: initial[i]}
		if pl.Max < petri.MaxTokens {
			place.Capacity = pl.Max
		}
		out.Places = append(out.Places, place)
	}
	for _, t := range p.Transitions() {
		tr := transitionJSON{Name: t.Name, Subnet: t.Group, When: t.When.String(), Priority: t.Priority}
		for _, a := range t.Arcs {
			tr.Arcs = append(tr.Arcs, arcJSON{Kind: arcWord(a.Kind), Place: p.Places()[a.Place].Name, Count: a.Count,
				All: a.All, Only: a.Label, Branch: a.Branch})
		}
		out.Transitions = append(out.Transitions, tr)
	}
	return out
}

func role(p *petri.PlaceInfo) string {
	switch {
	case p.Env:
		return "environment"
	case p.Durable:
		return "durable output"
	case p.Out:
		return "output"
	case p.Final:
		return "final"
	case p.Sink:
		return "sink"
	}
	return ""
}

func arcWord(k petri.ArcKind) string {
	switch k {
	case petri.InArc:
		return "input"
	case petri.ReadArc:
		return "read"
	case petri.InhibitArc:
		return "inhibit"
	case petri.ResetArc:
		return "reset"
	default:
		return "output"
	}
}
