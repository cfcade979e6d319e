package managed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

const done = `mes, running, mes', "Hello!", idle end_turn`

// TestTakeover: the process of a session dies in the middle of a turn. Another one takes over within 3 s, and a stream
// there goes on without a gap or a double.
func TestTakeover(t *testing.T) {
	for offset := time.Duration(0); offset < beatDefault; offset += 90 * time.Millisecond {
		t.Run(fmt.Sprint(offset, " behind a beat"), func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")}, []string{"a", "b"})
				defer w.end()
				a, b := w.nodes["a"], w.nodes["b"]
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				told := b.follow(ctx)
				a.send(Text("Hi"))
				<-a.llm.asked
				close(b.llm.open)
				time.Sleep(10*time.Second + offset)
				synctest.Wait()
				if before := letters(told()); before != `mes, running, mes'` || w.holder(a.session) != "a" {
					t.Fatalf("before: %s, with %s", before, w.holder(a.session))
				}
				a.line.cut()
				took := w.within(3*time.Second, "take over", func() bool { return letters(told()) == done })
				t.Logf("taken over within %v", took)
				if w.holder(a.session) != "b" || w.members() != "b" {
					t.Errorf("the session is with %q, the nodes are %q", w.holder(a.session), w.members())
				}
				b.send(Text("Still there?"))
				if got := letters(told()); got != done+`, mes, running, mes', "Again.", idle end_turn` {
					t.Errorf("the stream tells %s", got)
				}
			})
		})
	}
}

// TestNoStealing: a session stays with a process that lives, at work or at rest, until it leaves memory there.
func TestNoStealing(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")}, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		a.send(Text("Hi"))
		<-a.llm.asked
		b.elsewhere("a")
		time.Sleep(time.Minute)
		b.elsewhere("a")
		b.status(Running)
		close(a.llm.open)
		synctest.Wait()
		b.elsewhere("a")
		b.status(Idle)
		b.tells(done)
		time.Sleep(2 * a.rt.cfg.Limits.Idle)
		synctest.Wait()
		if h := w.holder(a.session); h != "" {
			t.Errorf("a session at rest is with %q", h)
		}
		close(b.llm.open)
		b.send(Text("Hi"))
		a.elsewhere("b")
		if got := w.owners(a.session); !slices.Equal(got, []string{"a", "a", "b"}) { // to make it, to run it
			t.Errorf("the owners were %v", got)
		}
	})
}

// TestReplaced: a process with the name of another replaces it. The one before lets go of everything and does not come
// back.
func TestReplaced(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a"})
		defer w.end()
		a := w.nodes["a"]
		a.send(Text("Hi"))
		<-a.llm.asked
		twin := w.add("twin", "a", []provider.ScriptTurn{says("Hello!")})
		close(twin.llm.open)
		w.within(3*time.Second, "take over", func() bool { return letters(a.events()) == done })
		time.Sleep(time.Second)
		synctest.Wait()
		if a.has(a.session) || !twin.has(a.session) {
			t.Error("the session is not with the second process")
		}
		a.refused(Overloaded, "stopping", Text("Hi"))
		time.Sleep(time.Minute)
		synctest.Wait()
		d, err := w.engine.Get(t.Context(), nodeDocs+"a")
		if err != nil || decodeDoc[nodeDoc](d).Incarnation != twin.rt.me.Incarnation {
			t.Errorf("the document of the name is not that of the second process: %v", err)
		}
	})
}

// TestSilentJournal: while the journal answers nobody, nobody is taken for dead; neither when it answers the process of
// the session a second later than the others.
func TestSilentJournal(t *testing.T) {
	for _, silence := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, time.Minute} {
		t.Run(silence.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a", "b", "c"})
				defer w.end()
				a := w.nodes["a"]
				a.send(Text("Hi"))
				<-a.llm.asked
				time.Sleep(5*time.Second + 170*time.Millisecond)
				before := a.rt.me
				heal := []func(){w.nodes["b"].line.slowDown(""), w.nodes["c"].line.slowDown(""), a.line.slowDown("")}
				time.Sleep(silence)
				heal[0]()
				heal[1]()
				time.Sleep(time.Second)
				heal[2]()
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if w.members() != "a b c" || w.holder(a.session) != "a" || a.rt.me != before {
					t.Errorf("the nodes are %q, the session is with %q", w.members(), w.holder(a.session))
				}
				close(a.llm.open)
				synctest.Wait()
				a.tells(done)
			})
		})
	}
}

