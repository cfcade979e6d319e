package managed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

var errCrash = errors.New("the process is killed")

// tale is a session and what its clients do, to be killed anywhere.
type tale struct {
	begin func(t *testing.T, ran map[string]int) *house
	// play sends the inputs. It calls restarted after each, which starts a process that was killed anew.
	play func(h *house, restarted func())
	most int  // how often a call may be made
	free bool // either of two answers is right

	stride int // from one commit where it is killed to the next; 0 means 1

	snapshot int  // records between two snapshots; 0 means the default
	forget   bool // the next process finds none
	found    int  // how often there was one when the process was killed
}

// crashStory is a session with every kind of effect and of input. Its client repeats what was not acknowledged.
func crashStory(t *testing.T, ran map[string]int) *house {
	d := Definition{Tools: []ToolConfig{deploy().Tools[0], {Type: AgentToolset, Configs: []ToolPolicy{
		{Name: "delete_file", Permission: &Permission{Type: AlwaysAsk}}}}}}
	h := newHouse(t, d, []provider.ScriptTurn{
		calls(provider.ScriptCall{Name: "look", ID: "c1"}),
		calls(provider.ScriptCall{Name: "deploy", ID: "c2"}, provider.ScriptCall{Name: "delete_file", ID: "c3"}),
		says("Deployed."), says("Bye."),
	}, counting("look", ran, nil), counting("delete_file", ran, nil))
	return h
}

// until asks again until a request is answered. The process may be killed meanwhile.
func (h *house) until(what string, ask func() error) {
	h.Helper()
	for range 5 {
		err := ask()
		if err == nil {
			synctest.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
			return
		}
		if CodeOf(err) != Storage && CodeOf(err) != Overloaded {
			h.Fatalf("%s: %v", what, err)
		}
	}
	h.Fatalf("%s: refused too often", what)
}

// sender returns a function that sends events with a key until they are accepted. It calls restarted after each try.
func (h *house) sender(restarted func()) func(key string, events ...Event) {
	return func(key string, events ...Event) {
		h.until(key, func() error {
			_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: key}, events...)
			restarted()
			return err
		})
		restarted()
	}
}

// play plays the story. Each request has a key.
func (h *house) play(restarted func()) {
	send := h.sender(restarted)
	find := func(kind Type) string {
		for _, ev := range h.events() {
			if ev.Type == kind && (kind != AgentToolUse || ev.Permission == "ask") {
				return ev.ID
			}
		}
		h.Fatalf("there is no %s in %s", kind, letters(h.events()))
		return ""
	}
	send("one", Text("Deploy"))
	send("two", Event{Type: UserConfirmation, ToolUseID: find(AgentToolUse), Result: "allow"})
	send("three", Event{Type: UserCustomResult, CustomID: find(AgentCustomToolUse),
		Content: []Block{{Type: "text", Text: "ok"}}})
	send("four", Text("Bye"))
}

// TestCrashSomewhere is a slice of TestCrashAnywhere and its neighbours that is quick enough for the race detector.
func TestCrashSomewhere(t *testing.T) {
	for name, s := range map[string]*tale{
		"crash":    {begin: crashStory, play: (*house).play, snapshot: 1, stride: 5},
		"transfer": {begin: kitchenStory, play: (*house).playKitchen, stride: 13},
		"strategy": {begin: strategies("ann")["race"], play: (*house).playStrategy, free: true, stride: 13},
	} {
		s.most = 1
		t.Run(name, func(t *testing.T) { s.everywhere(t) })
	}
}

