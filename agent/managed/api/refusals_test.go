package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/managed/api"
)

// TestFieldsThatAreRefused: what this server does not have, and what is wrong, gets 400 with the whole path of the
// field. Nothing is made.
func TestFieldsThatAreRefused(t *testing.T) {
	p := newParlour(t)
	agent := func(more string) [3]string {
		return [3]string{"POST", "/v1/agents", `{"name":"a","model":"parrot",` + more + `}`}
	}
	tool := func(more string) [3]string {
		return agent(`"tools":[{"type":"agent_toolset_20260401"},{"type":"custom","name":"a","description":"a",` +
			`"input_schema":{"type":"object"}},` + more + `]`)
	}
	session := func(more string) [3]string {
		return [3]string{"POST", "/v1/sessions", `{"agent":"AGENT",` + more + `}`}
	}
	event := func(one string) [3]string {
		return [3]string{"POST", "/v1/sessions/SESSION/events", `{"events":[` + one + `]}`}
	}
	env := func(more string) [3]string { return [3]string{"POST", "/v1/environments", `{"name":"a",` + more + `}`} }
	message := `{"type":"user.message","content":[{"type":"text","text":"Hi"}]}`
	for _, c := range []struct {
		request [3]string
		want    string // what the message begins with
	}{
		{agent(`"multiagent":{"type":"coordinator"}`), "multiagent: this server does not have this"},
		{agent(`"execution_identity":{"type":"aws_role"}`), "execution_identity: this server does not have this"},
		{agent(`"model_config":{}`), "model_config: there is no such field"},
		{agent(`"descripton":"x"`), `descripton: there is no such field; did you mean "description"?`},
		{agent(`"metadata":{"a":{}}`), "metadata.a: it is an object; it must be text"},
		{agent(`"mcp_servers":[{"type":"url","name":"a","url":"https://example.com","headers":{}}]`),
			"mcp_servers[0].headers: there is no such field"},
		{[3]string{"POST", "/v1/agents", `{"name":"a","model":{"id":"parrot","effort":"high"}}`}, "model.effort: there is"},
		{[3]string{"POST", "/v1/agents", `{"name":"a","model":{"id":"parrot","speed":"fast"}}`}, "model.speed: "},
		{[3]string{"POST", "/v1/agents", `{"name":"a","model":{"id":"parrot","inference_geo":"eu"}}`},
			"model.inference_geo: there is no such field"},
		{tool(`{"type":"custom","name":"b","description":"b","input_schema":{"type":"list"}}`),
			"tools[2].input_schema.type: "},
		{tool(`{"type":"custom","name":"b","description":"b","input_schema":[]}`), "tools[2].input_schema: "},
		{tool(`{"type":"custom","name":"b","inputschema":{}}`),
			`tools[2].inputschema: there is no such field; did you mean "input_schema"?`},
		{tool(`{"type":"custom","name":"b","configs":[]}`), `tools[2].configs: "custom" does not have this field`},
		{tool(`{"type":"web_search"}`), `tools[2].type: "web_search" is none of`},
		{tool(`{"type":"mcp_toolset","mcp_server_name":"a","default_config":{"permission_policy":{"type":"auto"}}}`),
			`tools[2].default_config.permission_policy.type: "auto" is none of`},
		{tool(`{"type":"mcp_toolset","mcp_server_name":"a","configs":[{"name":"x"},{"name":"y","enabled":1}]}`),
			"tools[2].configs[1].enabled: it is a whole number"},
		{[3]string{"POST", "/v1/agents/AGENT", `{"tools":[{"type":"custom","name":"a","descripton":"a"}]}`},
			`tools[0].descripton: there is no such field; did you mean "description"?`},
		{[3]string{"POST", "/v1/agents/AGENT", `{"sytem":null}`}, `sytem: there is no such field; did you mean "system"?`},
		{[3]string{"POST", "/v1/agents/AGENT", `{"version":"1"}`}, "version: it is text; it must be a whole number"},
		{session(`"budget":{"type":"limit"}`), "budget: it limits nothing"},
		{session(`"vault_ids":["v"]`), "vault_ids: this server does not have this"},
		{session(`"resources":[{"type":"file"}]`), "resources: this server does not have this"},
		{session(`"initial_events":[` + message + `,{"type":"user.define_outcome","description":"x"}]`),
			"initial_events[1]."},
		{session(`"initial_events":[{"type":"user.interrupt"}]`), "initial_events[0].type: "},
		{session(`"initial_events":[` + strings.TrimSuffix(strings.Repeat(message+",", 51), ",") + `]`),
			"initial_events: there are 51"},
		{[3]string{"POST", "/v1/sessions", `{"agent":{"type":"agent_with_overrides","id":"AGENT","model":{"idd":"x"}}}`},
			`agent.model.idd: there is no such field; did you mean "id"?`},
		{[3]string{"POST", "/v1/sessions", `{"agent":{"type":"agent","id":"AGENT","sytem":"x"}}`},
			"agent.sytem: there is no such field"},
		{[3]string{"POST", "/v1/sessions", `{"agent":{"type":"agent_with_overrides","id":"AGENT","skills":[{}]}}`},
			"agent.skills: this server does not have this"},
		{[3]string{"POST", "/v1/sessions", `{"agent":7}`}, "agent: it must be the id of an agent"},
		{[3]string{"POST", "/v1/sessions/SESSION", `{"agent":{"tools":[]}}`}, "agent: this server does not have this"},
		{[3]string{"POST", "/v1/sessions/SESSION", `{"metadata":{"a":1}}`}, "metadata.a: it is a whole number"},
		{env(`"config":{"type":"cloud","networking":{"type":"limited"}}`), `config.networking.type: "limited"`},
		{env(`"config":{"type":"cloud","packages":{"pip":["numpy"]}}`),
			"config.packages.pip: this server does not have this"},
		{env(`"config":{"type":"self_hosted","packages":{}}`), `config.packages: "self_hosted" does not have`},
		{env(`"config":{"type":"clod"}`), `config.type: "clod" is neither`},
		{env(`"scope":"account"`), "scope: this server does not have this"},
		{[3]string{"POST", "/v1/environments/env_local", `{"name":"mine"}`}, `the environment "env_local" is everybody's`},
		{[3]string{"DELETE", "/v1/environments/env_local", ``}, `the environment "env_local" is everybody's`},
		{event(`{"type":"user.tool_result","tool_use_id":"x"}`), `events[0].type: "user.tool_result" is none of`},
		{event(`{"type":"user.define_outcome"}`), `events[0].type: "user.define_outcome" is none of`},
		{event(`{"type":"system.message","content":[]}`), `events[0].type: "system.message" is none of`},
		{event(message + `,{"type":"user.interrupt","session_thread_id":"x"}`), "events[1].session_thread_id: there is no"},
		{event(`{"type":"user.message","content":[{"type":"text","text":"x"}],"is_error":true}`),
			`events[0].is_error: "user.message" does not have this field`},
		{event(`{"type":"user.message","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}`),
			"events[0].content[0].source.file_id: there is no such field"},
		{event(`{"type":"user.message","content":[{"type":"text","text":"x","source":{}}]}`),
			`events[0].content[0].source: "text" does not have this field`},
		{event(`{"type":"user.message","content":[{"type":"search_result"}]}`), "events[0].content[0].type: "},
		{event(`{"type":"user.message","content":"Hi"}`), "events[0].content: it is text; it must be a list"},
		{[3]string{"GET", "/v1/sessions/SESSION/events/stream?event_deltas[]=agent.tool_use", ""}, "event_deltas: "},
		{[3]string{"GET", "/v1/agents?limit=1&limit=2", ""}, "limit: it is there 2 times"},
		{[3]string{"GET", "/v1/agents/AGENT?colour=red", ""}, "colour: this request does not have this parameter"},
		{[3]string{"POST", "/v1/agents/AGENT/archive", `{"force":true}`}, "this request has no body"},
	} {
		before := p.things(t)
		r := c.request
		status, body := p.ask(t, "acme", r[0], p.names.Replace(r[1]), p.names.Replace(r[2]))
		var e refusal
		if err := json.Unmarshal([]byte(body), &e); err != nil || status != 400 || !wellFormed(status, body) ||
			!strings.HasPrefix(e.Error.Message, c.want) {
			t.Errorf("%s %s %s: %d %s, want %q", r[0], r[1], r[2], status, body, c.want)
		}
		if after := p.things(t); after != before {
			t.Errorf("%s %s %s changes %d things", r[0], r[1], r[2], after-before)
		}
	}
}

