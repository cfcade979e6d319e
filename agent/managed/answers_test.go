//go:build !race

package managed

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestAnswersTooLargeTogether: answers that each fit into a record, and together do not, leave the session usable.
// The model learns which of them it does not get. The same holds if the answers wait in a pause, and the session is
// interrupted or archived.
func TestAnswersTooLargeTogether(t *testing.T) {
	ids := []string{"c1", "c2", "c3", "c4", "c5"}
	var list []provider.ScriptCall
	for _, id := range ids {
		list = append(list, provider.ScriptCall{ID: id, Name: "deploy"})
	}
	asked := func(t *testing.T) (*house, *recorder) {
		llm := recording(calls(list...), says("fine"), says("again"))
		h := newHouseOn(t, journaltest.NewMemory(), loadFixture(t, "f3_custom").Agent, llm)
		h.send(Text("Deploy"))
		return h, llm
	}
	answer := func(h *house) {
		for _, id := range ids {
			h.send(resultFor(id, strings.Repeat("x", 250_000)))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	}
	in(t, func(t *testing.T) {
		h, llm := asked(t)
		answer(h)
		h.status(Idle)
		whole, errors := strings.Count(llm.reqs[1], `"result":"xxx`), strings.Count(llm.reqs[1], answerTooLarge)
		if whole != 2 || errors != 3 {
			t.Errorf("the model got %d answers and %d errors", whole, errors)
		}
		h.restart()
		h.send(Text("More"))
		if told := letters(h.events()); !strings.HasSuffix(told, `"again", idle end_turn`) {
			t.Error(told)
		}
		h.close()
	})
	in(t, func(t *testing.T) {
		h, _ := asked(t)
		if err := h.rt.Pause(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		answer(h)
		if err := h.rt.Interrupt(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := h.rt.ArchiveSession(t.Context(), ada, h.session); err != nil {
			t.Error(err)
		}
		h.close()
	})
}
