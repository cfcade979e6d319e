package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A Cause says why a call is as it is, from one moment to the next Cause.
type Cause struct {
	From  float64 `json:"from"`
	Key   string  `json:"key"`  // such as hold, model_slow, tool
	Text  string  `json:"text"` // in words
	Phase Phase   `json:"phase"`
	// Timers are the clocks that run, the next to be due first. They are listed while nobody speaks.
	Timers []Timer `json:"timers,omitempty"`
	// Blocked are transitions that could end a silence, and what keeps each of them from firing.
	Blocked []Blocked `json:"blocked,omitempty"`
}

// A Timer is a transition that fires when it is due, unless something disables it before.
type Timer struct {
	Name string  `json:"name"`
	Does string  `json:"does"` // in words
	Due  float64 `json:"due"`
}

// Blocked is a transition that cannot fire.
type Blocked struct {
	Name      string   `json:"name"`
	Does      string   `json:"does"` // in words
	Inhibitor []string `json:"inhibitors,omitempty"`
	Missing   []string `json:"missing,omitempty"`
}

// A Silence is a time in which neither side could be heard.
type Silence struct {
	N    int     `json:"n"` // from 0
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Open bool    `json:"open,omitempty"`
	Key  string  `json:"key"`  // the cause that took most of it
	Text string  `json:"text"` // in words
}

// silenceMin is how long a silence must be to count as one.
const silenceMin = time.Second

// why finds the causes and silences of a call.
type why struct {
	prog   *petri.Program
	spots  *spots
	since  map[string]time.Duration // when a cause began, by key
	now    Cause
	shown  string // what now says
	news   []Cause
	in     []Cause       // those of the silence
	from   time.Duration // when the silence began; -1: there is none
	n      int           // silences so far
	quiets []Silence     // closed and not flushed
	goals  []int         // transitions that could end a silence
}

func newWhy(p *petri.Program, s *spots) *why {
	w := &why{prog: p, spots: s, from: -1}
	for i := range p.Transitions() {
		if t := &p.Transitions()[i]; goals[base(t.Name)] {
			w.goals = append(w.goals, i)
		}
	}
	return w
}

// take looks at the marking after an event.
func (w *why) take(t *petri.Tracker, e petri.Event, turn *Turn) {
	c := w.cause(t, e.At, turn)
	silent := w.spots.silent(t)
	if silent {
		c.Timers, c.Blocked = w.timers(t), w.blocked(t.Marking())
	}
	if shown := fmt.Sprint(c.Key, c.Text, c.Phase, c.Timers, c.Blocked); shown != w.shown {
		w.shown, w.now = shown, c
		w.news = append(w.news, c)
		if silent && w.from >= 0 {
			w.in = append(w.in, c)
		}
	}
	switch {
	case silent && w.from < 0:
		begin := w.now
		begin.From = ms(e.At)
		w.from, w.in = e.At, []Cause{begin}
	case !silent && w.from >= 0:
		if e.At-w.from >= silenceMin {
			w.quiets = append(w.quiets, w.silence(e.At, w.ending(t)))
			w.n++
		}
		w.from = -1
	}
}

// ending says what ended a silence.
func (w *why) ending(t *petri.Tracker) string {
	switch {
	case t.Ended():
		return "It lasted until the call ended."
	case has(t, w.spots.speaking):
		return "The caller's speech ended it."
	case has(t, w.spots.prompting):
		return "A prompt of the gateway ended it."
	}
	return "The reply ended it."
}

// flush returns what is new. A silence that goes on is listed once it counts as one.
func (w *why) flush(now time.Duration) ([]Cause, []Silence) {
	causes, quiets := w.news, w.quiets
	w.news, w.quiets = nil, nil
	if w.from >= 0 && now-w.from >= silenceMin {
		open := w.silence(now, "It goes on.")
		open.Open = true
		quiets = append(quiets, open)
	}
	return causes, quiets
}

