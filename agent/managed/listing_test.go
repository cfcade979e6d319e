package managed

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// once is what a list has of the events of a stream: those that are there twice are there once, in the first
// place, with the time of the second.
func (h *house) once() []*Event {
	h.Helper()
	var list []*Event
	at := map[string]int{}
	for _, ev := range h.events() {
		if i, twice := at[ev.ID]; twice {
			list[i].ProcessedAt = ev.ProcessedAt
			continue
		}
		at[ev.ID] = len(list)
		list = append(list, ev)
	}
	return list
}

// pages reads a list page by page.
func (h *house) pages(l Listing) (list []*Event) {
	h.Helper()
	for {
		page, next, err := h.rt.ListEvents(h.Context(), ada, h.session, l)
		if err != nil || len(page) > l.Limit {
			h.Fatalf("a page of %d: %v", len(page), err)
		}
		list = append(list, page...)
		if next == 0 {
			return list
		}
		l.After = next
	}
}

func numbers(list []*Event) (n []string) {
	for _, ev := range list {
		n = append(n, fmt.Sprint(ev.Seq, ev.Type, ev.ProcessedAt))
	}
	return n
}

// TestListEvents: pages of every size, in both orders, with and without a filter, are the same list.
func TestListEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := longSession(t, journaltest.NewMemory(), 12)
		all := h.once()
		messages := func(ev *Event) bool { return ev.Type == UserMessage }
		for _, keep := range []func(*Event) bool{nil, messages, func(*Event) bool { return false }} {
			want := slices.Clone(all)
			if keep != nil {
				want = slices.DeleteFunc(want, func(ev *Event) bool { return !keep(ev) })
			}
			for _, limit := range []int{1, 2, 7, 1000} {
				up := numbers(h.pages(Listing{Limit: limit, Keep: keep}))
				if !slices.Equal(up, numbers(want)) {
					t.Errorf("pages of %d have\n%v, want\n%v", limit, up, numbers(want))
				}
				down := numbers(h.pages(Listing{Limit: limit, Keep: keep, Newest: true}))
				if slices.Reverse(down); !slices.Equal(down, numbers(want)) {
					t.Errorf("pages of %d from the end have\n%v, want\n%v", limit, down, numbers(want))
				}
			}
		}
		if waiting := all[len(all)-1]; waiting.Type != UserMessage || waiting.ProcessedAt != nil {
			t.Errorf("the last event is %+v, not a message that waits", waiting)
		}
		for _, limit := range []int{0, 1001} {
			if _, _, err := h.rt.ListEvents(t.Context(), ada, h.session, Listing{Limit: limit}); CodeOf(err) != Invalid {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
		release()
		h.close()
	})
}

// longSession has had turns and is in the middle of another, behind which two messages wait. Some messages came
// while another was answered.
func longSession(t *testing.T, engine *journaltest.Memory, turns int) (h *house, release func()) {
	t.Helper()
	gate := make(chan struct{})
	h = newHouseOn(t, engine, Definition{}, &gatedModel{turns: turns, gate: gate})
	say := func(n int) (list []Event) {
		for i := range n {
			list = append(list, Text(fmt.Sprint("question ", i)))
		}
		return list
	}
	for sent := 0; sent < turns; {
		n := min(1+sent%3, turns-sent)
		h.send(say(n)...)
		sent += n
		if sent%4 == 0 {
			h.send(Event{Type: UserInterrupt})
		}
	}
	h.send(say(1)...)
	h.send(say(2)...)
	return h, func() { close(gate) }
}

// gatedModel answers turns requests and then waits.
type gatedModel struct {
	turns int
	gate  chan struct{}
}

// Name is part of model.LLM.
func (*gatedModel) Name() string { return "gated" }

// GenerateContent is part of model.LLM.
func (m *gatedModel) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.turns--; m.turns < 0 {
			select {
			case <-m.gate:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText("yes", genai.RoleModel),
			FinishReason: genai.FinishReasonStop, TurnComplete: true}, nil)
	}
}

// TestListEventsScansALimit: a page without anything to keep ends after a number of events, with a next.
func TestListEventsScansALimit(t *testing.T) {
	memory := journaltest.NewMemory()
	h := newHouseOn(t, memory, Definition{}, &provider.Script{})
	defer h.close()
	const events = 2*scanMax + scanMax/2
	w, err := memory.Open(t.Context(), logKey(h.session), "writer")
	if err != nil {
		t.Fatal(err)
	}
	o := &owned{rt: h.rt, id: h.session, w: w}
	if o.st, err = h.rt.fold(t.Context(), h.session, &snapshot{}, 0); err != nil {
		t.Fatal(err)
	}
	for range events / 50 {
		r := &record{Kind: recordEvents}
		for range 50 {
			r.Events = append(r.Events, &Event{Type: AgentThinking})
		}
		if err := o.store(t.Context(), just(r)); err != nil {
			t.Fatal(err)
		}
	}
	none := func(*Event) bool { return false }
	for _, newest := range []bool{false, true} {
		l, pages := Listing{Limit: 1, Newest: newest, Keep: none}, 0
		for {
			pages++
			list, next, err := h.rt.ListEvents(t.Context(), ada, h.session, l)
			if err != nil || len(list) > 0 {
				t.Fatalf("%d events, %v", len(list), err)
			}
			if l.After = next; next == 0 {
				break
			}
		}
		if pages != 3 {
			t.Errorf("newest first %v: %d pages", newest, pages)
		}
	}
}
