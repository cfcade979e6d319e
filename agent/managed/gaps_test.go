package managed

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// Each test is about one thing that sessions elsewhere get wrong.

// TestGap01Durable: every event is there after the process and its engine have ended; a turn adds to the log, it
// does not write it anew.
func TestGap01Durable(t *testing.T) {
	dir := t.TempDir()
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	h := talker(t, engine)
	records := func() (n int) {
		for _, err := range h.engine.Read(t.Context(), logKey(h.session), 1, false) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	h.say(Text("One"))
	first := records()
	h.say(Text("Two"))
	second := records() - first
	h.say(Text("Three"))
	if third := records() - first - second; third != second {
		t.Errorf("the second turn has %d records, the third %d", second, third)
	}
	before := idsOf(h.events())
	h.close()
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	if engine, err = jetstream.Open(t.Context(), jetstream.Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	if engine.Durability() < journal.OSCrash {
		t.Errorf("the engine's durability is %d", engine.Durability())
	}
	h.engine, h.cfg.Journal = engine, engine
	h.open()
	defer h.close()
	if after := idsOf(h.events()); !slices.Equal(after, before) {
		t.Errorf("the events are %v, and were %v", after, before)
	}
}

// TestGap02ResumeAfterRestart: a session that was paused can be resumed by another process.
func TestGap02ResumeAfterRestart(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := talker(t, engine)
		defer func() { h.close() }()
		if err := h.rt.Pause(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		list := h.post(Text("One"))
		h.restart()
		if s := h.status(Idle); !s.Paused {
			t.Error("the session is not paused any more")
		}
		if err := h.rt.Resume(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.settle(list)
		h.tells(`mes, running, mes', "Hello.", idle end_turn`)
	})
}

// TestGap03NoDeadlock: a parked session takes the result at once. The model gets it, and no other words.
func TestGap03NoDeadlock(t *testing.T) {
	in(t, func(t *testing.T) {
		llm := recording(calls(provider.ScriptCall{ID: "c1", Name: "deploy"}), says("Deployed."))
		h := newHouseOn(t, journaltest.NewMemory(), deploy(), llm)
		defer h.close()
		h.send(Text("Deploy"))
		began := time.Now()
		h.send(resultFor("c1", "ok"))
		if took := time.Since(began); took != 0 {
			t.Errorf("the result took %v", took)
		}
		h.tells(`mes, running, mes', use deploy, idle requires_action 1, result, running, "Deployed.", idle end_turn`)
		if got := llm.result(t, 2, "c1"); got != `{"result":"ok"}` {
			t.Errorf("the model got %s", got)
		}
	})
}

// TestGap04OwnIDs: the id of a call is the model's own, in the event and in the answer to it.
func TestGap04OwnIDs(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, _ := f3(t, engine, "ctu_deploy_001")
		defer h.close()
		if ev := h.find(AgentCustomToolUse); ev.CallID != "ctu_deploy_001" {
			t.Errorf("the call has the id %q", ev.CallID)
		}
		list := h.compat()
		if ev := list[len(list)-1]; ev.CustomID != "ctu_deploy_001" {
			t.Errorf("in the other profile the call has the id %q", ev.CustomID)
		}
	})
}

// TestGap05PendingIDs: a session that waits tells for which calls, and after each answer for which it still does.
func TestGap05PendingIDs(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, _ := f3(t, engine, "one", "two")
		defer h.close()
		var uses []string
		for _, ev := range h.events() {
			if ev.Type == AgentCustomToolUse {
				uses = append(uses, ev.ID)
			}
		}
		if got := h.find(StatusIdle).StopReason.EventIDs; !slices.Equal(got, uses) {
			t.Errorf("the session waits for %v, want %v", got, uses)
		}
		h.say(resultFor("one", "ok"))
		if got := h.find(StatusIdle).StopReason.EventIDs; !slices.Equal(got, uses[1:]) {
			t.Errorf("the session waits for %v, want %v", got, uses[1:])
		}
	})
}

