package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// TestStream reads a run as events with numbers. A reader that was cut off goes on behind the last one, and hears that
// nothing follows when the run is done.
func TestStream(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	all := h.frames(h.ask(t.Context(), "POST", "/api/workflows/greet/stream", `{"message": "Hello"}`))
	_, id, _ := strings.Cut(all[0].data, `"session_id":"`)
	id = strings.TrimSuffix(id, `"}`)
	if all[0].event != "session" || !strings.HasPrefix(id, "sesn_") {
		t.Fatalf("the stream begins with %v", all[0])
	}
	for i, f := range all[1:] {
		if f.id != strconv.Itoa(i+1) {
			t.Errorf("frame %d has the id %s", i+1, f.id)
		}
	}
	end := all[len(all)-1]
	if end.event != "done" || !strings.Contains(end.data, `"content":"HELLO"`) {
		t.Errorf("the stream ends with %v", end)
	}
	final := all[len(all)-3] // in front of the usage
	if final.event != "agent.message" || !strings.HasPrefix(final.data,
		`{"author":"greet","is_final":true,"content":"HELLO",`) {
		t.Errorf("the answer is %v", final)
	}
	at := "/api/workflows/greet/stream?session_id=" + id
	if whole := h.frames(h.ask(t.Context(), "GET", at, "")); len(whole) != len(all) || whole[len(whole)-1] != end {
		t.Errorf("read again: %v", whole)
	}
	for _, method := range []string{"GET", "POST"} {
		rest := h.frames(h.ask(t.Context(), method, at, `{"session_id": "`+id+`"}`, "Last-Event-ID", "4"))
		if len(rest) != len(all)-4 || rest[1] != all[5] || rest[len(rest)-1] != end {
			t.Errorf("%s behind event 4: %v", method, rest)
		}
	}
	resp := h.ask(t.Context(), "GET", at, "", "Last-Event-ID", end.id)
	_ = resp.Body.Close()
	if resp.StatusCode != 204 {
		t.Errorf("behind the last event: %d", resp.StatusCode)
	}
	for path, headers := range map[string][]string{"/api/workflows/greet/stream": nil, at: {"Last-Event-ID", "x"}} {
		if code, a := h.json("GET", path, "", headers...); code != 422 {
			t.Errorf("%s %q: %d %s", path, headers, code, a.text)
		}
	}
	failed := h.frames(h.ask(t.Context(), "POST", "/api/workflows/broken/stream", `{"message": "Hello"}`))
	if end := failed[len(failed)-1]; end.event != "error" || !strings.Contains(end.data, `"code":"run_failed"`) {
		t.Errorf("a run that fails: %v", failed)
	}
}

// TestDisconnect: a run goes on without its reader, and the answer is there for a later one. A reader that wants so
// ends its run when it goes away.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	leave := func(body string) (id string) {
		ctx, cancel := context.WithCancel(t.Context())
		resp := h.ask(ctx, "POST", "/api/workflows/wait/stream", body)
		head := make([]byte, 256)
		n, err := resp.Body.Read(head)
		if err != nil {
			t.Fatal(err)
		}
		<-h.began
		cancel()
		_ = resp.Body.Close()
		_, id, _ = strings.Cut(string(head[:n]), `"session_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		return id
	}
	leave(`{"message": "go", "cancel_on_disconnect": true}`)
	<-h.stopped
	id := leave(`{"message": "go"}`)
	code, a := h.json("POST", "/api/workflows/wait/run", `{"message": "more", "session_id": "`+id+`"}`)
	if code != 409 || !strings.Contains(a.Error.Message, "a run of the session is at work; read it with GET") {
		t.Errorf("a message for a run at work: %d %s", code, a.text)
	}
	close(h.release)
	list := h.frames(h.ask(t.Context(), "GET", "/api/workflows/wait/stream?session_id="+id, ""))
	if end := list[len(list)-1]; end.event != "done" || !strings.Contains(end.data, `"content":"free"`) {
		t.Errorf("the run without its reader: %v", list)
	}
}

// TestHeartbeat: a stream without events has comments.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	resp := h.ask(t.Context(), "POST", "/api/workflows/wait/stream", `{"message": "go"}`)
	defer resp.Body.Close()
	for s := bufio.NewScanner(resp.Body); s.Scan(); {
		if s.Text() == ": still here" {
			close(h.release)
			return
		}
	}
	t.Error("the stream has ended without a heartbeat")
}

// TestSlowReader cuts off readers that take nothing: of a stream, of an answer, and of a task.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	h.server.writeMax = 20 * time.Millisecond
	ended := make(chan struct{}, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.server.ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	srv.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(4096); err != nil {
			t.Error(err)
		}
		return ctx
	}
	srv.Start()
	defer srv.Close()
	large := strings.Repeat("x", 120_000)
	rpc := `{"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": {"messageId": "m", ` +
		`"role": "ROLE_USER", "parts": [{"text": "` + large + `"}]}}}`
	for path, body := range map[string]string{"/api/workflows/greet/stream": `{"message": "` + large + `"}`,
		"/api/workflows/greet/run": `{"message": "` + large + `"}`, "/a2a/greet": rpc} {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path,
			len(body), body)
		<-ended
		_ = c.Close()
	}
}
