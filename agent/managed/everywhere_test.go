//go:build !race

package managed

// These tests repeat a story for each commit, or move megabytes, which takes five to ten times as long under the race
// detector. TestCrashSomewhere, TestTransfer, TestUnknownInterrupted and TestSnapshotTaken run the same code under it.

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestCrashAnywhere kills the process before and after every commit of a story. The session must then have the same
// events as without a crash, and each tool call must have run at most once. Snapshots, which may be taken behind every
// record, and may all be lost, change nothing.
func TestCrashAnywhere(t *testing.T) {
	for name, s := range map[string]*tale{
		"without snapshots": {}, "with snapshots": {snapshot: 1}, "snapshots lost": {snapshot: 1, forget: true},
	} {
		s.begin, s.play, s.most = crashStory, (*house).play, 1
		t.Run(name, func(t *testing.T) {
			if s.everywhere(t) == 0 {
				t.Error("no call was under way when the process was killed")
			}
		})
	}
}

// TestTransferCrash kills a session of two agents at every commit. The agent that has the session goes on with it.
func TestTransferCrash(t *testing.T) {
	tale := tale{begin: kitchenStory, play: (*house).playKitchen, most: 1}
	if tale.everywhere(t) == 0 {
		t.Error("no call was under way when the process was killed")
	}
}

// TestStrategyCrash kills a session whose agent takes the first answer of two. The answer that was taken stays the
// one, whichever branch is quicker later.
func TestStrategyCrash(t *testing.T) {
	for _, quick := range []string{"ann", "bob"} {
		for name, begin := range strategies(quick) {
			for at, over := 1, false; !over; at++ {
				in(t, func(t *testing.T) {
					unknown := 0
					s := tale{begin: begin, play: (*house).playStrategy, most: 1, free: true}
					over = !s.crashAt(t, at, false, `mes, running, mes', use look, done, "I am ann", idle end_turn, `+
						`mes, running, mes', "Bye.", idle end_turn`, &unknown)
					if t.Failed() {
						t.Fatalf("%s, %s is quick, killed at %d", name, quick, at)
					}
				})
			}
		}
	}
}

// TestBudgetCrash kills a session at every commit around its budget: the end, the raise, and what follows are the same.
func TestBudgetCrash(t *testing.T) {
	begin := func(t *testing.T, ran map[string]int) *house {
		return budgetHouse(t, &Budget{Type: "limit", MaxTokens: 50}, ran)
	}
	play := func(h *house, restarted func()) {
		send := func(key string, do func() error) {
			h.until(key, func() error {
				err := do()
				restarted()
				return err
			})
			restarted()
		}
		message := func(text string) func() error {
			return func() error {
				_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: text}, Text(text))
				return err
			}
		}
		send("look", message("Look"))
		send("raise", func() error {
			s, err := h.rt.Session(h.Context(), ada, h.session)
			if err != nil || s.Budget.MaxTokens == 1000 {
				return err
			}
			_, err = h.rt.UpdateSession(h.Context(), ada, h.session, SessionPatch{Budget: BudgetChange{Set: true,
				To: &Budget{Type: "limit", MaxTokens: 1000}}})
			return err
		})
		send("bye", message("Bye"))
	}
	tale := tale{begin: begin, play: play, most: 1}
	tale.everywhere(t)
}

// TestUnknownAsk kills the process everywhere, once and, around a call that the client is asked about, twice. A call
// that may have happened is not repeated without the client's leave, then with the same key, and the model hears what
// came of it.
func TestUnknownAsk(t *testing.T) {
	for _, permission := range []string{AlwaysAllow, AlwaysAsk} {
		for _, answer := range []string{"allow", "deny"} {
			everAsked, twice := 0, 0
			for first, more := 1, true; more; first++ {
				for second := 0; ; second++ {
					asked, both := 0, false
					in(t, func(t *testing.T) {
						ran := map[string]int{}
						var h *house
						asked, h, both = payAt(t, first, second, permission, answer, ran)
						defer func() { h.close() }()
						judgePay(t, h, asked, answer, ran)
						if t.Failed() {
							t.Fatalf("%s, %s, killed at %d and %d", permission, answer, first, second)
						}
					})
					if second == 0 {
						more = both
					}
					if everAsked += asked; asked > 1 {
						twice++
					}
					if !both || asked == 0 && second == 0 || permission == AlwaysAsk {
						break
					}
				}
			}
			if everAsked == 0 || answer == "allow" && permission == AlwaysAllow && twice == 0 {
				t.Errorf("%s, %s: the client was asked %d times, and twice %d times", permission, answer, everAsked, twice)
			}
		}
	}
}

// TestLargeSnapshot: a state that does not fit into one document is in several. Those of the snapshot before are
// removed, and so are those of one that lost the race, or was never finished.
func TestLargeSnapshot(t *testing.T) {
	in(t, func(t *testing.T) {
		h := chat(t, journaltest.NewMemory())
		h.often(1, 1)
		noise := newNoise()
		h.hasty = true
		for range 6 {
			h.send(Text(noise(200_000)))
			time.Sleep(time.Minute)
		}
		h.close()
		before := h.snapshotDocs()
		if len(before) < 3 {
			t.Fatalf("the snapshot has the documents %q", before)
		}
		if _, err := h.engine.Put(t.Context(), partKey(h.session, "ORPHAN", 0), []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
		rt := &Runtime{cfg: h.cfg}
		rt.cfg.Logger = zap.NewNop()
		s, err := rt.snapshot(t.Context(), h.session)
		if err != nil || s.state == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		now, err := rt.storeSnapshot(t.Context(), s.state.image(), s.state.tip, saved{revision: s.revision - 1})
		if err != nil || now.revision != s.revision || now.record != s.record {
			t.Errorf("a snapshot that came second: %+v, %v, want revision %d", now, err, s.revision)
		}
		if docs := h.snapshotDocs(); len(docs) != len(before)+1 {
			t.Errorf("the documents are %q, want those of before", docs)
		}
		h.open()
		h.send(Text("Hi"))
		h.close()
		after := h.snapshotDocs()
		for _, key := range after[1:] {
			if slices.Contains(before, key) || strings.Contains(key, "ORPHAN") {
				t.Errorf("the document %s of an earlier snapshot is left", key)
			}
		}
		if len(after) < 3 {
			t.Errorf("the snapshot has the documents %q", after)
		}
		if err := h.engine.Remove(t.Context(), after[len(after)-1], 0); err != nil {
			t.Fatal(err)
		}
		h.open()
		if s := h.status(Idle); s.Turns != 7 {
			t.Errorf("with a torn snapshot, the session has %d turns", s.Turns)
		}
		h.close()
	})
}
