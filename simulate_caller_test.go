//go:build !race

package voicegw_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// simCaller is somebody who calls: a line, a microphone, and what is done in the call.
type simCaller struct {
	plan    *simCallPlan
	line    *simLine
	mic     *simMic
	model   *simModel
	sounds  *simSounds
	tasks   sync.WaitGroup
	session chan *voicegw.Session // 1 deep
	host    *voicegw.Session

	presses atomic.Int64 // of the button

	asked  []simAsked
	hungUp time.Duration // when; 0: never, the call ended before
	err    error         // of Gateway.Call
	ended  time.Duration // when that returned
}

// simAsked is a question of the caller's.
type simAsked struct {
	from, to time.Duration // said
	over     bool          // the call was over before the answer
	shut     bool          // nobody may listen
}

func newSimCaller(p *simCallPlan, snd *simSounds) *simCaller {
	line := newSimLine(p)
	mic := &simMic{line: line, rate: p.hello.InputRateHz, lost: map[int]bool{}, closed: map[simVerb]int{}}
	if p.consent {
		mic.shut(simConsent)
	}
	return &simCaller{plan: p, line: line, mic: mic, sounds: snd, model: &simModel{line: line, mic: mic},
		session: make(chan *voicegw.Session, 1)}
}

// calls makes the call and returns when nothing of it is left.
func (s *simCaller) calls(gw *voicegw.Gateway, c chance) {
	voice, acks := newChance(c.Uint64(), 1), newChance(c.Uint64(), 2)
	s.tasks.Go(func() { s.speaks(voice) })
	s.tasks.Go(func() { s.acknowledges(acks) })
	s.tasks.Go(func() { s.acts() })
	s.err = gw.Call(context.Background(), s.line)
	s.ended = s.line.now()
	s.model.isClosed()
	s.tasks.Wait()
}

// sleep waits, and reports whether the call goes on.
func (s *simCaller) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.line.closed:
		return false
	}
}

// speaks sends the packets of the microphone in real time.
func (s *simCaller) speaks(c chance) {
	m := s.plan.manner
	for s.sleep(time.Duration(m.packet) * 20 * time.Millisecond) {
		if m.mute {
			continue
		}
		pcm, silent := s.mic.next(m.packet)
		if s.plan.good && !s.plan.pushes() {
			s.line.hears(s.mic.spoken())
		}
		if !silent && (m.loss == 0 || !c.oneIn(m.loss)) {
			s.line.send(&transport.Event{Kind: transport.EventAudio, PCM: pcm})
		} else {
			s.mic.loses(m.packet)
		}
	}
}

// acknowledges tells what was played, every 100 ms.
func (s *simCaller) acknowledges(c chance) {
	lag := s.plan.manner.lag
	for s.sleep(97 * time.Millisecond) {
		for _, ack := range s.line.acks(c) {
			if lag == 0 {
				s.line.send(ack)
				continue
			}
			s.tasks.Go(func() {
				if s.sleep(lag) {
					s.line.send(ack)
				}
			})
		}
	}
}

// acts does what the script says, and hangs up.
func (s *simCaller) acts() {
	if d := s.plan.manner.deaf; d > 0 {
		s.tasks.Go(func() {
			if s.sleep(d) {
				s.line.mu.Lock()
				s.line.stalled = true
				s.line.mu.Unlock()
			}
		})
	}
	select {
	case s.host = <-s.session:
	case <-s.line.closed:
		return
	case <-time.After(simDialling):
	}
	for _, step := range s.plan.steps {
		if s.line.isOver() {
			return
		}
		s.line.wrongUnless(true, "** %s %s %v", step.do, step.what, step.on)
		if s.does(step); !s.sleep(step.then) {
			return
		}
	}
	s.mic.shut(s.plan.steps[len(s.plan.steps)-1].do)
	s.hungUp = s.line.now()
	if !s.sleep(simEndMax + simWriteTimeout) {
		return
	}
	s.line.wrong("the call goes on %v after it was ended", simEndMax+simWriteTimeout)
	s.line.breaks(transport.ReasonPeerLost)
}

const (
	// simDialling is how long a caller waits for an answer. Then the call is left.
	simDialling = 20 * time.Second
	// simEndMax is the longest a call may go on when it was ended by somebody who takes what is sent.
	simEndMax = 3 * time.Second
)

