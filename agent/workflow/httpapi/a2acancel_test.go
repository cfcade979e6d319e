package httpapi

import (
	"encoding/json"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/voicegw/voicegw/agent/managed"
)

// TestCancelTaskAgain: a client that cancels a task twice does not stop the task that has begun in its context since.
func TestCancelTaskAgain(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	rpc := func(method, params string) a2a.Task {
		t.Helper()
		_, a := h.json("POST", "/a2a/wait", `{"jsonrpc": "2.0", "id": 1, "method": "`+method+`", "params": `+params+`}`)
		var reply struct{ Result json.RawMessage }
		if err := json.Unmarshal([]byte(a.text), &reply); err != nil || reply.Result == nil {
			t.Fatalf("%s: %s, %v", method, a.text, err)
		}
		var sent struct{ Task *a2a.Task }
		if err := json.Unmarshal(reply.Result, &sent); err == nil && sent.Task != nil {
			return *sent.Task
		}
		var task a2a.Task
		if err := json.Unmarshal(reply.Result, &task); err != nil {
			t.Fatalf("%s: %s, %v", method, a.text, err)
		}
		return task
	}
	send := func(inContext string) a2a.Task {
		t.Helper()
		task := rpc("SendMessage", `{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go"}]`+inContext+
			`}, "configuration": {"returnImmediately": true}}`)
		<-h.began
		return task
	}
	first := send("")
	id := `{"id": "` + string(first.ID) + `"}`
	if task := rpc("CancelTask", id); task.Status.State != a2a.TaskStateCanceled {
		t.Fatalf("the first is %s", task.Status.State)
	}
	<-h.stopped
	second := send(`, "contextId": "` + first.ContextID + `"`)
	if task := rpc("CancelTask", id); task.ID != first.ID || task.Status.State != a2a.TaskStateCanceled {
		t.Errorf("the first, again, is %+v", task)
	}
	select {
	case h.release <- struct{}{}:
	case <-h.stopped:
		t.Fatal("the second is stopped")
	}
	for {
		task := rpc("GetTask", `{"id": "`+string(second.ID)+`"}`)
		if task.Status.State == a2a.TaskStateCompleted {
			break
		}
		if task.Status.State.Terminal() {
			t.Fatalf("the second is %s", task.Status.State)
		}
	}
}
