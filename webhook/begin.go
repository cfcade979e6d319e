package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/internal/strictjson"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// Limits of what a begin webhook decides.
const (
	instructionsMax = 32 << 10 // bytes
	greetingMax     = 4000     // bytes
	labelsMax       = 16
	labelNameMax    = 64  // bytes
	labelValueMax   = 256 // bytes
	toolsMax        = voicegw.ToolsMax
	messageMax      = 120 // bytes: the reason of a close frame must be short
	retryAfterBegin = 5 * time.Second
)

// Begin asks a server whether a call may begin.
type Begin struct {
	Hook *Hook
	// Next is the hook that ran before webhooks, or nil. Its refusals and labels count.
	Next func(context.Context, *transport.Hello) (*voicegw.Plan, error)
	// Open lets calls begin, as Next has planned them, when the server does not answer. If it is false, they are refused
	// as busy.
	Open bool
	// Models are those that the server may choose; the zero value lets it choose none.
	Models voicegw.Names
	Log    *zap.Logger // nil disables it
}

// Decision is what the server answers. The zero value lets the call begin.
type Decision struct {
	// Refuse refuses the call. The caller's client gets the text, of at most 120 bytes.
	Refuse string `json:"refuse"`
	// Instructions replace those of the settings and of the client.
	Instructions string `json:"instructions"`
	// Greeting replaces the one that is planned, of at most 4,000 bytes. Without one there can be none.
	Greeting string `json:"greeting"`
	// Voice and Language, a BCP 47 tag, replace those of the planned Setup, which must be there. The client may then
	// choose no voice; a language that it names wins.
	Voice    string `json:"voice"`
	Language string `json:"language"`
	// Model is one of Begin.Models, and Temperature is 0 to 2. They replace those of the planned Setup, which must be
	// there. The client may then choose no model, and neither the temperature nor the longest reply.
	Model       string   `json:"model"`
	Temperature *float32 `json:"temperature"`
	// Tools are the functions that the call may use, of those that it could use without them; nil: all.
	Tools *[]string `json:"tools"`
	// Labels are added to the call. They replace none that a token has set.
	Labels map[string]string `json:"labels"`
}

// speaks reports whether a decision changes the setup.
func (d *Decision) speaks() bool { return d.Voice+d.Language+d.Model != "" || d.Temperature != nil }

// check reports what is wrong with a decision about a planned call.
func (d *Decision) check(p *voicegw.Plan, models voicegw.Names) error {
	switch {
	case len(d.Refuse) > messageMax:
		return fmt.Errorf("refuse has %d bytes; at most %d are possible", len(d.Refuse), messageMax)
	case len(d.Instructions) > instructionsMax || !utf8.ValidString(d.Instructions):
		return fmt.Errorf("instructions has %d bytes; at most %d are possible", len(d.Instructions), instructionsMax)
	case len(d.Greeting) > greetingMax || !utf8.ValidString(d.Greeting):
		return fmt.Errorf("greeting has %d bytes; at most %d of UTF-8 are possible", len(d.Greeting), greetingMax)
	case d.Greeting != "" && p.Greeting == "":
		return fmt.Errorf("greeting is %.40q, and calls have none; the setting greeting gives them one", d.Greeting)
	case d.speaks() && p.Setup == nil:
		return errors.New("there is a voice, language, model or temperature, and Next plans no Setup")
	case d.Model != "" && !models.All && !slices.Contains(models.List, d.Model):
		return fmt.Errorf("model is %.60q; webhooks.begin_models allows %s", d.Model,
			cmp.Or(strings.Join(models.List, ", "), "none"))
	case d.Tools != nil && len(*d.Tools) > toolsMax:
		return fmt.Errorf("tools has %d names; at most %d are possible", len(*d.Tools), toolsMax)
	case len(d.Labels) > labelsMax:
		return fmt.Errorf("labels has %d entries; at most %d are possible", len(d.Labels), labelsMax)
	}
	own := live.Setup{Voice: d.Voice, Language: d.Language, Model: d.Model, Temperature: d.Temperature}
	if err := own.Check(); err != nil {
		return err
	}
	for name, value := range d.Labels {
		if name == "" || len(name) > labelNameMax || len(value) > labelValueMax {
			return fmt.Errorf("labels has a name of %d bytes and a value of %d; 1 to %d and at most %d are possible", len(name),
				len(value), labelNameMax, labelValueMax)
		}
	}
	return nil
}

