//go:build !race

package voicegw_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// TestTurnsAreRepeated: the next connection gets all of what the caller said and typed that is not
// answered, in order and once.
func TestTurnsAreRepeated(t *testing.T) {
	said := func() []int16 { return speech("long", 16000)[:16000*3/2] }
	for name, c := range map[string]struct {
		story func(p *phone, s *voicegw.Session, lose func())
		want  []string
	}{
		"a turn before typed text": {func(p *phone, s *voicegw.Session, lose func()) {
			p.say(said())
			time.Sleep(time.Second)
			lose()
			time.Sleep(2 * time.Second)
			_ = s.Text("typed")
		}, []string{"start", "speech", "end", "typed"}},
		"typed text before typed text": {func(p *phone, s *voicegw.Session, lose func()) {
			_ = s.Text("one")
			time.Sleep(time.Second)
			_ = s.Text("two")
			time.Sleep(time.Second)
			lose()
		}, []string{"one", "two"}},
		"a turn before a turn": {func(p *phone, _ *voicegw.Session, lose func()) {
			p.say(said())
			time.Sleep(2500 * time.Millisecond)
			p.say(said())
			time.Sleep(2500 * time.Millisecond)
			lose()
		}, []string{"start", "speech", "end", "start", "speech", "end"}},
		"text in a turn": {func(p *phone, s *voicegw.Session, lose func()) {
			p.say(speech("long", 16000))
			time.Sleep(time.Second)
			_ = s.Text("inside")
			time.Sleep(300 * time.Millisecond)
			lose()
		}, []string{"start", "speech", "inside", "speech"}},
		"text in a turn without a connection": {func(p *phone, s *voicegw.Session, lose func()) {
			p.say(said())
			time.Sleep(time.Second)
			lose()
			_ = s.Text("inside")
			time.Sleep(2 * time.Second)
		}, []string{"start", "speech", "inside", "speech", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dialBook{}
			cfg, sessions := withSession(voicegw.Config{Dialer: d})
			cfg.Net.Backoff[0] = 3 * time.Second
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				c.story(p, <-sessions, func() {
					_ = d.newest().Close(0, "")
					p.state(transport.MessageModel, transport.StateLost)
				})
				p.state(transport.MessageModel, transport.StateBack)
				time.Sleep(time.Second)
				got := d.newest().got()
				if len(got) > len(c.want) && got[len(got)-1] == "end" { // the open turn ended meanwhile
					got = got[:len(got)-1]
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("the next connection was told %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestTranscriptSharesTheFateOfItsAudio: a transcript that comes ahead of its audio is shown with it, or not at all.
func TestTranscriptSharesTheFateOfItsAudio(t *testing.T) {
	words := func(text string) live.ServerMessage {
		return live.ServerMessage{Kind: live.ServerModelTranscript, Text: text}
	}
	reply := []live.ServerMessage{{Kind: live.ServerAudio, PCM: speech("hello", 24000), RateHz: 24000},
		{Kind: live.ServerGenerationComplete}, {Kind: live.ServerTurnComplete}}
	for name, c := range map[string]struct {
		between func(p *phone, s *voicegw.Session, d *dialBook) // after the first words
		says    []live.ServerMessage
		want    string
		silent  bool // no reply is played
	}{
		"text takes its place": {func(_ *phone, s *voicegw.Session, _ *dialBook) { _ = s.Text("two") },
			append([]live.ServerMessage{words("second")}, reply...), "second", false},
		"speech takes its place": {func(p *phone, _ *voicegw.Session, _ *dialBook) {
			p.say(speech("long", 16000)[:16000])
			time.Sleep(2 * time.Second)
		}, append([]live.ServerMessage{words("second")}, reply...), "second", false},
		"its connection is lost": {func(p *phone, _ *voicegw.Session, d *dialBook) {
			_ = d.newest().Close(0, "")
			p.state(transport.MessageModel, transport.StateBack)
		}, append([]live.ServerMessage{words("second")}, reply...), "second", false},
		"its audio comes": {func(*phone, *voicegw.Session, *dialBook) {}, reply, "first", false},
		"a reply in words alone": {func(*phone, *voicegw.Session, *dialBook) {},
			[]live.ServerMessage{{Kind: live.ServerTurnComplete}}, "first", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dialBook{}
			cfg, sessions := withSession(voicegw.Config{Dialer: d})
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				_ = s.Text("one")
				time.Sleep(time.Second)
				d.newest().says <- words("first")
				time.Sleep(100 * time.Millisecond)
				c.between(p, s, d)
				time.Sleep(time.Second)
				for _, m := range c.says {
					d.newest().says <- m
				}
				time.Sleep(2 * time.Second)
				shown, played := "", uint64(0)
				for _, m := range p.all() {
					if m.Kind == transport.MessageTurn && m.State == transport.StateStart {
						played = m.Generation
					}
				}
				for _, m := range p.all() {
					if m.Kind == transport.MessageTranscript {
						shown += m.Text
						if m.Generation != played && !c.silent {
							t.Errorf("%q is shown for generation %d; %d is played", m.Text, m.Generation, played)
						}
					}
				}
				if shown != c.want || (played == 0) != c.silent {
					t.Errorf("shown is %q, want %q; generation %d is played", shown, c.want, played)
				}
			})
		})
	}
}

// TestEndSaysHowMuchWasHeard: the end of a reply says how much of it the caller heard.
func TestEndSaysHowMuchWasHeard(t *testing.T) {
	for name, cut := range map[string]func(p *phone, s *voicegw.Session){
		"complete":  func(*phone, *voicegw.Session) {},
		"barge-in":  func(p *phone, _ *voicegw.Session) { p.say(speech("long", 16000)) },
		"text":      func(_ *phone, s *voicegw.Session) { _ = s.Text("stop") },
		"call over": func(_ *phone, s *voicegw.Session) { _ = s.HandOff("somebody else") },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, sessions := withSession(voicegw.Config{})
			inBubble(t, plan{model: long(), gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				generation := p.reply(2 * time.Second)
				cut(p, <-sessions)
				end := p.turn(transport.StateEnd)
				heard := p.playedMS(generation)
				// What was played since the last acknowledgement, 100 ms before, is not known.
				if end.Generation != generation || end.HeardMS < 1900 || end.HeardMS > heard || heard-end.HeardMS > 120 {
					t.Errorf("the end of turn %d says that %d ms were heard; %d of turn %d were", end.Generation, end.HeardMS,
						heard, generation)
				}
			})
		})
	}
}
