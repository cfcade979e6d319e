package voicegw

import (
	"cmp"
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

// toolCalls runs the tools of one call, as the net decides, and finds a tool call by the model's
// id.
type toolCalls struct {
	tools map[string]*Tool
	inNet bool // the call's net has tools
	// schedules says that the model takes the scheduling of a result.
	schedules bool

	in      *injector
	workers *workers
	session *Session                 // in the context of functions
	send    func(*transport.Message) // to the peer
	now     func() time.Duration     // since the call began
	ended   func(tc ToolCall, took time.Duration)
	log     *zap.Logger

	mu      sync.Mutex
	runs    map[string]*toolRun // by id: called and not ended
	answers map[string]chan<- toolAnswer
}

// toolRun is a tool call that has not ended.
type toolRun struct {
	call   live.ToolCall
	began  time.Duration      // since the call did
	cancel context.CancelFunc // stops the function; nil before it runs
}

// over is a tool call that ended, for the turn.
func (r *toolRun) over(result, answer string) ToolCall {
	return ToolCall{Name: foreign.Cut(r.call.Name, transport.NameLenMax), Result: result, Began: r.began,
		Args: foreign.Cut(string(r.call.Args), toolContentMax), Answer: foreign.Cut(answer, toolContentMax)}
}

// toolAnswer is the result of a function.
type toolAnswer struct {
	output     json.RawMessage
	err        string
	scheduling live.Scheduling // ScheduleUnset: that of the tool
	took       time.Duration
}

func newToolCalls(tools []Tool) *toolCalls {
	t := &toolCalls{tools: map[string]*Tool{}, runs: map[string]*toolRun{}, answers: map[string]chan<- toolAnswer{}}
	for i := range tools {
		t.tools[tools[i].Name] = &tools[i]
	}
	return t
}

// called injects a tool call of the model.
func (t *toolCalls) called(ctx context.Context, tc live.ToolCall) {
	if !t.inNet {
		t.log.Warn("the model called a tool, but the call has no tools", zap.String("tool", tc.Name))
		return
	}
	run := &toolRun{call: tc, began: t.now()}
	t.mu.Lock()
	_, again := t.runs[tc.ID]
	if !again && len(t.runs) < toolIDsMax {
		t.runs[tc.ID] = run
	}
	t.mu.Unlock()
	if again {
		t.log.Warn("the model reused the id of an open tool call", zap.String("tool", tc.Name))
		return
	}
	t.in.inject(ctx, voicenets.ToolCalled.Token(&voicenets.ToolCall{Payload: run}))
	if ctx.Err() != nil { // its connection is gone, and the net may not have accepted it
		t.forget(run)
	}
}

// cancelled injects that the model cancels tool calls. The net knows whether they still run.
func (t *toolCalls) cancelled(ctx context.Context, ids []string) {
	for _, id := range ids {
		t.mu.Lock()
		run := t.runs[id]
		t.mu.Unlock()
		if run != nil {
			t.in.inject(ctx, voicenets.ToolCancelled.Token(&voicenets.ToolCall{Payload: run}))
		}
	}
}

// start runs a function, as the net decided. The net's loop calls it.
func (t *toolCalls) start(work context.Context, r *voicenets.ToolRun) {
	run := r.Call.Payload.(*toolRun)
	ctx, cancel := context.WithCancel(context.WithValue(work, sessionKey{}, t.session))
	t.mu.Lock()
	run.cancel = cancel
	t.mu.Unlock()
	began := time.Now()
	t.workers.start("calling "+run.call.Name, func() {
		defer cancel()
		answer := t.call(ctx, &run.call)
		answer.took = max(time.Since(began), 1)
		t.in.inject(work, voicenets.ToolDone.Token(&voicenets.ToolEnd{Slot: r.Slot, Payload: answer}))
	})
}

// stop cancels a function whose result nobody needs, as the net decided.
func (t *toolCalls) stop(r *voicenets.ToolRun) {
	run := r.Call.Payload.(*toolRun)
	run.cancel()
	t.forget(run)
	t.ended(run.over("cancelled", ""), 0)
	t.send(&transport.Message{Kind: transport.MessageToolCancel, ID: peerID(run.call.ID)})
}

// stopAll cancels the functions that still run when the net has ended.
func (t *toolCalls) stopAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, run := range t.runs {
		if run.cancel != nil {
			run.cancel()
		}
	}
}

