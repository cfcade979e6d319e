package voicegw

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Limits of tools.
const (
	ToolsMax        = 128
	ToolResultMax   = 64 << 10 // bytes of JSON
	toolIDsMax      = 64       // calls that can be cancelled
	toolResultWait  = 10 * time.Minute
	tooManyMessage  = "too many calls at once; try again later"
	timedOutMessage = "the function took too long"
)

// toolBook is the tools of one call. The net decides which run; the book calls
// them, and finds a call by the model's id.
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
	cancel context.CancelFunc // of a function that runs; nil before
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
	if !b.c.prog.hasTools {
		b.c.log.Warn("the model called a tool, and there is none", zap.String("tool", tc.Name))
		return
	}
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
	b.c.inject(ctx, voicenets.ToolCalled.Token(&voicenets.ToolCall{Payload: run}))
	if ctx.Err() != nil { // it may not have entered, and its connection is gone
		b.forget(run)
	}
}

// cancelled tells the net that the model wants some results no more. The net
// knows whether the calls still run: they entered it before.
func (b *toolBook) cancelled(ctx context.Context, ids []string) {
	for _, id := range ids {
		b.mu.Lock()
		run := b.runs[id]
		b.mu.Unlock()
		if run != nil {
			b.c.inject(ctx, voicenets.ToolCancelled.Token(&voicenets.ToolCall{Payload: run}))
		}
	}
}

// start runs a function, as the net said. It is called by the net's loop.
func (b *toolBook) start(work context.Context, r *voicenets.ToolRun) {
	run, _ := r.Call.Payload.(*toolRun)
	ctx, cancel := context.WithCancel(context.WithValue(work, sessionKey{}, b.c.session))
	b.mu.Lock()
	run.cancel = cancel
	b.mu.Unlock()
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
	b.forget(run)
	b.c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageToolCancel, ID: peerID(run.call.ID)}})
}

// over cancels the functions that run: the net has ended, and the peer may take a while to hear the last of it.
func (b *toolBook) over() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, run := range b.runs {
		if run.cancel != nil {
			run.cancel()
		}
	}
}

// forget forgets a call that has ended, not another one under its id.
func (b *toolBook) forget(run *toolRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs[run.call.ID] == run {
		delete(b.runs, run.call.ID)
	}
}

// reply is how a call ends, in the words of the model.
func (b *toolBook) reply(end *voicenets.ToolEnd) live.ToolReply {
	run, _ := end.Call.Payload.(*toolRun)
	b.forget(run)
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
		if end.How == voicenets.AnsweredLate {
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
		return toolAnswer{err: foreign.Cut(err.Error(), ToolResultMax)}
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

// peerID is the id of a call as the peer knows it. The model chooses ids of any
// length; one that has no room in the peers' protocols is replaced by its hash.
func peerID(id string) string {
	if len(id) <= transport.IDLenMax {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call-" + hex.EncodeToString(sum[:16])
}

// ask lets the peer answer.
func (b *toolBook) ask(ctx context.Context, tc *live.ToolCall) toolAnswer {
	ch := make(chan toolAnswer, 1)
	id := peerID(tc.ID)
	b.mu.Lock()
	b.answers[id] = ch
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.answers[id] == ch { // not of another call under this id
			delete(b.answers, id)
		}
	}()
	b.c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageToolCall, ID: id, Name: tc.Name,
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