// beginRequest asks for a Decision.
type beginRequest struct {
	Type         string `json:"type"` // "begin"
	Call         Call   `json:"call"`
	Instructions string `json:"instructions,omitempty"` // the name that the client asks for
}

// Plan is a voicegw.Hooks.Begin.
func (b *Begin) Plan(ctx context.Context, hello *transport.Hello) (*voicegw.Plan, error) {
	plan := &voicegw.Plan{}
	if b.Next != nil {
		own, err := b.Next(ctx, hello)
		if err != nil {
			return nil, err
		}
		if own != nil {
			plan = own
		}
	}
	d, err := b.ask(ctx, hello, plan)
	switch {
	case err == nil:
	case b.Open:
		return plan, nil
	default:
		if plan.Release != nil {
			plan.Release()
		}
		return nil, &transport.Refused{Reason: transport.ReasonBusy, RetryAfter: retryAfterBegin, Err: err,
			Message: "Calls cannot be checked now. Try again later."}
	}
	if d.Refuse != "" {
		if plan.Release != nil {
			plan.Release()
		}
		return nil, &transport.Refused{Reason: transport.ReasonUnauthorized, Message: d.Refuse,
			Err: fmt.Errorf("webhook: the begin webhook refused the call")}
	}
	d.apply(plan)
	return plan, nil
}

// ask gets the decision. All tries together may take as long as the hook's timeout.
func (b *Begin) ask(ctx context.Context, hello *transport.Hello, plan *voicegw.Plan) (*Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Hook.cfg.Timeout)
	defer cancel()
	in := beginRequest{Type: "begin", Call: callOf("", hello, plan.Labels), Instructions: hello.Instructions}
	answer, err := b.Hook.post(ctx, rand.Text(), traced{hello.Trace, hello.TraceState}, in)
	d := &Decision{}
	if err == nil && len(answer) > 0 {
		if err = (strictjson.Decoder{}).Decode(answer, d); err == nil {
			err = d.check(plan, b.Models)
		}
	}
	if cancelled(err) { // the caller has gone
		return nil, fmt.Errorf("webhook: begin: %w", err)
	}
	if err != nil {
		logged(b.Log).Error("the begin webhook did not decide", zap.String("why", err.Error()),
			zap.NamedError("error", unwrapped(err)), zap.Bool("call_begins", b.Open))
		return nil, fmt.Errorf("webhook: begin: %w", err)
	}
	return d, nil
}

// apply plans the call as decided, within what is planned already.
func (d *Decision) apply(p *voicegw.Plan) {
	if d.Instructions != "" {
		p.SystemInstruction = d.Instructions
	}
	p.Greeting = cmp.Or(d.Greeting, p.Greeting)
	d.speak(p)
	labels := maps.Clone(d.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, p.Labels)
	p.Labels = labels
	if d.Tools == nil {
		return
	}
	before, names := p.Allow, *d.Tools
	p.Allow = func(tool string) bool { return slices.Contains(names, tool) && (before == nil || before(tool)) }
}

// speak plans the voice, the language, the model and the temperature.
func (d *Decision) speak(p *voicegw.Plan) {
	if !d.speaks() {
		return
	}
	setup := *p.Setup
	setup.Voice, setup.Language = cmp.Or(d.Voice, setup.Voice), cmp.Or(d.Language, setup.Language)
	setup.Model, setup.Temperature = cmp.Or(d.Model, setup.Model), cmp.Or(d.Temperature, setup.Temperature)
	p.Setup = &setup
	if p.Session == nil {
		return
	}
	session := *p.Session
	if d.Voice != "" {
		session.Voices = voicegw.Names{}
	}
	if d.Model != "" {
		session.Models = voicegw.Names{}
	}
	session.Generation = session.Generation && d.Temperature == nil
	p.Session = &session
}
