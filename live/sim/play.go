package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// actionsMax bounds what the rules do on one connection, so that none can go round in circles.
	actionsMax = 10000
	// cueDepthMax bounds cues that come of actions.
	cueDepthMax = 4
)

// planned is an action at a time to come.
type planned struct {
	at  time.Duration
	act action
}

// cue plays the rules for the nth cue of a kind, in their order.
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

// plan puts an action among those to come, in the order of their times.
func (m *machine) plan(at time.Duration, act action) {
	i := len(m.plans)
	for i > 0 && m.plans[i-1].at > at {
		i--
	}
	m.plans = slices.Insert(m.plans, i, planned{at, act})
}

// carryOut does the next planned action.
func (m *machine) carryOut() {
	act := m.plans[0].act
	m.plans = slices.Delete(m.plans, 0, 1)
	act(m)
}

// announceEnd says go away.
func (m *machine) announceEnd(left time.Duration) {
	m.log("go_away", left.String())
	m.send(m.tongue.goAway(left))
}

// drop breaks the connection.
func (m *machine) drop() {
	m.out = append(m.out, frame{drop: true})
}

// pinged answers a ping in its time.
func (m *machine) pinged(now time.Duration, data []byte) {
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

// sendAudio sends a chunk of tone that belongs to no reply, under the name of a rate.
func (m *machine) sendAudio(length time.Duration, rateHz int) {
	f := string(tongue{}.audio(tone(m.replies, length)).data)
	m.send(m.json(strings.Replace(f, "rate=24000", fmt.Sprintf("rate=%d", rateHz), 1)))
}

// tone is a tone at 24 kHz, -12 dBFS, higher for each reply: 400 Hz after none, 500 after one, up to 1300.
func tone(replies int, length time.Duration) []int16 {
	pcm := make([]int16, int(length*outputRateHz/time.Second))
	step := 2 * math.Pi * float64(400+100*(replies%10)) / outputRateHz
	for i := range pcm {
		pcm[i] = int16(math.Round(8192 * math.Sin(step*float64(i))))
	}
	return pcm
}
