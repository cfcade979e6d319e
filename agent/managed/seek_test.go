package managed

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// countingReads counts the records that an engine yields.
type countingReads struct {
	journal.Engine
	read int
}

func (c *countingReads) Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range c.Engine.Read(ctx, log, from, live) {
			c.read++
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Events from every number on are those of the whole log, and reading the end does not read the beginning.
func TestEventsFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns []provider.ScriptTurn
		for i := range 20 {
			turns = append(turns, says(fmt.Sprint("answer ", i)))
		}
		engine := &countingReads{Engine: journaltest.NewMemory()}
		h := newHouseOn(t, engine, Definition{}, &provider.Script{Turns: turns})
		for i := range 20 {
			h.send(Event{Type: UserMessage, Content: []Block{{Type: "text", Text: fmt.Sprint("question ", i)}}})
			if i%3 == 0 {
				h.restart() // adds a claim, or several
				h.restart()
			}
		}
		all := h.events()
		if len(all) < 60 {
			t.Fatalf("the story has %d events", len(all))
		}
		for from := range uint64(len(all) + 3) {
			next := max(from, 1)
			for ev, err := range h.rt.Events(t.Context(), ada, h.session, from, false) {
				if err != nil || ev.Seq != next || ev.ID != all[next-1].ID {
					t.Fatalf("from %d: %+v, %v; want %d", from, ev, err, next)
				}
				next++
			}
			if want := max(uint64(len(all))+1, max(from, 1)); next != want {
				t.Errorf("from %d: read up to %d, want %d", from, next-1, want-1)
			}
		}
		engine.read = 0
		for range h.rt.Events(t.Context(), ada, h.session, uint64(len(all)), false) {
			continue
		}
		if engine.read > 25 {
			t.Errorf("the last event of %d takes %d records", len(all), engine.read)
		}
		h.close()
	})
}