// TestSilenceCountsNothing: what a process has missed before a silence of the journal does not count behind it.
func TestSilenceCountsNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, nil, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		time.Sleep(5*time.Second + 170*time.Millisecond)
		before := a.rt.me
		heal := []func(){a.line.slowDown(""), nil}
		time.Sleep(3 * beatDefault) // b misses three
		heal[1] = b.line.slowDown("")
		time.Sleep(10 * time.Second)
		heal[1]()
		time.Sleep(time.Second)
		heal[0]()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if a.rt.me != before {
			t.Error("a process was taken for dead")
		}
	})
}

// TestZombie: a process that does not reach the journal for a while is taken for dead. What it does then is stored
// nowhere, and it begins nothing. When it is back, it does not touch what others have.
func TestZombie(t *testing.T) {
	in(t, func(t *testing.T) {
		ran := map[string]int{}
		d := Definition{Tools: []ToolConfig{{Type: AgentToolset}}}
		w := newTown(t, d, []provider.ScriptTurn{calls(provider.ScriptCall{Name: "look"}), says("Seen.")}, []string{"a"},
			counting("look", ran, nil))
		defer w.end()
		a, b := w.nodes["a"], w.add("b", "b", []provider.ScriptTurn{says("Hello!"), says("Again.")})
		a.send(Text("Hi"))
		<-a.llm.asked
		heal := a.line.slowDown("")
		w.within(4*time.Second, "take over", func() bool { return w.holder(a.session) == "b" && b.has(a.session) })
		<-b.llm.asked
		incarnation, records := a.rt.me, len(b.events())

		close(a.llm.open) // the zombie's model answers: it would store that, and call the tool
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(b.events()); n != records || len(ran) > 0 {
			t.Errorf("the zombie has stored %d events and called %v", n-records, ran)
		}
		if w.holder(a.session) != "b" || a.has(a.session) {
			t.Errorf("the session is with %q", w.holder(a.session))
		}
		heal()
		w.within(2*time.Second, "join again", func() bool { return w.members() == "a b" })
		if a.rt.me == incarnation {
			t.Error("the zombie goes on as if nothing had happened")
		}
		a.elsewhere("b")
		close(b.llm.open)
		synctest.Wait()
		a.tells(done)
		if got := w.owners(a.session); got[len(got)-1] != "b" {
			t.Errorf("the owners were %v", got)
		}
	})
}

// TestZombieWithWork: a process is taken for dead while its sessions rest. A message that it accepts before it knows
// has its turn.
func TestZombieWithWork(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")}, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		a.send(Text("Hi"))
		close(a.llm.open)
		synctest.Wait()
		heal := a.line.slowDown(nodeDocs)
		w.within(4*time.Second, "settle", func() bool { return w.holder(a.session) == "" && w.members() == "b" })
		before := a.rt.me
		a.llm.open = make(chan struct{}) // the turn takes until a process lets go of it
		a.send(Text("Hi"))
		<-a.llm.asked
		if w.holder(a.session) != "a" || a.rt.me != before {
			t.Fatalf("the session is with %q", w.holder(a.session))
		}
		heal()
		w.within(2*time.Second, "join again", func() bool { return w.members() == "a b" })
		close(a.llm.open)
		close(b.llm.open)
		w.within(2*time.Second, "go on", func() bool {
			return letters(b.events()) == done+`, mes, running, mes', "Again.", idle end_turn`
		})
	})
}

// TestDrain: a process that ends hands its sessions over: those at work go on elsewhere within a beat, those at rest
// are free at once.
func TestDrain(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")}, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		close(b.llm.open)
		at := a.session
		agent := a.status(Idle).Agent.ID
		rest, err := a.rt.StartSession(t.Context(), ada, SessionRequest{Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.rt.Pause(t.Context(), ada, rest.ID); err != nil {
			t.Fatal(err)
		}
		a.send(Text("Hi"))
		<-a.llm.asked
		time.Sleep(time.Second)
		if w.holder(rest.ID) != "a" || w.holder(at) != "a" {
			t.Fatalf("the sessions are with %q and %q", w.holder(rest.ID), w.holder(at))
		}
		begin := time.Now()
		a.close()
		if took := time.Since(begin); took > 0 || w.members() != "b" {
			t.Errorf("it leaves after %v; the nodes are %q", took, w.members())
		}
		if h := w.holder(rest.ID); h != "" {
			t.Errorf("the session at rest is with %q", h)
		}
		took := w.within(beatDefault+50*time.Millisecond, "take over", func() bool {
			return letters(b.events()) == done
		})
		t.Logf("handed over within %v", took)
		a.refused(Overloaded, "stopping", Text("Hi"))
		if err := b.rt.Resume(t.Context(), ada, rest.ID); err != nil {
			t.Error(err)
		}
	})
}

