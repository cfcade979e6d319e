package managed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestAnsweredSessionIsRecovered: a session whose calls all have answers goes on after a crash at any write, also if
// the last record is not the answer: it tells of the other answers, or ends a pause.
func TestAnsweredSessionIsRecovered(t *testing.T) {
	send := func(h *house, events ...Event) { _, _ = h.rt.Send(h.Context(), ada, h.session, Once{}, events...) }
	for name, story := range map[string]func(h *house){
		"two answers in one request": func(h *house) { send(h, resultFor("c1", "a"), resultFor("c2", "b")) },
		"the last answer in a pause": func(h *house) {
			send(h, resultFor("c1", "a"))
			_ = h.rt.Pause(h.Context(), ada, h.session)
			send(h, resultFor("c2", "b"))
			synctest.Wait()
			_ = h.rt.Resume(h.Context(), ada, h.session)
		},
	} {
		crashes := 0
		for at := 1; at <= crashes+1; at++ {
			in(t, func(t *testing.T) {
				h := newHouseOn(t, journaltest.NewMemory(), loadFixture(t, "f3_custom").Agent,
					recording(calls(provider.ScriptCall{ID: "c1", Name: "deploy"},
						provider.ScriptCall{ID: "c2", Name: "deploy"}), says("fine"), says("fine")))
				defer func() { _ = h.rt.Close(context.Background()) }()
				h.send(Text("Deploy"))
				dead := h.dieAt(at)
				die := h.engine.(*journaltest.Memory).Before
				h.engine.(*journaltest.Memory).Before = func(a string, b uint64, c int) error {
					time.Sleep(5 * time.Millisecond) // so that records are written one by one
					return die(a, b, c)
				}
				story(h)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if !dead.Load() {
					return
				}
				crashes++
				_ = h.rt.Close(context.Background())
				dead.Store(false)
				h.engine.(*journaltest.Memory).Before = nil
				h.open()
				if _, err := h.rt.Recover(h.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				st, err := h.rt.fold(h.Context(), h.session, &snapshot{}, 0)
				if err != nil {
					t.Fatal(err)
				}
				if st.phase == phaseParked && len(st.waiting()) == 0 && !st.head.Paused {
					t.Errorf("%s: dead at write %d: it is not recovered: %s", name, at, letters(h.events()))
				}
			})
		}
		if crashes < 4 {
			t.Errorf("%s: there were %d crashes", name, crashes)
		}
	}
}