// forget removes a tool call that has ended, but not a newer one with its id.
func (t *toolCalls) forget(run *toolRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[run.call.ID] == run {
		delete(t.runs, run.call.ID)
	}
}

// reply ends a tool call and returns what the model is sent.
func (t *toolCalls) reply(end *voicenets.ToolEnd) live.ToolReply {
	run := end.Call.Payload.(*toolRun)
	t.forget(run)
	r := live.ToolReply{ID: run.call.ID, Name: run.call.Name}
	result, took := "answered", time.Duration(0)
	switch end.How {
	case voicenets.TimedOut:
		result, r.Error = "timed_out", timedOutMessage
	case voicenets.TooMany:
		result, r.Error = "too_many", tooManyMessage
	default:
		answer, _ := end.Payload.(toolAnswer) // start injects no other payload
		r.Output, r.Error, r.Scheduling = answer.output, answer.err, answer.scheduling
		if took = answer.took; r.Error != "" {
			result = "failed"
		}
	}
	t.ended(run.over(result, cmp.Or(r.Error, string(r.Output))), took)
	tool := t.tools[r.Name]
	if tool == nil || !tool.NonBlocking || !t.schedules {
		r.Scheduling = live.ScheduleUnset
	}
	if tool != nil && tool.NonBlocking {
		r.Scheduling = cmp.Or(r.Scheduling, tool.Scheduling)
		if end.How == voicenets.AnsweredLate {
			r.Scheduling = live.ScheduleSilent
		}
	}
	return r
}

// call calls a function. It returns an answer whatever the function does.
func (t *toolCalls) call(ctx context.Context, tc *live.ToolCall) (answer toolAnswer) {
	defer func() {
		if v := recover(); v != nil {
			t.log.Error("tool panicked", zap.String("tool", tc.Name), zap.Any("panic", v), zap.Stack("stack"))
			answer = toolAnswer{err: "the function failed"}
		}
	}()
	tool := t.tools[tc.Name]
	switch {
	case tool == nil:
		return toolAnswer{err: fmt.Sprintf("there is no function %q", tc.Name)}
	case tool.Call == nil:
		return t.ask(ctx, tc)
	}
	out, err := tool.Call(ctx, tc.Args)
	if err != nil {
		return toolAnswer{err: foreign.Cut(err.Error(), ToolResultMax)}
	}
	return checkedAnswer(out)
}

// checkedAnswer is a result that the model can be sent.
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

// peerID is the id of a tool call in messages to the peer. The model chooses ids of any length; the
// hash of an id replaces one that is longer than transport.IDLenMax.
func peerID(id string) string {
	if len(id) <= transport.IDLenMax {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call-" + hex.EncodeToString(sum[:16])
}

// ask sends the tool call to the peer and waits for its answer.
func (t *toolCalls) ask(ctx context.Context, tc *live.ToolCall) toolAnswer {
	ch := make(chan toolAnswer, 1)
	id := peerID(tc.ID)
	t.mu.Lock()
	t.answers[id] = ch
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.answers[id] == ch { // not those of a newer call with this id
			delete(t.answers, id)
		}
	}()
	t.send(&transport.Message{Kind: transport.MessageToolCall, ID: id, Name: tc.Name,
		Text: string(tc.Args)})
	wait := time.NewTimer(toolResultWait) // a context's timer would keep the call in memory for so long
	defer wait.Stop()
	select {
	case a := <-ch:
		return a
	case <-ctx.Done():
	case <-wait.C:
	}
	return toolAnswer{err: timedOutMessage}
}

// answered takes a result from the peer. It reports false if no tool call waits for it.
func (t *toolCalls) answered(ev *transport.Event) bool {
	t.mu.Lock()
	ch := t.answers[ev.ID]
	delete(t.answers, ev.ID)
	t.mu.Unlock()
	if ch == nil {
		return false
	}
	answer := toolAnswer{err: ev.Text}
	if !ev.Failed {
		answer = checkedAnswer(json.RawMessage(ev.Text))
	}
	var known bool
	answer.scheduling, known = live.ParseScheduling(ev.Scheduling)
	if !known && ev.Scheduling != "" {
		t.log.Warn("the scheduling of a tool's result is unknown; that of the tool counts",
			zap.String("scheduling", foreign.Cut(ev.Scheduling, transport.NameLenMax)))
	}
	ch <- answer
	return true
}
