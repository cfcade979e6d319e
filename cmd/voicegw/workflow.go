package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/settings"
)

// workflowCheck is what validate is asked.
type workflowCheck struct {
	json         bool
	certificates string
	tools        settings.Workflow
	declared     declared
}

func workflowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "write, prove, run and test workflows in YAML",
		Long: "workflow works on workflows: agents in YAML, and how they run. A workflow is proved before it runs.\n" +
			"`voicegw serve --workflows DIR` serves them. docs/workflows.md explains them.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(initCommand(), validateCommand(), runCommand(), testCommand(), listWorkflowsCommand(),
		graphCommand(), &cobra.Command{
			Use: "schema", Short: "print the JSON Schema of the format", Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				_, err := cmd.OutOrStdout().Write(workflow.JSONSchema())
				return err
			}})
	return cmd
}

func validateCommand() *cobra.Command {
	var c workflowCheck
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "check a workflow and prove it",
		Long: "validate checks a workflow and proves it: every run ends and leaves nothing behind, every agent can run,\n" +
			"every loop is bounded, no state key is written by two branches at once or read before it is written. Each\n" +
			"finding has its line and column, and shows the run that breaks the rule. run and serve accept what validate\n" +
			"accepts, with the same --storage, --allow and --openapi. Name what your own Go program registers with --tool,\n" +
			"--toolset, --function, --callback or --plugin; run and serve do not have it.\n\n" +
			"The exit code is 0 if the workflow is accepted, 1 if it is refused, 2 if the file cannot be read.",
		Args: oneWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.validate(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &c.json, "the report")
	cmd.Flags().StringVar(&c.certificates, "certificates", "", "write the report with its certificates to this directory")
	addToolFlags(cmd.Flags(), &c.tools)
	c.declared.addFlags(cmd.Flags())
	return cmd
}

// oneWorkflow checks that there is exactly one argument.
func oneWorkflow(_ *cobra.Command, args []string) error {
	return oneFile("a workflow in YAML")(args)
}

// openWorkflow loads and compiles a workflow. The error is that of the file; without a workflow there are
// findings.
func openWorkflow(path string, r workflow.Registry) (*workflow.Compiled, *workflow.Workflow, []workflow.Finding,
	error) {
	text, err := readLimited(path, workflow.FileMax)
	if err != nil {
		return nil, nil, nil, usagef("%v", err)
	}
	w, found := workflow.Load(path, text, r)
	if w == nil {
		return nil, nil, found, nil
	}
	c, found := workflow.Compile(w)
	return c, w, found, nil
}

// validated is the report of validate as JSON.
type validated struct {
	Accepted bool   `json:"accepted"`
	Proved   bool   `json:"proved"`
	Version  string `json:"version,omitempty"` // of the file, as runs keep it
	workflow.Report
}

func (c *workflowCheck) validate(ctx context.Context, path string, w io.Writer) error {
	cfg, err := c.declared.config()
	if err != nil {
		return err
	}
	e, err := newEngine(&c.tools, cfg)
	if err != nil {
		return &usageError{err}
	}
	compiled, _, found, err := openWorkflow(path, c.declared.registry(e))
	if err != nil {
		return err
	}
	report := &workflow.Report{File: path, Findings: found, Warnings: []workflow.Finding{}, Proofs: []workflow.Proof{}}
	if compiled != nil {
		if report, err = workflow.Verify(ctx, compiled); err != nil {
			return err
		}
		if err := c.keep(ctx, compiled, report); err != nil {
			return err
		}
		if report.Accepted() {
			report.Findings = append(report.Findings, unusable(e.Add(compiled, report), path)...)
		}
	}
	if c.json {
		v := validated{Accepted: report.Accepted() && compiled != nil, Proved: report.Proved() && compiled != nil,
			Report: *report}
		if compiled != nil {
			v.Version = compiled.Workflow.Version
		}
		for i := range v.Proofs {
			v.Proofs[i].Certificate = nil
		}
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", b)
	} else {
		tellReport(w, report)
	}
	if !report.Accepted() {
		return answerf(exitFailed, "%s is refused: %s", path, counted(len(report.Findings), "finding"))
	}
	return nil
}

