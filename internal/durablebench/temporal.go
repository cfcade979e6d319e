package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	server "go.temporal.io/server/temporal"
)

// temporal is Temporal's server, a worker and a client of this process, which speak gRPC over the loopback interface. A
// session is a workflow, a message an update of it that completes with the answer: of the ways to send one we know none
// that stores less.
type temporal struct {
	tool     *tool
	database *database // or nil: the store is SQLite
	local    bool      // the worker asks the model within the task of the workflow, and stores the answer at its end

	dir    string
	server server.Server
	client client.Client
	worker worker.Worker
	begun  int
}

// Names of Temporal.
const (
	queue    = "agents"
	updating = "message"
	ending   = "end"
)

func (t *temporal) open(ctx context.Context, dir string) error {
	t.dir = filepath.Join(dir, "store")
	address, err := t.serve(ctx)
	if err != nil {
		return err
	}
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.client, err = client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet})
	if err != nil {
		return err
	}
	// With the default of two pollers, some of fifty turns at once wait for 35 s.
	t.worker = worker.New(t.client, queue, worker.Options{MaxConcurrentWorkflowTaskPollers: 8,
		MaxConcurrentActivityTaskPollers: 8})
	t.worker.RegisterWorkflowWithOptions(converse, workflow.RegisterOptions{Name: "converse"})
	t.worker.RegisterActivityWithOptions(ask, activity.RegisterOptions{Name: "ask"})
	t.worker.RegisterActivityWithOptions(t.call, activity.RegisterOptions{Name: "call"})
	return t.worker.Start()
}

func (t *temporal) begin(ctx context.Context) (string, error) {
	t.begun++
	id := fmt.Sprint("session-", t.begun)
	_, err := t.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, "converse", t.local)
	return id, err
}

func (t *temporal) turn(ctx context.Context, session, id, text string) (answer string, err error) {
	h, err := t.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: session, UpdateID: id,
		UpdateName: updating, Args: []any{text}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err != nil {
		return "", err
	}
	err = h.Get(ctx, &answer)
	return answer, err
}

func (t *temporal) resume(ctx context.Context, session, id string, _ int) (answer string, err error) {
	h := t.client.GetWorkflowUpdateHandle(client.GetWorkflowUpdateHandleOptions{WorkflowID: session, UpdateID: id})
	err = h.Get(ctx, &answer)
	return answer, err
}

func (t *temporal) servers() []int { return t.database.servers() }

func (t *temporal) close() {
	if t.worker != nil {
		t.worker.Stop()
	}
	if t.client != nil {
		t.client.Close()
	}
	if t.server != nil {
		_ = t.server.Stop()
	}
	t.database.stop()
}

// content is a part of a conversation, as the model gets it.
type content struct {
	Role   string         `json:"role"`
	Text   string         `json:"text,omitempty"`
	Call   string         `json:"call,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
	Result map[string]any `json:"result,omitempty"`
}

// converse is the workflow of a session. It ends at a signal.
func converse(ctx workflow.Context, local bool) error {
	var said []content
	turns := workflow.NewMutex(ctx)
	err := workflow.SetUpdateHandler(ctx, updating, func(ctx workflow.Context, text string) (string, error) {
		if err := turns.Lock(ctx); err != nil { // messages wait for each other
			return "", err
		}
		defer turns.Unlock()
		said = append(said, content{Role: "user", Text: text})
		for {
			var answer content
			if err := request(ctx, local, said).Get(ctx, &answer); err != nil {
				return "", err
			}
			said = append(said, answer)
			if answer.Call == "" {
				return answer.Text, nil
			}
			var result map[string]any
			if err := workflow.ExecuteActivity(toolOptions(ctx), "call", answer.Args).Get(ctx, &result); err != nil {
				var late *sdk.TimeoutError
				if !errors.As(err, &late) {
					return "", err
				}
				result = map[string]any{"error": "outcome_unknown"}
			}
			said = append(said, content{Role: "tool", Result: result})
		}
	})
	if err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, ending).Receive(ctx, nil)
	return nil
}

// request asks the model. A request may be repeated.
func request(ctx workflow.Context, local bool, said []content) workflow.Future {
	if local {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteLocalActivity(ctx, "ask", said)
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteActivity(ctx, "ask", said)
}

// beat is how often a call that takes long says that it is there. A call that has said nothing for silence is taken for
// dead.
const (
	beat    = 500 * time.Millisecond
	silence = 2 * time.Second
)

// toolOptions let a call of the tool run once.
func toolOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute,
		HeartbeatTimeout: silence, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1}})
}

// ask asks the scripted model.
func ask(_ context.Context, said []content) (content, error) {
	last := said[len(said)-1]
	switch {
	case last.Role == "user":
		return content{Role: "model", Call: toolName, Args: toolArgs()}, nil
	case last.Result["error"] != nil:
		return content{Role: "model", Text: unknown}, nil
	}
	return content{Role: "model", Text: booked}, nil
}

// call runs the tool.
func (t *temporal) call(ctx context.Context, _ map[string]any) (map[string]any, error) {
	if t.tool.hang != "" {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			for ctx.Err() == nil {
				activity.RecordHeartbeat(ctx)
				time.Sleep(beat)
			}
		}()
	}
	return t.tool.call(ctx)
}
