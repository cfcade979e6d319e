package voicegw

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/voicenets"
)

// TestNotesAreLimited: notes have room by number and by bytes, and one that leaves gives its room
// back.
func TestNotesAreLimited(t *testing.T) {
	for name, note := range map[string]string{"by number": "n", "by bytes": strings.Repeat("b", notesBytesMax/16)} {
		w, most := newTestWriter(false), min(notesMax, notesBytesMax/len(note))
		for i := range most {
			if !w.reserve(note) {
				t.Fatalf("%s: no room for note %d of %d", name, i+1, most)
			}
		}
		if w.reserve(note) {
			t.Errorf("%s: room for more than %d notes", name, most)
		}
		w.unreserve(&voicenets.Typed{Text: note})
		if !w.reserve(note) {
			t.Errorf("%s: no room after a note left", name)
		}
	}
}

// TestNotesLeave: items that may carry notes take all that wait, and notes in a turn go by themselves.
func TestNotesLeave(t *testing.T) {
	a, b := &voicenets.Typed{Text: "a"}, &voicenets.Typed{Text: "b"}
	start, end := modelItem{cmd: voicenets.ActivityStart}, modelItem{cmd: voicenets.ActivityEnd}
	for name, test := range map[string]struct {
		before []modelItem
		it     modelItem
		takes  []*voicenets.Typed
	}{
		"text":           {[]modelItem{{note: a}, {note: b}}, modelItem{text: a}, []*voicenets.Typed{a, b}},
		"a quiet moment": {[]modelItem{{note: a}}, modelItem{give: true}, []*voicenets.Typed{a}},
		"a turn":         {[]modelItem{{note: a}}, start, []*voicenets.Typed{a}},
		"in a turn":      {[]modelItem{start}, modelItem{note: b}, []*voicenets.Typed{b}},
		"a frame":        {[]modelItem{{note: a}}, modelItem{frame: &voicenets.CallerFrame{}}, nil},
		"a nudge":        {[]modelItem{{note: a}}, modelItem{cmd: voicenets.Nudge}, nil},
		"the turn's end": {[]modelItem{start, end, {note: a}}, end, nil},
	} {
		w := newTestWriter(false)
		for _, it := range test.before {
			w.carry(&it)
		}
		if !w.carry(&test.it) || !slices.Equal(test.it.notes, test.takes) {
			t.Errorf("%s: it takes %d notes, want %d", name, len(test.it.notes), len(test.takes))
		}
	}
	w := newTestWriter(false)
	if it := (modelItem{note: a}); w.carry(&it) {
		t.Error("a note leaves outside a turn, by itself")
	}
}

// noteBook follows notes as modelWriter should.
type noteBook struct {
	inNet, waiting, unsaved []*voicenets.Typed
	item                    *modelItem // being sent
	sending                 []*voicenets.Typed
	forgotten               bool // the notes being sent were dropped
}

// TestNotesAreCounted: whatever happens to notes, in any order, the writer counts those that have
// not left, and keeps those that wait in their order.
func TestNotesAreCounted(t *testing.T) {
	for seed := range uint64(200) {
		r, w, want := rand.New(rand.NewPCG(seed, 1)), newTestWriter(false), &noteBook{}
		for range 300 {
			want.step(r, w)
			bytes := 0
			all := slices.Concat(want.inNet, want.waiting, want.sending)
			for _, n := range all {
				bytes += len(n.Text)
			}
			if n := &w.notes; n.count != len(all) || n.bytes != bytes || !slices.Equal(n.waiting, want.waiting) {
				t.Fatalf("seed %d: %d notes of %d bytes, %d of them wait; want %d of %d, %d wait", seed, n.count, n.bytes,
					len(n.waiting), len(all), bytes, len(want.waiting))
			}
		}
	}
}

