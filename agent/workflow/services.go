package workflow

import (
	"net/url"
	"slices"

	"gopkg.in/yaml.v3"
)

// Built-in tools that need something besides: a service of the session, or a model of Gemini.
const (
	loadMemory    = "load_memory"
	preloadMemory = "preload_memory"
	loadArtifacts = "load_artifacts"
	saveFiles     = "save_files_as_artifacts"
)

func geminiTools() []string {
	return []string{"google_search", "google_maps_grounding", "enterprise_web_search", "url_context"}
}

// modelTools are the built-in tools that only a model can use.
func modelTools() []string {
	return append(geminiTools(), exitLoop, loadMemory, preloadMemory, loadArtifacts)
}

// checkServices finds settings of the runtime section that nothing here can do.
func (l *loader) checkServices(n *yaml.Node) {
	refuse := func(key, value, format string, args ...any) {
		if v := l.get(n, key); v != nil && (value == "" || v.Value == value) {
			l.add(Unsupports, at(v), "`"+key+"`: "+format, args...)
		}
	}
	for _, kept := range []string{"sqlite", "database"} {
		refuse("session_service", kept, "the operator keeps sessions, with --data-dir or the setting `journal`: remove it")
	}
	refuse("credential_service", "in_memory", "credentials are named in the settings of the gateway: remove it")
	refuse("resumable", "false", "every run can be resumed: remove it")
	if l.str(n, "artifact_service") != "file" {
		refuse("artifact_dir", "", "it has no effect without `artifact_service: file`")
	}
	l.checkServers(l.list(n, "mcp_servers"))
}

// unbuilt is why a plugin of ADK for Python is not there; "" for others.
func unbuilt(plugin string) string {
	return map[string]string{"multimodal_tool_results": "results of tools are JSON",
		"bigquery_analytics": "the events of sessions are in the journal"}[plugin]
}

// checkPlugins finds plugins that are not there, or lack what they need.
func (l *loader) checkPlugins(w *Workflow, r Registry) {
	known := append([]string{"logging", "debug_logging", "reflect_and_retry", "context_filter", saveFiles}, r.Plugins...)
	seen := map[string]bool{}
	for _, p := range w.plugins {
		switch {
		case seen[p.Name]:
			l.add(Duplicate, p.At, "the plugin `%s` is listed twice", p.Name)
		case p.Name == saveFiles && w.Runtime.ArtifactService == "none":
			l.add(Unsupports, p.At, "the plugin `%s` needs artifacts: set runtime.artifact_service to in_memory or file", p.Name)
		case slices.Contains(known, p.Name):
		case unbuilt(p.Name) != "":
			l.add(Unsupports, p.At, "the plugin `%s` is not built, since %s: remove it", p.Name, unbuilt(p.Name))
		default:
			l.add(UnknownRef, p.At, "there is no plugin `%s`%s", p.Name, l.meant(p.Name, known, "the plugins are"))
		}
		seen[p.Name] = true
	}
}

// checkServers finds MCP servers that cannot be reached as they are written.
func (l *loader) checkServers(servers []*yaml.Node) {
	names := map[string]bool{}
	for _, s := range servers {
		if l.bad[s] {
			continue
		}
		if v := l.get(s, "name"); v != nil {
			if names[v.Value] || slices.Contains(builtins(), v.Value) {
				l.add(Duplicate, at(v), "another server or tool is named `%s`; give each a name of its own", v.Value)
			}
			names[v.Value] = true
		}
		switch l.str(s, "transport") {
		case "sse":
			l.add(Unsupports, at(l.get(s, "transport")), "`transport: sse`: the protocol has replaced it: write http")
		case "stdio":
			l.checkServer(s, "stdio", "command", "uri", "credential")
		case "http":
			l.checkServer(s, "http", "uri", "command", "args")
			if v := l.get(s, "uri"); v != nil {
				if u, err := url.Parse(v.Value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
					l.wrong(v, "`uri` is %s; it must be an address such as https://tools.example/mcp", describe(v))
				}
			}
		}
	}
}

// checkServer checks the keys that a transport has and those that it has not.
func (l *loader) checkServer(s *yaml.Node, transport, needs string, others ...string) {
	if l.get(s, needs) == nil {
		l.add(Missing, at(s), "a server with `transport: %s` has no `%s`", transport, needs)
	}
	for _, key := range others {
		if v := l.get(s, key); v != nil {
			l.add(Unsupports, at(v), "`%s` has no effect with `transport: %s`; remove it", key, transport)
		}
	}
}

// checkTools finds built-in tools that lack what they need.
func (l *loader) checkTools(w *Workflow, a *Agent, r Registry) {
	for _, t := range a.Tools {
		switch {
		case (t.Name == loadMemory || t.Name == preloadMemory) && w.Runtime.MemoryService == "none":
			l.add(Unsupports, t.At, "the tool `%s` needs a memory: set runtime.memory_service to in_memory", t.Name)
		case t.Name == loadArtifacts && w.Runtime.ArtifactService == "none":
			l.add(Unsupports, t.At, "the tool `%s` needs artifacts: set runtime.artifact_service to in_memory or file", t.Name)
		case slices.Contains(geminiTools(), t.Name) && r.Gemini != nil && a.Model != "" && !r.Gemini(a.Model):
			l.add(Unsupports, t.At, "the tool `%s` works with models of Gemini alone, and the model of `%s` is `%s`", t.Name,
				a.Name, a.Model)
		case t.Patterns != nil && slices.Contains(builtins(), t.Name):
			l.add(BadValue, t.At, "`%s` is one tool and no toolset, so it has no patterns; write `- %[1]s`", t.Name)
		}
	}
	if slices.Contains(modelTools(), a.Tool) {
		l.add(Unsupports, a.posOf("tool"), "only a model can use %s: list it in the tools of an llm agent", a.Tool)
	}
	if a.InputSchema != nil && !l.lost && !slices.ContainsFunc(w.Agents, func(o *Agent) bool {
		return slices.ContainsFunc(o.AgentTools, func(r Ref) bool { return r.Name == a.Name })
	}) {
		l.add(Unsupports, a.posOf("input_schema"), "input_schema has no effect, since no agent has `%s` in its agent_tools",
			a.Name)
	}
}
