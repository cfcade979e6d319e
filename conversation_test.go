package voicegw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// said is a fragment of a transcript.
type said struct {
	who  voicenets.Speaker
	text string
}

// TestConversation joins what one side says in a row, and drops the oldest when it is too much.
func TestConversation(t *testing.T) {
	const caller, model = voicenets.Caller, voicenets.Model
	long := strings.Repeat("x", talkBytesMax)
	var many []said
	for i := range talkTurnsMax + 5 {
		many = append(many, said{caller + voicenets.Speaker(i%2)*(model-caller), fmt.Sprint(i, " ")})
	}
	for name, test := range map[string]struct {
		said  []said
		turns int
		first live.Turn
		last  live.Turn
	}{
		"one side": {[]said{{caller, "hel"}, {caller, "lo"}}, 1, live.Turn{Role: "user", Text: "hello"},
			live.Turn{Role: "user", Text: "hello"}},
		"both": {[]said{{caller, "hello"}, {model, "hi"}}, 2, live.Turn{Role: "user", Text: "hello"},
			live.Turn{Role: "model", Text: "hi"}},
		"empty": {[]said{{caller, "a"}, {model, ""}, {caller, "b"}}, 1, live.Turn{Role: "user", Text: "ab"},
			live.Turn{Role: "user", Text: "ab"}},
		"too many": {many, talkTurnsMax, live.Turn{Role: "model", Text: "5 "}, live.Turn{Role: "user",
			Text: fmt.Sprint(talkTurnsMax+4, " ")}},
		"too long": {[]said{{caller, "old"}, {model, long}}, 1, live.Turn{Role: "model", Text: long},
			live.Turn{Role: "model", Text: long}},
		"just fits": {[]said{{caller, "a"}, {model, long[1:]}}, 2, live.Turn{Role: "user", Text: "a"},
			live.Turn{Role: "model", Text: long[1:]}},
		"one too long": {[]said{{model, "old" + long}}, 1, live.Turn{Role: "model", Text: long}, live.Turn{Role: "model",
			Text: long}},
		"grew too long": {[]said{{model, "old"}, {model, long}}, 1, live.Turn{Role: "model", Text: long},
			live.Turn{Role: "model", Text: long}},
		"cut in a character": {[]said{{model, "é" + long[1:]}}, 1, live.Turn{Role: "model", Text: long[1:]},
			live.Turn{Role: "model", Text: long[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			var c conversation
			for _, s := range test.said {
				c.add(s.who, s.text)
			}
			turns := c.turns()
			if len(turns) != test.turns || turns[0] != test.first || turns[len(turns)-1] != test.last {
				t.Errorf("%d turns, from %.20q to %.20q; want %d, from %.20q to %.20q", len(turns), turns[0].Text,
					turns[len(turns)-1].Text, test.turns, test.first.Text, test.last.Text)
			}
		})
	}
}

// TestConversationNewest: a turn begins with what was typed; what was said before is not its own.
func TestConversationNewest(t *testing.T) {
	var c conversation
	newest := func(asked, answered string) {
		t.Helper()
		if q, a := c.newest(); q != asked || a != answered {
			t.Errorf("asked %q, answered %q; want %q and %q", q, a, asked, answered)
		}
	}
	newest("", "")
	c.add(voicenets.Caller, " how ")
	c.add(voicenets.Caller, "are you? ")
	c.add(voicenets.Model, " Fine. ")
	newest("how are you?", "Fine.")
	c.turn("and then?")
	newest("and then?", "")
	c.add(voicenets.Model, "Nothing.")
	newest("and then?", "Nothing.")
	if n := len(c.turns()); n != 2 {
		t.Errorf("%d turns: a turn that begins drops none, and typed text is no transcript", n)
	}
	c.forget()
	if newest("", ""); len(c.turns()) != 0 {
		t.Errorf("%d turns are not forgotten", len(c.turns()))
	}
}

// TestConversationKeepsTheEnd: whatever is said, what is kept is the end of it, valid UTF-8, within
// its limits, and counted right.
func TestConversationKeepsTheEnd(t *testing.T) {
	words := []string{"a", "no ", "日本語", "é", strings.Repeat("ü", 900), strings.Repeat("x", 4001), strings.Repeat("語",
		3000)}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		var c conversation
		var all strings.Builder
		for range 1 + r.IntN(200) {
			text := words[r.IntN(len(words))]
			all.WriteString(text)
			c.add([]voicenets.Speaker{voicenets.Caller, voicenets.Model}[r.IntN(2)], text)
			kept := ""
			for _, turn := range c.turns() {
				kept += turn.Text
			}
			if len(kept) > talkBytesMax || len(c.lines) > talkTurnsMax || !utf8.ValidString(kept) ||
				!strings.HasSuffix(all.String(), kept) || c.bytes != len(kept) {
				t.Fatalf("seed %d: %d bytes in %d turns are kept, %d are counted", seed, len(kept), len(c.lines), c.bytes)
			}
		}
	}
}

// TestConversationIsCopied: what turns returns does not change.
func TestConversationIsCopied(t *testing.T) {
	var c conversation
	c.add(voicenets.Caller, "a")
	before := c.turns()
	kept := slices.Clone(before)
	c.add(voicenets.Caller, "b")
	if !slices.Equal(before, kept) {
		t.Errorf("it became %v", before)
	}
}
