package httpapi

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// ownerKey is where the owner of a request is in its context.
type ownerKey struct{}

func withOwner(ctx context.Context, o managed.Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

// ownerUser names the caller to a2asrv and refuses the tasks of other owners. Without it, a2asrv lets anybody follow a
// running task.
type ownerUser struct {
	a2asrv.PassthroughCallInterceptor
	tasks *tasks
}

// Before sets the user of a call. Its name is different for different owners.
func (u ownerUser) Before(ctx context.Context, c *a2asrv.CallContext, r *a2asrv.Request) (context.Context, any, error) {
	o, _ := ctx.Value(ownerKey{}).(managed.Owner)
	c.User = a2asrv.NewAuthenticatedUser(fmt.Sprintf("%q %q", o.Tenant, o.User),
		map[string]any{"tenant": o.Tenant, "user": o.User})
	if id := taskOf(r.Payload); id != "" && !u.tasks.belongs(id, c.User.Name) {
		return ctx, nil, a2a.ErrTaskNotFound
	}
	if send, ok := r.Payload.(*a2a.SendMessageRequest); ok && !takesText(send.Config) {
		return ctx, nil, fmt.Errorf("answers are %s, and the request accepts only %s: %w", textMode,
			strings.Join(send.Config.AcceptedOutputModes, ", "), a2a.ErrUnsupportedContentType)
	}
	return ctx, nil, nil
}

// textMode is the type of all parts that a workflow takes and gives.
const textMode = "text/plain"

// takesText reports whether a client accepts text; one that names no types accepts all.
func takesText(c *a2a.SendMessageConfig) bool {
	return c == nil || len(c.AcceptedOutputModes) == 0 || slices.ContainsFunc(c.AcceptedOutputModes, func(m string) bool {
		m, _, _ = strings.Cut(m, ";")
		return slices.Contains([]string{textMode, "text/*", "*/*", "text"}, strings.ToLower(strings.TrimSpace(m)))
	})
}

// taskOf is the task that a request is about; "" for none.
func taskOf(request any) a2a.TaskID {
	switch r := request.(type) {
	case *a2a.GetTaskRequest:
		return r.ID
	case *a2a.CancelTaskRequest:
		return r.ID
	case *a2a.SubscribeToTaskRequest:
		return r.ID
	case *a2a.SendMessageRequest:
		if r.Message != nil {
			return r.Message.TaskID
		}
	}
	return ""
}

// ownerOf is the owner of an execution.
func ownerOf(c *a2asrv.ExecutorContext) (o managed.Owner) {
	if c.User != nil {
		o.Tenant, _ = c.User.Attributes["tenant"].(string)
		o.User, _ = c.User.Attributes["user"].(string)
	}
	return o
}

// rpc is the JSON-RPC of a workflow.
func (s *Server) rpc(flow string) http.Handler {
	known := newTasks()
	return a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(&executor{s, flow}, a2asrv.WithTaskStore(known),
		a2asrv.WithCallInterceptors(ownerUser{tasks: known}), a2asrv.WithLogger(slog.New(slog.DiscardHandler))),
		a2asrv.WithTransportKeepAlive(s.cfg.Heartbeat))
}

// executor runs a workflow for a2asrv. A context of A2A is a session; a task is a run of it.
type executor struct {
	s    *Server
	flow string
}

// session is the session of a context. The runtime remembers it for a day.
func (e *executor) session(ctx context.Context, c *a2asrv.ExecutorContext) (*managed.Session, error) {
	once := managed.Once{Key: "a2a/" + e.flow + "/" + c.ContextID}
	return e.s.cfg.Runtime.StartSessionOnce(ctx, ownerOf(c), once, managed.SessionRequest{Agent: managed.SharedID(e.flow)})
}