// silence describes the silence up to now.
func (w *why) silence(now time.Duration, end string) Silence {
	length, longest, words := map[string]float64{}, map[string]float64{}, map[string]string{}
	var order []string
	for i, c := range w.in {
		to := ms(now)
		if i+1 < len(w.in) {
			to = w.in[i+1].From
		}
		if _, ok := words[c.Key]; !ok {
			order = append(order, c.Key)
		}
		length[c.Key] += to - c.From
		if to-c.From >= longest[c.Key] {
			longest[c.Key], words[c.Key] = to-c.From, c.Text
		}
	}
	main := order[0]
	for _, k := range order {
		if length[k] > length[main] {
			main = k
		}
	}
	text := fmt.Sprintf("Silence for %s, from %s. %s", seconds(ms(now)-ms(w.from)), clock(ms(w.from)), words[main])
	var also []string
	for _, k := range order {
		if k != main && length[k] >= 300 {
			also = append(also, fmt.Sprintf("%s (%s)", titles[k], seconds(length[k])))
		}
	}
	if len(also) > 0 {
		text += " Within it also: " + strings.Join(also, ", ") + "."
	}
	return Silence{N: w.n, From: ms(w.from), To: ms(now), Key: main, Text: text + " " + end}
}

// timers lists the clocks that run, without those of housekeeping.
func (w *why) timers(t *petri.Tracker) []Timer {
	var list []Timer
	for _, c := range t.Clocks() {
		tr := &w.prog.Transitions()[c.Transition]
		if !housekeeping[base(tr.Name)] && c.Due < petri.Forever {
			list = append(list, Timer{Name: tr.Name, Does: does(tr.Name), Due: ms(c.Due)})
		}
	}
	return list
}

// due returns when the transition with a base name fires, in words, or "" if its clock does not run.
func (w *why) due(t *petri.Tracker, names ...string) string {
	for _, c := range t.Clocks() {
		name := w.prog.Transitions()[c.Transition].Name
		if slices.Contains(names, base(name)) {
			return fmt.Sprintf("at %s (%s)", clock(ms(c.Due)), name)
		}
	}
	return ""
}

// blocked lists transitions that could end a silence and that something inhibits.
func (w *why) blocked(marking []int32) []Blocked {
	var list []Blocked
	for _, i := range w.goals {
		t := &w.prog.Transitions()[i]
		if b := w.obstacles(t, marking); len(b.Inhibitor) > 0 && len(b.Missing) == 0 {
			list = append(list, b)
		}
	}
	return list
}

// obstacles returns what keeps a transition from firing, in the mode that lacks least.
func (w *why) obstacles(t *petri.TransitionInfo, marking []int32) Blocked {
	best := Blocked{}
	least := -1
	for i := range t.Modes {
		b := Blocked{Name: t.Name, Does: does(t.Name)}
		for _, c := range t.Modes[i].Conds {
			if c.Holds(marking) {
				continue
			}
			words := w.places(c, marking)
			if c.Max > 0 {
				b.Inhibitor = append(b.Inhibitor, words...)
			} else {
				b.Missing = append(b.Missing, words...)
			}
		}
		if n := len(b.Inhibitor) + 10*len(b.Missing); least < 0 || n < least {
			best, least = b, n
		}
	}
	return best
}

// places names the places of a condition in words: those that are marked if it wants none.
func (w *why) places(c petri.Cond, marking []int32) []string {
	var list []string
	for _, slot := range c.Slots {
		words := placeWords(w.prog.Places()[w.prog.SlotPlace(int(slot))].Name)
		if (c.Max == 0 || marking[slot] > 0) && !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	return list
}

// seconds is a length in words: "3.2 s".
func seconds(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) }

// clock is a time of the call: "1:02.3".
func clock(ms float64) string {
	tenths := int64(ms/100 + 0.5)
	return fmt.Sprintf("%d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
}
