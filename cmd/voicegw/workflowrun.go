package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/memory"
	"github.com/voicegw/voicegw/settings"
)

// workflowRun is what run is asked.
type workflowRun struct {
	tools                     settings.Workflow
	mcp                       settings.MCP
	dir, message, input, user string
	model, session, dataDir   string
	json                      bool
	stdin                     io.Reader
	stdout, stderr            io.Writer
	rt                        *managed.Runtime
	owner                     managed.Owner
	show                      *flowProgress
	outcome                   exec.Outcome
	terminal                  bool // stdin is one: a person can answer
	answers                   *bufio.Scanner
}

func runCommand() *cobra.Command {
	var r workflowRun
	cmd := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "run a workflow in this process and print its answer",
		Long: "run proves a workflow and runs it in this process. It shows on stderr which agents work, and prints the\n" +
			"answer on stdout. A NAME is looked for in --dir: NAME/workflow.yaml or NAME.yaml. Calls that wait for the\n" +
			"client, such as get_user_choice, are asked at the terminal.\n\n" +
			"Without --data-dir the run ends with the process. With it, a run that was stopped goes on with --session:\n" +
			"agents that are done do not run again.\n\n" +
			"The exit code is 0 if the run is done, 1 if it failed or the workflow is refused, 2 if the command is wrong,\n" +
			"3 if the run waits for an answer that nobody here can give.",
		Example: "  voicegw workflow run greet -m 'Hello'\n" +
			"  voicegw workflow run flow.yaml -m 'Hello' --model parrot\n" +
			"  voicegw workflow run flow.yaml -m 'Hello' --data-dir data\n" +
			"  voicegw workflow run flow.yaml --data-dir data --session sesn_...",
		Args: oneWorkflow,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.stdin, r.stdout, r.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return r.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&r.message, "message", "m", "", "the message with which the run begins")
	f.StringVarP(&r.input, "input", "i", "", "the message in `JSON`: {\"message\": \"Hello\"}")
	f.StringVarP(&r.user, "user", "u", "", "the user of the run, for state that all runs of a user share")
	f.StringVar(&r.dir, "dir", workflowsDir, "the `directory` of workflows by name")
	outputFlag(cmd, &r.json, "the result")
	f.StringVar(&r.model, "model", "", "ask this model in place of all others: parrot, or script/FILE, need no key")
	f.StringVar(&r.dataDir, "data-dir", "", "the `directory` that keeps the run; it is made if it is missing")
	f.StringVar(&r.session, "session", "",
		"go on with this session of --data-dir: its run that was stopped, or a new message")
	f.BoolVar(&r.mcp.Private, "mcp-private", false,
		"allow private addresses for MCP servers, such as those of this machine")
	f.StringSliceVar(&r.mcp.Commands, "mcp-commands", nil, "`programs` that may run as MCP servers")
	f.StringSliceVar(&r.mcp.CommandEnv, "mcp-command-env", nil, "`variables` that these programs get besides PATH")
	f.StringVar(&r.mcp.Bearers, "mcp-bearers", "",
		"the `file` that says which secrets MCP servers get, as mcp.bearers of serve")
	addToolFlags(f, &r.tools)
	return cmd
}

// words checks the flags and reads the message.
func (r *workflowRun) words() error {
	switch {
	case r.message != "" && r.input != "":
		return usagef("--message and --input contradict each other")
	case r.session != "" && r.dataDir == "":
		return usagef("--session needs --data-dir, which keeps the sessions")
	case r.input != "":
		var in struct {
			Message *string `json:"message"`
		}
		d := json.NewDecoder(strings.NewReader(r.input))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil {
			return usagef("--input is no {\"message\": ...}: %v", err)
		}
		if in.Message == nil || d.More() {
			return usagef("--input is %s; write {\"message\": \"...\"}", r.input)
		}
		r.message = *in.Message
	}
	if r.message == "" && r.session == "" {
		return usagef("there is no message: give --message")
	}
	return nil
}

