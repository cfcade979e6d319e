package settings

import (
	"slices"
	"strings"
)

// MCP says what agents may use as MCP servers.
type MCP struct {
	Commands   []string // programs that may run as servers
	CommandEnv []string // variables that they get besides PATH
	Private    bool     // URLs may lead to private addresses
	Bearers    string   // the file that says which secret goes to which URL; "": none
}

// agentRows are the settings of the agents of sessions, besides their directories.
func (s *Settings) agentRows() []Row {
	m, after := &s.MCP, &s.AfterCall
	rows := []Row{
		textRow("after_call.agent", &after.Agent, "none", "the name of an agent in the directory of agents",
			"the agent that gets the record of each call that has ended, as the message of a new session", nil),
		directoryRow("skills", &s.Skills, "none", aDirectory,
			"a directory with the skills that agents may have: ID/SKILL.md"),
		listRow("mcp.commands", &m.Commands, "absolute paths, or names without a slash to be found in PATH",
			"the programs that agents may run as MCP servers, with any arguments", func(l []string) bool {
				return !slices.ContainsFunc(l, func(c string) bool {
					return c == "" || strings.ContainsRune(c, '/') && !strings.HasPrefix(c, "/")
				})
			}),
		listRow("mcp.command_env", &m.CommandEnv, "names of variables",
			"the variables of this process that the programs of mcp.commands get besides PATH", func(l []string) bool {
				return !slices.ContainsFunc(l, func(name string) bool { return name == "" || strings.ContainsRune(name, '=') })
			}),
		onRow("mcp.private", &m.Private,
			"let the URLs of MCP servers lead to private addresses, such as those of this machine"),
		fileRow("mcp.bearers", &m.Bearers, "none", "a YAML or JSON file",
			"which secrets MCP servers get, by name: url, and the file or env that holds the secret (see docs/managed.md)"),
	}
	for i := range rows {
		rows[i] = rows[i].onlyIf(func() bool { return s.HasSessions() }, "there are no agents without data_dir or journal")
	}
	return append(rows, fileRow("prices", &s.Prices, "none", "a YAML or JSON file",
		"the prices of models, for budgets of money (see docs/managed.md) and for the cost of calls (see docs/metrics.md)"),
		onRow("after_call.transcripts", &after.Transcripts, "give the agent of after_call.agent what was said, too").
			onlyIf(func() bool { return after.Agent != "" }, "after_call.agent is none"))
}
