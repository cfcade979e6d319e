//go:build !race

package voicegw_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestScenarios talks to a model that misbehaves in every way it knows. Each of the caller's turns
// is answered: by a reply, by the fallback, or by the word that there is none; and the call goes on
// to its last utterance, which is heard whole, unless the model is lost for good.
func TestScenarios(t *testing.T) {
	for _, name := range sim.Scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sim.LoadScenario(name)
			if err != nil {
				t.Fatal(err)
			}
			inBubble(t, plan{gw: able(), model: sim.Config{Scenario: s}}, func(w *world) { survives(w, name) })
		})
	}
}

// fatal are the scenarios in which no gateway can do more than end the call, with the reason.
func fatal() map[string]transport.Reason {
	return map[string]transport.Reason{
		"close-1008-setup":  transport.ReasonModelRefused,
		"close-1007-key":    transport.ReasonModelLost,
		"close-1011-always": transport.ReasonModelLost,
		"no-setup":          transport.ReasonModelTimeout,
	}
}

// survives talks three times. Each turn is answered in time.
func survives(w *world, name string) {
	want, ends := fatal()[name]
	if _, _, err := w.try(hello()); err != nil {
		if r, ok := asRefused(err); !ok || !ends || r.Reason != want {
			w.t.Errorf("the call was refused: %v", err)
		}
		return
	}
	p := w.call(hello(), manner{})
	for _, words := range []string{"question", "hello", "german"} {
		if p.rest(); !p.talks() {
			break
		}
		p.asks(words)
	}
	switch {
	case ends:
		p.over(want, "")
	case !p.talks():
		w.t.Errorf("the call ended: %v\n%s", p.err, p.story())
	}
}

// answerMax is the longest a turn of the caller's may wait for its answer: the deadline of the net,
// and a prompt that says so.
const answerMax = 35 * time.Second

// asks says something and waits for the answer to it, of whatever kind.
func (p *phone) asks(words string) {
	p.t.Helper()
	said := speech(words, 16000)
	p.say(said)
	time.Sleep(time.Duration(len(said)) * time.Second / 16000)
	spoken := p.now()
	for p.talks() {
		for _, h := range p.all() {
			if h.at >= spoken && (h.Kind == transport.MessageTurn && h.State == transport.StateStart ||
				h.Kind == transport.MessageError && h.Code == "no_reply") {
				return
			}
		}
		if p.now() > spoken+answerMax {
			p.t.Fatalf("%q, said until %v, was not answered\n%s", words, spoken, p.story())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// rest waits until nothing was heard for two seconds, at most a minute.
func (p *phone) rest() {
	quiet := 2 * time.Second
	for limit := p.now() + time.Minute; p.talks() && p.now() < limit; {
		time.Sleep(100 * time.Millisecond)
		log := p.all()
		playing := slices.ContainsFunc(log[max(0, len(log)-100):], func(h heard) bool { return h.at > p.now()-quiet })
		if !playing {
			return
		}
	}
}

// talks reports whether the call goes on.
func (p *phone) talks() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
