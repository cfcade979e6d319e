//go:build !race

package managed

import (
	"testing"
	"testing/synctest"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestListEventsCost: a page of a long session reads what it has, not the session.
func TestListEventsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := journaltest.NewMemory()
		h, release := longSession(t, memory, 250)
		counting := &countingReads{Engine: memory}
		h.rt.cfg.Journal = counting
		all := h.once()
		if len(all) < 1300 {
			t.Fatalf("the session has %d events", len(all))
		}
		for _, limit := range []int{1, 20, 100} {
			most := 2*limit + 80 // what the page has, a search of the place, messages that wait
			for at := 0; at < len(all)-1; at += 97 {
				for _, newest := range []bool{false, true} {
					counting.read = 0
					l := Listing{After: all[at].Seq, Limit: limit, Newest: newest}
					if _, _, err := h.rt.ListEvents(t.Context(), ada, h.session, l); err != nil {
						t.Fatal(err)
					}
					if counting.read > most {
						t.Errorf("a page of %d at %d, newest first %v, reads %d records", limit, at, newest, counting.read)
					}
				}
			}
		}
		release()
		h.close()
	})
}