// unusable are the findings about what a file asks for and this program does not have.
func unusable(err error, file string) (list []workflow.Finding) {
	if err == nil {
		return nil
	}
	var agents exec.AgentErrors
	if !errors.As(err, &agents) {
		return []workflow.Finding{{Rule: workflow.Unsupports, File: file, Line: 1, Column: 1, Message: err.Error()}}
	}
	for _, a := range agents {
		list = append(list, workflow.Finding{Rule: workflow.Unsupports, File: file, Line: a.Agent.At.Line,
			Column: a.Agent.At.Column, Message: fmt.Sprintf("`%s`: %v", a.Agent.Name, a.Err)})
	}
	return list
}

// keep writes the report with its certificates, once a reader of it accepts them.
func (c *workflowCheck) keep(ctx context.Context, of *workflow.Compiled, r *workflow.Report) error {
	if c.certificates == "" {
		return nil
	}
	text := r.Bytes()
	if _, err := workflow.ReadReport(ctx, text, of); err != nil {
		return fmt.Errorf("the certificates do not hold, which is a fault of voicegw: %w", err)
	}
	if err := os.MkdirAll(c.certificates, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.certificates, workflow.CertificateName(of.Workflow)), text, 0o644)
}

// tellReport prints a report for people.
func tellReport(w io.Writer, r *workflow.Report) {
	for _, f := range r.Findings {
		fmt.Fprintln(w, f)
	}
	for _, f := range r.Warnings {
		fmt.Fprintf(w, "%s (warning)\n", f)
	}
	switch {
	case r.Proved():
		fmt.Fprintf(w, "%s: proved: %s\n", r.File, methods(r.Proofs))
	case r.Accepted():
		fmt.Fprintf(w, "%s: accepted, but not proved: %s\n", r.File, r.Unverified)
	}
}

// methods says how many blocks were proved, and by what.
func methods(proofs []workflow.Proof) string {
	count, states := map[string]int{}, 0
	for _, p := range proofs {
		method, _, _ := strings.Cut(p.Method, " ") // "like PATH"
		count[method]++
		states += p.States
	}
	words := counted(len(proofs), "block")
	for _, m := range [][2]string{{"structure", "by structure"}, {"choices", "with choices by structure"},
		{"explored", "explored with " + counted(states, "state")}, {"like", "like others"}} {
		if n := count[m[0]]; n > 0 {
			words += fmt.Sprintf(", %d %s", n, m[1])
		}
	}
	return words
}

// counted is a number of things in words.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func graphCommand() *cobra.Command {
	var format, block string
	var whole bool
	r := workflow.Registry{} // a drawing needs none of the names
	r.Model, r.Gemini = exec.Models()
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "draw the net of a workflow",
		Long: "graph draws the net of a workflow, with the names of the file: as text for Graphviz (dot) or as a drawing\n" +
			"(svg), with each agent as a task; or only the order of the agents (mermaid). --whole draws the net that runs.",
		Args: oneWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			return drawWorkflow(cmd.OutOrStdout(), args[0], format, block, whole, r)
		},
	}
	cmd.Flags().StringVar(&format, "format", "dot", strings.Join([]string{"dot", "svg", "mermaid"}, ", "))
	cmd.Flags().BoolVar(&whole, "whole", false, "draw the net that runs, with its turns and the session's writer")
	cmd.Flags().StringVar(&block, "block", "", "draw only the block of this agent, each agent in it as one transition")
	return cmd
}

func drawWorkflow(w io.Writer, path, format, block string, whole bool, r workflow.Registry) error {
	c, _, found, err := openWorkflow(path, r)
	if err != nil {
		return err
	}
	if c == nil {
		for _, f := range found {
			fmt.Fprintln(w, f)
		}
		return answerf(exitFailed, "%s has %s: validate it first", path, counted(len(found), "finding"))
	}
	p := c.Compiled()
	switch {
	case block != "":
		if p, err = c.Sketch(block); err != nil {
			return usagef("--block: %v", err)
		}
	case !whole:
		if p, err = c.Overview(); err != nil {
			return err
		}
	}
	var out []byte
	switch format {
	case "dot":
		out = []byte(dot.Graph(p, dot.Options{}))
	case "svg":
		out, err = dot.SVG(p, dot.Options{Title: c.Workflow.Name})
	case "mermaid":
		out = []byte(c.Mermaid())
	default:
		return usagef("--format is %q; want one of dot, svg, mermaid", format)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
