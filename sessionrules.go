package voicegw

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// SessionRules say which fields of Hello.Session, the settings that a client asks for, a call
// follows. The zero value follows none. transport.Ready names the fields that a call does not
// follow.
type SessionRules struct {
	Instructions bool  // the system instruction
	Generation   bool  // temperature and the longest reply
	Activity     bool  // how the gateway's detector finds speech
	Voices       Names // All: the voices that live.Voice knows
	Models       Names
	// Tools are functions that the client answers. They need Config.Net.ToolSlots, which New sets
	// to 2 if it is 0.
	Tools Names
}

// Names are names that a rule allows.
type Names struct {
	All  bool
	List []string
}

func (n Names) allow(name string) bool { return n.All || slices.Contains(n.List, name) }

// Any reports whether a name is allowed.
func (n Names) Any() bool { return n.All || len(n.List) > 0 }

// want describes the names to the developer of a client.
func (n Names) want(all string) string {
	switch {
	case n.All:
		return all
	case len(n.List) == 0:
		return decided
	}
	return "absent or one of " + strings.Join(n.List, ", ")
}

// Only returns the rules that allow only these settings of r: activity, generation, instructions, model,
// tools, voice. Nil allows all that r allows. A call token names them: access.Grant.Session.
func (r SessionRules) Only(names []string) SessionRules {
	if names == nil {
		return r
	}
	var o SessionRules
	for _, name := range names {
		switch name {
		case "activity":
			o.Activity = r.Activity
		case "generation":
			o.Generation = r.Generation
		case "instructions":
			o.Instructions = r.Instructions
		case "model":
			o.Models = r.Models
		case "tools":
			o.Tools = r.Tools
		case "voice":
			o.Voices = r.Voices
		}
	}
	return o
}

// following applies the rules to one call.
type following struct {
	*SessionRules
	plan    *Plan
	setup   live.Setup // a copy of the plan's
	refused []*transport.FieldError
}

// follow puts what the client asks for and r allows into the plan of its call. It returns the
// refusals of the rest.
func (r *SessionRules) follow(hello *transport.Hello, p *Plan) []*transport.FieldError {
	f := &following{SessionRules: r, plan: p, setup: *p.Setup}
	s := &hello.Session
	if s.SystemInstruction != "" {
		f.take("system_instruction", fmt.Sprintf("%d bytes long", len(s.SystemInstruction)), decided,
			r.Instructions && hello.Instructions == "", func(o *live.Setup) { o.SystemInstruction = s.SystemInstruction })
	}
	if s.Model != "" && s.Model != f.setup.Model {
		want := "absent: this server's model answers"
		if r.Models.Any() {
			want = r.Models.want("the name of a model")
		}
		f.take("model", quoted(s.Model), want, r.Models.allow(s.Model),
			func(o *live.Setup) { o.Model = s.Model })
	}
	if s.Voice != "" {
		voice := s.Voice
		if r.Voices.All {
			voice = live.Voice(voice)
		}
		f.take("voice", quoted(s.Voice), r.Voices.want("a voice of the model, such as Puck"),
			voice != "" && r.Voices.allow(voice), func(o *live.Setup) { o.Voice = voice })
	}
	if t := s.Temperature; t != nil {
		f.take("temperature", fmt.Sprint(*t), decided, r.Generation, func(o *live.Setup) { o.Temperature = t })
	}
	if n := s.MaxOutputTokens; n != nil {
		f.take("max_output_tokens", fmt.Sprint(*n), decided, r.Generation, func(o *live.Setup) { o.MaxOutputTokens = n })
	}
	for i := range s.Tools {
		f.tool(&s.Tools[i])
	}
	p.Setup = &f.setup
	return f.refused
}

// decided is what a client should do with a field that no client decides.
const decided = "absent: this server decides it"

// take changes the setup if the field is allowed and a model can accept its value.
func (f *following) take(field, value, want string, allowed bool, change func(*live.Setup)) {
	changed := f.setup
	if change(&changed); allowed {
		err := changed.Check()
		if err == nil {
			f.setup = changed
			return
		}
		want = wantOf(err, want)
	}
	f.refused = append(f.refused, transport.SessionError(field, value, want))
}

// tool adds a function of the client to the plan.
func (f *following) tool(t *transport.Tool) {
	own := Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, NonBlocking: t.NonBlocking}
	want := ""
	switch err := CheckTools([]Tool{own}); {
	case !f.Tools.allow(t.Name):
		want = f.Tools.want("")
	case f.plan.Allow != nil && !f.plan.Allow(t.Name):
		want = "one that the token of the call allows"
	case slices.ContainsFunc(f.plan.Tools, func(other Tool) bool { return other.Name == t.Name }):
		want = "one with a name of its own"
	case len(f.plan.Tools) == ToolsMax:
		want = fmt.Sprintf("one of at most %d with those of this server", ToolsMax)
	case err != nil:
		want = wantOf(err, "one that the model accepts")
	default:
		f.plan.Tools = append(f.plan.Tools, own)
		return
	}
	f.refused = append(f.refused, transport.SessionError("tools", "the function "+quoted(t.Name), want))
}

func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// wantOf returns what a refused setup should have, or other if err does not say.
func wantOf(err error, other string) string {
	var wrong *live.SetupError
	if errors.As(err, &wrong) {
		return wrong.Want
	}
	return other
}
