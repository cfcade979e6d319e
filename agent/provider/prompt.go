package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// traits is what a provider takes of a request.
type traits struct {
	schemas dialect
	ids     bool // each call needs an id of its own
	// options are fields of GenerateContentConfig, and what the provider calls them. Other fields are
	// refused, but those of mapped. Nil means that all there are go as they are.
	options map[string]string
}

// mapped are the fields of GenerateContentConfig that need more than a name on the wire.
func mapped() []string {
	return []string{"SystemInstruction", "Tools", "ToolConfig", "ResponseMIMEType", "ResponseSchema",
		"ResponseJsonSchema", "ThinkingConfig"}
}

// setOptions writes the options of a request.
func (p *prompt) setOptions(t traits, o object) {
	v := reflect.ValueOf(p.config)
	for field, name := range t.options {
		if f := v.FieldByName(field); !f.IsZero() {
			o[name] = f.Interface()
		}
	}
}

// prompt is a request, checked and ready to be written in any format. It shares nothing that changes
// with the request that it was made from.
type prompt struct {
	model    string
	config   genai.GenerateContentConfig
	system   string
	contents []*genai.Content
	tools    []tool
	mode     genai.FunctionCallingConfigMode // "" if the model may choose
	json     bool                            // the response must be JSON
	schema   map[string]any                  // of the response; nil if there is none
	names    *names
}

type tool struct {
	Name, Description string
	Schema            map[string]any
}

// unsupported refuses something that a provider does not have.
func unsupported(format string, args ...any) error { return newError(Unsupported, format, args...) }

// newPrompt checks a request. Whatever the provider cannot do is an error that names it.
func newPrompt(l *link, t traits, r *model.LLMRequest) (*prompt, error) {
	if r == nil || len(r.Contents) == 0 {
		return nil, newError(Invalid, "the request has no contents")
	}
	p := &prompt{model: firstOf(r.Model, l.model), names: &names{}}
	if r.Config != nil {
		p.config = *r.Config
	}
	for _, step := range []func(traits) error{p.checkConfig, p.readSystem, p.readTools, p.readFormat} {
		if err := step(t); err != nil {
			return nil, err
		}
	}
	return p, p.readContents(t, r.Contents)
}

// checkConfig refuses fields that would be dropped.
func (p *prompt) checkConfig(t traits) error {
	if o := p.config.HTTPOptions; o != nil { // ADK's Gemini model leaves its headers there
		with := *o
		with.Headers = nil
		if !reflect.ValueOf(with).IsZero() || slices.ContainsFunc(slices.Collect(maps.Keys(o.Headers)), foreignHeader) {
			return unsupported("it takes no HTTPOptions; Config of package provider has the address and the limits")
		}
		p.config.HTTPOptions = nil
	}
	if p.config.CandidateCount > 1 {
		return unsupported("it takes no CandidateCount above 1")
	}
	p.config.CandidateCount = 0
	if t.options == nil {
		return nil
	}
	if len(p.config.ResponseModalities) == 1 && strings.EqualFold(p.config.ResponseModalities[0], "text") {
		p.config.ResponseModalities = nil
	}
	v := reflect.ValueOf(p.config)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !v.Field(i).IsZero() && !slices.Contains(mapped(), name) && t.options[name] == "" {
			return unsupported("it takes no %s", name)
		}
	}
	return nil
}

func foreignHeader(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return name != "User-Agent" && name != "X-Goog-Api-Client"
}

// readSystem joins the texts of the system instruction.
func (p *prompt) readSystem(traits) error {
	if p.config.SystemInstruction == nil {
		return nil
	}
	var list []string
	for _, part := range p.config.SystemInstruction.Parts {
		switch {
		case part == nil:
		case part.Text == "" && !reflect.ValueOf(*part).IsZero():
			return unsupported("it takes only text as a system instruction")
		default:
			list = append(list, part.Text)
		}
	}
	p.system = strings.Join(list, "\n")
	return nil
}

// readTools normalises the tools. Of those, the model gets the ones that ToolConfig allows.
func (p *prompt) readTools(t traits) error {
	var allowed []string
	if c := p.config.ToolConfig; c != nil && c.FunctionCallingConfig != nil {
		allowed = c.FunctionCallingConfig.AllowedFunctionNames
		p.mode = c.FunctionCallingConfig.Mode
		if p.mode == genai.FunctionCallingConfigModeAuto || p.mode == genai.FunctionCallingConfigModeUnspecified {
			p.mode = ""
		}
	}
	if m := p.mode; t.options != nil && m != "" && m != genai.FunctionCallingConfigModeAny &&
		m != genai.FunctionCallingConfigModeNone {
		return unsupported("it takes no tool mode %q", m)
	}
	for _, list := range p.config.Tools {
		if list == nil {
			continue
		}
		rest := *list
		rest.FunctionDeclarations = nil
		if t.options != nil && !reflect.ValueOf(rest).IsZero() {
			return unsupported("it has no tool %s, only functions", firstField(rest))
		}
		for _, d := range list.FunctionDeclarations {
			if err := p.addTool(t, d, allowed); err != nil {
				return err
			}
		}
	}
	if len(allowed) > 0 && len(p.tools) == 0 {
		return newError(Invalid, "none of the allowed tools %q is declared", allowed)
	}
	return nil
}