// TestOneTakesEach: of two survivors one takes each session, and both have some.
func TestOneTakesEach(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a", "b", "c"})
		defer w.end()
		a, b, c := w.nodes["a"], w.nodes["b"], w.nodes["c"]
		b.line.delayBy(time.Millisecond)
		c.line.delayBy(time.Millisecond)
		agent := a.status(Idle).Agent.ID
		sessions := make([]string, 40)
		for i := range sessions {
			s, err := a.rt.StartSession(t.Context(), ada, SessionRequest{Agent: agent, Initial: []Event{Text("Hi")}})
			if err != nil {
				t.Fatal(err)
			}
			sessions[i] = s.ID
		}
		time.Sleep(time.Second)
		a.line.cut()
		w.within(3*time.Second, "take over", func() bool {
			return !slices.ContainsFunc(sessions, func(id string) bool { return !b.has(id) && !c.has(id) })
		})
		time.Sleep(10 * time.Second)
		count := map[string]int{}
		for _, id := range sessions {
			owners := w.owners(id)
			if b.has(id) == c.has(id) || len(owners) != 3 { // a makes it, a runs it, and one of the others
				t.Errorf("session %s: with b %t, with c %t, owners %v", id, b.has(id), c.has(id), owners)
			}
			count[owners[len(owners)-1]]++
		}
		if count["b"] == 0 || count["c"] == 0 || count["b"]+count["c"] != len(sessions) {
			t.Errorf("the sessions are with %v", count)
		}
		close(b.llm.open)
		close(c.llm.open)
		synctest.Wait()
		for _, id := range sessions {
			b.session = id
			b.tells(done)
		}
	})
}

// TestCrashWhileMaking cuts a process off before each of its requests while it makes a session with a message. The
// session is then there, with its turn, or it has left nothing.
func TestCrashWhileMaking(t *testing.T) {
	there, gone := 0, 0
	for at := range 12 {
		in(t, func(t *testing.T) {
			w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a", "b"})
			defer w.end()
			a, b := w.nodes["a"], w.nodes["b"]
			close(b.llm.open)
			first := a.session
			agent := a.status(Idle).Agent.ID
			time.Sleep(beatDefault / 2)
			a.line.cutAfter(at)
			_, err := a.rt.StartSession(t.Context(), ada, SessionRequest{Agent: agent, Initial: []Event{Text("Hi")}})
			synctest.Wait()
			a.line.cut()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			list, _, lerr := b.rt.Sessions(t.Context(), ada, SessionFilter{}, Page{Limit: 10})
			if lerr != nil {
				t.Fatal(lerr)
			}
			ids := map[string]bool{}
			for _, s := range list {
				if ids[s.ID] = true; s.ID != first {
					b.session = s.ID
					b.tells(done)
					there++
				}
			}
			if len(list) == 1 {
				gone++
				if err == nil {
					t.Errorf("cut off at request %d: the session was made and is gone", at)
				}
			}
			docs, lerr := w.engine.List(t.Context(), journal.Query{Prefix: activeDocs})
			for _, d := range docs {
				if !ids[idOf(d.Key)] || decodeDoc[holder](d).Node != "b" || lerr != nil {
					t.Errorf("cut off at request %d: %s is left: %s, %v", at, d.Key, d.Value, lerr)
				}
			}
		})
	}
	t.Logf("%d sessions were made, %d were not", there, gone)
	if there < 3 || gone < 3 {
		t.Error("the process was not cut off in between")
	}
}

// TestTakeoverDuringAnElection: a process that takes a session over while its log cannot be opened tries again.
func TestTakeoverDuringAnElection(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		a.send(Text("Hi"))
		<-a.llm.asked
		close(b.llm.open)
		b.line.fail(logKey(""))
		a.line.cut()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if w.holder(a.session) != "b" || b.has(a.session) {
			t.Fatalf("the session is with %q, in memory %t", w.holder(a.session), b.has(a.session))
		}
		b.line.fail("")
		w.within(3*time.Second, "go on", func() bool { return letters(b.events()) == done })
	})
}

