package voicenets

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestEveryTransitionFires lets real machines run sessions in which anything comes at any time, by
// seeds: every transition of every variant is seen to fire, so that no proof about it is empty.
// Slices cannot tell that.
func TestEveryTransitionFires(t *testing.T) {
	for name, c := range variants() {
		c.BudgetFrames, c.ReplyFramesMax, c.PreRollFrames = 2, 4, 2
		c.MaxDuration = 2 * time.Hour
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := Session(c)
			w := &walk{t: t, prog: compile(t, n, err), seen: map[int32]bool{}}
			if !hasFirm(c) { // text waits only behind what must be heard: there is always room
				for i, tr := range w.prog.Transitions() {
					if tr.Name == "input_gate/drop_text_full" || tr.Name == "digits/drop_digits_full" {
						w.seen[int32(i)] = true
					}
				}
			}
			w.inputs = w.comes(false)
			usual, all := w.inputs, w.comes(true)
			calls := 0
			for seed := range seeds() {
				if len(w.seen) == len(w.prog.Transitions()) {
					break
				}
				before := len(w.seen)
				if w.inputs = usual; seed >= withContext {
					w.inputs = all
				}
				w.call(rand.New(rand.NewPCG(seed, 7)))
				if calls++; len(w.seen) > before && calls > 1000 {
					t.Logf("seed %d is rare", seed)
				}
			}
			t.Logf("%d calls", calls)
			for i, tr := range w.prog.Transitions() {
				if !w.seen[int32(i)] {
					t.Errorf("%s never fires", tr.Name)
				}
			}
		})
	}
}

// withContext is the first seed of calls with notes and requests, which no other has: the others'
// calls stay what they were when the rare seeds were found.
const withContext = 1_000_000

// seeds are those that fired what is rare, while the nets are what they were when these were found,
// and then all others.
func seeds() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, seed := range []uint64{1040, 1066, 1069, 1146, 1323, 1396, 1658, 1841, 1981, 2028, 2057, 2229, 2309, 2417,
			2805, 3223, 3349, 3416, 3459, 3760, 4712, 4784, 5427, 5464, 6592, 6715, 8782, 10886, 12153, 13805, 15078, 15714,
			17592, 18930, 25525, 36697, 42404, 45129, 45647, 63975,
			1002, 1691, 1694, 2040, 2080, 2136, 2972, 3405, 3558, 4078, 4466, 4679, 4845, 5824, 7499, 7927, 8050, 11088,
			11141, 11299, 15574, 17602, 24983, 83746} {
			if !yield(seed) {
				return
			}
		}
		for seed := range uint64(3000) {
			if !yield(withContext + seed) {
				return
			}
		}
		for seed := range uint64(100_000) {
			if !yield(seed) {
				return
			}
		}
	}
}

// walk is a run with whatever comes.
type walk struct {
	t    *testing.T
	prog *petri.Program
	seen map[int32]bool
	gen  petri.Gen

	called []*ToolCall // the latest
	inputs []injection // all that may come in
}

// call is one call. Each has a taste of its own for what comes, and how fast.
func (w *walk) call(rnd *rand.Rand) {
	m := w.prog.Start()
	w.gen = 0
	w.take(m.Advance(0))
	weight := make([]int, len(w.inputs))
	for i := range weight {
		weight[i] = 1 << rnd.IntN(7)
		if rnd.IntN(3) > 0 {
			weight[i] = 0 // few things at a time, so that they go far
		}
	}
	if rnd.IntN(4) > 0 {
		if err := m.Inject(0, Dialled.Token(&Dialling{Result: Fresh})); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.prog.Place(string(Consent)) >= 0 && rnd.IntN(4) > 0 {
		if err := m.Inject(0, Consent.Token(On)); err != nil {
			w.t.Fatal(err)
		}
	}
	total := 0
	for _, n := range weight {
		total += n
	}
	pace := []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 20 * time.Second,
		time.Minute}[rnd.IntN(5)]
	now := time.Duration(0)
	for range 400 {
		if rnd.IntN(3) == 0 {
			now += time.Duration(rnd.Int64N(int64(pace)))
		}
		if rnd.IntN(25) == 0 {
			now = w.habit(m, now, rnd)
		}
		if rnd.IntN(100) == 0 {
			now += []time.Duration{time.Minute, 10 * time.Minute, 3 * time.Hour}[rnd.IntN(3)]
		}
		ready := m.Advance(now)
		if w.take(ready); ready.Ended {
			return
		}
		k := rnd.IntN(total + 1)
		for i, n := range weight {
			if k -= n; k < 0 {
				if err := m.Inject(now, w.inputs[i](w, rnd)); err != nil && !errors.Is(err, petri.ErrFull) {
					w.t.Fatal(err)
				}
				break
			}
		}
	}
	for _, t := range []petri.Token{Drain.Token(petri.Unit{}), []petri.Token{Over.Token(HungUp),
		HandOff.Token(&Target{}), LinkDown.Token(petri.Unit{})}[rnd.IntN(3)]} {
		now += time.Duration(rnd.Int64N(int64(pace)))
		if w.take(m.Advance(now)); m.Inject(now, t) != nil {
			return
		}
	}
	w.take(m.Advance(now + 2*time.Minute))
}

