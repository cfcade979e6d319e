package adkagent

import (
	"fmt"
	"slices"
	"strings"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/util/instructionutil"
	"google.golang.org/genai"
)

// goOn follows a history that ends with the model: models want the user to speak last. As in ADK.
const goOn = "Continue processing previous requests as instructed. " +
	"Exit or provide a summary if no more outputs are needed."

// request builds a request to the model from the session, which has every event of the turn so far.
func (m *member) request(r *run, ic adk.InvocationContext) (*model.LLMRequest, error) {
	req := &model.LLMRequest{Model: m.cfg.Model.Name(), Config: copyConfig(m.cfg.GenerateContentConfig)}
	if m.cfg.OutputSchema != nil {
		req.Config.ResponseSchema, req.Config.ResponseMIMEType = m.cfg.OutputSchema, "application/json"
	}
	if err := m.instruct(ic, req); err != nil {
		return nil, err
	}
	if len(m.to) > 0 {
		declareTransfer(req, m.to)
	}
	if err := m.box.pack(ic, req); err != nil {
		return nil, err
	}
	r.setTools(m, req.Tools)
	contents, err := m.history(ic)
	if err != nil {
		return nil, err
	}
	req.Contents = append(contents, req.Contents...)
	if n := len(req.Contents); n > 0 && req.Contents[n-1].Role != genai.RoleUser {
		req.Contents = append(req.Contents, genai.NewContentFromText(goOn, genai.RoleUser))
	}
	return req, nil
}

// history is the session as the agent's model sees it.
func (m *member) history(ic adk.InvocationContext) ([]*genai.Content, error) {
	v := view{own: m.owns, branch: ic.Branch(), scope: ic.IsolationScope()}
	events := eventsOf(ic.Session())
	if m.cfg.IncludeContents == llmagent.IncludeContentsNone {
		events = v.thisTurn(events)
	}
	return v.contents(events)
}

func (m *member) owns(author string) bool { return author == m.cfg.Name }

// instruct writes the system instruction: the global one, the agent's own, and who it is.
func (m *member) instruct(ic adk.InvocationContext, req *model.LLMRequest) error {
	var b strings.Builder
	for _, of := range [...]struct {
		text     string
		provider llmagent.InstructionProvider
	}{
		{m.global.GlobalInstruction, m.global.GlobalInstructionProvider}, {m.cfg.Instruction, m.cfg.InstructionProvider},
	} {
		text, err := of.text, error(nil)
		switch {
		case of.provider != nil:
			text, err = of.provider(m.box.keys.readonly(ic))
		case strings.Contains(text, "{"):
			text, err = instructionutil.InjectSessionState(m.box.keys.readonly(ic), text)
		}
		if err != nil {
			return fmt.Errorf("instruction of agent %q: %w", m.cfg.Name, err)
		}
		if text != "" {
			b.WriteString(text)
			b.WriteString("\n\n")
		}
	}
	b.WriteString(m.who)
	addInstruction(req, b.String())
	return nil
}

// identity tells a model which agent it is, and whom it may hand over to.
func (m *member) identity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are an agent. Your internal name is %q.", m.cfg.Name)
	if m.cfg.Description != "" {
		fmt.Fprintf(&b, " The description about you is %q.", m.cfg.Description)
	}
	if len(m.to) == 0 {
		return b.String()
	}
	b.WriteString("\n\nIf another agent can answer better, hand the conversation over with the function ")
	b.WriteString(transferTool + ":")
	for _, to := range m.to {
		fmt.Fprintf(&b, "\n- %q: %s", to.name, to.description)
	}
	return b.String()
}

// addInstruction adds to the system instruction of a request.
func addInstruction(req *model.LLMRequest, text string) {
	c := req.Config
	if c.SystemInstruction == nil {
		c.SystemInstruction = genai.NewContentFromText(text, genai.RoleUser)
		return
	}
	c.SystemInstruction.Parts = append(c.SystemInstruction.Parts, genai.NewPartFromText(text))
}

// transferTool is the function with which a model hands over to another agent.
const transferTool = "transfer_to_agent"

// declareTransfer tells the model about it.
func declareTransfer(req *model.LLMRequest, to []target) {
	var names []string
	for _, t := range to {
		names = append(names, t.name)
	}
	d := &genai.FunctionDeclaration{
		Name: transferTool, Description: "Hands the conversation over to another agent.",
		Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"agent_name"},
			Properties: map[string]*genai.Schema{
				"agent_name": {Type: genai.TypeString, Enum: names, Description: "The name of the agent."}}},
	}
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{d}})
}

// copyConfig copies what callbacks and tools change in a request.
func copyConfig(c *genai.GenerateContentConfig) *genai.GenerateContentConfig {
	if c == nil {
		return &genai.GenerateContentConfig{}
	}
	own := *c
	own.StopSequences, own.SafetySettings = slices.Clone(c.StopSequences), slices.Clone(c.SafetySettings)
	own.Tools = nil
	for _, t := range c.Tools {
		if t != nil {
			t2 := *t
			t2.FunctionDeclarations = slices.Clone(t.FunctionDeclarations)
			t = &t2
		}
		own.Tools = append(own.Tools, t)
	}
	if s := c.SystemInstruction; s != nil {
		own.SystemInstruction = &genai.Content{Role: s.Role, Parts: slices.Clone(s.Parts)}
	}
	return &own
}
