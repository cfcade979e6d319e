package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/remoteagent/v2"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
)

// remote asks a workflow as ADK's remote agent does, and returns what the last event says.
func (h *shop) remote(flow, message string) string {
	h.Helper()
	a, err := remoteagent.NewA2A(remoteagent.A2AConfig{Name: flow,
		AgentCardProvider: remoteagent.NewAgentCardProvider(h.url + "/a2a/" + flow)})
	if err != nil {
		h.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "test", Agent: a, SessionService: session.InMemoryService(),
		AutoCreateSession: true})
	if err != nil {
		h.Fatal(err)
	}
	var said []string
	for ev, err := range r.Run(h.Context(), "ada", "s", genai.NewContentFromText(message, genai.RoleUser),
		agent.RunConfig{}) {
		if err != nil {
			return "error: " + err.Error()
		}
		if ev.ErrorMessage != "" {
			said = append(said, "error: "+ev.ErrorMessage)
		}
		if ev.Content != nil && !ev.Partial {
			for _, p := range ev.Content.Parts {
				said = append(said, p.Text)
			}
		}
	}
	return strings.Join(said, "\n")
}

// TestRemoteAgent calls workflows with ADK's remote agent.
func TestRemoteAgent(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	if got := h.remote("greet", "Hello"); got != "HELLO" {
		t.Errorf("the remote agent says %q", got)
	}
	if got := h.remote("broken", "Hello"); !strings.Contains(got, "no luck") {
		t.Errorf("a run that fails says %q", got)
	}
}

// TestCards are those of the workflows with an a2a section. Their URL is that of the operator.
func TestCards(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	var list struct {
		Cards []a2a.AgentCard `json:"agent_cards"`
	}
	_, all := h.json("GET", "/api/agent-cards", "")
	if err := json.Unmarshal([]byte(all.text), &list); err != nil || len(list.Cards) != 4 {
		t.Fatalf("%s %v", all.text, err)
	}
	_, one := h.json("GET", "/a2a/greet/.well-known/agent-card.json", "", "X-Api-Key", "bad") // a card is public
	var card a2a.AgentCard
	if err := json.Unmarshal([]byte(one.text), &card); err != nil {
		t.Fatal(err)
	}
	if card.Name != "greet" || card.Description != "says it loudly" || card.Version != "2.0.0" ||
		card.Skills[0].ID != "greet" ||
		card.SupportedInterfaces[0].URL != h.url+"/a2a/greet" || card.SupportedInterfaces[0].ProtocolBinding != "JSONRPC" {
		t.Errorf("the card is %s", one.text)
	}
	if code, a := h.json("GET", "/a2a/none/.well-known/agent-card.json", ""); code != 404 {
		t.Errorf("a card of nothing: %d %s", code, a.text)
	}
	if code, a := h.json("POST", "/a2a/greet", `{}`, "X-Api-Key", "bad"); code != 401 {
		t.Errorf("a call without a token: %d %s", code, a.text)
	}
}

// client is a client of the agent that a workflow is for others.
func (h *shop) client(flow string) *a2aclient.Client {
	h.Helper()
	client, err := a2aclient.NewFromEndpoints(h.Context(), []*a2a.AgentInterface{
		a2a.NewAgentInterface(h.url+"/a2a/"+flow, a2a.TransportProtocolJSONRPC)})
	if err != nil {
		h.Fatal(err)
	}
	return client
}

// TestCancelTask stops the run of a task. Nobody else can.
func TestCancelTask(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	client := h.client("wait")
	var id a2a.TaskID
	for ev, err := range client.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{
		Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("go"))}) {
		if err != nil {
			t.Fatal(err)
		}
		id = ev.TaskInfo().TaskID
		break // the task goes on
	}
	<-h.began
	body := `{"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": "` + string(id) + `"}}`
	if _, a := h.json("POST", "/a2a/wait", body, "X-Api-Key", "other"); !strings.Contains(a.text, `"error"`) {
		t.Errorf("another tenant: %s", a.text)
	}
	task, err := client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
	if err != nil || task.Status.State != a2a.TaskStateCanceled {
		t.Errorf("%+v %v", task, err)
	}
	<-h.stopped
	again, err := client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil || again.Status.State != a2a.TaskStateCanceled {
		t.Errorf("%+v %v", again, err)
	}
}