func (p *prompt) addTool(t traits, d *genai.FunctionDeclaration, allowed []string) error {
	if d == nil || d.Name == "" {
		return newError(Invalid, "a tool has no name")
	}
	if d.Behavior != "" && t.options != nil {
		return unsupported("it takes no Behavior of the tool %q", d.Name)
	}
	if err := p.names.declare(d.Name); err != nil {
		return newError(Invalid, "%v", err)
	}
	var source any = map[string]any{"type": "object", "properties": map[string]any{}}
	if d.Parameters != nil {
		source = d.Parameters
	} else if d.ParametersJsonSchema != nil {
		source = d.ParametersJsonSchema
	}
	s, err := t.schemas.normalise(source)
	if err != nil {
		return newError(Invalid, "the parameters of the tool %q: %v", d.Name, err)
	}
	if s["type"] == nil {
		s["type"] = "object"
	}
	if s["type"] != "object" {
		return newError(Invalid, "the parameters of the tool %q have the type %v; they must be an object", d.Name, s["type"])
	}
	if len(allowed) == 0 || slices.Contains(allowed, d.Name) {
		p.tools = append(p.tools, tool{Name: p.names.wire(d.Name), Description: d.Description, Schema: s})
	}
	return nil
}

// firstField names the first field of a struct that is set.
func firstField(v any) string {
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		if !r.Field(i).IsZero() {
			return r.Type().Field(i).Name
		}
	}
	return ""
}

// readFormat reads what the response must look like.
func (p *prompt) readFormat(t traits) error {
	var source any = p.config.ResponseJsonSchema
	if p.config.ResponseSchema != nil {
		source = p.config.ResponseSchema
	}
	switch m := p.config.ResponseMIMEType; {
	case m == "application/json" || source != nil:
		p.json = true
	case m != "" && m != "text/plain" && t.options != nil:
		return unsupported("it takes no ResponseMIMEType %q", m)
	}
	if source == nil {
		return nil
	}
	s, err := t.schemas.normalise(source)
	if err != nil {
		return newError(Invalid, "the response's schema: %v", err)
	}
	p.schema = s
	return nil
}

// carryOn follows a history that ends with the model's own words, as ADK's Gemini model does.
const carryOn = "Continue processing previous requests as instructed. " +
	"Exit or provide a summary if no more outputs are needed."

// readContents copies the history: with names and ids as the provider takes them.
func (p *prompt) readContents(t traits, contents []*genai.Content) error {
	pair := pairing{ids: t.ids, used: map[string]bool{}}
	for _, c := range contents {
		if c == nil || len(c.Parts) == 0 {
			continue
		}
		with := &genai.Content{Role: firstOf(c.Role, genai.RoleUser)}
		if with.Role != genai.RoleUser && with.Role != genai.RoleModel {
			return unsupported("it takes no content of the role %q", c.Role)
		}
		for _, part := range c.Parts {
			if part == nil {
				continue
			}
			one, err := p.readPart(t, &pair, part)
			if err != nil {
				return err
			}
			if one != nil {
				with.Parts = append(with.Parts, one)
			}
		}
		if n := len(p.contents); n > 0 && hasResult(p.contents[n-1]) && hasResult(with) {
			p.contents[n-1].Parts = append(p.contents[n-1].Parts, with.Parts...) // providers want the results of a step together
		} else if len(with.Parts) > 0 {
			p.contents = append(p.contents, with)
		}
	}
	if len(p.contents) == 0 {
		return newError(Invalid, "the request has no contents")
	}
	if p.contents[len(p.contents)-1].Role == genai.RoleModel {
		p.contents = append(p.contents, genai.NewContentFromText(carryOn, genai.RoleUser))
	}
	return nil
}

func hasResult(c *genai.Content) bool {
	return slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p.FunctionResponse != nil })
}

