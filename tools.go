package voicegw

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Limits of tools.
const (
	ToolsMax        = 128
	ToolResultMax   = 64 << 10 // bytes of JSON
	toolIDsMax      = 64       // calls that are remembered until they begin
	toolResultWait  = 10 * time.Minute
	tooManyMessage  = "too many calls at once; try again later"
	timedOutMessage = "the function took too long"
)

// toolBook is the tools of one call. The net decides which run; the book calls
// them, and finds the slot of a call by its id.
type toolBook struct {
	c     *call
	tools map[string]*Tool

	mu      sync.Mutex
	runs    map[string]*toolRun // by id: called, and not ended yet
	answers map[string]chan<- toolAnswer
}

// toolRun is a call of the model that has not ended.
type toolRun struct {
	call   live.ToolCall
	slot   voicenets.Slot
	begun  bool
	cancel context.CancelFunc // of a function that runs
	unsaid bool               // cancelled before it began
	turn   int                // of the caller, in which it began
	late   bool               // the caller has begun another since
}

// toolAnswer is a result of the peer.
type toolAnswer struct {
	output json.RawMessage
	err    string
}

func newToolBook(c *call, tools []Tool) *toolBook {
	b := &toolBook{c: c, tools: map[string]*Tool{}, runs: map[string]*toolRun{}, answers: map[string]chan<- toolAnswer{}}
	for i := range tools {
		b.tools[tools[i].Name] = &tools[i]
	}
	return b
}

// called takes a call of the model to the net.
func (b *toolBook) called(ctx context.Context, tc live.ToolCall) {
	run := &toolRun{call: tc}
	b.mu.Lock()
	_, again := b.runs[tc.ID]
	if !again && len(b.runs) < toolIDsMax {
		b.runs[tc.ID] = run
	}
	b.mu.Unlock()
	if again {
		b.c.log.Warn("the model called a tool twice under one id", zap.String("tool", tc.Name))
		return
	}
	if b.c.prog.hasTools {
		b.c.inject(ctx, voicenets.ToolCalled.Token(&voicenets.ToolCall{Payload: run}))
		return
	}
	b.c.log.Warn("the model called a tool, and there is none", zap.String("tool", tc.Name))
}

// cancelled tells the net that the model wants some results no more.
func (b *toolBook) cancelled(ctx context.Context, ids []string) {
	for _, id := range ids {
		b.mu.Lock()
		run := b.runs[id]
		begun := run != nil && run.begun
		if run != nil && !begun {
			run.unsaid = true
		}
		b.mu.Unlock()
		if begun {
			b.c.inject(ctx, voicenets.ToolCancelled.Token(run.slot))
		}
	}
}

// start runs a function, as the net said. It is called by the net's loop.
func (b *toolBook) start(work context.Context, r *voicenets.ToolRun, turn int) {
	run, _ := r.Call.Payload.(*toolRun)
	ctx, cancel := context.WithCancel(context.WithValue(work, sessionKey{}, b.c.session))
	b.mu.Lock()
	run.slot, run.begun, run.cancel, run.turn = r.Slot, true, cancel, turn
	unsaid := run.unsaid
	b.mu.Unlock()
	if unsaid {
		_ = b.c.net.Inject(voicenets.ToolCancelled.Token(r.Slot))
	}
	b.c.carry("calling "+run.call.Name, func() {
		defer cancel()
		answer := b.call(ctx, &run.call)
		b.c.inject(work, voicenets.ToolDone.Token(&voicenets.ToolEnd{Slot: r.Slot, Payload: answer}))
	})
}

// stop cancels a function: its result is not wanted any more.
func (b *toolBook) stop(r *voicenets.ToolRun) {
	run, _ := r.Call.Payload.(*toolRun)
	run.cancel()
	b.forget(run.call.ID)
	b.c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageToolCancel, ID: run.call.ID}})
}

// over cancels the functions that run: the net has ended, and the peer may take a while to hear the last of it.
func (b *toolBook) over() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, run := range b.runs {
		if run.begun {
			run.cancel()
		}
	}
}

func (b *toolBook) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.runs, id)
}

// ended notes whether the caller has spoken since a call began. It is called by
// the net's loop.
func (b *toolBook) ended(end *voicenets.ToolEnd, turn int) {
	run, _ := end.Call.Payload.(*toolRun)
	run.late = end.How == voicenets.AnsweredLate && turn != run.turn
}

// reply is how a call ends, in the words of the model.
func (b *toolBook) reply(end *voicenets.ToolEnd) live.ToolReply {
	run, _ := end.Call.Payload.(*toolRun)
	b.forget(run.call.ID)
	r := live.ToolReply{ID: run.call.ID, Name: run.call.Name}
	switch end.How {
	case voicenets.TimedOut:
		r.Error = timedOutMessage
	case voicenets.TooMany:
		r.Error = tooManyMessage
	default:
		answer, _ := end.Payload.(toolAnswer)
		r.Output, r.Error = answer.output, answer.err
	}
	if tool := b.tools[r.Name]; tool != nil && tool.NonBlocking {
		r.Scheduling = tool.Scheduling
		if run.late {
			r.Scheduling = live.ScheduleSilent
		}
	}
	return r
}

