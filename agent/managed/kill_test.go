package managed

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// Environment of the process that is killed.
const (
	childDir     = "VOICEGW_TEST_CHILD_DIR"     // the directory of its journal
	childSession = "VOICEGW_TEST_CHILD_SESSION" // its session; "" begins one
	childNext    = "VOICEGW_TEST_CHILD_NEXT"    // the number of its first message
	killsTotal   = "VOICEGW_KILLS"              // how often TestKill kills it; default 12
)

// child runs a session until it is killed. It sends one message after the other and reports each that is accepted.
func child(dir string) int {
	serve := func() error { return serveChild(context.Background(), dir) }
	if os.Getenv(childRecord) != "" {
		serve = func() error { return f5Child(dir) }
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveChild(ctx context.Context, dir string) error {
	engine, err := jetstream.Open(ctx, jetstream.Config{Dir: dir})
	if err != nil {
		return err
	}
	rt, err := killRuntime(engine, filepath.Join(dir, "calls"))
	if err != nil {
		return err
	}
	id := os.Getenv(childSession)
	if id == "" {
		a, err := rt.CreateAgent(ctx, ada, Definition{Name: "notes", Model: ModelRef{ID: "script"},
			Tools: []ToolConfig{{Type: AgentToolset}}})
		if err != nil {
			return err
		}
		s, err := rt.StartSession(ctx, ada, SessionRequest{Agent: a.ID})
		if err != nil {
			return err
		}
		id = s.ID
	}
	fmt.Println("session", id)
	if _, err := rt.Recover(ctx); err != nil {
		return err
	}
	next, err := strconv.Atoi(os.Getenv(childNext))
	if err != nil {
		return err
	}
	for ; ; next++ {
		fmt.Println("send", next)
		list, err := rt.Send(ctx, ada, id, Once{Key: fmt.Sprint("key ", next)}, Text(fmt.Sprint("message ", next)))
		for ; CodeOf(err) == TooMany; <-time.After(20 * time.Millisecond) {
			list, err = rt.Send(ctx, ada, id, Once{Key: fmt.Sprint("key ", next)}, Text(fmt.Sprint("message ", next)))
		}
		if err != nil {
			return err
		}
		fmt.Println("acked", next, list[0].Seq)
	}
}

// killRuntime is a runtime whose only tool writes a line to a file for every call.
func killRuntime(engine *jetstream.Engine, file string) (*Runtime, error) {
	models := provider.NewResolver()
	script := &provider.Script{Repeat: true, Turns: []provider.ScriptTurn{calls(provider.ScriptCall{Name: "note"}),
		says("Noted.")}}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	return New(Config{Journal: engine, Models: models, Tools: []Tool{noteTool(file)}, Node: "child",
		Limits: Limits{Queue: 200}})
}

// noteTool is a tool that writes a line with its key to a file for every call.
func noteTool(file string) Tool {
	return Tool{Declaration: &genai.FunctionDeclaration{Name: "note", Description: "notes"},
		Call: func(_ context.Context, c ToolCall) (map[string]any, error) {
			f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			_, err = fmt.Fprintln(f, c.Key)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
			return map[string]any{"result": "ok"}, err
		}}
}

// killed is what the parent knows of its children.
type killed struct {
	*testing.T
	dir, session string
	sent         int            // the message that was sent last
	acked        map[int]uint64 // numbers of the accepted messages
}

// run runs a child and kills it after a while. It returns whether it has come to sending.
func (k *killed) run(after time.Duration) {
	k.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+k.dir, childSession+"="+k.session,
		fmt.Sprintf("%s=%d", childNext, k.next()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	lines := make(chan string, 10_000)
	go scan(out, lines)
	deadline := time.After(time.Minute) // until it sends
	for running := true; running; {
		select {
		case line, ok := <-lines:
			running = ok
			if k.note(line) {
				deadline = time.After(after)
			}
		case <-deadline:
			_ = cmd.Process.Kill()
			deadline = nil
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
		k.Fatalf("the process was not killed: %v, %s", err, complaint.String())
	}
}

func scan(out io.Reader, lines chan<- string) {
	defer close(lines)
	s := bufio.NewScanner(out)
	for s.Scan() {
		lines <- s.Text()
	}
}

// next is the message to send first: the one that was not accepted, or the one behind the last.
func (k *killed) next() int {
	if _, ok := k.acked[k.sent]; ok {
		return k.sent + 1
	}
	return max(k.sent, 1)
}

// note notes what a child reports. It reports whether the child sends for the first time.
func (k *killed) note(line string) bool {
	words := strings.Fields(line)
	switch {
	case len(words) == 2 && words[0] == "session":
		k.session = words[1]
		return true
	case len(words) == 2 && words[0] == "send":
		k.sent, _ = strconv.Atoi(words[1])
	case len(words) == 3 && words[0] == "acked":
		n, _ := strconv.Atoi(words[1])
		k.acked[n], _ = strconv.ParseUint(words[2], 10, 64)
	}
	return false
}

// TestKill kills a process at random, again and again. Every message that was accepted is there once, with its
// number, no call of the tool was made twice, and every message has its turn in the end.
func TestKill(t *testing.T) {
	kills := 12
	if n, err := strconv.Atoi(os.Getenv(killsTotal)); err == nil {
		kills = n
	}
	k := &killed{T: t, dir: t.TempDir(), acked: map[int]uint64{}}
	for n := 0; n < kills || len(k.acked) == 0 && n < 10*kills; n++ { // a busy machine may accept nothing for a while
		k.run(time.Duration(rand.IntN(120*(1+n/kills))) * time.Millisecond)
	}
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: k.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	rt, err := killRuntime(engine, filepath.Join(k.dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rt.Close(context.Background()) }()
	if _, err := rt.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.judge(rt)
}

// judge waits until the session rests, and holds its events to what was accepted.
func (k *killed) judge(rt *Runtime) {
	k.Helper()
	accepted, turns, seq, unknown := map[string]uint64{}, map[string]int{}, uint64(0), 0
	ctx, cancel := context.WithTimeout(k.Context(), 2*time.Minute)
	defer cancel()
	for ev, err := range rt.Events(ctx, ada, k.session, 0, true) {
		if err != nil {
			k.Fatal(err)
		}
		if seq++; ev.Seq != seq {
			k.Fatalf("event %d has the number %d", seq, ev.Seq)
		}
		switch {
		case ev.Type == UserMessage && ev.ProcessedAt == nil:
			if accepted[ev.Content[0].Text] != 0 {
				k.Errorf("%s is accepted twice", ev.Content[0].Text)
			}
			accepted[ev.Content[0].Text] = ev.Seq
		case ev.Type == UserMessage:
			turns[ev.Content[0].Text]++
		case ev.Type == AgentToolResult && strings.Contains(ev.Content[0].Text, "outcome_unknown"):
			unknown++
		case ev.Type == SessionError:
			k.Errorf("the session tells an error: %s", ev.Error.Message)
		}
		if ev.Type == StatusIdle && len(turns) == len(accepted) {
			break
		}
	}
	for n, seq := range k.acked {
		text := fmt.Sprint("message ", n)
		if accepted[text] != seq {
			k.Errorf("%s was accepted with the number %d, and has %d", text, seq, accepted[text])
		}
	}
	for text, n := range turns {
		if n != 1 {
			k.Errorf("%s has %d turns", text, n)
		}
	}
	b, err := os.ReadFile(filepath.Join(k.dir, "calls"))
	if err != nil {
		k.Fatal(err)
	}
	made := map[string]bool{}
	for _, key := range strings.Fields(string(b)) {
		if made[key] {
			k.Errorf("the call %s is made twice", key)
		}
		made[key] = true
	}
	k.Logf("%d messages were accepted, %d have a turn, %d calls were made, the outcome of %d is unknown, %d events",
		len(k.acked), len(turns), len(made), unknown, seq)
}
