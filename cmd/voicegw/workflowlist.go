package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/agent/workflow/flowtest"
	"github.com/voicegw/voicegw/settings"
)

func listWorkflowsCommand() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the workflows of a directory, and whether each is accepted",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listWorkflows(cmd.Context(), cmd.OutOrStdout(), dir, asJSON)
		},
	}
	outputFlag(cmd, &asJSON, "a list")
	cmd.Flags().StringVar(&dir, "dir", workflowsDir, "the `directory` of workflows: NAME/workflow.yaml or NAME.yaml")
	return cmd
}

// listedWorkflow is a workflow in the list, for programs.
type listedWorkflow struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Status string `json:"status"` // accepted, or refused and why
}

func listWorkflows(ctx context.Context, out io.Writer, dir string, asJSON bool) error {
	files, err := workflowFiles(dir)
	if err != nil {
		return &usageError{err}
	}
	return withTools(func(s *settings.Workflow) error {
		list := []listedWorkflow{}
		names := map[string]string{} // of accepted workflows: the file
		for _, file := range files {
			e, err := newEngine(s, exec.Config{})
			if err != nil {
				return err
			}
			name, says := workflowName(file), "accepted"
			w, err := addWorkflow(ctx, e, file)
			if w != nil {
				name = w.Name
			}
			if refused := (*refusedWorkflow)(nil); errors.As(err, &refused) {
				says = "refused: " + counted(len(refused.list), "finding")
			} else if err != nil {
				says = "refused: " + err.Error()
			} else if other, ok := names[name]; ok {
				says = fmt.Sprintf("refused: %s is named %s, too", other, name)
			} else if names[name] = file; w.Unverified != "" {
				says = "accepted, unverified: " + w.Unverified
			}
			list = append(list, listedWorkflow{name, file, says})
		}
		if asJSON {
			return printJSON(out, list)
		}
		for _, w := range list {
			fmt.Fprintf(out, "%-24s %-40s %s\n", w.Name, w.File, w.Status)
		}
		return nil
	})
}

// withTools calls do with a directory for the tool storage, which is removed afterwards: for what only asks which
// tools there are.
func withTools(do func(*settings.Workflow) error) error {
	dir, err := os.MkdirTemp("", "voicegw-storage-")
	if err != nil {
		return err
	}
	return errors.Join(do(&settings.Workflow{Storage: dir}), os.RemoveAll(dir))
}

// What init writes. NAME is the name of the workflow.
const (
	firstWorkflow = `name: NAME
description: Drafts an answer and signs it.
agents:
  - name: draft
    type: llm
    model: parrot # it repeats what it is told; with GEMINI_API_KEY, take gemini-2.5-flash
    instruction: "Answer in one friendly sentence."
    output_key: text
  - name: sign
    type: expr
    expression: "text + ' -- NAME'"
    input_keys: [text]
    output_key: signed
orchestration:
  type: sequential
  agents: [draft, sign]
`
	firstTests = `tests:
  - name: signs what the model has drafted
    message: Hello
    answers:
      draft: ["Good morning!"]
    expect:
      answer: "Good morning! -- NAME"
      state: {text: "Good morning!"}
      events: ["draft: Good morning!", "sign: Good morning! -- NAME"]
`
)

func initCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "write a first workflow, with a test",
		Long:  "init writes DIR/NAME/workflow.yaml and a test beside it. It changes no file that is there.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which name? It is used as: voicegw workflow init NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return initWorkflow(cmd.OutOrStdout(), filepath.Join(dir, args[0]), args[0])
		},
	}
	cmd.Flags().StringVar(&dir, "dir", workflowsDir, "the `directory` of workflows; it is made if it is missing")
	return cmd
}

// agentsOfFirst are the agents of firstWorkflow: a workflow must not have the name of one.
var agentsOfFirst = []string{"draft", "sign", "user"}

var flowName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func initWorkflow(out io.Writer, dir, name string) error {
	if !flowName.MatchString(name) {
		return usagef("%q is no name of a workflow: it begins with a letter and has up to 64 letters, digits, \"_\" and "+
			"\"-\"", name)
	}
	if slices.Contains(agentsOfFirst, name) {
		return usagef("a workflow must not be called %q, as an agent in it is; choose another name", name)
	}
	if _, err := os.Lstat(dir); err == nil {
		return answerf(exitFailed, "%s is there already; choose another name, or remove it", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{"workflow.yaml", firstWorkflow}, {"workflow_test.yaml", firstTests}} {
		file := filepath.Join(dir, f.name)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(f.text, "NAME", name)), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(out, "wrote %s\n", file)
	}
	return nil
}