// habit plays something that takes several steps, which chance alone would seldom make.
func (w *walk) habit(m *petri.Machine, now time.Duration, rnd *rand.Rand) time.Duration {
	frame, done := ModelAudio.Token(&ModelFrame{}), ModelSignal.Token(TurnComplete)
	edge := func(e Edge) petri.Token { return SpeechEdge.Token(e) }
	var list []petri.Token
	switch rnd.IntN(7) {
	case 0: // silence, and then a line of text
		now += 11 * time.Second
		w.take(m.Advance(now))
		list = []petri.Token{CallerText.Token(&Typed{Text: "hello"})}
	case 1: // speech while a reply is overdue that must be heard
		now += 29 * time.Second
		w.take(m.Advance(now))
		list = append([]petri.Token{edge(SpeechStart)}, slices.Repeat([]petri.Token{edge(SpeechMore)}, 10)...)
		list = append(list, done)
	case 2:
		list = w.noise(rnd)
	case 5:
		list = w.missed(rnd)
	case 3, 4:
		list = []petri.Token{frame, frame, done, edge(SpeechStart), edge(SpeechMore), edge(SpeechMore), edge(SpeechMore),
			edge(SpeechMore), edge(SpeechConfirm)}
		if rnd.IntN(2) == 0 {
			list[2] = frame // the model's turn goes on
		}
		if w.prog.Place(string(Hint)) >= 0 && rnd.IntN(2) == 0 {
			list[4] = Hint.Token(BackChannel)
		}
		if rnd.IntN(4) == 0 {
			list[4] = ModelSignal.Token(Interrupted)
		}
	default:
		list = []petri.Token{LinkDown.Token(petri.Unit{}), done, done, done, Drain.Token(petri.Unit{}),
			Dialled.Token(&Dialling{Result: Refused}), Dialled.Token(&Dialling{Result: Refused})}
	}
	for _, t := range list {
		if err := m.Inject(now, t); err != nil {
			return now // it is over
		}
		w.take(m.Advance(now))
		now += 200 * time.Millisecond
	}
	return now
}

// noise is one that goes on, while a deadline passes or the caller is missed; and then something
// else.
func (w *walk) noise(rnd *rand.Rand) (list []petri.Token) {
	edge := func(e Edge) petri.Token { return SpeechEdge.Token(e) }
	first := []petri.Token{CallerText.Token(&Typed{Text: "hello"}), ModelSignal.Token(TurnComplete)}
	last := []petri.Token{edge(SpeechConfirm), Hold.Token(On), CallerDigit.Token(&Digits{Text: "1"}),
		ModelAudio.Token(&ModelFrame{}), edge(SpeechStop)}
	if w.prog.Place(string(ToolCalled)) >= 0 {
		for range rnd.IntN(5) { // slots that are not free
			call := &ToolCall{Payload: new(int)}
			list = append(list, ToolCalled.Token(call), ToolCancelled.Token(call))
		}
		last = append(last, ToolCalled.Token(&ToolCall{}))
	}
	list = append(append(list, first[:rnd.IntN(3)]...), edge(SpeechStart))
	list = append(list, slices.Repeat([]petri.Token{edge(SpeechMore)}, 170)...)
	return append(list, last[rnd.IntN(len(last))], edge(SpeechMore), last[rnd.IntN(len(last))])
}

// missed is a caller who is missed while a noise goes on, and then a tool that begins.
func (w *walk) missed(rnd *rand.Rand) []petri.Token {
	list := []petri.Token{Dialled.Token(&Dialling{Result: Fresh}), Hold.Token(Off), PeerMute.Token(Off),
		Protect.Token(Off), SpeechEdge.Token(SpeechStart)}
	list = append(list, slices.Repeat([]petri.Token{SpeechEdge.Token(SpeechMore)}, 60)...)
	if w.prog.Place(string(ToolCalled)) < 0 {
		return list
	}
	for s := range Slot(2) { // slots that are free
		list = append(list, ToolDone.Token(&ToolEnd{Slot: s}))
	}
	return append(list, slices.Repeat([]petri.Token{ToolCalled.Token(&ToolCall{})}, rnd.IntN(3))...)
}

