package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// agentInfo is an agent as the API tells it.
type agentInfo struct {
	ID        string `json:"id"`
	Version   int    `json:"version"`
	Name      string `json:"name"`
	Model     struct{ ID string }
	CreatedAt time.Time `json:"created_at"`
	Metadata  map[string]string
}

// sessionLine is a session as the API tells it.
type sessionLine struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	Paused    bool      `json:"paused"`
	Title     string    `json:"title"`
	Agent     agentInfo `json:"agent"`
	LastSeq   uint64    `json:"last_seq"`
	CreatedAt time.Time `json:"created_at"`
	Usage     managed.Usage
}

func agentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "list and make agents",
		Long: "agents speaks to the sessions API of a gateway that was started with --data-dir. A token with the scope\n" +
			"sessions, if the gateway wants one, comes from " + sessionTokenVariable + ". docs/managed.md explains agents.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		withAPI(&cobra.Command{Use: "list", Short: "list agents"}, 0, 0, listAgents),
		withAPI(&cobra.Command{Use: "show ID", Short: "print an agent as JSON"}, 1, 1,
			func(ctx context.Context, c *apiClient, args []string) error { return c.show(ctx, "agents/"+args[0]) }),
		withAPI(&cobra.Command{Use: "create FILE", Short: "make an agent from a definition in YAML or JSON"}, 1, 1,
			createAgent),
		withAPI(&cobra.Command{Use: "archive ID", Short: "take no new sessions for an agent"}, 1, 1,
			func(ctx context.Context, c *apiClient, args []string) error {
				var a agentInfo
				return c.call(ctx, http.MethodPost, "agents/"+args[0]+"/archive", nil, &a)
			}))
	return cmd
}

// show prints something as JSON that people can read.
func (c *apiClient) show(ctx context.Context, path string) error {
	var v any
	c.json = false
	if err := c.call(ctx, http.MethodGet, path, nil, &v); err != nil {
		return err
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", b)
	return err
}

func listAgents(ctx context.Context, c *apiClient, _ []string) error {
	list, err := all[agentInfo](ctx, c, "agents?limit=100")
	if err != nil || c.json {
		return err
	}
	for _, a := range list {
		note := ""
		if why := a.Metadata[exec.UnverifiedKey]; why != "" {
			note = "  not proved: " + why
		}
		fmt.Fprintf(c.out, "%s  v%-3d %-24s %s%s\n", a.ID, a.Version, a.Name, a.Model.ID, note)
	}
	return nil
}

func createAgent(ctx context.Context, c *apiClient, args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return &usageError{err}
	}
	d, err := managed.ParseDefinition(text)
	if err != nil {
		return usagef("%s: %w", args[0], err)
	}
	var a agentInfo
	if err := c.call(ctx, http.MethodPost, "agents", d, &a); err != nil || c.json {
		return err
	}
	fmt.Fprintln(c.out, a.ID)
	return nil
}

func sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "list, follow and steer sessions of agents",
		Long: "sessions speaks to the sessions API of a gateway that was started with --data-dir. A token with the scope\n" +
			"sessions, if the gateway wants one, comes from " + sessionTokenVariable + ". docs/managed.md explains sessions.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	post := func(use, short, verb string) *cobra.Command {
		return withAPI(&cobra.Command{Use: use, Short: short}, 1, 1,
			func(ctx context.Context, c *apiClient, args []string) error {
				var s sessionLine
				return c.call(ctx, http.MethodPost, "sessions/"+args[0]+"/"+verb, nil, &s)
			})
	}
	cmd.AddCommand(listSessionsCommand(), sendCommand(), followCommand(),
		withAPI(&cobra.Command{Use: "show ID", Short: "print a session as JSON"}, 1, 1,
			func(ctx context.Context, c *apiClient, args []string) error { return c.show(ctx, "sessions/"+args[0]) }),
		withAPI(&cobra.Command{Use: "start AGENT [TEXT]", Short: "begin a session, send a message and follow its turn"}, 1, 2,
			startSession),
		withAPI(&cobra.Command{Use: "export ID", Short: "print all events of a session as JSON lines"}, 1, 1, exportSession),
		post("pause ID", "let the running turn end, and begin no other until resume", "pause"),
		post("resume ID", "go on after a pause", "resume"),
		post("archive ID", "end a session; it stays readable", "archive"),
		withAPI(&cobra.Command{Use: "delete ID", Short: "delete a session and everything it stored"}, 1, 1,
			func(ctx context.Context, c *apiClient, args []string) error {
				var v any
				return c.call(ctx, http.MethodDelete, "sessions/"+args[0], nil, &v)
			}))
	return cmd
}

func listSessionsCommand() *cobra.Command {
	var archived bool
	cmd := withAPI(&cobra.Command{Use: "list", Short: "list sessions, the newest first"}, 0, 0,
		func(ctx context.Context, c *apiClient, _ []string) error {
			list, err := all[sessionLine](ctx, c, fmt.Sprintf("sessions?limit=100&include_archived=%v", archived))
			if err != nil || c.json {
				return err
			}
			for _, s := range list {
				status := s.Status
				if s.Paused {
					status += ", paused"
				}
				fmt.Fprintf(c.out, "%s  %-12s %5d events  %-16s %s\n", s.ID, status, s.LastSeq, s.Agent.Name, s.Title)
			}
			return nil
		})
	cmd.Flags().BoolVar(&archived, "archived", false, "list sessions that are archived, too")
	return cmd
}

