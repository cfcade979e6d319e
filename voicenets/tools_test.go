package voicenets

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// scene is a session that a test leads through injections.
type scene struct {
	t   *testing.T
	m   *petri.Machine
	now time.Duration
}

func newScene(t *testing.T, c Config) *scene {
	t.Helper()
	n, err := Session(c)
	s := &scene{t: t, m: compile(t, n, err).Start()}
	s.after(0)
	return s
}

// after lets time pass and returns what was put out.
func (s *scene) after(d time.Duration) []petri.Token {
	s.now += d
	return slices.Clone(s.m.Advance(s.now).Out)
}

// inject lets tokens in, one after the other, and returns what was put out.
func (s *scene) inject(tokens ...petri.Token) (out []petri.Token) {
	s.t.Helper()
	for _, tok := range tokens {
		if err := s.m.Inject(s.now, tok); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, s.after(0)...)
	}
	return out
}

// at lists the values that were put out at a place.
func at[T any](p petri.Place[T], out []petri.Token) (list []T) {
	for _, tok := range out {
		if v, ok := p.From(tok); ok {
			list = append(list, v)
		}
	}
	return list
}

// TestCancelFindsItsCall cancels each of three calls that two slots ran: the one that runs is
// stopped, one that has ended or never ran stops nothing, although its slot runs another call.
func TestCancelFindsItsCall(t *testing.T) {
	for _, slots := range []int{1, 2, 8} {
		s := newScene(t, Config{ToolSlots: slots})
		s.inject(Dialled.Token(&Dialling{Result: Fresh}))
		calls := make([]*ToolCall, slots+1)
		for i := range calls {
			calls[i] = &ToolCall{Payload: i}
		}
		for _, call := range calls[:slots] {
			s.inject(ToolCalled.Token(call))
		}
		s.inject(ToolDone.Token(&ToolEnd{Slot: 0})) // the first call has ended,
		s.inject(ToolCalled.Token(calls[slots]))    // and the last one has its slot
		if out := s.inject(ToolCancelled.Token(calls[0]), ToolCancelled.Token(&ToolCall{Payload: "none"})); len(out) > 0 {
			t.Errorf("%d slots: the cancellation of a call that has ended put out %v", slots, out)
		}
		for _, call := range calls[1:] {
			stopped := at(StopTool, s.inject(ToolCancelled.Token(call), ToolCancelled.Token(call)))
			if len(stopped) != 1 || stopped[0].Call.Payload != call.Payload {
				t.Errorf("%d slots: a call was cancelled, and the calls %v were stopped", slots, stopped)
			}
		}
	}
}

// TestResultOfAnEarlierTurn ends a call after what the caller and the model did meanwhile: its
// result is late when the caller began another turn, however the model's turns came and went.
func TestResultOfAnEarlierTurn(t *testing.T) {
	frame, done := ModelAudio.Token(&ModelFrame{}), ModelSignal.Token(TurnComplete)
	text := CallerText.Token(&Typed{Text: "hello"})
	edges := func(list ...Edge) (tokens []petri.Token) {
		for _, e := range list {
			tokens = append(tokens, SpeechEdge.Token(e))
		}
		return tokens
	}
	over := func(list ...Edge) []petri.Token { return append([]petri.Token{frame}, edges(list...)...) }
	reply := []petri.Token{frame, PeerAck.Token(Ack{}), done}
	for name, c := range map[string]struct {
		config    Config
		meanwhile []petri.Token
		want      ToolHow
	}{
		"nothing":                     {Config{}, nil, Answered},
		"the model speaks unasked":    {Config{}, reply, Answered},
		"speech opens a turn":         {Config{}, edges(SpeechStart), AnsweredLate},
		"speech over a reply":         {Config{}, over(SpeechStart, SpeechConfirm), AnsweredLate},
		"a noise over a reply":        {Config{}, over(SpeechStart, SpeechStop), Answered},
		"text":                        {Config{}, []petri.Token{text}, AnsweredLate},
		"text over a reply":           {Config{}, []petri.Token{frame, text}, AnsweredLate},
		"text, with model VAD":        {Config{Detection: ModelVAD}, []petri.Token{text}, AnsweredLate},
		"speech, with model VAD":      {Config{Detection: ModelVAD}, edges(SpeechStart, SpeechConfirm, SpeechStop), Answered},
		"the model speaks, model VAD": {Config{Detection: ModelVAD}, reply, Answered},
		"text on hold, which is lost": {Config{}, []petri.Token{Hold.Token(On), text}, Answered},
		"speech while muted":          {Config{}, append([]petri.Token{PeerMute.Token(On)}, edges(SpeechStart)...), Answered},
	} {
		c.config.ToolSlots = 2
		s := newScene(t, c.config)
		s.inject(Dialled.Token(&Dialling{Result: Fresh}))
		s.inject(ToolCalled.Token(&ToolCall{}))
		s.inject(c.meanwhile...)
		if end := at(ToolReply, s.inject(ToolDone.Token(&ToolEnd{}))); len(end) != 1 || end[0].How != c.want {
			t.Errorf("%s: the result is %v, want %v", name, end, c.want)
		}
		s.inject(ToolCalled.Token(&ToolCall{})) // it is of the turn that goes on
		if end := at(ToolReply, s.inject(ToolDone.Token(&ToolEnd{}))); len(end) != 1 || end[0].How != Answered {
			t.Errorf("%s: the result of the next call is %v", name, end)
		}
	}
}

// TestDialsArePaced meets a model that ends each connection as it begins: it is dialled DialsMax
// times at once, and then once in DialEvery.
func TestDialsArePaced(t *testing.T) {
	for _, c := range []Config{{}, {DialsMax: 2, DialEvery: 3 * time.Second}} {
		s := newScene(t, c)
		full, err := c.Filled()
		if err != nil {
			t.Fatal(err)
		}
		dials := 1 // at the start
		replace := func() {
			dials += len(at(Dial, s.inject(Dialled.Token(&Dialling{Result: Fresh}), GoAway.Token(Later),
				LinkDown.Token(petri.Unit{}))))
		}
		for range full.DialsMax {
			replace()
		}
		if dials != full.DialsMax {
			t.Fatalf("%d dials began at once, want %d", dials, full.DialsMax)
		}
		for n := range 3 {
			early := len(at(Dial, s.after(full.DialEvery-time.Millisecond)))
			if due := len(at(Dial, s.after(time.Millisecond))); early != 0 || due != 1 {
				t.Errorf("of DialEvery %d, %d dials began before its end and %d at it", n+1, early, due)
			}
			dials++
			replace()
		}
		s.inject(Dialled.Token(&Dialling{Result: Fresh}))
		s.after(time.Duration(full.DialsMax+1) * full.DialEvery)
		dials = 0
		if s.inject(GoAway.Token(Later), LinkDown.Token(petri.Unit{})); full.DialsMax > 1 {
			replace()
		}
		if dials > full.DialsMax {
			t.Errorf("%d dials after a pause, want %d at most", dials, full.DialsMax)
		}
	}
}