// take notes what fired, and which generation is the newest.
func (w *walk) take(r petri.Ready) {
	for _, e := range r.Events {
		if e.Kind == petri.Fired {
			w.seen[e.Index] = true
		}
	}
	for _, t := range r.Out {
		switch v := t.Value().(type) {
		case Notice:
			w.gen = v.Gen
		case Playing:
			w.gen = v.Gen
		case *ReplyFrame:
			w.gen = v.Gen
		}
	}
}

// injection makes a token of a kind.
type injection func(*walk, *rand.Rand) petri.Token

// comes lists all that may come in, with or without notes and requests.
func (w *walk) comes(context bool) []injection {
	ack := func(w *walk, rnd *rand.Rand) Ack { return Ack{Gen: w.gen - petri.Gen(min(rnd.IntN(4)/3, int(w.gen)))} }
	one := func(t petri.Token) injection { return func(*walk, *rand.Rand) petri.Token { return t } }
	all := map[string][]injection{
		string(CallerAudio): {func(*walk, *rand.Rand) petri.Token { return CallerAudio.Token(&CallerFrame{}) }},
		string(CallerText):  {one(CallerText.Token(&Typed{Text: "hello"}))},
		string(Note):        {one(Note.Token(&Typed{Text: "a note"}))},
		string(Request):     {one(Request.Token(&Typed{Text: "speak"}))},
		string(CallerDigit): {one(CallerDigit.Token(&Digits{Text: "1"})), one(CallerDigit.Token(&Digits{Text: "2",
			Last: true}))},
		string(PeerAck):    {func(w *walk, rnd *rand.Rand) petri.Token { return PeerAck.Token(ack(w, rnd)) }},
		string(ModelAudio): {func(*walk, *rand.Rand) petri.Token { return ModelAudio.Token(&ModelFrame{}) }},
		string(PromptEnd):  {func(w *walk, rnd *rand.Rand) petri.Token { return PromptEnd.Token(ack(w, rnd)) }},
		string(PromptAudio): {func(w *walk, rnd *rand.Rand) petri.Token {
			return PromptAudio.Token(&ReplyFrame{Gen: ack(w, rnd).Gen})
		}},
		string(Transcript): {one(Transcript.Token(&TranscriptFragment{Who: Caller})),
			one(Transcript.Token(&TranscriptFragment{Who: Model}))},
		string(Handle):   {one(Handle.Token(&Resumption{}))},
		string(LinkDown): {one(LinkDown.Token(petri.Unit{}))},
		string(ToolCalled): {func(w *walk, _ *rand.Rand) petri.Token {
			w.called = append(w.called[max(0, len(w.called)-3):], &ToolCall{Payload: new(int)})
			return ToolCalled.Token(w.called[len(w.called)-1])
		}},
		string(ToolCancelled): {func(w *walk, rnd *rand.Rand) petri.Token {
			return ToolCancelled.Token(append(w.called, &ToolCall{})[rnd.IntN(len(w.called)+1)])
		}},
	}
	add := func(name string, t petri.Token) { all[name] = append(all[name], one(t)) }
	for k := range SpeechStart.KeyNames() {
		add(string(SpeechEdge), SpeechEdge.Token(Edge(k)))
	}
	for k := range Interrupted.KeyNames() {
		add(string(ModelSignal), ModelSignal.Token(Signal(k)))
	}
	for k := range Fresh.KeyNames() {
		add(string(Dialled), Dialled.Token(&Dialling{Result: DialResult(k)}))
	}
	for k := range 2 {
		add(string(PeerMute), PeerMute.Token(Switch(k)))
		add(string(Hold), Hold.Token(Switch(k)))
		add(string(Protect), Protect.Token(Switch(k)))
		add(string(Consent), Consent.Token(Switch(k)))
		add(string(Hint), Hint.Token(Opinion(k)))
		add(string(GoAway), GoAway.Token(Urgency(k)))
	}
	for k := range Slot(0).KeyNames() {
		add(string(ToolDone), ToolDone.Token(&ToolEnd{Slot: Slot(k)}))
	}
	var list []injection
	for _, p := range w.prog.Places() { // in an order that is always the same
		if p.Env && (context || p.Name != string(Note) && p.Name != string(Request)) {
			list = append(list, all[p.Name]...)
		}
	}
	return list
}
