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

	words words
	since float64 // which the words name
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

// Label names the cause.
func (s Silence) Label() string { return strings.ReplaceAll(s.Key, "_", " ") }

// silenceMin is how long a silence must be to count as one.
const silenceMin = time.Second

// why finds the causes and silences of a call.
type why struct {
	prog   *petri.Program
	spots  *spots
	key    string  // of the cause
	since  float64 // when it began
	now    Cause
	shown  string // what now says
	later  *Cause // what holds from its time on, unless an event comes before
	news   []Cause
	in     []Cause       // those of the silence
	from   time.Duration // when the silence began; -1: there is none
	begin  opening       // how it began
	n      int           // silences so far
	quiets []Silence     // closed and not flushed
	goals  []int         // transitions that could end a silence
	ends   *ends
}

// opening is what a silence followed.
type opening struct{ speech, reply bool }

func newWhy(p *petri.Program, s *spots) *why {
	w := &why{prog: p, spots: s, from: -1, ends: newEnds()}
	for i := range p.Transitions() {
		if t := &p.Transitions()[i]; goals[base(t.Name)] {
			w.goals = append(w.goals, i)
		}
	}
	return w
}

// take looks at the marking after an event.
func (w *why) take(t *petri.Tracker, e petri.Event, turn *Turn) {
	if w.later != nil && ms(e.At) > w.later.From {
		w.show(*w.later, w.from >= 0)
	}
	spoke := w.ends.speaking
	w.ends.take(w.prog, w.spots, t, e)
	before := w.now.Key
	c := w.cause(t, e.At, turn)
	w.ends.leave(before, c.Key, e.At)
	silent := w.spots.silent(t)
	if silent {
		c.Timers, c.Blocked = w.timers(t), w.blocked(t.Marking())
	}
	if shown := c.shown(); shown != w.shown {
		w.show(c, silent && w.from >= 0)
	}
	w.later = nil
	if c.Key == keyModelTurn {
		slow := c.slow()
		w.later = &slow
	}
	switch {
	case silent && w.from < 0:
		begin := w.now
		begin.From = ms(e.At)
		w.from, w.in = e.At, []Cause{begin}
		w.begin = opening{speech: spoke, reply: has(t, w.spots.replying)}
		clear(w.ends.how)
	case !silent && w.from >= 0:
		if e.At-w.from >= silenceMin {
			w.quiets = append(w.quiets, w.silence(e.At, false, w.ending(t)))
			w.n++
		}
		w.from = -1
	}
}

// show notes a cause that is new.
func (w *why) show(c Cause, within bool) {
	w.shown, w.now, w.later = c.shown(), c, nil
	w.news = append(w.news, c)
	if within {
		w.in = append(w.in, c)
	}
}

// shown is what people see of a cause.
func (c *Cause) shown() string { return fmt.Sprint(c.Key, c.Text, c.Phase, c.Timers, c.Blocked) }

// ending says what ended a silence.
func (w *why) ending(t *petri.Tracker) string {
	switch {
	case t.Ended():
		return "It lasted until the call ended."
	case has(t, w.spots.speaking):
		return "Then the caller spoke."
	case has(t, w.spots.prompting):
		return "Then a prompt of the gateway was heard."
	case w.begin.reply && has(t, w.spots.replying):
		return "Then the reply went on."
	}
	return "Then the reply began."
}

// settled is how far the events of a running call lag behind its clock at most.
const settled = 250 * time.Millisecond

// flush returns what is new. A silence that goes on is listed once it counts as one.
func (w *why) flush(now time.Duration) ([]Cause, []Silence) {
	if w.later != nil && ms(now-settled) >= w.later.From {
		w.show(*w.later, w.from >= 0)
	}
	causes, quiets := w.news, w.quiets
	w.news, w.quiets = nil, nil
	if w.from >= 0 && now-w.from >= silenceMin {
		quiets = append(quiets, w.silence(now, true, "It goes on."))
	}
	return causes, quiets
}

// silence describes the silence up to now.
func (w *why) silence(now time.Duration, open bool, end string) Silence {
	length, longest, says := map[string]float64{}, map[string]float64{}, map[string]string{}
	var order []string
	slow := slices.ContainsFunc(w.in, func(c Cause) bool { return c.Key == keyModelSlow })
	for i, c := range w.in {
		to := ms(now)
		if i+1 < len(w.in) {
			to = w.in[i+1].From
		}
		key, took := c.Key, to-c.From
		if slow && key == keyModelTurn { // the model is slow from its turn on
			key, took = keyModelSlow, 0
		}
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
		length[key] += to - c.From
		if took >= longest[key] {
			longest[key], says[key] = took, c.Text
			if !open {
				says[key] = c.past(to)
			}
		}
	}
	main := order[0]
	for _, k := range order {
		if length[k] > length[main] {
			main = k
		}
	}
	seemed := ""
	if w.begin.speech {
		seemed = " (to the caller about half a second longer)"
	}
	parts := []string{fmt.Sprintf("Silence for %s%s, from %s.", seconds(ms(now)-ms(w.from)), seemed, clock(ms(w.from))),
		says[main]}
	if how := w.ends.how[main]; how != "" && !open {
		parts = append(parts, how)
	}
	var also []string
	for _, k := range order {
		if k != main && length[k] >= 300 {
			also = append(also, fmt.Sprintf("%s (%s)", titles[k], seconds(length[k])))
		}
	}
	if len(also) > 0 {
		parts = append(parts, "Within it also: "+strings.Join(also, ", ")+".")
	}
	text := strings.Join(append(parts, end), " ")
	return Silence{N: w.n, From: ms(w.from), To: ms(now), Open: open, Key: main, Text: text}
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

// due returns the step that the first of transitions with these base names is, if its clock runs.
func (w *why) due(t *petri.Tracker, will, did string, names ...string) step {
	for _, c := range t.Clocks() {
		name := w.prog.Transitions()[c.Transition].Name
		if slices.Contains(names, base(name)) {
			return step{will: will, did: did, due: ms(c.Due), name: name}
		}
	}
	return step{}
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