// TestTasksApart shows a task to nobody but its owner, while it is at work and afterwards.
func TestTasksApart(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	rpc := func(key, method, params string) string {
		_, a := h.json("POST", "/a2a/wait", `{"jsonrpc": "2.0", "id": 1, "method": "`+method+`", "params": `+params+`}`,
			"X-Api-Key", key)
		return a.text
	}
	message := func(task string) string {
		return `{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "secret"}]` + task + `}, ` +
			`"configuration": {"returnImmediately": true}}`
	}
	others := []string{"", "other", "acme", "acme/bob", "/ada"}
	for _, owner := range []string{"acme/ada", ""} {
		sent := rpc(owner, "SendMessage", message(""))
		var reply struct{ Result struct{ Task a2a.Task } }
		if err := json.Unmarshal([]byte(sent), &reply); err != nil || reply.Result.Task.ID == "" {
			t.Fatalf("%s: %v", sent, err)
		}
		<-h.began
		id := string(reply.Result.Task.ID)
		try := func() {
			for _, other := range others {
				if other == owner {
					continue
				}
				for method, params := range map[string]string{"GetTask": `{"id": "` + id + `"}`,
					"SubscribeToTask": `{"id": "` + id + `"}`, "CancelTask": `{"id": "` + id + `"}`,
					"SendMessage": message(`, "taskId": "` + id + `"`)} {
					if got := rpc(other, method, params); !strings.Contains(got, "not found") || strings.Contains(got, "secret") {
						t.Errorf("%s of a task of %q by %q: %s", method, owner, other, got)
					}
				}
			}
		}
		try()
		h.release <- struct{}{}
		if got := rpc(owner, "SubscribeToTask", `{"id": "`+id+`"}`); strings.Contains(got, "error") &&
			!strings.Contains(got, "no active execution") {
			t.Errorf("the owner follows its task: %s", got)
		}
		try()
		if got := rpc(owner, "GetTask", `{"id": "`+id+`"}`); !strings.Contains(got, "secret") {
			t.Errorf("the owner reads its task: %s", got)
		}
	}
}

// TestClose fails the tasks of a server that stops, and takes no more.
func TestClose(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	client := h.client("wait")
	for _, closed := range []bool{false, true} {
		if !closed {
			go func() { <-h.began; h.server.Close() }()
		}
		got, err := client.SendMessage(t.Context(), &a2a.SendMessageRequest{
			Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("go"))})
		task, ok := got.(*a2a.Task)
		if err != nil || !ok || task.Status.State != a2a.TaskStateFailed ||
			!strings.Contains(task.Status.Message.Parts[0].Text(), "the server stops") {
			t.Errorf("closed %v: %+v %v", closed, got, err)
		}
	}
}

// TestModes: answers have the type that the card names. A client that does not accept this type gets an error.
func TestModes(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	var card a2a.AgentCard
	_, one := h.json("GET", "/a2a/greet/.well-known/agent-card.json", "")
	if err := json.Unmarshal([]byte(one.text), &card); err != nil || fmt.Sprint(card.DefaultInputModes,
		card.DefaultOutputModes) != "[text/plain] [text/plain]" {
		t.Errorf("the card is %s, %v", one.text, err)
	}
	client := h.client("greet")
	for modes, taken := range map[string]bool{"": true, "text/plain": true, "application/json": false,
		"application/json,Text/Plain; charset=utf-8": true, "text/*": true, "image/png,audio/wav": false} {
		r := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("Hello"))}
		if modes != "" {
			r.Config = &a2a.SendMessageConfig{AcceptedOutputModes: strings.Split(modes, ",")}
		}
		got, err := client.SendMessage(t.Context(), r)
		if !taken {
			if !errors.Is(err, a2a.ErrUnsupportedContentType) || !strings.Contains(err.Error(), "answers are text/plain") {
				t.Errorf("%s: %v %v", modes, got, err)
			}
			continue
		}
		task, ok := got.(*a2a.Task)
		if err != nil || !ok || len(task.Artifacts) != 1 || task.Artifacts[0].Parts[0].Text() != "HELLO" {
			t.Errorf("%s: %+v %v", modes, got, err)
		}
	}
}

