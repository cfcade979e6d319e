//go:build !race

package managed

import (
	"strings"
	"testing"
	"time"
)

// budgetStory is a session whose turn stops at its budget, is interrupted twice, and is not taken up when the budget is
// raised. The next message begins another.
func budgetStory(t *testing.T, ran map[string]int) *house {
	return budgetHouse(t, &Budget{Type: "limit", MaxTokens: 110}, ran)
}

// playBudget plays it. Each request has a key, but for the raise, which is the same when it is repeated.
func (h *house) playBudget(restarted func()) {
	send := h.sender(restarted)
	send("one", Text("Look"))
	send("two", Event{Type: UserInterrupt}, Event{Type: UserInterrupt})
	send("three", Event{Type: UserInterrupt})
	h.until("raise", func() error {
		if s, err := h.rt.Session(h.Context(), ada, h.session); err == nil && s.Budget == nil {
			return nil
		}
		none := SessionPatch{Budget: BudgetChange{Set: true}}
		_, err := h.rt.UpdateSession(h.Context(), ada, h.session, none)
		restarted()
		return err
	})
	restarted()
	time.Sleep(time.Minute)
	send("four", Text("More"))
}

// TestCrashBudgetInterrupt: a turn that its budget has stopped is given up once, whenever the process is killed,
// however often it is interrupted.
func TestCrashBudgetInterrupt(t *testing.T) {
	s := &tale{begin: budgetStory, play: (*house).playBudget, most: 1, free: true}
	s.everywhere(t)
	in(t, func(t *testing.T) {
		h := budgetStory(t, map[string]int{})
		defer h.close()
		h.playBudget(func() {})
		got := letters(h.events())
		if strings.Count(got, "running") != 2 || strings.Count(got, "int'") != 3 || strings.Contains(got, "Done.") {
			t.Errorf("the session tells %s", got)
		}
	})
}