func startSession(ctx context.Context, c *apiClient, args []string) error {
	var s sessionLine
	id, err := c.agentID(ctx, args[0])
	if err != nil {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "sessions", map[string]string{"agent": id}, &s); err != nil {
		return err
	}
	if !c.json {
		fmt.Fprintln(c.out, s.ID)
	}
	if len(args) == 1 {
		return nil
	}
	return c.sendAndFollow(ctx, s.ID, managed.Text(args[1]))
}

// agentID is the id of an agent: what is one, or the only agent with a name.
func (c *apiClient) agentID(ctx context.Context, what string) (string, error) {
	if strings.HasPrefix(what, "agent_") {
		return what, nil
	}
	quiet := &apiClient{url: c.url, out: c.out}
	list, err := all[agentInfo](ctx, quiet, "agents?limit=100")
	if err != nil {
		return "", err
	}
	var names []string
	id, found := "", 0
	for _, a := range list {
		if names = append(names, a.Name); a.Name == what {
			id = a.ID
			found++
		}
	}
	switch found {
	case 0:
		return "", fmt.Errorf("there is no agent %q%s", what, hintOf(what, names))
	case 1:
		return id, nil
	}
	return "", fmt.Errorf("%d agents are called %q; give the id of one", found, what)
}

// sendAndFollow sends an event and follows the session until it is idle.
func (c *apiClient) sendAndFollow(ctx context.Context, id string, ev managed.Event) error {
	var sent struct{ Data []managed.Event }
	quiet := &apiClient{url: c.url, out: c.out}
	if err := quiet.call(ctx, http.MethodPost, "sessions/"+id+"/events", map[string]any{"events": []managed.Event{ev}},
		&sent); err != nil || ev.Type == managed.UserInterrupt { // an idle session has nothing to tell of that
		return err
	}
	return c.follow(ctx, id, sent.Data[0].Seq, false)
}

func sendCommand() *cobra.Command {
	var allow, deny, result string
	var interrupt bool
	cmd := withAPI(&cobra.Command{Use: "send ID [TEXT]", Short: "send a message or an answer, and follow the turn",
		Example: "  voicegw sessions send sesn_... 'What is new?'\n" +
			"  voicegw sessions send sesn_... --allow sevt_...\n" +
			"  voicegw sessions send sesn_... --deny sevt_... 'Not on a Friday.'\n" +
			"  voicegw sessions send sesn_... --result sevt_... 'It is deployed.'\n" +
			"  voicegw sessions send sesn_... --interrupt"}, 1, 2,
		func(ctx context.Context, c *apiClient, args []string) error {
			text := argument(args[1:])
			ev := managed.Text(text)
			given := 0
			for _, is := range []bool{allow != "", deny != "", result != "", interrupt} {
				if is {
					given++
				}
			}
			switch {
			case given > 1:
				return usagef("--allow, --deny, --result and --interrupt contradict each other")
			case text == "" && (given == 0 || result != ""):
				return usagef("there is nothing to send: give a text")
			case text != "" && (allow != "" || interrupt):
				return usagef("--allow and --interrupt take no text")
			case allow != "":
				ev = managed.Event{Type: managed.UserConfirmation, ToolUseID: allow, Result: "allow"}
			case deny != "":
				ev = managed.Event{Type: managed.UserConfirmation, ToolUseID: deny, Result: "deny", DenyMessage: text}
			case result != "":
				ev = managed.Event{Type: managed.UserCustomResult, CustomID: result, Content: ev.Content}
			case interrupt:
				ev = managed.Event{Type: managed.UserInterrupt}
			}
			return c.sendAndFollow(ctx, args[0], ev)
		})
	f := cmd.Flags()
	f.StringVar(&allow, "allow", "", "allow the call that this `event` asks for")
	f.StringVar(&deny, "deny", "", "deny the call that this `event` asks for; the text tells the model why")
	f.StringVar(&result, "result", "", "the text is the result of the custom tool that this `event` calls")
	f.BoolVar(&interrupt, "interrupt", false, "stop what the session is doing")
	return cmd
}

func followCommand() *cobra.Command {
	var from uint64
	cmd := withAPI(&cobra.Command{Use: "follow ID", Short: "print the events of a session as they come"}, 1, 1,
		func(ctx context.Context, c *apiClient, args []string) error {
			return c.follow(ctx, args[0], from, true)
		})
	cmd.Flags().Uint64Var(&from, "from", 1, "begin with the event of this number")
	return cmd
}

func exportSession(ctx context.Context, c *apiClient, args []string) error {
	c.json = false
	list, err := all[json.RawMessage](ctx, c, "sessions/"+args[0]+"/events?limit=1000")
	if err != nil {
		return err
	}
	for _, ev := range list {
		fmt.Fprintf(c.out, "%s\n", ev)
	}
	return nil
}