// TestInputRequired: a task whose run waits asks, and goes on with the answer.
func TestInputRequired(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	client := h.client("ask")
	send := func(m *a2a.Message) *a2a.Task {
		t.Helper()
		got, err := client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: m})
		if err != nil {
			t.Fatal(err)
		}
		task, ok := got.(*a2a.Task)
		if !ok {
			t.Fatalf("it answers %T", got)
		}
		return task
	}
	task := send(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(choose)))
	if task.Status.State != a2a.TaskStateInputRequired || !strings.Contains(task.Status.Message.Parts[0].Text(),
		`clerk calls get_user_choice with {"options":["red","blue"]}`) {
		t.Fatalf("the task is %+v", task.Status)
	}
	task = send(a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("blue")))
	if task.Status.State != a2a.TaskStateCompleted || task.Artifacts[0].Parts[0].Text() !=
		`get_user_choice: {"result":"blue"}` {
		t.Errorf("the task is %+v %+v", task.Status, task.Artifacts)
	}
}

// TestConfirmTask: a task whose run waits for a confirmation asks for it. Anything but yes refuses, and the model is
// told the words.
func TestConfirmTask(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"yes": `pay: {"result":3}`, "too much": `pay: {"error":"too much"}`} {
		h := newShop(t, managed.Limits{})
		client := h.client("ask")
		send := func(m *a2a.Message) *a2a.Task {
			t.Helper()
			got, err := client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: m})
			task, ok := got.(*a2a.Task)
			if err != nil || !ok {
				t.Fatalf("it answers %T, %v", got, err)
			}
			return task
		}
		task := send(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(pay)))
		if task.Status.State != a2a.TaskStateInputRequired || task.Status.Message.Parts[0].Text() !=
			`clerk wants to call pay with {"euros":3}: answer yes or no` || h.paid.Load() != 0 {
			t.Fatalf("the task is %+v, and %d calls ran", task.Status, h.paid.Load())
		}
		task = send(a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(answer)))
		if task.Status.State != a2a.TaskStateCompleted || task.Artifacts[0].Parts[0].Text() != want {
			t.Errorf("with %q the task is %+v %+v", answer, task.Status, task.Artifacts)
		}
		if ran := h.paid.Load(); (ran == 1) != (answer == "yes") {
			t.Errorf("with %q %d calls ran", answer, ran)
		}
	}
}

// TestTasks forgets the oldest tasks that have ended, and refuses one more if none has. One owner has half of the
// places and no more, and loses no task to another who fills those of their own.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := newTasks()
	s.owner = func(ctx context.Context) (string, error) { return ctx.Value(ownerKey{}).(managed.Owner).User, nil }
	ada, bob := withOwner(t.Context(), managed.Owner{User: "ada"}), withOwner(t.Context(), managed.Owner{User: "bob"})
	cid := withOwner(t.Context(), managed.Owner{User: "cid"})
	for owner, ctx := range map[string]context.Context{"": ada, "cid's ": cid} {
		for i := range tasksOfOwner {
			if _, err := s.Create(ctx, &a2a.Task{ID: a2a.TaskID(fmt.Sprint(owner, i))}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Create(ctx, &a2a.Task{ID: "more"}); err == nil {
			t.Errorf("a task too many of an owner was taken: %q", owner)
		}
	}
	if _, err := s.Create(bob, &a2a.Task{ID: "more"}); err == nil {
		t.Error("a task too many was taken")
	}
	if _, err := s.Get(bob, "7"); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("the task of somebody else: %v", err)
	}
	ended := &a2a.Task{ID: "7", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}}
	if _, err := s.Update(bob, &taskstore.UpdateRequest{Task: ended}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("somebody else changed a task: %v", err)
	}
	if _, err := s.Update(ada, &taskstore.UpdateRequest{Task: ended, PrevVersion: 9}); !errors.Is(err,
		taskstore.ErrConcurrentModification) {
		t.Errorf("an old version was changed: %v", err)
	}
	if v, err := s.Update(ada, &taskstore.UpdateRequest{Task: ended, PrevVersion: 1}); v != 2 || err != nil {
		t.Error(v, err)
	}
	if got, err := s.Get(ada, "7"); err != nil || got.Version != 2 || got.Task.Status.State != a2a.TaskStateCompleted {
		t.Error(got, err)
	}
	if _, err := s.Create(cid, &a2a.Task{ID: "more"}); err == nil {
		t.Error("a task too many took the place of another owner's")
	}
	if _, err := s.Create(ada, &a2a.Task{ID: "more"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ada, "7"); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("the task that has ended is still there: %v", err)
	}
}
