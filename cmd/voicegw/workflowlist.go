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
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the workflows of a directory, and whether each is accepted",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listWorkflows(cmd.Context(), cmd.OutOrStdout(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", workflowsDir, "the `directory` of workflows: NAME/workflow.yaml or NAME.yaml")
	return cmd
}

func listWorkflows(ctx context.Context, out io.Writer, dir string) error {
	files, err := workflowFiles(dir)
	if err != nil {
		return &usageError{err}
	}
	return withTools(func(s *settings.Workflow) error {
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
			} else if w.Unverified != "" {
				says = "accepted, unverified: " + w.Unverified
			}
			fmt.Fprintf(out, "%-24s %-40s %s\n", name, file, says)
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
				return testWorkflow(cmd.Context(), cmd.OutOrStdout(), s, file, tests)
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", workflowsDir, "the `directory` of workflows by name")
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

func testWorkflow(ctx context.Context, out io.Writer, s *settings.Workflow, file, tests string) (err error) {
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
	for _, r := range results {
		if len(r.Diffs) == 0 {
			fmt.Fprintf(out, "ok    %s\n", r.Name)
			continue
		}
		failed++
		fmt.Fprintf(out, "FAIL  %s\n", r.Name)
		for _, d := range r.Diffs {
			fmt.Fprintln(out, "      "+strings.ReplaceAll(d.String(), "\n", "\n      "))
		}
	}
	if failed > 0 {
		return answerf(exitFailed, "%d of %s failed", failed, counted(len(results), "test"))
	}
	return nil
}
