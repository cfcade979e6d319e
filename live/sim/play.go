package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// actionsMax is the most actions on one connection. It ends loops of rules.
	actionsMax = 10000
	// cueDepthMax is the most cues inside each other.
	cueDepthMax = 4
)

// planned is an action at a later time.
type planned struct {
	at  time.Duration
	act action
}

// cue runs the rules for the nth cue of a kind, in their order.
func (m *machine) cue(c cue, nth int, words string) {
	if m.cueDepth == cueDepthMax {
		return
	}
	m.cueDepth++
	defer func() { m.cueDepth-- }()
	for i := range m.rules {
		r := &m.rules[i]
		if !r.at(c, nth, m.replies, words) {
			continue
		}
		if m.actions++; m.actions > actionsMax || m.end != nil {
			return
		}
		if r.delay > 0 {
			m.plan(m.now+r.delay, r.act)
			continue
		}
		r.act(m)
	}
}

// plan adds an action to plans, which are ordered by time.
func (m *machine) plan(at time.Duration, act action) {
	i := len(m.plans)
	for i > 0 && m.plans[i-1].at > at {
		i--
	}
	m.plans = slices.Insert(m.plans, i, planned{at, act})
}

// runPlanned runs the next planned action.
func (m *machine) runPlanned() {
	act := m.plans[0].act
	m.plans = slices.Delete(m.plans, 0, 1)
	act(m)
}

// announceEnd sends go away.
func (m *machine) announceEnd(left time.Duration) {
	m.log("go_away", left.String())
	m.send(m.dialect.goAway(left))
}

// drop breaks the connection.
func (m *machine) drop() {
	m.out = append(m.out, frame{drop: true})
}

// pinged answers a ping after the delay of the scenario.
func (m *machine) takePing(now time.Duration, data []byte) {
	m.advance(now)
	if m.cfg.noPongs {
		return
	}
	m.plan(m.now+m.cfg.pongLate, func(m *machine) {
		if !m.stalled {
			m.log("pong", "")
			m.out = append(m.out, frame{data: data, pong: true})
		}
	})
}

// sendAudio sends a tone that belongs to no reply, and announces a rate.
func (m *machine) sendAudio(length time.Duration, rateHz int) {
	f := string(dialect{}.audio(tone(m.replies, length)).data)
	m.send(m.json(strings.Replace(f, "rate=24000", fmt.Sprintf("rate=%d", rateHz), 1)))
}

// tone returns a tone at 24 kHz and -12 dBFS. It is higher for each reply: 400 Hz to 1,300 Hz.
func tone(replies int, length time.Duration) []int16 {
	pcm := make([]int16, int(length*outputRateHz/time.Second))
	step := 2 * math.Pi * float64(400+100*(replies%10)) / outputRateHz
	for i := range pcm {
		pcm[i] = int16(math.Round(8192 * math.Sin(step*float64(i))))
	}
	return pcm
}
