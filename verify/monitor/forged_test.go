package monitor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/monitor"
)

// desk is small enough for logs by hand.
func desk(tb testing.TB) *petri.Program {
	tb.Helper()
	type unit = petri.Place[petri.Unit]
	const (
		ring, bye, loop        = unit("ring"), unit("bye"), unit("loop")
		idle, talking, over    = unit("idle"), unit("talking"), unit("over")
		left, right, note, fin = unit("left"), unit("right"), unit("note"), unit("fin")
		turn                   = petri.Place[edge]("turn")
	)
	p, err := petri.Compile(&petri.Net{
		Name: "desk",
		Env: []petri.Env{{Place: ring, Capacity: 1}, {Place: bye}, {Place: loop}, {Place: turn},
			{Place: mic, Capacity: 1, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: note}, {Place: up}},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Caps:  []petri.Cap{{Place: over, Max: 1}},
		Sinks: []petri.AnyPlace{over},
		Final: fin,
		Transitions: []petri.Transition{
			{Name: "answer", In: petri.Arcs{ring, idle}, Out: petri.And(talking)},
			{Name: "answer_too", In: petri.Arcs{ring, idle}, Out: petri.And(talking, over)},
			{Name: "hang_up", In: petri.Arcs{talking}, Out: petri.And(idle), When: petri.After(time.Minute)},
			{Name: "remind", Read: petri.Arcs{talking}, Out: petri.And(note), When: petri.After(30 * time.Second)},
			{Name: "count", In: petri.Arcs{ring}, Read: petri.Arcs{talking}, Out: petri.And(over),
				When: petri.After(time.Second)},
			{Name: "spin", In: petri.Arcs{loop}, Out: petri.And(loop)},
			{Name: "leave", In: petri.Arcs{bye}, Out: petri.And(left, right)},
			{Name: "end", In: petri.Arcs{left}, Out: petri.And(fin), Priority: 1},
			{Name: "wave", In: petri.Arcs{right}, Out: petri.And(note)},
			{Name: "turn", In: petri.Arcs{turn}, Out: petri.Xor(petri.Arcs{note}, petri.Arcs{note.Exactly(2)}).
				By(func(k *petri.Keys) int { return int(turn.Key(k)) })},
			{Name: "send", In: petri.Arcs{mic}, Read: petri.Arcs{talking}, Out: petri.And(up)},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// events reads a log, one event a word: "+ring" arrives, "!ring" is refused, "-mic" is dropped, "answer" fires,
// "answer/1" on branch 1, "turn@1" fires in mode 1, "+turn@1" arrives as kind 1, "60s" lets time pass to then,
// "*1001" repeats the word before it, "." is the end.
func events(tb testing.TB, p *petri.Program, text string) []petri.Event {
	tb.Helper()
	log := []petri.Event{{Kind: petri.Started}}
	at := time.Duration(0)
	for _, word := range strings.Fields(text) {
		if d, err := time.ParseDuration(word); err == nil {
			at = d
			continue
		}
		if word == "*1001" {
			for range 1000 {
				log = append(log, log[len(log)-1])
			}
			continue
		}
		log = append(log, parse(tb, p, word, at))
	}
	for i := range log {
		log[i].Seq = uint64(i) + 1
	}
	return log
}

func parse(tb testing.TB, p *petri.Program, word string, at time.Duration) petri.Event {
	tb.Helper()
	e := petri.Event{At: at, Index: -1}
	if word == "." {
		e.Kind = petri.Ended
		return e
	}
	if base, ok := strings.CutSuffix(word, "/1"); ok {
		word, e.Branch = base, 1
	}
	if base, ok := strings.CutSuffix(word, "@1"); ok {
		word, e.Mode, e.Slot = base, 1, 1
	}
	kinds := map[byte]petri.EventKind{'+': petri.Injected, '!': petri.Refused, '-': petri.Dropped}
	if k, ok := kinds[word[0]]; ok {
		e.Kind, e.Mode, e.Index = k, 0, int32(p.Place(word[1:]))
		return e
	}
	e.Kind, e.Slot = petri.Fired, 0
	for i, t := range p.Transitions() {
		if t.Name == word {
			e.Index = int32(i)
		}
	}
	if e.Index < 0 {
		tb.Fatalf("no transition %q", word)
	}
	return e
}

// TestForged: what a log by hand may say, and what not.
func TestForged(t *testing.T) {
	p := desk(t)
	for _, test := range []struct{ log, want string }{
		{"1s +ring answer 31s remind 61s hang_up", ""},
		{"1s +ring answer +ring !ring 2s count 31s remind 61s hang_up 70s +bye leave end .", ""},
		{"+turn turn +turn@1 turn@1/1", ""},
		{"+mic -mic +mic +ring answer send", ""},

		{"1s +ring answer_too", "answer fires at once, and before answer_too"},
		{"1s +ring 2s answer", "was enabled at 1s and fires at once"},
		{"1s +ring +bye", "answer fires at once, before anything comes from outside"},
		{"1s +ring answer 30s remind", "has been enabled for 29s and waits"},
		{"1s +ring answer 32s remind", "remind was due at 31s and did not fire"},
		{"1s +ring answer 31s +ring", "remind was due at 31s and did not fire"},
		{"1s +ring answer 31s remind 61s remind", "hang_up was due at 1m1s and did not fire"},
		{"1s +ring answer +ring +bye 2s count", "leave fires at once, before any wait is over"},
		{"1s +ring answer +ring +ring", "ring is full: it holds 1 tokens"},
		{"1s +ring answer +ring 2s count +ring 3s count", "over holds 2 tokens; its capacity is 1"},
		{"1s +ring answer !ring", "would have taken it"},
		{"+idle", "idle is no place for tokens from outside"},
		{"+turn turn/1", "its keys choose branch 0 of turn, not 1"},
		{"+turn turn@1/1", "is not enabled"},
		{"+mic -mic +ring", "a token of another place was dropped for it"},
		{"+mic -mic -mic", "a token was dropped for one that does not come"},
		{"-mic", "without need"},
		{"+loop spin *1001", "more than 1000 firings at one instant"},
		{"+bye leave wave", "end fires at once, and before wave"},
		{"+bye leave end wave", "the final place is marked"},
		{"+bye leave end . +bye", "the run is over"},
		{"+bye leave end +bye", "nothing comes after that but the end"},
		{"+bye leave end 1s !bye", "nothing comes after that but the end"},
		{"+bye leave end -mic", "nothing comes after that but the end"},
		{"+bye leave end . .", "the final place is not marked, or the end was reported before"},
		{"+bye leave .", "the final place is not marked"},
		{"+bye leave", "the log ends where end fires at once"},
		{"+bye leave end", "the log ends where the final place is marked"},
		{"+mic -mic", "the log ends where a token was dropped"},
	} {
		m, err := monitor.New(p)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(m.Append(events(t, p, test.log)))
		if err == nil {
			err = m.End()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v; want %q", test.log, err, test.want)
		}
	}
}

// TestChains: firings at one instant are counted anew after each arrival and each timer.
func TestChains(t *testing.T) {
	p := desk(t)
	m, err := monitor.New(p)
	if err != nil {
		t.Fatal(err)
	}
	log := "1s +ring answer "
	for range 600 {
		log += "+turn turn +turn@1 turn@1/1 "
	}
	if err := errors.Join(m.Append(events(t, p, log)), m.End()); err != nil {
		t.Error(err)
	}
	const tick, tock = petri.Place[petri.Unit]("tick"), petri.Place[petri.Unit]("tock")
	clock, err := petri.Compile(&petri.Net{Name: "clock", Init: []petri.Token{tick.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "wait", In: petri.Arcs{tick}, Out: petri.And(tock), When: petri.After(time.Second)},
			{Name: "again", In: petri.Arcs{tock}, Out: petri.And(tick)},
		}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = monitor.New(clock); err != nil {
		t.Fatal(err)
	}
	hour := clock.Start().Advance(time.Hour).Events
	if err := errors.Join(m.Append(hour), m.End()); err != nil || len(hour) != 7201 {
		t.Errorf("%d events: %v", len(hour), err)
	}
}

// TestLongWait: a wait that is almost for ever is not over before it began.
func TestLongWait(t *testing.T) {
	const ring, on = petri.Place[petri.Unit]("ring"), petri.Place[petri.Unit]("on")
	p, err := petri.Compile(&petri.Net{Name: "slow", Env: []petri.Env{{Place: ring}}, Transitions: []petri.Transition{
		{Name: "answer", In: petri.Arcs{ring}, Out: petri.And(on)},
		{Name: "tire", In: petri.Arcs{on}, When: petri.After(petri.Forever - 1)}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := monitor.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Append(events(t, p, "1s +ring answer 2s +ring answer")); err != nil {
		t.Error(err)
	}
}