func (r *workflowRun) run(ctx context.Context, what string) error {
	if err := r.words(); err != nil {
		return err
	}
	file, err := findWorkflow(what, r.dir)
	if err != nil {
		return err
	}
	r.show = newFlowProgress(r.stderr)
	engine, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }()
	e, err := newEngine(&r.tools, exec.Config{Every: []exec.Hooks{r.show.hooks()}, Store: exec.NewJournalStore(engine),
		Logger: r.show.logger()})
	if err != nil {
		return &usageError{err}
	}
	w, err := addWorkflow(ctx, e, file)
	if refused := (*refusedWorkflow)(nil); errors.As(err, &refused) {
		return answerf(exitFailed, "%v", refused)
	} else if err != nil {
		return &usageError{err}
	}
	if err := r.begin(e, w.Name, engine); err != nil {
		return err
	}
	defer func() { _ = r.rt.Close(context.WithoutCancel(ctx)) }()
	from, err := r.start(ctx, w.Name)
	if err != nil {
		return err
	}
	err = r.follow(ctx, w.Name, from)
	r.show.end()
	if err != nil {
		return err
	}
	return r.tell(w.Name)
}

// open opens the journal.
func (r *workflowRun) open(ctx context.Context) (journal.Engine, error) {
	if r.dataDir == "" {
		return memory.New(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, journalStart)
	defer cancel()
	e, err := jetstream.Open(ctx, jetstream.Config{Dir: r.dataDir})
	if err != nil {
		return nil, fmt.Errorf("open --data-dir: %w", err)
	}
	return e, nil
}

// begin makes the runtime.
func (r *workflowRun) begin(e *exec.Engine, name string, engine journal.Engine) error {
	models, err := workflowModels(r.model)
	if err != nil {
		return &usageError{err}
	}
	credentials, err := readTable("--mcp-bearers", r.mcp.Bearers, managed.ParseCredentials)
	if err != nil {
		return &usageError{err}
	}
	d, err := e.Definition(name)
	if err != nil {
		return err
	}
	r.owner, r.outcome.Usage.Model = managed.Owner{User: r.user}, d.Model.ID
	r.rt, err = managed.New(managed.Config{Journal: engine, Models: models, Programs: e.Programs(),
		Shared: []managed.Definition{d}, Logger: zap.NewNop(), AllowPrivate: r.mcp.Private,
		Commands: r.mcp.Commands, CommandEnv: r.mcp.CommandEnv, Credentials: credentials,
		Node: nodeName(&settings.Journal{})})
	if r.model == "" && errors.Is(err, provider.ErrNoKey) {
		err = fmt.Errorf("%w; or take another model with --model, such as parrot, which needs none", err)
	}
	if errors.Is(err, managed.ErrNoCredential) {
		err = fmt.Errorf("%w; --mcp-bearers FILE has them", err)
	}
	if err != nil {
		return &usageError{err}
	}
	return nil
}

// start begins a session, or goes on with one. It returns the number of the first event of the run.
func (r *workflowRun) start(ctx context.Context, name string) (uint64, error) {
	if r.session == "" {
		s, err := r.rt.StartSession(ctx, r.owner, managed.SessionRequest{Agent: managed.SharedID(name),
			Initial: []managed.Event{managed.Text(r.message)}})
		if err != nil {
			return 0, err
		}
		r.session = s.ID
		if r.dataDir != "" {
			fmt.Fprintf(r.stderr, "the run is in session %s\n", s.ID)
		}
		return 1, nil
	}
	s, err := r.rt.Session(ctx, r.owner, r.session)
	if err != nil {
		return 0, &usageError{err}
	}
	if s.Agent.Name != name {
		return 0, usagef("session %s is of the workflow %q, not of %q", s.ID, s.Agent.Name, name)
	}
	if r.message == "" {
		if err := r.rt.GoOn(ctx, r.owner, s.ID); err != nil {
			return 0, err
		}
		return exec.RunBegin(ctx, r.rt, r.owner, s.ID)
	}
	sent, err := r.rt.Send(ctx, r.owner, s.ID, managed.Once{}, managed.Text(r.message))
	if err != nil {
		return 0, err
	}
	return sent[0].Seq, nil
}

// follow reads events until the run ends, or waits for what nobody here can tell.
func (r *workflowRun) follow(ctx context.Context, name string, from uint64) error {
	r.outcome.Session = r.session
	if f, ok := r.stdin.(*os.File); ok {
		info, err := f.Stat()
		r.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	r.answers = bufio.NewScanner(r.stdin)
	for ev, err := range r.rt.Events(ctx, r.owner, r.session, from, true) {
		if err != nil {
			return err
		}
		r.show.event(name, ev)
		if !r.outcome.Add(name, ev) {
			continue
		}
		switch {
		case r.outcome.Status != exec.Waiting:
			return nil
		case r.answered(ev.Seq):
			continue
		case !r.terminal:
			return nil
		}
		if again, err := r.ask(ctx); err != nil || !again {
			return err
		}
	}
	if ctx.Err() != nil {
		note := "; the run is lost"
		if r.dataDir != "" {
			note = "; go on with --session " + r.session
		}
		return fmt.Errorf("stopped%s", note)
	}
	return errors.New("the events of the run have ended")
}

// answered reports whether the session has gone on behind an event: its calls have their answers by now.
func (r *workflowRun) answered(seq uint64) bool {
	s, err := r.rt.Session(context.Background(), r.owner, r.session)
	return err == nil && s.LastSeq > seq
}

// ask asks the person at the terminal for the answers of calls. Without an answer it returns false.
func (r *workflowRun) ask(ctx context.Context) (bool, error) {
	r.show.end()
	var list []managed.Event
	for _, w := range r.outcome.Waits {
		ev, ok := r.askOne(w)
		if !ok {
			return false, nil
		}
		list = append(list, ev)
	}
	_, err := r.rt.Send(ctx, r.owner, r.session, managed.Once{}, list...)
	return err == nil, err
}

func (r *workflowRun) askOne(w exec.Wait) (managed.Event, bool) {
	input, _ := json.Marshal(w.Input)
	question, options := questionOf(input)
	switch {
	case w.Asks == "confirmation":
		fmt.Fprintf(r.stderr, "%s wants to call %s with %s. Allow it? [y/N] ", w.Agent, w.Tool, input)
	case len(options) > 0:
		if question != "" {
			fmt.Fprintln(r.stderr, question)
		}
		for i, o := range options {
			fmt.Fprintf(r.stderr, "  %d. %s\n", i+1, o)
		}
		fmt.Fprintf(r.stderr, "%s asks. Your choice: ", w.Agent)
	default:
		fmt.Fprintf(r.stderr, "%s calls %s with %s. The result: ", w.Agent, w.Tool, input)
	}
	if !r.answers.Scan() {
		fmt.Fprintln(r.stderr)
		return managed.Event{}, false
	}
	text := strings.TrimSpace(r.answers.Text())
	if w.Asks == "confirmation" {
		ev := managed.Event{Type: managed.UserConfirmation, ToolUseID: w.ID, Result: "deny"}
		if slices.Contains([]string{"y", "yes"}, strings.ToLower(text)) {
			ev.Result = "allow"
		}
		return ev, true
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
		text = options[n-1]
	}
	return managed.Event{Type: managed.UserCustomResult, CustomID: w.ID, Content: managed.Text(text).Content}, true
}

// questionOf is what a get_user_choice asks, and the options.
func questionOf(input []byte) (string, []string) {
	var in struct {
		Question string
		Options  []string
	}
	if json.Unmarshal(input, &in) != nil {
		return "", nil
	}
	return in.Question, in.Options
}

// tell prints the result.
func (r *workflowRun) tell(name string) error {
	o := &r.outcome
	if r.json {
		b, err := json.MarshalIndent(o, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(r.stdout, "%s\n", b)
	} else if o.Status == exec.Done {
		fmt.Fprintln(r.stdout, o.Content)
	}
	switch o.Status {
	case exec.Done:
		return nil
	case exec.Waiting:
		var list []string
		for _, w := range o.Waits {
			list = append(list, fmt.Sprintf("the %s of %s, which %s calls (%s)", w.Asks, w.Tool, w.Agent, w.ID))
		}
		how := "answer at a terminal"
		if r.dataDir != "" {
			how += ", with --session " + r.session
		}
		return answerf(exitOpen, "%s waits for %s; %s", name, strings.Join(list, " and for "), how)
	}
	return answerf(exitFailed, "%s has failed: %s", name, o.Failure)
}

// seconds is a time for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