// TestGap06Confirmations: a confirmation reaches the call, deny by rule does not ask, and a tool's own permission
// goes before the default.
func TestGap06Confirmations(t *testing.T) {
	for _, c := range []struct{ def, own, tells string }{
		{AlwaysAsk, "", `mes, running, mes', use delete_file, idle requires_action 1`},
		{AlwaysDeny, "", `mes, running, mes', use delete_file, done, "Well.", idle end_turn`},
		{AlwaysAsk, AlwaysAllow, `mes, running, mes', use delete_file, done, "Well.", idle end_turn`},
	} {
		h, _, ran := f4(t, journaltest.NewMemory(), permitted(c.def, c.own))
		h.tells(c.tells)
		if c.tells == `mes, running, mes', use delete_file, idle requires_action 1` {
			h.say(confirm("tu_delete_001", "allow", ""))
			h.tells(c.tells + `, allow, running, done, "Well.", idle end_turn`)
		}
		if want := map[string]int{AlwaysDeny: 0, AlwaysAsk: 1}[c.def]; total(ran) != want {
			t.Errorf("%s, %s: the tool ran %v", c.def, c.own, ran)
		}
		h.close()
	}
}

// TestGap07UsableAfterInterrupt: a session takes any number of interrupts and still answers.
func TestGap07UsableAfterInterrupt(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		llm := blocking(says("One."), says("Two."), says("Three."))
		h := newHouseOn(t, engine, Definition{}, llm)
		defer h.close()
		for range 2 {
			h.post(Text("Think"))
			<-llm.asked
			h.say(Event{Type: UserInterrupt})
		}
		close(llm.open)
		h.say(Text("And now?"))
		if got := short(h.compat()); got != "r i r i r m i" {
			t.Errorf("the session tells %s", got)
		}
	})
}

// TestGap08Replay: the first event can be reached, a reader that joins in has no event twice, and one that falls
// behind by hundreds misses none. TestF6... has the details.
func TestGap08Replay(t *testing.T) {
	h := talker(t, journaltest.NewMemory())
	defer h.close()
	h.say(Text("One"))
	for ev, err := range h.rt.CompatEvents(t.Context(), ada, h.session, CompatAll, false) {
		if err != nil || ev.Seq != 0 || ev.Type != CompatRunning {
			t.Errorf("the first event is %+v, %v", ev, err)
		}
		break
	}
	h.replays()
	for range 300 / 8 {
		h.say(Text("More"))
	}
	h.follow(1, 0, 300)
}

// TestGap09NoEndTurnAfterError: a turn that failed is not told as one that ended. An agent that cannot run is
// refused before there is a session.
func TestGap09NoEndTurnAfterError(t *testing.T) {
	h := newHouse(t, Definition{}, []provider.ScriptTurn{{Error: "out of order"}})
	defer h.close()
	h.say(Text("Hello"))
	for _, ev := range h.events() {
		if ev.Type == StatusIdle && ev.StopReason.Type == EndTurn {
			t.Errorf("the turn that failed is told as %+v", ev.StopReason)
		}
	}
	_, err := h.rt.CreateAgent(t.Context(), ada, Definition{Name: "x", Model: ModelRef{ID: "nobody/knows"}})
	if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "model: ") {
		t.Errorf("an agent with an unknown model is refused with %v", err)
	}
}

// TestGap10DurableBeforeTold: an event that the journal has not stored is told to nobody, and a runtime that lost its
// session to another tells nothing any more.
func TestGap10DurableBeforeTold(t *testing.T) {
	in(t, func(t *testing.T) {
		engine := journaltest.NewMemory()
		h := newHouseOn(t, engine, Definition{}, &provider.Script{Turns: []provider.ScriptTurn{says("Hello!"), says("Bye.")}})
		defer h.close()
		hold := make(chan struct{})
		engine.Before = func(string, uint64, int) error { <-hold; return nil }
		sent := make(chan error, 1)
		go func() {
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Hi"))
			sent <- err
		}()
		synctest.Wait()
		h.tells("")
		select {
		case err := <-sent:
			t.Errorf("the message is accepted before it is stored: %v", err)
		default:
		}
		close(hold)
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.tells(`mes, running, mes', "Hello!", idle end_turn`)
		old := h.rt
		h.cfg.Node = "b"
		h.open()
		h.send(Text("Bye"))
		h.tells(`mes, running, mes', "Hello!", idle end_turn, mes, running, mes', "Bye.", idle end_turn`)
		if err := old.Close(context.Background()); err != nil {
			t.Error(err)
		}
		h.tells(`mes, running, mes', "Hello!", idle end_turn, mes, running, mes', "Bye.", idle end_turn`)
	})
}

