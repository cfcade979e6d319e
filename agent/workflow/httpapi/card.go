package httpapi

import (
	"cmp"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/voicegw/voicegw/agent/workflow"
)

// card is the A2A card of a workflow with an a2a section.
func (s *Server) card(w *workflow.Workflow) *a2a.AgentCard {
	c := &a2a.AgentCard{Name: w.Name, Description: cmp.Or(w.Description, w.Name), Version: cmp.Or(w.A2A.Version, "1.0.0"),
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(trimmed(s.cfg.URL())+"/a2a/"+w.Name, a2a.TransportProtocolJSONRPC)},
		Capabilities:      a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes: []string{textMode}, DefaultOutputModes: []string{textMode}, Skills: []a2a.AgentSkill{}}
	if w.Unverified != "" { // a card has no other place for it that clients show
		c.Description += " (not proved: " + w.Unverified + ")"
	}
	for _, k := range w.A2A.Skills {
		one := a2a.AgentSkill{ID: k.ID, Name: k.Name, Description: cmp.Or(k.Description, k.Name), Tags: k.Tags}
		if one.Tags == nil {
			one.Tags = []string{}
		}
		c.Skills = append(c.Skills, one)
	}
	return c
}

// listCards lists the cards of all workflows that have one.
func (s *Server) listCards(*request) (any, error) {
	list := []*a2a.AgentCard{}
	for _, name := range s.cfg.Engine.Names() {
		if w := s.cfg.Engine.Workflow(name); w.A2A != nil {
			list = append(list, s.card(w))
		}
	}
	return map[string]any{"agent_cards": list}, nil
}

// handleA2A serves the card of each workflow that has one, which everybody may read, and its JSON-RPC.
func (s *Server) handleA2A() {
	for _, name := range s.cfg.Engine.Names() {
		w := s.cfg.Engine.Workflow(name)
		if w.A2A == nil {
			continue
		}
		s.mux.HandleFunc("GET /a2a/"+name+a2asrv.WellKnownAgentCardPath, func(rw http.ResponseWriter, _ *http.Request) {
			send(rw, http.StatusOK, s.card(w))
		})
		h := s.rpc(name)
		s.mux.Handle("POST /a2a/"+name, s.answer(func(r *request) (any, error) {
			if err := r.patient(s.writeMax); err != nil {
				return nil, err
			}
			h.ServeHTTP(r.w, r.WithContext(withOwner(r.Context(), r.owner)))
			return nil, nil
		}))
	}
}