// readPart copies a part. Thoughts of other providers are left out.
func (p *prompt) readPart(t traits, pair *pairing, part *genai.Part) (*genai.Part, error) {
	with := *part
	if t.options != nil {
		rest := genai.Part{MediaResolution: part.MediaResolution, CodeExecutionResult: part.CodeExecutionResult,
			ExecutableCode: part.ExecutableCode, VideoMetadata: part.VideoMetadata, ToolCall: part.ToolCall,
			ToolResponse: part.ToolResponse, AudioTranscription: part.AudioTranscription, MediaProcessing: part.MediaProcessing}
		if !reflect.ValueOf(rest).IsZero() {
			return nil, unsupported("it takes no part with %s", firstField(rest))
		}
	} else if part.Thought && strings.HasPrefix(string(part.ThoughtSignature), signatureTag) {
		return nil, nil
	}
	switch {
	case part.FunctionCall != nil:
		call := *part.FunctionCall
		if t.options != nil && (len(call.PartialArgs) > 0 || call.WillContinue != nil) {
			return nil, unsupported("it takes no call of %q in pieces", call.Name)
		}
		call.ID = pair.call(call.ID, call.Name)
		call.Name = p.names.wire(call.Name)
		with.FunctionCall = &call
	case part.FunctionResponse != nil:
		resp := *part.FunctionResponse
		if t.options != nil && (len(resp.Parts) > 0 || resp.WillContinue != nil || resp.Scheduling != "") {
			return nil, unsupported("it takes no Parts, WillContinue or Scheduling of the result of %q", resp.Name)
		}
		id, ok := pair.response(resp.ID, resp.Name)
		if !ok {
			return nil, newError(Invalid, "the result of %q (id %q) answers no call", resp.Name, resp.ID)
		}
		resp.ID, resp.Name = id, p.names.wire(resp.Name)
		with.FunctionResponse = &resp
	}
	return &with, nil
}

// pairing gives each call of a history an id of its own, and each result the id of its call.
type pairing struct {
	ids     bool
	used    map[string]bool
	pending []waiting
	calls   int
}

type waiting struct{ id, name, wire string }

// idMax is the longest id that every provider takes.
const idMax = 64

func (p *pairing) call(id, name string) string {
	wire := id
	if p.ids {
		wire = wireName(id, idMax)
		for wire == "" || p.used[wire] {
			p.calls++
			wire = fmt.Sprintf("call_%d", p.calls)
		}
		p.used[wire] = true
	}
	p.pending = append(p.pending, waiting{id, name, wire})
	return wire
}

// response finds the oldest call that a result answers: by its id, and without one by its name.
func (p *pairing) response(id, name string) (string, bool) {
	i := slices.IndexFunc(p.pending, func(w waiting) bool {
		return id != "" && id == w.id || (id == "" || w.id == "") && name == w.name
	})
	if i < 0 {
		return id, !p.ids
	}
	wire := p.pending[i].wire
	p.pending = slices.Delete(p.pending, i, i+1)
	return wire, true
}

// image returns the address of an image: where it is, or its bytes as a data URL.
func image(p *genai.Part) (string, error) {
	switch {
	case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
		return "data:" + p.InlineData.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.InlineData.Data), nil
	case p.InlineData != nil:
		return "", unsupported("it takes images as inline data, not %q", p.InlineData.MIMEType)
	case p.FileData != nil && strings.HasPrefix(p.FileData.MIMEType, "image/") && strings.HasPrefix(p.FileData.FileURI,
		"https://"):
		return p.FileData.FileURI, nil
	case p.FileData != nil:
		return "", unsupported("it takes files that are images at an https address, not %q", p.FileData.MIMEType)
	}
	return "", nil
}

// resultText is the result of a call as text.
func resultText(r *genai.FunctionResponse) (string, error) {
	v := r.Response
	if v == nil {
		v = map[string]any{}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", newError(Invalid, "the result of %q is no JSON: %v", r.Name, err)
	}
	return string(b), nil
}

// argsText is the arguments of a call as text.
func argsText(c *genai.FunctionCall) (string, error) {
	if c.Args == nil {
		return "{}", nil
	}
	b, err := json.Marshal(c.Args)
	if err != nil {
		return "", newError(Invalid, "the arguments of %q are no JSON: %v", c.Name, err)
	}
	return string(b), nil
}

// effort is the level of thinking in lower case; "" if the request has none. What it does not map is an
// error.
func (p *prompt) effort(budgets bool) (string, error) {
	c := p.config.ThinkingConfig
	if c == nil {
		return "", nil
	}
	if c.ThinkingBudget != nil && !budgets {
		return "", unsupported("it takes no ThinkingBudget; use ThinkingLevel")
	}
	if c.ThinkingLevel == genai.ThinkingLevelUnspecified {
		return "", nil
	}
	return strings.ToLower(string(c.ThinkingLevel)), nil
}
