package console

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/voicenets"
)

// TestStages: a turn says where the time until its reply went, and how long the reply was silent in its middle.
func TestStages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		play func(*tape)
		want string // the cells of the report: (re)connecting, function, model; heard, end
	}{
		{"a slow model", func(p *tape) { p.reply(5*second, second, false) },
			"– – 3.0 s; 1.0 s of 1.0 s, complete"},
		{"a lost connection", func(p *tape) {
			p.do(second, func() { p.dialTakes = 3 * second })
			p.at(2*second+20*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
			p.reply(6*second, second, false)
		}, "3.5 s – 0.5 s; 1.0 s of 1.0 s, complete"},
		{"a function", func(p *tape) {
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.at(5*second, voicenets.ToolDone.Token(&voicenets.ToolEnd{}))
			p.reply(5*second+300*time.Millisecond, second, false)
		}, "– 2.8 s 0.5 s; 1.0 s of 1.0 s, complete"},
		{"a function that the connection takes with it", func(p *tape) {
			p.do(second, func() { p.dialTakes = 100 * time.Millisecond })
			p.at(2*second+200*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
			p.at(2*second+700*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
			p.reply(5*second, second, false)
		}, "0.6 s 0.5 s 1.9 s; 1.0 s of 1.0 s, complete"},
		{"a reply that stops and goes on", func(p *tape) {
			p.reply(3*second, second, true)
			p.reply(6*second, second, false)
		}, "– – 1.0 s; 2.0 s of 2.0 s, with 2.0 s of silence in it, complete"},
		{"a reply that stops for good", func(p *tape) { p.reply(3*second, second, true) },
			"– – 1.0 s; 1.0 s of 1.0 s, complete"},
		{"a hold in the reply", func(p *tape) {
			p.reply(3*second, 2*second, false)
			p.at(4*second, voicenets.Hold.Token(voicenets.On))
			p.at(6*second, voicenets.Hold.Token(voicenets.Off))
		}, "– – 1.0 s; 2.0 s of 2.0 s, complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newTape(t, voicenets.Config{ToolSlots: 2})
			p.speak(second, 2*second)
			c.play(p)
			p.at(19*second, voicenets.Over.Token(voicenets.HungUp))
			p.run(20 * second)
			_, b := whole(t, p.prog, p.file())
			cells := turnRowOf(b.Turns[0]).Cells
			n := len(cells)
			got := strings.Join(cells[1:4], " ") + "; " + strings.Join(cells[n-2:], ", ")
			if got != c.want {
				t.Errorf("got  %s\nwant %s:\n%s", got, c.want, text(t, b.Turns))
			}
			sum := 0.0
			for i, s := range b.Turns[0].Stages {
				if sum += s.MS; i > 0 && s.From < b.Turns[0].Stages[i-1].From {
					t.Errorf("stages out of order: %v", b.Turns[0].Stages)
				}
			}
			if whole := b.Turns[0].PlayedFirst - b.Turns[0].SpeechEnded; sum < whole-1 || sum > whole+1 {
				t.Errorf("the stages take %v ms of %v ms: %v", sum, whole, b.Turns[0].Stages)
			}
		})
	}
}