// everywhere plays a tale without a crash, and then with one before and after each commit, or each stride of them. The
// session must tell the same. It returns how often the outcome of a call was unknown.
func (s *tale) everywhere(t *testing.T) (unknown int) {
	t.Helper()
	baseline := ""
	in(t, func(t *testing.T) {
		h := s.begin(t, map[string]int{})
		defer h.close()
		s.play(h, func() {})
		baseline = letters(h.events())
	})
	t.Log(baseline)
	if !strings.HasSuffix(baseline, `"Bye.", idle end_turn`) {
		t.Fatal("the story does not come to its end")
	}
	times := 0
	for at := 1; ; at += max(1, s.stride) {
		over := false
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("commit %d, stored %v", at, lost), func(t *testing.T) {
				in(t, func(t *testing.T) { over = !s.crashAt(t, at, lost, baseline, &unknown) })
			})
		}
		if over {
			t.Logf("killed at %d commits; the outcome of %d calls was unknown", times, unknown)
			if want := 2 * times * s.snapshot; s.found < want*3/4 {
				t.Errorf("there were %d snapshots, want about %d", s.found, want)
			}
			return unknown
		}
		times++
	}
}

// crashAt kills the process at a commit, once. It reports whether there was such a commit.
func (s *tale) crashAt(t *testing.T, at int, lost bool, baseline string, unknown *int) bool {
	ran := map[string]int{}
	h := s.begin(t, ran)
	h.hasty = true
	h.often(s.snapshot, s.snapshot)
	defer func() { h.close() }()
	engine := h.engine.(*journaltest.Memory)
	var n atomic.Int64
	var dead, crashed atomic.Bool
	var seen []*Event // by clients, before the process was killed
	fail := func(string, uint64, int) error {
		if dead.Load() {
			return errCrash
		}
		return nil
	}
	count := func(log string, first uint64, records int) error {
		if dead.Load() {
			return errCrash
		}
		if n.Add(1) == int64(at) && !crashed.Swap(true) {
			dead.Store(true)
			return errCrash
		}
		return nil
	}
	engine.Before, engine.Lost = count, nil
	if lost {
		engine.Before, engine.Lost = fail, count
	}
	s.play(h, func() {
		synctest.Wait()
		if dead.Load() { // the process is gone: nothing of it is closed properly
			old := h.rt
			seen = h.events()
			if len(h.snapshotDocs()) > 0 {
				s.found++
			}
			if s.forget {
				h.forget()
			}
			h.open()
			dead.Store(false)
			if _, err := h.rt.Recover(t.Context()); err != nil {
				t.Error(err)
			}
			_ = old.Close(context.Background())
			synctest.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
		}
	})
	for key, times := range ran {
		if times > s.most {
			t.Errorf("the call %s is made %d times", key, times)
		}
	}
	all := h.events()
	for i, ev := range seen {
		if all[i].ID != ev.ID || all[i].Type != ev.Type || fmt.Sprint(all[i].Content) != fmt.Sprint(ev.Content) {
			t.Errorf("event %d was %s %s, and is %s %s now", i+1, ev.Type, ev.ID, all[i].Type, all[i].ID)
		}
	}
	for _, ev := range all {
		if ev.Type == AgentToolResult && strings.Contains(ev.Content[0].Text, "outcome_unknown") {
			*unknown++
		}
	}
	got := letters(all)
	if s.free {
		got = strings.ReplaceAll(got, "I am bob", "I am ann")
	}
	if got != baseline {
		t.Errorf("the session tells\n\t%s, want\n\t%s", got, baseline)
	}
	if slices.ContainsFunc(h.events(), func(ev *Event) bool { return ev.Type == SessionError }) {
		t.Error("the session tells an error")
	}
	return crashed.Load()
}

// TestLostAnswer: a message without a key whose storage fails, or whose answer is lost, is sent once.
func TestLostAnswer(t *testing.T) {
	for name, lost := range map[string]bool{"not stored": false, "stored": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello."), says("Hello again.")})
				defer h.close()
				h.send(Text("Hi")) // the same text on purpose
				engine, once := h.engine.(*journaltest.Memory), true
				fail := func(string, uint64, int) error {
					if once {
						once = false
						return errCrash
					}
					return nil
				}
				if engine.Before = fail; lost {
					engine.Before, engine.Lost = nil, fail
				}
				h.send(Text("Hi"))
				h.tells(`mes, running, mes', "Hello.", idle end_turn, mes, running, mes', "Hello again.", idle end_turn`)
			})
		})
	}
}
