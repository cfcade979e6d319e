package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
)

// AgentTool is a function of calls that an agent answers.
type AgentTool struct {
	voicegw.Tool
	Agent string // its name
}

// fileTool is a function in a tools file.
type fileTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Scheduling  string          `json:"scheduling"`
	Agent       string          `json:"agent"`
	URL         string          `json:"url"`
	Timeout     string          `json:"timeout"`
	SecretFile  string          `json:"secret_file"`
}

// readTools reads the declarations of functions in ToolsFile: it returns those that the caller's side answers, and
// sets AgentTools and WebTools.
func (s *Settings) readTools() (own []voicegw.Tool, err error) {
	if s.AgentTools, s.WebTools = nil, nil; s.ToolsFile == "" {
		return nil, nil
	}
	list, err := toolList(s.ToolsFile)
	if err != nil {
		return nil, fmt.Errorf("session.tools_file %s: %w", s.ToolsFile, err)
	}
	for i := range list {
		t := &list[i]
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("session.tools_file %s: %s: %s", s.ToolsFile, t.Name, fmt.Sprintf(format, args...))
		}
		tool := voicegw.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		when, ok := schedulings[t.Scheduling]
		timeout, timely := s.toolTimeout(t.Timeout)
		switch {
		case !ok || t.Scheduling != "" && t.Agent == "" && t.URL == "":
			return nil, wrong("scheduling is %q; interrupt, when_idle and silent are possible, beside agent or url",
				t.Scheduling)
		case t.Agent != "" && t.URL != "":
			return nil, wrong("it has both agent and url; one of them answers")
		case t.URL == "" && (t.Timeout != "" || t.SecretFile != ""):
			return nil, wrong("timeout and secret_file need url beside them")
		case !timely:
			return nil, wrong("timeout is %q; a length of time from 1s to timing.tool_timeout (%s), such as 3s, is possible",
				t.Timeout, short(s.gateway.Net.ToolTimeout))
		}
		tool.NonBlocking, tool.Scheduling = t.Scheduling != "", when
		if model := cmp.Or(s.Model.Name, live.DefaultModel); !s.Embedded() && !live.Supports(model, tool.NonBlocking) {
			if tool.NonBlocking {
				return nil, wrong("scheduling is %q, but %s does not speak while a function runs; leave it out, or choose "+
					"another model.name", t.Scheduling, model)
			}
			return nil, wrong("%s does not wait for functions; set scheduling, or choose another model.name", model)
		}
		switch {
		case t.Agent != "":
			s.AgentTools = append(s.AgentTools, AgentTool{tool, t.Agent})
		case t.URL != "":
			s.WebTools = append(s.WebTools, WebTool{tool, t.URL, timeout, t.SecretFile})
		default:
			own = append(own, tool)
		}
	}
	return own, nil
}

// toolTimeout reads the timeout of a function, 0 if it has none.
func (s *Settings) toolTimeout(text string) (time.Duration, bool) {
	if text == "" {
		return 0, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= time.Second && d <= s.gateway.Net.ToolTimeout
}

// toolList reads a JSON or YAML file of functions.
func toolList(path string) (list []fileTool, err error) {
	data, err := readBounded(path, toolsFileMax)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			return nil, err
		}
		if data, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("it has something that JSON has not: %w", err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return list, d.Decode(&list)
}

// schedulings are the values of scheduling in a tools file.
var schedulings = map[string]live.Scheduling{"": live.ScheduleUnset, "interrupt": live.ScheduleInterrupt,
	"when_idle": live.ScheduleWhenIdle, "silent": live.ScheduleSilent}