// TestRoutesThatAreRefused: what other servers of this API have is refused in its format, and so is nonsense.
func TestRoutesThatAreRefused(t *testing.T) {
	p := newParlour(t)
	served := map[string]bool{"/v1/agents": true, "/v1/environments": true, "/v1/sessions": true}
	var list [][2]string
	for _, path := range api.Paths() {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH"} {
			if !served[path] {
				list = append(list, [2]string{method, path}, [2]string{method, path + "/x"}, [2]string{method, path + "/x/y/z"})
			}
		}
		list = append(list, [2]string{"PUT", path}, [2]string{"GET", path + "/"},
			[2]string{"GET", strings.Replace(path, "/v1/", "/v1//", 1)})
	}
	for _, path := range []string{"/threads", "/threads/x", "/threads/x/events", "/threads/x/stream", "/threads/x/archive",
		"/resources", "/events/x", "/outcomes"} {
		list = append(list, [2]string{"GET", "/v1/sessions/SESSION" + path}, [2]string{"POST", "/v1/sessions/SESSION" + path})
	}
	list = append(list, [][2]string{{"GET", "/v1/environments/ENV/work/poll"}, {"POST", "/v1/environments/ENV/work/x/ack"},
		{"DELETE", "/v1/agents/AGENT"}, {"DELETE", "/v1/sessions"}, {"GET", "/"}, {"GET", "/v2/agents"}}...)
	for _, r := range list {
		status, body := p.ask(t, "acme", r[0], p.names.Replace(r[1]), "")
		want := fmt.Sprintf("this API does not serve %s %s", r[0], p.names.Replace(r[1]))
		if status != http.StatusNotFound || !wellFormed(status, body) || !strings.Contains(body, want) {
			t.Errorf("%s %s: %d %s", r[0], r[1], status, body)
		}
	}
}

