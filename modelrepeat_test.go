package voicegw

import (
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// newTestWriter is a queue to the model with a connection.
func newTestWriter(modelVAD bool) *modelWriter {
	return &modelWriter{modelVAD: modelVAD, greeting: "Say hello.", wake: make(chan struct{}, 1), link: &link{},
		talk:  &conversation{},
		reply: func(*voicenets.ToolEnd) live.ToolReply { return live.ToolReply{} }}
}

// TestRepeat queues a turn for a new connection as the old one should have received it.
func TestRepeat(t *testing.T) {
	frames := []*voicenets.CallerFrame{{}, {}, {}}
	text := func(s string) *voicenets.Typed { return &voicenets.Typed{Text: s} }
	after := func(n int, s string) voicenets.TextInTurn { return voicenets.TextInTurn{After: n, Typed: text(s)} }
	for name, test := range map[string]struct {
		turn     voicenets.CallerTurn
		modelVAD bool
		asked    string // the transcript of the caller
		want     string
	}{
		"greeting": {turn: voicenets.CallerTurn{Greet: true}, want: "greet"},
		"text":     {turn: voicenets.CallerTurn{Typed: text("typed")}, want: "typed"},
		"speech": {turn: voicenets.CallerTurn{Frames: frames},
			want: "activity_start frame frame frame activity_end"},
		"open":             {turn: voicenets.CallerTurn{Frames: frames[:1], Open: true}, want: "activity_start frame"},
		"the model's VAD":  {turn: voicenets.CallerTurn{Frames: frames[:2]}, modelVAD: true, want: "frame frame"},
		"no frame is left": {turn: voicenets.CallerTurn{}, want: "activity_start activity_end"},
		"texts in speech": {turn: voicenets.CallerTurn{Frames: frames, Texts: []voicenets.TextInTurn{after(0, "a"),
			after(2, "b"), after(2, "c"), after(9, "d")}}, want: "activity_start a frame frame b c frame d activity_end"},
		"with the turn before": {turn: voicenets.CallerTurn{Typed: text("b"),
			Before: &voicenets.CallerTurn{Typed: text("a")}}, want: "a b"},
		"cut, with a transcript": {turn: voicenets.CallerTurn{Cut: true, Frames: frames}, asked: "how?", want: "recap"},
		"cut, no transcript": {turn: voicenets.CallerTurn{Cut: true, Frames: frames[:1]},
			want: "activity_start frame recap activity_end"},
		"cut, no transcript, after a turn": {turn: voicenets.CallerTurn{Cut: true, Frames: frames[:1],
			Before: &voicenets.CallerTurn{Typed: text("a")}}, want: "a activity_start frame recap activity_end"},
		"cut, the model's VAD": {turn: voicenets.CallerTurn{Cut: true, Frames: frames[:1]}, modelVAD: true,
			want: "frame recap"},
		"cut, neither transcript nor frames": {turn: voicenets.CallerTurn{Cut: true}, want: "recap"},
		"a greeting that was cut":            {turn: voicenets.CallerTurn{Cut: true, Greet: true}, want: "recap"},
	} {
		w := newTestWriter(test.modelVAD)
		w.talk.add(voicenets.Caller, test.asked)
		w.repeat(&test.turn)
		if got := sentBy(w); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}

// TestRepeatText sends a text to a new connection once: one that waits moves behind what was put
// since, one that waited and was sent is not repeated, and any other is.
func TestRepeatText(t *testing.T) {
	text, other := &voicenets.Typed{Text: "a"}, &voicenets.Typed{Text: "b"}
	for name, test := range map[string]struct {
		do   func(w *modelWriter)
		want string // sent by the new connection
	}{
		"was sent to the old one": {func(w *modelWriter) {
			_ = sentBy(w)
			w.use(&link{})
		}, "a"},
		"waits": {func(w *modelWriter) { w.use(&link{}) }, "a"},
		"waits, behind another": {func(w *modelWriter) {
			w.use(&link{})
			w.put(modelItem{text: other})
		}, "b a"},
		"waited, and was sent": {func(w *modelWriter) {
			w.use(&link{})
			w.handed()
			_, _, _ = w.next()
		}, ""},
		"waited for the one before": {func(w *modelWriter) {
			w.use(&link{})
			w.handed()
			_, _, _ = w.next()
			w.use(&link{})
		}, "a"},
		"was dropped": {func(w *modelWriter) {
			w.drop(1)
			w.release(2)
			w.use(&link{})
		}, "a"},
	} {
		w := newTestWriter(false)
		w.put(modelItem{text: text})
		test.do(w)
		w.repeat(&voicenets.CallerTurn{Typed: text})
		if got := sentBy(w); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: %v, want %q", name, got, test.want)
		}
	}
}

// TestRecap says what was asked and heard, as far as there is a transcript.
func TestRecap(t *testing.T) {
	for _, test := range []struct {
		asked, answered string
		want, not       []string
	}{
		{"How?", "Like this", []string{`asked: "How?"`, `heard: "Like this"`}, []string{"Only its beginning"}},
		{"", "Like this", []string{`heard: "Like this"`}, []string{"asked"}},
		{"How?", "", []string{`asked: "How?"`, "Only its beginning"}, []string{`heard: "`}},
		{`say "hi"`, "", []string{`"say \"hi\""`}, nil},
	} {
		got := recap(test.asked, test.answered)
		for _, s := range test.want {
			if !strings.Contains(got, s) {
				t.Errorf("of %q and %q: %s has no %s", test.asked, test.answered, got, s)
			}
		}
		for _, s := range test.not {
			if strings.Contains(got, s) {
				t.Errorf("of %q and %q: %s has %s", test.asked, test.answered, got, s)
			}
		}
	}
}