// TestGoesOnByItself: a session whose process cannot store for a while goes on there without a request.
func TestGoesOnByItself(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a", "b"})
		defer w.end()
		a := w.nodes["a"]
		var down atomic.Bool
		w.engine.Before = func(string, uint64, int) error {
			if down.Load() {
				return fmt.Errorf("%w: an election", journal.ErrStore)
			}
			return nil
		}
		a.send(Text("Hi"))
		<-a.llm.asked
		down.Store(true)
		close(a.llm.open)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := letters(a.events()); got != "mes, running, mes'" {
			t.Fatalf("the session tells %s", got)
		}
		down.Store(false)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		a.tells(done)
		if w.holder(a.session) != "a" {
			t.Errorf("the session is with %q", w.holder(a.session))
		}
		if n := len(w.owners(a.session)); n > 20 {
			t.Errorf("the session was opened %d times", n)
		}
	})
}

// TestCameAndWent: the sessions of a process that was here for less than a beat go on all the same.
func TestCameAndWent(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a"})
		defer w.end()
		a := w.nodes["a"]
		time.Sleep(10*time.Second + beatDefault/2)
		b := w.add("b", "b", []provider.ScriptTurn{says("Hello!")})
		b.send(Text("Hi"))
		<-b.llm.asked
		b.close()
		close(a.llm.open)
		w.within((lookEvery+2)*beatDefault, "take over", func() bool { return letters(a.events()) == done })
	})
}

// TestStreamOutlastsAnElection: a stream goes on where it was when the journal has not answered for a while, and ends
// with an error when that takes too long.
func TestStreamOutlastsAnElection(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")}, []string{"a", "b"})
		defer w.end()
		a, b := w.nodes["a"], w.nodes["b"]
		close(a.llm.open)
		ended := make(chan error, 1)
		count := 0
		go func() {
			for ev, err := range b.rt.Events(t.Context(), ada, b.session, 1, true) {
				if err != nil {
					ended <- err
					return
				}
				if count++; ev.Seq != uint64(count) {
					t.Errorf("event %d comes where %d must be", ev.Seq, count)
				}
			}
		}()
		a.send(Text("Hi"))
		before := count
		b.line.elect(true)
		a.send(Text("Hi"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if count != before {
			t.Error("the stream goes on without a journal")
		}
		b.line.elect(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if events := a.events(); count != len(events) || count <= before {
			t.Errorf("the stream has %d events, the session %d", count, len(events))
		}
		b.line.elect(true)
		select {
		case err := <-ended:
			if CodeOf(err) != Storage {
				t.Errorf("the stream ends with %v", err)
			}
		case <-time.After(2 * readPatience):
			t.Error("the stream waits for ever")
		}
	})
}

// TestRecoverReadsTheActiveOnes: a process that starts reads the list of the active sessions, not of all.
func TestRecoverReadsTheActiveOnes(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newTown(t, Definition{}, []provider.ScriptTurn{says("Hello!")}, []string{"a"})
		defer w.end()
		a := w.nodes["a"]
		a.cfg.Cluster = nil
		close(a.llm.open)
		a.send(Text("Hi"))
		before := len(a.line.listed)
		a.restart()
		for _, prefix := range a.line.listed[before:] {
			if !strings.HasPrefix(prefix, activeDocs) && !strings.HasPrefix(prefix, nodeDocs) {
				t.Errorf("it lists %s", prefix)
			}
		}
		if h := w.holder(a.session); h != "" {
			t.Errorf("a session at rest is with %q", h)
		}
	})
}

// TestClusterRefusals: what cannot work is refused by name.
func TestClusterRefusals(t *testing.T) {
	for part, cfg := range map[string]Config{
		"Address": {Node: "a", Cluster: &Cluster{Address: "10.0.0.7:8080"}},
		"Node":    {Node: "a.example", Cluster: &Cluster{Address: "http://10.0.0.7:8080"}},
		"\"a/b\"": {Node: "a/b", Cluster: &Cluster{Address: "http://10.0.0.7:8080"}},
		"Beat":    {Node: "a", Cluster: &Cluster{Address: "http://10.0.0.7:8080", Beat: -1}},
	} {
		cfg.Journal, cfg.Models = &line{}, provider.NewResolver()
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
}
