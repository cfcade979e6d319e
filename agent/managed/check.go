package managed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// checkEvents finds what is wrong with events of the user by themselves.
func (r *Runtime) checkEvents(param string, events []Event) error {
	if len(events) > eventsMax {
		return invalid(param, "there are %d events; at most %d are allowed", len(events), eventsMax)
	}
	for i := range events {
		ev, at := &events[i], fmt.Sprintf("%s[%d]", param, i)
		if b, err := json.Marshal(ev); err != nil || len(b) > r.cfg.Limits.Content {
			return invalid(at, "the event has %d bytes; at most %d are allowed", len(b), r.cfg.Limits.Content)
		}
		if err := checkEvent(at, ev); err != nil {
			return err
		}
		ev.Seq, ev.ID, ev.ProcessedAt = 0, "", nil
	}
	return nil
}

func checkEvent(at string, ev *Event) error {
	switch ev.Type {
	case UserMessage:
		if len(ev.Content) == 0 {
			return invalid(at+".content", "it is empty; give at least one block")
		}
	case UserInterrupt:
		return nil
	case UserConfirmation:
		switch {
		case ev.ToolUseID == "":
			return invalid(at+".tool_use_id", "it is missing")
		case ev.Result != "allow" && ev.Result != "deny":
			return invalid(at+".result", "it is %q; give \"allow\" or \"deny\"", ev.Result)
		case ev.DenyMessage != "" && ev.Result != "deny":
			return invalid(at+".deny_message", "it belongs to the result \"deny\" alone")
		}
	case UserCustomResult:
		if ev.CustomID == "" {
			return invalid(at+".custom_tool_use_id", "it is missing")
		}
	default:
		return invalid(at+".type", "%q is none of %s, %s, %s, %s", ev.Type, UserMessage, UserInterrupt, UserConfirmation,
			UserCustomResult)
	}
	for i := range ev.Content {
		if err := checkBlock(fmt.Sprintf("%s.content[%d]", at, i), &ev.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkBlock(at string, b *Block) error {
	switch {
	case b.Type == "text" && b.Source == nil && b.Text != "":
		return nil
	case b.Type == "text":
		return invalid(at+".text", "it is empty")
	case b.Type != "image" && b.Type != "document":
		return invalid(at+".type", "%q is none of text, image, document", b.Type)
	case b.Source == nil:
		return invalid(at+".source", "it is missing")
	}
	switch s := b.Source; s.Type {
	case "base64":
		if s.MediaType == "" {
			return invalid(at+".source.media_type", "it is missing")
		}
		if _, err := base64.StdEncoding.DecodeString(s.Data); err != nil {
			return invalid(at+".source.data", "it is no base64: %v", err)
		}
	case "url":
		if s.URL == "" {
			return invalid(at+".source.url", "it is missing")
		}
	case "text":
		if b.Type != "document" || s.Data == "" {
			return invalid(at+".source.data", "text is for documents, and must not be empty")
		}
	default:
		return invalid(at+".source.type", "%q is none of base64, url, text", s.Type)
	}
	return nil
}

// checkMetadata finds what is wrong with a title and metadata.
func checkMetadata(title string, m map[string]string) error {
	if utf8.RuneCountInString(title) > 256 {
		return invalid("title", "it has more than 256 characters")
	}
	if len(m) > 16 {
		return invalid("metadata", "it has %d pairs; at most 16 are allowed", len(m))
	}
	for k, v := range m {
		if k == "" || utf8.RuneCountInString(k) > 64 {
			return invalid("metadata", "the key %q must have 1 to 64 characters", k)
		}
		if utf8.RuneCountInString(v) > 512 {
			return invalid("metadata."+k, "it has more than 512 characters")
		}
	}
	return nil
}

// Limits of a Definition.
const (
	nameMax        = 256
	systemMax      = 100_000
	descriptionMax = 2048
	toolsMax       = 256
	serversMax     = 20
	skillsMax      = 20
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// check finds what is wrong with a definition by itself.
func (d *Definition) check() error {
	runes := utf8.RuneCountInString
	switch {
	case runes(d.Name) < 1 || runes(d.Name) > nameMax:
		return invalid("name", "it must have 1 to %d characters", nameMax)
	case d.Model.ID == "":
		return invalid("model", "it is missing; name a model, such as \"parrot\"")
	case runes(d.System) > systemMax:
		return invalid("system", "it has more than %d characters", systemMax)
	case runes(d.Program) > nameMax:
		return invalid("program", "it has more than %d characters", nameMax)
	case runes(d.Description) > descriptionMax:
		return invalid("description", "it has more than %d characters", descriptionMax)
	case len(d.Tools) > toolsMax:
		return invalid("tools", "there are %d; at most %d are allowed", len(d.Tools), toolsMax)
	case len(d.Skills) > skillsMax:
		return invalid("skills", "there are %d; at most %d are allowed", len(d.Skills), skillsMax)
	}
	for i := range d.Tools {
		if err := d.Tools[i].check(fmt.Sprintf("tools[%d]", i)); err != nil {
			return err
		}
	}
	if err := d.checkServers(); err != nil {
		return err
	}
	if err := d.Budget.check("budget"); err != nil {
		return err
	}
	return checkMetadata("", d.Metadata)
}

// check finds what is wrong with a tool by itself.
func (c *ToolConfig) check(at string) error {
	switch c.Type {
	case CustomTool:
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case !toolName.MatchString(c.Name):
			return invalid(at+".name", "%q must have 1 to 128 letters, digits, \"_\" and \"-\"", c.Name)
		case c.Description == "":
			return invalid(at+".description", "it is missing; it tells the model what the tool is for")
		case len(c.InputSchema) == 0 || c.InputSchema[0] != '{':
			return invalid(at+".input_schema", "it must be a JSON schema of the type \"object\"")
		case json.Unmarshal(c.InputSchema, &schema) != nil || schema.Type != "object":
			return invalid(at+".input_schema.type", "it must be \"object\"")
		case c.Timeout < 0:
			return invalid(at+".timeout", "it must not be negative")
		}
	case AgentToolset, MCPToolset:
		for i, own := range c.Configs {
			if n := utf8.RuneCountInString(own.Name); n < 1 || n > 128 {
				return invalid(fmt.Sprintf("%s.configs[%d].name", at, i), "it must have 1 to 128 characters")
			}
		}
		for i := range c.Configs {
			if err := c.Configs[i].check(fmt.Sprintf("%s.configs[%d]", at, i)); err != nil {
				return err
			}
		}
		if c.Default != nil && c.Default.Name != "" {
			return invalid(at+".default_config.name", "it is for configs; the default is for all tools")
		}
		if c.Default != nil {
			return c.Default.check(at + ".default_config")
		}
	default:
		return invalid(at+".type", "%q is none of %s, %s, %s", c.Type, CustomTool, AgentToolset, MCPToolset)
	}
	return nil
}

// check finds what is wrong with a policy by itself.
func (p *ToolPolicy) check(at string) error {
	if p.Permission != nil && !slices.Contains([]string{AlwaysAllow, AlwaysAsk, AlwaysDeny}, p.Permission.Type) {
		return invalid(at+".permission_policy.type", "%q is none of %s, %s, %s", p.Permission.Type, AlwaysAllow, AlwaysAsk,
			AlwaysDeny)
	}
	if !slices.Contains([]string{"", tellUnknown, retryUnknown, askUnknown}, p.Unknown) {
		return invalid(at+".outcome_unknown", "%q is none of tell, retry, ask", p.Unknown)
	}
	return nil
}