// Execute runs the workflow, or answers the first call that its run waits for.
func (e *executor) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if c.StoredTask == nil && !yield(a2a.NewSubmittedTask(c, c.Message), nil) {
			return
		}
		if !yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateWorking, nil), nil) {
			return
		}
		var out *exec.Outcome
		err := e.s.task(ctx, func(ctx context.Context) (err error) {
			out, err = e.run(ctx, c)
			return err
		})
		if ctx.Err() != nil { // the task was cancelled
			return
		}
		if err != nil {
			yield(ended(c, a2a.TaskStateFailed, problemOf(err).message), nil)
			return
		}
		switch out.Status {
		case exec.Done:
			if yield(a2a.NewArtifactEvent(c, a2a.NewTextPart(out.Content)), nil) {
				yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
			}
		case exec.Waiting:
			yield(ended(c, a2a.TaskStateInputRequired, question(out.Waits)), nil)
		case exec.Stopped:
			yield(ended(c, a2a.TaskStateCanceled, out.Failure), nil)
		default:
			yield(ended(c, a2a.TaskStateFailed, out.Failure), nil)
		}
	}
}

// ended is the end of a task, or a pause of it, with a reason.
func ended(c *a2asrv.ExecutorContext, state a2a.TaskState, text string) a2a.Event {
	return a2a.NewStatusUpdateEvent(c, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(text)))
}

// question asks for the answer of the first call.
func question(list []exec.Wait) string {
	if len(list) == 0 {
		return "the run waits for an answer"
	}
	w := list[0]
	if w.Asks == "confirmation" {
		return fmt.Sprintf("%s wants to call %s with %s: answer yes or no", w.Agent, w.Tool, w.Input)
	}
	return fmt.Sprintf("%s calls %s with %s: answer with its result", w.Agent, w.Tool, w.Input)
}

// run gives a message to the session of a context and waits until the run is at rest.
func (e *executor) run(ctx context.Context, c *a2asrv.ExecutorContext) (*exec.Outcome, error) {
	var text []string
	for _, p := range c.Message.Parts {
		if p.Text() == "" {
			return nil, invalid("a part of the message is no text, and workflows take text alone")
		}
		text = append(text, p.Text())
	}
	one, err := e.session(ctx, c)
	if err != nil {
		return nil, err
	}
	o := &order{Session: one.ID, Message: strings.Join(text, "\n")}
	if c.StoredTask != nil {
		if o.Events, err = e.answers(ctx, c, one, o.Message); err != nil {
			return nil, err
		}
	}
	_, from, err := e.s.begin(ctx, ownerOf(c), e.flow, o)
	if err != nil {
		return nil, err
	}
	g := &reading{s: e.s, owner: ownerOf(c), flow: e.flow, session: one.ID, after: from, model: one.Agent.Model.ID}
	var out *exec.Outcome
	err = g.read(ctx, func(_ *managed.Event, last *exec.Outcome) error {
		out = last
		return nil
	})
	return out, err
}

// answers makes a text the answer of the first call that a run waits for; none if it waits for none.
func (e *executor) answers(ctx context.Context, c *a2asrv.ExecutorContext, one *managed.Session, text string,
) ([]managed.Event, error) {
	begin, err := exec.RunBegin(ctx, e.s.cfg.Runtime, ownerOf(c), one.ID)
	if err != nil {
		return nil, err
	}
	var out exec.Outcome
	for ev, err := range e.s.cfg.Runtime.Events(ctx, ownerOf(c), one.ID, begin, false) {
		if err != nil {
			return nil, err
		}
		out.Add(e.flow, ev)
	}
	if out.Status != exec.Waiting || len(out.Waits) == 0 {
		return nil, nil
	}
	if w := out.Waits[0]; w.Asks == "confirmation" {
		ev := managed.Event{Type: managed.UserConfirmation, ToolUseID: w.ID, Result: "deny", DenyMessage: text}
		if slices.Contains([]string{"y", "yes", "allow"}, strings.ToLower(strings.TrimSpace(text))) {
			ev.Result, ev.DenyMessage = "allow", ""
		}
		return []managed.Event{ev}, nil
	}
	return []managed.Event{{Type: managed.UserCustomResult, CustomID: out.Waits[0].ID,
		Content: managed.Text(text).Content}}, nil
}

// Cancel interrupts the run.
func (e *executor) Cancel(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		one, err := e.session(ctx, c)
		if err == nil {
			err = e.s.cfg.Runtime.Interrupt(ctx, ownerOf(c), one.ID)
		}
		if err != nil {
			yield(nil, fmt.Errorf("cancel: %s: %w", problemOf(err).message, a2a.ErrTaskNotCancelable))
			return
		}
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, nil), nil)
	}
}
