package managed

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestDeletedIsNotMadeAgain: a repetition of the request that made something does not bring it back, also not by a
// process that has not seen it. After a day the key is forgotten.
func TestDeletedIsNotMadeAgain(t *testing.T) {
	for _, m := range makers() {
		deletes := map[string]func(h *house, id string) error{
			"session":     func(h *house, id string) error { return h.rt.DeleteSession(h.Context(), ada, id) },
			"environment": func(h *house, id string) error { return h.rt.DeleteEnvironment(h.Context(), ada, id) },
		}[m.name]
		if deletes == nil {
			continue // agents are archived, not deleted
		}
		in(t, func(t *testing.T) {
			h := sharingHouse(t, journaltest.NewMemory())
			defer h.close()
			once := Once{Key: "k", Repeated: true}
			id, err := m.make(h, ada, once, "x")
			if err != nil {
				t.Fatal(err)
			}
			if again, err := m.make(h, ada, once, "x"); err != nil || again != id {
				t.Errorf("%s: the repetition is %s, %v; want %s", m.name, again, err, id)
			}
			time.Sleep(time.Second) // a session is at rest
			if err := deletes(h, id); err != nil {
				t.Fatal(err)
			}
			before := m.list(h)
			for range 2 {
				if again, err := m.make(h, ada, once, "x"); CodeOf(err) != NotFound {
					t.Errorf("%s: after it was deleted the repetition is %s, %v; want NotFound", m.name, again, err)
				}
				h.restart()
			}
			if n := m.list(h); n != before {
				t.Errorf("%s: %d are there; want %d", m.name, n, before)
			}
			time.Sleep(keyWithin + time.Second)
			if again, err := m.make(h, ada, once, "x"); err != nil || again == id {
				t.Errorf("%s: after a day the key makes %s, %v; want a new one", m.name, again, err)
			}
		})
	}
}