// call calls a function. Whatever it does, there is an answer.
func (b *toolBook) call(ctx context.Context, tc *live.ToolCall) (answer toolAnswer) {
	defer func() {
		if v := recover(); v != nil {
			b.c.log.Error("a tool panicked", zap.String("tool", tc.Name), zap.Any("panic", v), zap.Stack("stack"))
			answer = toolAnswer{err: "the function failed"}
		}
	}()
	tool := b.tools[tc.Name]
	switch {
	case tool == nil:
		return toolAnswer{err: fmt.Sprintf("there is no function %q", tc.Name)}
	case tool.Call == nil:
		return b.ask(ctx, tc)
	}
	out, err := tool.Call(ctx, tc.Args)
	if err != nil {
		return toolAnswer{err: err.Error()}
	}
	return checkedAnswer(out)
}

// checkedAnswer is a result that the model can be told.
func checkedAnswer(out json.RawMessage) toolAnswer {
	switch {
	case len(out) == 0:
		return toolAnswer{output: json.RawMessage(`{}`)}
	case len(out) > ToolResultMax:
		return toolAnswer{err: fmt.Sprintf("the result has %d bytes; %d are possible", len(out), ToolResultMax)}
	case !json.Valid(out):
		return toolAnswer{err: "the result is not JSON"}
	}
	return toolAnswer{output: out}
}

// ask lets the peer answer.
func (b *toolBook) ask(ctx context.Context, tc *live.ToolCall) toolAnswer {
	ch := make(chan toolAnswer, 1)
	b.mu.Lock()
	b.answers[tc.ID] = ch
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.answers, tc.ID)
	}()
	b.c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageToolCall, ID: tc.ID, Name: tc.Name,
		Text: string(tc.Args)}})
	wait := time.NewTimer(toolResultWait) // the timer of a context keeps the call for so long, even when it was stopped
	defer wait.Stop()
	select {
	case a := <-ch:
		return a
	case <-ctx.Done():
	case <-wait.C:
	}
	return toolAnswer{err: timedOutMessage}
}

// answered takes a result of the peer. It reports false for one that nobody
// waits for.
func (b *toolBook) answered(ev *transport.Event) bool {
	b.mu.Lock()
	ch := b.answers[ev.ID]
	delete(b.answers, ev.ID)
	b.mu.Unlock()
	if ch == nil {
		return false
	}
	if ev.Failed {
		ch <- toolAnswer{err: ev.Text}
	} else {
		ch <- checkedAnswer(json.RawMessage(ev.Text))
	}
	return true
}

// Tool is a function that the model may call.
type Tool struct {
	// Name has letters, digits and underscores, at most 64.
	Name string
	// Description tells the model what it is for.
	Description string
	// Parameters is the JSON schema of the arguments, an object; nil: none.
	Parameters json.RawMessage
	// NonBlocking lets the model speak while the function works. Scheduling then
	// says when it shall speak of the result; see live.Abilities for the models
	// that know this.
	NonBlocking bool
	Scheduling  live.Scheduling
	// Call does the work, in a goroutine of its own. args is a JSON object. ctx
	// ends when nobody waits for the result any more: the function took too long,
	// the model cancelled it, the call is over. The result is JSON of at most
	// ToolResultMax bytes; an error is told to the model in its words. nil lets
	// the peer answer, with a tool_result.
	Call func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// NewTool makes a tool of a typed function. The schema of its arguments is that
// of In, a struct: see ToolSchema.
func NewTool[In, Out any](name, description string, call func(context.Context, In) (Out, error)) (Tool, error) {
	schema, err := ToolSchema[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("voicegw: tool %s: %w", name, err)
	}
	return Tool{Name: name, Description: description, Parameters: schema,
		Call: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("the arguments do not fit: %w", err)
			}
			out, err := call(ctx, in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		}}, nil
}

// checkTools says what is wrong with tools.
func checkTools(tools []Tool) error {
	if len(tools) > ToolsMax {
		return fmt.Errorf("voicegw: %d tools; at most %d are possible", len(tools), ToolsMax)
	}
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.Name] {
			return fmt.Errorf("voicegw: two tools have the name %q", t.Name)
		}
		seen[t.Name] = true
	}
	var setup live.Setup
	for _, t := range tools {
		setup.Tools = append(setup.Tools, t.declaration())
	}
	if err := setup.Check(); err != nil {
		return fmt.Errorf("voicegw: tools: %w", err)
	}
	return nil
}

func (t *Tool) declaration() live.Tool {
	return live.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, NonBlocking: t.NonBlocking}
}