// does does one thing.
func (s *simCaller) does(step simStep) {
	send := func(ev transport.Event) { s.line.send(&ev) }
	switch step.do {
	case simAsk:
		s.asks(step.what)
	case simSay:
		s.says(step.what)
	case simCut:
		s.mic.say(nil)
		if s.plan.pushes() {
			s.presses.Add(1)
			send(transport.Event{Kind: transport.EventTalk})
		}
	case simType:
		send(transport.Event{Kind: transport.EventText, Text: step.what})
	case simKeys:
		send(transport.Event{Kind: transport.EventDTMF, Text: step.what})
	case simMute:
		s.switches(step, 2*s.plan.manner.packet, func() { send(transport.Event{Kind: transport.EventMute, On: step.on}) })
	case simHold:
		s.switches(step, 2*s.plan.manner.packet, func() { send(transport.Event{Kind: transport.EventHold, On: step.on}) })
	case simConsent:
		step.on = !step.on // what is open is agreed to
		s.switches(step, 2*s.plan.manner.packet, func() { send(transport.Event{Kind: transport.EventConsent, On: !step.on}) })
	case simTalk:
		send(transport.Event{Kind: transport.EventTalk, On: step.on})
	case simStick:
		s.mic.stick(step.on)
	case simResult:
		send(transport.Event{Kind: transport.EventToolResult, ID: step.what, Text: "1"})
	default:
		s.hosts(step)
	}
}

// hosts does what is the host's, or ends the call.
func (s *simCaller) hosts(step simStep) {
	switch step.do {
	case simBye:
		s.line.send(&transport.Event{Kind: transport.EventBye})
		return
	case simBreak:
		s.line.breaks(transport.ReasonPeerLost)
		return
	case simBreach:
		s.line.breaks(transport.ReasonBadJSON)
		return
	}
	if s.host == nil { // the model was never reached
		if step.do == simHandOff || step.do == simHangUp {
			s.line.breaks(transport.ReasonPeerLost)
		}
		return
	}
	switch step.do {
	case simHostHold:
		s.switches(step, 12, func() { _ = s.host.Hold(step.on) })
	case simProtect:
		s.switches(step, 12, func() { _ = s.host.Protect(step.on) })
	case simHint:
		opinion := voicenets.BackChannel
		if step.what != "back" {
			opinion++
		}
		_ = s.host.Hint(opinion)
	case simHostSay:
		_ = s.host.Text(step.what)
	case simHandOff:
		_ = s.host.HandOff("+123")
	case simHangUp:
		_ = s.host.HangUp()
	}
}

// switches works a switch that closes the caller's mouth, so to speak, while it is on.
func (s *simCaller) switches(step simStep, onTheWay int, work func()) {
	if step.on {
		work()
		s.mic.shut(step.do)
		return
	}
	s.mic.unshut(step.do, onTheWay)
	work()
}

// says speaks, with the button if there is one.
func (s *simCaller) says(word string) (takes time.Duration) {
	pcm := s.sounds.words[simWord{word, s.plan.hello.InputRateHz}]
	takes = time.Duration(len(pcm)) * time.Second / time.Duration(s.plan.hello.InputRateHz)
	if s.plan.pushes() {
		s.line.send(&transport.Event{Kind: transport.EventTalk, On: true})
		press := s.presses.Add(1)
		s.tasks.Go(func() {
			if s.sleep(takes+100*time.Millisecond) && press == s.presses.Load() {
				s.line.send(&transport.Event{Kind: transport.EventTalk})
			}
		})
	}
	s.mic.say(pcm)
	return takes
}

// asks waits until all is quiet, says something and waits for the answer.
func (s *simCaller) asks(word string) {
	for limit := s.line.now() + time.Minute; s.line.now() < limit; {
		if min(s.line.quietFor(), s.mic.quietFor()) > 1500*time.Millisecond {
			break
		}
		if !s.sleep(100 * time.Millisecond) {
			return
		}
	}
	ask := simAsked{from: s.line.now(), shut: s.mic.isShut()}
	if !s.sleep(s.says(word)) {
		return
	}
	ask.to = s.line.now()
	for s.line.now() < ask.to+simAnswerMax && !s.line.answeredIn(ask.to, ask.to+simAnswerMax) && !ask.over {
		ask.over = !s.sleep(100 * time.Millisecond)
	}
	s.asked = append(s.asked, ask)
}

// simAnswerMax is the longest a question waits: the longest deadline, and a little.
const simAnswerMax = 35 * time.Second

func (m *simMic) say(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.voice = pcm
}

func (m *simMic) stick(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stuck = on
}

// isShut reports whether nobody may listen.
func (m *simMic) isShut() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.closed) > 0
}

// quietFor is how long nothing was heard.
func (l *simLine) quietFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now() - max(l.ear.last, l.player.until)
}
