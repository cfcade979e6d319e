package managed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// childRecord is the environment variable with the number of the record at which a process of TestF5 kills itself.
const childRecord = "VOICEGW_TEST_CHILD_RECORD"

// killer is an engine that kills its process between the moment when a record is stored and the one when anybody
// learns of it. Records are counted over all sessions.
type killer struct {
	journal.Engine
	at int
	n  int // one session at a time writes
}

type killerWriter struct {
	journal.Writer
	k *killer
}

func (k *killer) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	w, err := k.Engine.Open(ctx, log, owner)
	return killerWriter{w, k}, err
}

func (w killerWriter) Append(data []byte) (uint64, error) {
	seq, err := w.Writer.Append(data)
	if w.k.n++; err == nil && w.k.n == w.k.at {
		if err := w.Await(context.Background(), seq); err != nil {
			return 0, err
		}
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {} // until the signal arrives
	}
	return seq, err
}

// f5Runtime is a runtime for fixture F-5 with one tool, so that there are effects of both kinds.
func f5Runtime(engine journal.Engine, file string) (*Runtime, error) {
	models := provider.NewResolver()
	script := &provider.Script{Turns: []provider.ScriptTurn{calls(provider.ScriptCall{ID: "n1", Name: "note"}),
		says("First answer."), says("Second answer.")}}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	return New(Config{Journal: engine, Models: models, Tools: []Tool{noteTool(file)}, Node: "child"})
}

// f5Child sends the first message of fixture F-5 and waits for its answer, or for its end.
func f5Child(dir string) error {
	ctx := context.Background()
	at, err := strconv.Atoi(os.Getenv(childRecord))
	if err != nil {
		return err
	}
	engine, err := jetstream.Open(ctx, jetstream.Config{Dir: dir})
	if err != nil {
		return err
	}
	rt, err := f5Runtime(&killer{Engine: engine, at: at}, filepath.Join(dir, "calls"))
	if err != nil {
		return err
	}
	id := os.Getenv(childSession)
	if _, err := rt.Send(ctx, ada, id, Once{Key: "one"}, Text("One")); err != nil {
		return err
	}
	for ev, err := range rt.Events(ctx, ada, id, 1, true) {
		if err != nil {
			return err
		}
		fmt.Println(ev.Seq, ev.ID, ev.Type)
		if ev.Type == StatusIdle {
			break
		}
	}
	return errors.New("the story is over before the record")
}

// TestF5EveryBoundary: a process is killed by SIGKILL when a record of its session is stored and nobody has learned
// of it, at one record after the other. The next process repeats its message and sends the second one. All events
// that a reader had are there, the numbers are dense, each message has one answer, and no call is made twice.
func TestF5EveryBoundary(t *testing.T) {
	at, unknown := 1, 0
	for ; f5At(t, at, &unknown); at++ {
	}
	if unknown != 1 {
		t.Errorf("the outcome of the call was unknown %d times; only its start leaves it unknown", unknown)
	}
	if at < 10 {
		t.Errorf("there are %d records", at-1)
	}
	t.Logf("killed at %d records", at-1)
}

// f5At kills a process at a record. It reports whether there was one, and counts calls of unknown outcome.
func f5At(t *testing.T, at int, unknown *int) (killed bool) {
	dir := t.TempDir()
	file := filepath.Join(dir, "calls")
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := f5Runtime(engine, file)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, engine: engine, rt: rt}
	f := loadFixture(t, "f5_resume")
	f.Agent.Tools = []ToolConfig{{Type: AgentToolset}}
	a, err := rt.CreateAgent(t.Context(), ada, f.Agent)
	if err != nil {
		t.Fatal(err)
	}
	s, err := rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	h.close()
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	seen, killed := runF5(t, dir, s.ID, at)
	if engine, err = jetstream.Open(t.Context(), jetstream.Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	if h.rt, err = f5Runtime(engine, file); err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if _, err := h.rt.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"One", "Two"} {
		list, err := h.rt.Send(t.Context(), ada, h.session, Once{Key: []string{"one", "two"}[i]}, Text(text))
		if err != nil {
			t.Fatal(err)
		}
		h.settle(list)
	}
	f5Judge(h, at, seen, file)
	if strings.Contains(f5Result(h.events()), "outcome_unknown") {
		*unknown++
	}
	return killed
}

// runF5 runs the process that is to be killed, and returns the events that it told.
func runF5(t *testing.T, dir, session string, at int) (seen []string, killed bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childSession+"="+session, fmt.Sprintf("%s=%d", childRecord, at))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("record %d: the process ended with %v", at, err)
	}
	killed = exit.ExitCode() == -1 // by a signal
	if !killed && !strings.Contains(string(exit.Stderr), "the story is over") {
		t.Fatalf("record %d: the process ended with %v: %s", at, err, exit.Stderr)
	}
	lines := strings.Split(string(out), "\n")
	return lines[:len(lines)-1], killed
}

// f5Judge holds the session to the story.
func f5Judge(h *house, at int, seen []string, file string) {
	h.Helper()
	all := h.events()
	for i, line := range seen {
		if got := fmt.Sprint(all[i].Seq, " ", all[i].ID, " ", all[i].Type); got != line {
			h.Errorf("record %d: event %d was %s, and is %s", at, i+1, line, got)
		}
	}
	want := `mes, running, mes', use note, done, "First answer.", idle end_turn, ` +
		`mes, running, mes', "Second answer.", idle end_turn`
	if got := letters(all); got != want {
		h.Errorf("record %d: the session tells\n\t%s, want\n\t%s", at, got, want)
	}
	if got := short(h.compat()); got != "r t m i r m i" {
		h.Errorf("record %d: the other profile tells %s", at, got)
	}
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.Fatal(err)
	}
	if n := len(strings.Fields(string(b))); n > 1 || n == 0 && !strings.Contains(f5Result(all), "outcome_unknown") {
		h.Errorf("record %d: the call is made %d times, and its result is %s", at, n, f5Result(all))
	}
}

// f5Result is the text of the result of the call.
func f5Result(events []*Event) string {
	for _, ev := range events {
		if ev.Type == AgentToolResult {
			return ev.Content[0].Text
		}
	}
	return ""
}
