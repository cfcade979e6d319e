package main

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/calls"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
)

// Labels of a call that say who owns its sessions with agents.
const (
	tenantLabel  = "tenant"
	subjectLabel = "subject"
)

// ownerLabels are the labels of a call with a token.
func ownerLabels(g *access.Grant) map[string]string {
	labels := map[string]string{}
	for key, value := range map[string]string{tenantLabel: g.Tenant, subjectLabel: g.Subject} {
		if value != "" {
			labels[key] = value
		}
	}
	return labels
}

// usesAgents reports whether calls use agents.
func usesAgents(s *settings.Settings) bool {
	return s.HasSessions() && (len(s.AgentTools) > 0 || s.AfterCall.Agent != "")
}

// joinAgents lets calls use the agents of the sessions API, which opens before the first call.
func (s *serving) joinAgents(cfg *voicegw.Config) error {
	if !usesAgents(s.settings) {
		return nil
	}
	c := calls.Config{Runtime: func() *managed.Runtime { return s.sessions.runtime }, Logger: s.log.Named("calls"),
		Owner: func(labels map[string]string) managed.Owner {
			return managed.Owner{Tenant: labels[tenantLabel], User: labels[subjectLabel]}
		}}
	for _, t := range s.settings.AgentTools {
		c.Tools = append(c.Tools, calls.Tool{Tool: t.Tool, Agent: t.Agent})
	}
	if after := s.settings.AfterCall; after.Agent != "" {
		c.After = &calls.After{Agent: after.Agent, Transcripts: after.Transcripts}
	}
	return calls.Join(cfg, c)
}

// checkAgents checks that the agents of calls are there.
func (s *serving) checkAgents(ctx context.Context) error {
	check := func(setting, name string) error {
		if _, err := s.sessions.runtime.Agent(ctx, managed.Owner{}, managed.SharedID(name), 0); err != nil {
			return &usageError{fmt.Errorf("%s: there is no agent %q in the directories of the settings agents and "+
				"workflows", setting, name)}
		}
		return nil
	}
	for _, t := range s.settings.AgentTools {
		if err := check("session.tools_file "+s.settings.ToolsFile+": the function "+t.Name, t.Agent); err != nil {
			return err
		}
	}
	if after := s.settings.AfterCall.Agent; after != "" {
		return check("after_call.agent", after)
	}
	return nil
}
