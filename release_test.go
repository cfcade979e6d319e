package voicegw

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// pausingStore is a store whose disk may pause.
type pausingStore struct{ last, safe atomic.Uint64 }

func (s *pausingStore) Append(events []petri.Event) { s.last.Store(events[len(events)-1].Seq) }
func (s *pausingStore) Stored() uint64 {
	if paused := s.safe.Load(); paused > 0 {
		return paused
	}
	return s.last.Load()
}

// noDialer is for calls that never dial.
type noDialer struct{}

func (noDialer) Dial(ctx context.Context, _ live.Setup) (live.Conn, error) { return nil, ctx.Err() }

// TestLateReleaseLetsNothingGo: while the end of a hold waits to be on record, the input gate is
// closed again. When the end of the first hold is on record, the queue to the model stays closed,
// at every instant.
func TestLateReleaseLetsNothingGo(t *testing.T) {
	consent, withdraw := voicenets.Consent.Token(voicenets.On), voicenets.Consent.Token(voicenets.Off)
	hold, unhold := voicenets.Hold.Token(voicenets.On), voicenets.Hold.Token(voicenets.Off)
	for name, test := range map[string]struct {
		then     []petri.Token
		releases int
		dropped  bool
	}{
		"hold":                 {[]petri.Token{hold}, 1, false},
		"hold that is over":    {[]petri.Token{hold, unhold}, 2, false},
		"protected input":      {[]petri.Token{voicenets.Protect.Token(voicenets.On)}, 1, false},
		"consent":              {[]petri.Token{withdraw}, 1, true},
		"consent, given again": {[]petri.Token{withdraw, consent}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dialer: noDialer{}}
			cfg.Net.Consent = true
			g, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			c := newCall(g, nil, transport.Hello{OutputRateHz: 24000}, &Plan{})
			var store pausingStore
			var closed atomic.Bool
			released, frames, until := 0, 0, 0
			out := func(tok petri.Token) {
				switch tok.Place() {
				case string(voicenets.AudioUp):
					frames++
				case string(voicenets.ReleaseUplink):
					released++
				case string(voicenets.ToModel), string(voicenets.HoldUplink), string(voicenets.DropUplink):
				default:
					return
				}
				c.out.handle(t.Context(), tok)
				if closed.Load() && released < until && c.out.model.first() >= 0 {
					t.Errorf("behind %s the queue would let %+v go", tok.Place(), c.out.model.queue[c.out.model.first()])
				}
			}
			if c.net, err = runner.Start(c.prog.Program, runner.Config{Store: &store, Out: out,
				Destinations: destinations(c.prog.Program)}); err != nil {
				t.Fatal(err)
			}
			c.out.model.link = &link{}
			inject := func(list ...petri.Token) {
				for _, tok := range list {
					if err := c.net.InjectWait(t.Context(), tok); err != nil {
						t.Fatal(err)
					}
				}
			}
			inject(voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Fresh}),
				consent, voicenets.SpeechEdge.Token(voicenets.SpeechStart),
				voicenets.CallerAudio.Token(&voicenets.CallerFrame{}), hold)
			store.safe.Store(store.last.Load())
			inject(unhold, voicenets.SpeechEdge.Token(voicenets.SpeechStart),
				voicenets.SpeechEdge.Token(voicenets.SpeechConfirm),
				voicenets.CallerAudio.Token(&voicenets.CallerFrame{}))
			inject(test.then...)
			before := [2]int{released, frames}
			until = released + 2
			closed.Store(true)
			store.safe.Store(0)
			inject(voicenets.PeerMute.Token(voicenets.Off)) // the loop looks at the store
			if released != before[0]+test.releases || frames != before[1]+1 {
				t.Errorf("%d releases and %d frames came, so the test shows nothing", released-before[0], frames-before[1])
			}
			waits := slices.ContainsFunc(c.out.model.queue, func(it modelItem) bool { return it.frame != nil })
			if waits == test.dropped {
				t.Errorf("what was said before that waits: %v", waits)
			}
			if err := c.net.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestRepeatedTurnGoesFirst: from the output that gives the model a connection, or ends a hold, to the
// turn that is repeated, the queue lets nothing of the caller go, at every instant.
func TestRepeatedTurnGoesFirst(t *testing.T) {
	hold, unhold := voicenets.Hold.Token(voicenets.On), voicenets.Hold.Token(voicenets.Off)
	back := voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Resumed})
	for name, then := range map[string][]petri.Token{
		"a connection":          {back},
		"a hold":                {hold, back, unhold},
		"a hold before it":      {hold, unhold, back},
		"protected input":       {voicenets.Protect.Token(voicenets.On), back, voicenets.Protect.Token(voicenets.Off)},
		"a lost connection too": {hold, back, voicenets.LinkDown.Token(petri.Unit{}), unhold},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { repeatedFirst(t, then, name != "a lost connection too") })
		})
	}
}

// repeatedFirst has a call lose its connection while text waits, and then injects a list.
func repeatedFirst(t *testing.T, then []petri.Token, repeats bool) {
	g, err := New(Config{Dialer: noDialer{}})
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(g, nil, transport.Hello{OutputRateHz: 24000}, &Plan{})
	var store pausingStore
	text, again, opened := &voicenets.Typed{Text: "typed"}, 0, false
	out := func(tok petri.Token) {
		w := c.out.model
		switch tok.Place() {
		case string(voicenets.UseLink):
			w.use(&link{})
			opened = true
		case string(voicenets.ReleaseUplink):
			w.release(tok.Seq())
			opened = true
		case string(voicenets.HoldUplink):
			w.hold(tok.Seq())
		case string(voicenets.TurnAgain):
			again++
			c.out.handle(t.Context(), tok)
		case string(voicenets.TextUp), string(voicenets.ToModel), string(voicenets.AudioUp):
			c.out.handle(t.Context(), tok)
		}
		if i := w.first(); opened && i >= 0 && w.queue[i].callers() {
			t.Errorf("behind %s the queue would let %+v go", tok.Place(), w.queue[i])
		}
	}
	if c.net, err = runner.Start(c.prog.Program, runner.Config{Store: &store, Out: out,
		Handed: func() { opened = false; c.out.model.handed() }, Destinations: destinations(c.prog.Program)}); err != nil {
		t.Fatal(err)
	}
	first := voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Fresh})
	frame := voicenets.CallerAudio.Token(&voicenets.CallerFrame{})
	for _, tok := range append([]petri.Token{first, voicenets.SpeechEdge.Token(voicenets.SpeechStart),
		voicenets.SpeechEdge.Token(voicenets.SpeechConfirm), frame, voicenets.LinkDown.Token(petri.Unit{}),
		voicenets.CallerText.Token(text)}, then...) {
		if err := c.net.InjectWait(t.Context(), tok); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // the net dials again
	}
	if (again > 0) != repeats {
		t.Errorf("%d turns are repeated, so the test shows nothing", again)
	}
	if err := c.net.Close(); err != nil {
		t.Fatal(err)
	}
}