// step lets one thing happen to the notes of w.
func (b *noteBook) step(r *rand.Rand, w *modelWriter) {
	switch r.IntN(9) {
	case 0, 1, 2:
		if note := (&voicenets.Typed{Text: strings.Repeat("x", 1+r.IntN(9))}); w.reserve(note.Text) {
			b.inNet = append(b.inNet, note)
		}
	case 3: // the net loses a note
		if len(b.inNet) > 0 {
			w.unreserve(b.inNet[0])
			b.inNet = b.inNet[1:]
		}
	case 4: // a note comes to the front of the queue
		if len(b.inNet) > 0 {
			it := modelItem{note: b.inNet[0]}
			w.carry(&it)
			b.waiting, b.inNet = append(slices.Clone(b.waiting), b.inNet[0]), b.inNet[1:]
		}
	case 5: // a text takes what waits
		if b.item == nil {
			b.item = &modelItem{text: &voicenets.Typed{Text: "text"}}
			w.carry(b.item)
			b.sending, b.waiting = b.waiting, nil
		}
	case 6: // it was sent, was refused or waits on
		if b.item != nil {
			b.sent(r, w)
		}
	case 7: // consent was withdrawn
		if r.IntN(4) == 0 {
			queue := []modelItem{{frame: &voicenets.CallerFrame{}}}
			for _, n := range b.inNet {
				queue = append(queue, modelItem{note: n})
			}
			w.notes.drop(queue)
			b.inNet, b.waiting, b.unsaved, b.forgotten = nil, nil, nil, b.item != nil
		}
	case 8:
		switch resumed := r.IntN(2) == 0; {
		case r.IntN(2) == 0:
			w.saved()
		default:
			w.notes.moved(resumed)
			if resumed {
				b.waiting = append(slices.Clone(b.unsaved), b.waiting...)
			}
		}
		b.unsaved = nil
	}
}

func (b *noteBook) sent(r *rand.Rand, w *modelWriter) {
	kept := b.sending // if they were not forgotten
	if b.forgotten {
		kept = nil
	}
	switch r.IntN(3) {
	case 0:
		w.carried(w.link, b.item, true)
		b.unsaved = append(b.unsaved, kept...)
		b.unsaved = b.unsaved[max(0, len(b.unsaved)-notesMax):]
	case 1:
		w.carried(w.link, b.item, false)
	case 2:
		w.keep(b.item)
		b.waiting = append(slices.Clone(kept), b.waiting...)
	}
	b.item, b.sending, b.forgotten = nil, nil, false
}

// TestNoteOfAnOlderConnection: a note that went to a connection which was replaced meanwhile goes to the
// next one too, whether or not that resumes the conversation. If notes were dropped, it is forgotten.
func TestNoteOfAnOlderConnection(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(*modelWriter)
		waiting   int
	}{
		"resumed": {func(w *modelWriter) { w.use(&link{resumed: true}) }, 1},
		"anew":    {func(w *modelWriter) { w.use(&link{}) }, 1},
		"dropped": {func(w *modelWriter) { w.drop(1) }, 0},
	} {
		w := newTestWriter(false)
		l := w.link
		w.reserve("n")
		w.put(modelItem{cmd: voicenets.ActivityStart})
		w.put(modelItem{note: &voicenets.Typed{Text: "n"}})
		w.next()
		it, _, ok := w.next()
		if !ok || it.note == nil {
			t.Fatalf("%s: the note does not leave in the turn", name)
		}
		test.meanwhile(w)
		w.carried(l, &it, true)
		if n := &w.notes; len(n.waiting) != test.waiting || len(n.unsaved) != 0 || n.count != test.waiting {
			t.Errorf("%s: %d notes wait, with room for %d, and %d count as sent; want %d, %d and 0", name, len(n.waiting),
				n.count, len(n.unsaved), test.waiting, test.waiting)
		}
	}
}

// TestNoteInTurnIsPutBack: a note that its connection did not take waits in the queue or, if there is
// another connection meanwhile, for the next item that carries notes. If the queue was dropped, the
// note is lost and gives its room back.
func TestNoteInTurnIsPutBack(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile       func(*modelWriter)
		queued, waiting int
	}{
		"nothing happens":  {func(*modelWriter) {}, 1, 0},
		"dropped":          {func(w *modelWriter) { w.drop(1) }, 0, 0},
		"a new connection": {func(w *modelWriter) { w.use(&link{resumed: true}) }, 0, 1},
	} {
		w := newTestWriter(false)
		l := w.link
		w.reserve("n")
		w.put(modelItem{cmd: voicenets.ActivityStart})
		w.put(modelItem{note: &voicenets.Typed{Text: "n"}})
		w.next()
		it, _, ok := w.next()
		if !ok || it.note == nil {
			t.Fatalf("%s: the note does not leave in the turn", name)
		}
		test.meanwhile(w)
		w.putBack(l, it)
		queued := 0
		for _, it := range w.queue {
			if it.note != nil {
				queued++
			}
		}
		waiting := len(w.notes.waiting)
		if queued != test.queued || waiting != test.waiting || w.notes.count != queued+waiting {
			t.Errorf("%s: %d notes are queued and %d wait, with room for %d; want %d and %d", name, queued, waiting,
				w.notes.count, test.queued, test.waiting)
		}
	}
}