func testCommand() *cobra.Command {
	var dir, tests string
	var asJSON bool
	var w settings.Workflow
	cmd := &cobra.Command{
		Use:   "test FILE|NAME",
		Short: "run the tests of a workflow on scripted models",
		Long: "test runs a workflow with answers of models and results of tools that a file beside it has:\n" +
			"workflow_test.yaml or workflow.test.yaml for workflow.yaml. It asks no model and no server.\n" +
			"docs/workflows.md has the format.\n\n" +
			"The exit code is 0 if all tests pass, 1 if one fails or the workflow is refused, 2 if there are none.",
		Args: oneWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := findWorkflow(args[0], dir)
			if err != nil {
				return err
			}
			return withTools(func(s *settings.Workflow) error {
				s.OpenAPI = w.OpenAPI
				return testWorkflow(cmd.Context(), cmd.OutOrStdout(), s, file, tests, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", workflowsDir, "the `directory` of workflows by name")
	outputFlag(cmd, &asJSON, "the results")
	cmd.Flags().StringVar(&tests, "tests", "", "the `file` of tests, if it is not beside the workflow")
	cmd.Flags().StringVar(&w.OpenAPI, "openapi", "", "a YAML `file` with openapi_tools")
	return cmd
}

// testFile is the file of tests beside a workflow.
func testFile(file string) (string, error) {
	base := strings.TrimSuffix(file, filepath.Ext(file))
	var tried []string
	for _, name := range []string{base + "_test.yaml", base + ".test.yaml"} {
		_, err := os.Stat(name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", &usageError{err}
		}
		tried = append(tried, name)
	}
	return "", usagef("%s has no tests: write %s", file, strings.Join(tried, " or "))
}

func testWorkflow(ctx context.Context, out io.Writer, s *settings.Workflow, file, tests string,
	asJSON bool) (err error) {
	if tests == "" {
		if tests, err = testFile(file); err != nil {
			return err
		}
	}
	text, err := readLimited(tests, flowtest.FileMax)
	if err != nil {
		return &usageError{err}
	}
	f, err := flowtest.Parse(tests, text)
	if err != nil {
		return &usageError{err}
	}
	t := flowtest.New(f)
	e, err := newEngine(s, exec.Config{Every: []exec.Hooks{t.Hooks()}})
	if err != nil {
		return &usageError{err}
	}
	w, err := addWorkflow(ctx, e, file)
	if refused := (*refusedWorkflow)(nil); errors.As(err, &refused) {
		return answerf(exitFailed, "%v", refused)
	} else if err != nil {
		return &usageError{err}
	}
	results, err := t.Run(ctx, e, w.Name)
	if err != nil {
		return err
	}
	failed := 0
	list := []testedWorkflow{}
	for _, r := range results {
		one := testedWorkflow{Test: r.Name, OK: len(r.Diffs) == 0}
		for _, d := range r.Diffs {
			one.Differences = append(one.Differences, d.String())
		}
		list = append(list, one)
		if !one.OK {
			failed++
		}
	}
	if asJSON {
		err = printJSON(out, list)
	} else {
		err = printTests(out, list)
	}
	if err != nil {
		return err
	}
	if failed > 0 {
		return answerf(exitFailed, "%d of %s failed", failed, counted(len(results), "test"))
	}
	return nil
}

// testedWorkflow is the result of a test.
type testedWorkflow struct {
	Test        string   `json:"test"`
	OK          bool     `json:"ok"`
	Differences []string `json:"differences,omitempty"`
}

// printTests prints results for people.
func printTests(out io.Writer, list []testedWorkflow) error {
	var b strings.Builder
	for _, one := range list {
		if one.OK {
			fmt.Fprintf(&b, "ok    %s\n", one.Test)
			continue
		}
		fmt.Fprintf(&b, "FAIL  %s\n", one.Test)
		for _, d := range one.Differences {
			fmt.Fprintln(&b, "      "+strings.ReplaceAll(d, "\n", "\n      "))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
