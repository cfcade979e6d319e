package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/agent/workflow/expr"
	"github.com/voicegw/voicegw/agent/workflow/openapi"
	"github.com/voicegw/voicegw/agent/workflow/tools"
	"github.com/voicegw/voicegw/internal/spelling"
	"github.com/voicegw/voicegw/settings"
)

// workflowsDir is where the commands look for workflows by name.
const workflowsDir = "workflows"

// addToolFlags adds what the operator gives the built-in tools.
func addToolFlags(f *pflag.FlagSet, w *settings.Workflow) {
	f.StringVar(&w.Storage, "storage", "",
		"the `directory` that the tool storage reads and writes; it is made if it is missing")
	f.StringSliceVar(&w.Allow, "allow", nil,
		"private `addresses`, prefixes and hosts that the tools may reach, such as 10.1.0.0/16,crm.internal")
	f.StringVar(&w.OpenAPI, "openapi", "", "a YAML `file` with openapi_tools: documents whose operations are tools")
}

// newEngine is an engine with the built-in tools.
func newEngine(s *settings.Workflow, more exec.Config) (*exec.Engine, error) {
	client, err := fetch.New(fetch.Config{Allow: s.Allow})
	if err != nil {
		return nil, fmt.Errorf("workflow.allow: %w", err)
	}
	var folder *tools.Folder
	if s.Storage != "" {
		if err := os.MkdirAll(s.Storage, 0o700); err != nil {
			return nil, fmt.Errorf("workflow.storage: %w", err)
		}
		if folder, err = tools.OpenFolder(s.Storage, s.StorageBytes); err != nil {
			return nil, fmt.Errorf("workflow.storage: %w", err)
		}
		more.Files = folder.Artifacts
	}
	builtin, err := tools.New(tools.Config{Client: client, Folder: folder})
	if err != nil {
		return nil, err
	}
	more.Tools = append(more.Tools, builtin...)
	if err := addOpenAPI(s.OpenAPI, client, &more); err != nil {
		return nil, fmt.Errorf("workflow.openapi: %w", err)
	}
	more.Expression = func(text string, keys []string) (func(context.Context, map[string]any) (any, error), error) {
		e, err := expr.Compile(text, keys)
		if err != nil {
			return nil, err
		}
		return e.Eval, nil
	}
	return exec.New(more)
}

// addOpenAPI adds the tools of a file with openapi_tools, whose documents are beside it.
func addOpenAPI(file string, client *fetch.Client, to *exec.Config) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sets, err := openapi.Parse(file, text)
	if err != nil {
		return err
	}
	if to.Toolsets == nil {
		to.Toolsets = map[string][]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		list, err := openapi.Load(name, sets[name], openapi.Options{Dir: filepath.Dir(file), Client: client})
		if err != nil {
			return err
		}
		for _, t := range list {
			to.Tools = append(to.Tools, t)
			to.Toolsets[name] = append(to.Toolsets[name], t.Declaration.Name)
		}
	}
	return nil
}

// refusedWorkflow is the error of a workflow that is not accepted. Its text has all findings.
type refusedWorkflow struct {
	file string
	list []workflow.Finding
}

// Error lists the findings.
func (r *refusedWorkflow) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is refused: %s", r.file, counted(len(r.list), "finding"))
	for _, f := range r.list {
		b.WriteString("\n" + f.String())
	}
	return b.String()
}

// addWorkflow loads, proves and adds a workflow. The error is a *refusedWorkflow if the file is not accepted.
func addWorkflow(ctx context.Context, e *exec.Engine, file string) (*workflow.Workflow, error) {
	c, w, found, err := openWorkflow(file, e.Registry())
	if err != nil {
		return nil, err
	}
	if c == nil {
		return w, &refusedWorkflow{file, found}
	}
	r, err := workflow.Verify(ctx, c)
	if err != nil {
		return w, err
	}
	if !r.Accepted() {
		return w, &refusedWorkflow{file, r.Findings}
	}
	return w, e.Add(c, r)
}

// workflowFiles are the files of workflows in a directory: DIR/NAME/workflow.yaml and DIR/NAME.yaml, in order.
func workflowFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // behind links
		switch ext := filepath.Ext(path); {
		case err != nil:
			return nil, err
		case info.IsDir():
			file := filepath.Join(path, "workflow.yaml")
			if _, err := os.Stat(file); err == nil {
				list = append(list, file)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		case (ext == ".yaml" || ext == ".yml") && !isTestFile(path):
			list = append(list, path)
		}
	}
	return list, nil
}

// isTestFile reports whether a file has tests of a workflow.
func isTestFile(path string) bool {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return strings.HasSuffix(name, "_test") || strings.HasSuffix(name, ".test")
}

// findWorkflow is the file of a workflow: what names a file, or a name in a directory.
func findWorkflow(what, dir string) (string, error) {
	ext := filepath.Ext(what)
	if ext == ".yaml" || ext == ".yml" || strings.ContainsRune(what, filepath.Separator) {
		if info, err := os.Stat(what); err == nil && info.IsDir() {
			what = filepath.Join(what, "workflow.yaml")
		}
		return what, nil
	}
	list, err := workflowFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usagef("there is no directory %q with the workflow %q; give --dir, or a file such as %s.yaml", dir, what,
			what)
	} else if err != nil {
		return "", &usageError{err}
	}
	var names []string
	for _, file := range list {
		name := workflowName(file)
		if name == what {
			return file, nil
		}
		names = append(names, name)
	}
	return "", usagef("there is no workflow %q in %s%s", what, dir, hintOf(what, names))
}

// workflowName is the name of the directory or the file of a workflow.
func workflowName(file string) string {
	if filepath.Base(file) == "workflow.yaml" {
		abs, err := filepath.Abs(file)
		if err != nil {
			abs = file
		}
		return filepath.Base(filepath.Dir(abs))
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// hintOf suggests one of some names, or lists them.
func hintOf(wrong string, names []string) string {
	if near := spelling.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(names) == 0 {
		return "; it has none"
	}
	slices.Sort(names)
	return "; there are: " + strings.Join(names, ", ")
}

// workflowModels opens the models of workflows: those that they name, or one in place of all.
func workflowModels(instead string) (*provider.Resolver, error) {
	all, err := provider.Config{Lookup: os.Getenv}.Resolver()
	if err != nil || instead == "" {
		return all, err
	}
	ref, err := provider.ParseRef(instead)
	if err != nil {
		return nil, err
	}
	return all.Instead(ref)
}