// TestGap11Status: an archived session stays so, a pause in the middle of a turn outlives it, resume alone runs
// nothing, and a paused session takes an interrupt.
func TestGap11Status(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		llm := blocking(says("One."), says("Two."))
		h := newHouseOn(t, engine, Definition{}, llm)
		defer h.close()
		list := h.post(Text("One"))
		<-llm.asked
		control := func(f func(context.Context, Owner, string) error) {
			t.Helper()
			if err := f(t.Context(), ada, h.session); err != nil {
				t.Fatal(err)
			}
		}
		control(h.rt.Pause)
		close(llm.open)
		h.settle(list)
		if s := h.status(Idle); !s.Paused {
			t.Error("the end of the turn has ended the pause")
		}
		h.post(Text("Two"))
		h.say(Event{Type: UserInterrupt})
		h.tells(`mes, running, mes', "One.", idle end_turn, mes, int, int'`)
		control(h.rt.Resume)
		h.await(func(ev *Event) bool { return ev.Type == AgentMessage && ev.Content[0].Text == "Two." })
		h.await(func(ev *Event) bool { return ev.Type == StatusIdle && ev.Seq > 11 })
		before := h.status(Idle).LastSeq
		control(h.rt.Pause)
		control(h.rt.Resume)
		if s := h.status(Idle); s.LastSeq != before {
			t.Error("resume has made a turn of nothing")
		}
		if _, err := h.rt.ArchiveSession(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.restart()
		h.status(Terminated)
	})
}

// TestGap12NothingIgnored: what an agent asks for is there, or the agent is refused with the name of what is not.
func TestGap12NothingIgnored(t *testing.T) {
	h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!")})
	defer h.close()
	base := Definition{Name: "x", Model: ModelRef{ID: "script"}}
	for param, change := range map[string]func(*Definition){
		"mcp_servers": func(d *Definition) { d.MCPServers = []MCPServer{{Type: "ftp", Name: "files"}} },
		"skills":      func(d *Definition) { d.Skills = []SkillRef{{Type: "custom", ID: "no such skill"}} },
		"tools[0]":    func(d *Definition) { d.Tools = []ToolConfig{{Type: "bash"}} },
		"tools[0].configs[0].name": func(d *Definition) {
			d.Tools = []ToolConfig{{Type: AgentToolset, Configs: []ToolPolicy{{Name: "no_such_tool"}}}}
		},
	} {
		d := base
		change(&d)
		_, err := h.rt.CreateAgent(t.Context(), ada, d)
		var e *Error
		if !errors.As(err, &e) || e.Code != Invalid || !strings.HasPrefix(e.Param, param) {
			t.Errorf("%s is refused with %v", param, err)
		}
	}
}

// TestGap13SuiteIsReal: every fixture is played by the runtime on an engine that stores, one of them with a process
// that is killed, and from_seq is passed. This test holds the suite to what its fixtures say.
func TestGap13SuiteIsReal(t *testing.T) {
	var restarts, replays, interrupts int
	for _, name := range []string{"f1_hello", "f3_custom", "f4_confirm", "f5_resume", "f6_replay", "f7_interrupt",
		"f8_parity"} {
		for _, step := range loadFixture(t, name).Scenario {
			switch {
			case step.Restart:
				restarts++
			case step.Replay:
				replays++
			case step.Send[0].Type == UserInterrupt:
				interrupts++
			}
		}
	}
	if restarts == 0 || replays == 0 || interrupts == 0 {
		t.Errorf("the fixtures have %d restarts, %d replays and %d interrupts", restarts, replays, interrupts)
	}
}