// TestEnvironments: an answer shows the whole config of an environment, with the defaults of what the request leaves
// out. A description can be set and cleared. A session that names no environment gets the one that everybody has.
func TestEnvironments(t *testing.T) {
	p := newParlour(t)
	ask := func(method, path, body, part string) string {
		t.Helper()
		status, answer := p.ask(t, "acme", method, path, p.names.Replace(body))
		if status != 200 || !strings.Contains(answer, part) {
			t.Errorf("%s %s %s: %d %s, want %s", method, path, body, status, answer, part)
		}
		return answer
	}
	id := field(ask("POST", "/v1/environments", `{"name":"e","description":null}`, `"description":null`), "id")
	ask("POST", "/v1/environments/"+id, `{"description":"new"}`, `"description":"new"`)
	ask("POST", "/v1/environments/"+id, `{"metadata":{"a":"b"}}`, `"description":"new"`)
	ask("POST", "/v1/environments/"+id, `{"description":null}`, `"description":null`)
	ask("POST", "/v1/environments", `{"name":"e","config":{"type":"cloud","packages":{"pip":[]}}}`, `"packages":{"type":`+
		`"packages","apt":[],"cargo":[],"gem":[],"go":[],"npm":[],"pip":[]}`)
	ask("POST", "/v1/environments", `{"name":"e","config":null}`, `"networking":{"type":"unrestricted"}`)
	ask("POST", "/v1/environments", `{"name":"e","config":{"type":"self_hosted"}}`, `"config":{"type":"self_hosted"}`)
	ask("POST", "/v1/sessions", `{"agent":"AGENT"}`, `"environment_id":"env_local"`)
	ask("POST", "/v1/sessions", `{"agent":"AGENT","environment_id":"env_local"}`, `"environment_id":"env_local"`)
	ask("GET", "/v1/environments/env_local", "", `"type":"environment"`)
	one := ask("POST", "/v1/sessions", `{"agent":"AGENT","title":"t","metadata":{"a":"b","c":"d"}}`, `"title":"t"`)
	one = field(one, "id")
	ask("POST", "/v1/sessions/"+one, `{"metadata":{"a":null}}`, `"metadata":{"c":"d"}`)
	ask("POST", "/v1/sessions/"+one, `{"title":null,"metadata":null}`, `"metadata":{}`)
	ask("GET", "/v1/sessions/"+one, "", `"title":null`)
}
