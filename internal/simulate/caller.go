package simulate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// caller is somebody who calls: a line, a microphone, a model, and what is done in the call.
type caller struct {
	plan    *callPlan
	line    *line
	mic     *microphone
	model   *model
	sounds  *sounds
	tasks   sync.WaitGroup
	session chan *voicegw.Session // 1 deep
	host    *voicegw.Session      // nil: the call was never up

	presses atomic.Int64 // of the button

	asked  []question
	hungUp time.Duration // when the script ended the call; 0: it ended before
	err    error         // of Gateway.Call
	ended  time.Duration // when Gateway.Call returned

	record voicegw.Record // once the call is over
	trace  *trace         // once the call is over; nil: its net was not watched
}

// question is a question of the caller's.
type question struct {
	from, to time.Duration // said
	over     bool          // the call was over before the answer
	muted    bool          // the input gate was closed
}

func newCaller(p *callPlan, snd *sounds) *caller {
	line := newLine(p)
	mic := &microphone{line: line, rate: p.hello.InputRateHz, lost: map[int]bool{}, closed: map[action]int{}}
	if p.consent {
		mic.closeGate(doConsent)
	}
	return &caller{plan: p, line: line, mic: mic, sounds: snd, model: &model{line: line, mic: mic},
		session: make(chan *voicegw.Session, 1)}
}

// call makes the call and returns when nothing of it is left.
func (s *caller) call(gw *voicegw.Gateway, c chance) {
	voice, acks := newChance(c.Uint64(), 1), newChance(c.Uint64(), 2)
	s.tasks.Go(func() { s.speak(voice) })
	s.tasks.Go(func() { s.acknowledge(acks) })
	s.tasks.Go(func() { s.act() })
	s.err = gw.Call(context.Background(), s.line)
	s.ended = s.line.now()
	s.model.judgeClosed()
	s.tasks.Wait()
}

// sleep waits, and reports whether the call goes on.
func (s *caller) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.line.closed:
		return false
	}
}

// speak sends the packets of the microphone in real time.
func (s *caller) speak(c chance) {
	p := s.plan.peer
	for s.sleep(time.Duration(p.packetFrames) * 20 * time.Millisecond) {
		if p.silent {
			continue
		}
		pcm, silent := s.mic.next(p.packetFrames)
		if s.plan.good && !s.plan.pushes() {
			s.line.judgeNoticed(s.mic.speaksSince())
		}
		if !silent && !s.line.isAway() && (p.lossOneIn == 0 || !c.oneIn(p.lossOneIn)) {
			s.line.send(&transport.Event{Kind: transport.EventAudio, PCM: pcm})
		} else {
			s.mic.lose(p.packetFrames)
		}
	}
}

// acknowledge sends acknowledgements, about every 100 ms.
func (s *caller) acknowledge(c chance) {
	lag := s.plan.peer.ackLag
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

// act plays the script, whose last step ends the call.
func (s *caller) act() {
	if d := s.plan.peer.stallsAfter; d > 0 {
		s.tasks.Go(func() {
			if s.sleep(d) {
				s.line.stall()
			}
		})
	}
	if d := s.plan.peer.breaksAfter; d > 0 {
		s.tasks.Go(func() {
			if s.sleep(d) && s.line.leave() && s.sleep(s.plan.peer.awayFor) {
				s.line.comeBack()
			}
		})
	}
	select {
	case s.host = <-s.session:
	case <-s.line.closed:
		return
	case <-time.After(answerWait):
	}
	for _, step := range s.plan.steps {
		if s.line.isOver() {
			return
		}
		s.line.note("** %s %s %v", step.do, step.what, step.on)
		if s.do(step); !s.sleep(step.then) {
			return
		}
	}
	s.mic.closeGate(s.plan.steps[len(s.plan.steps)-1].do)
	s.hungUp = s.line.now()
	if !s.sleep(endMax + writeTimeout) {
		return
	}
	s.line.violation("the call goes on %v after it was ended", endMax+writeTimeout)
	s.line.fail(transport.ReasonPeerLost)
}

const (
	// answerWait is how long a caller waits for the call to be up. Then the script begins anyway.
	answerWait = 20 * time.Second
	// endMax is how long a call may take to end when its peer takes what is sent.
	endMax = 3 * time.Second
)

// say speaks, with the button if there is one.
func (s *caller) say(word string) (takes time.Duration) {
	pcm := s.sounds.words[utterance{word, s.plan.hello.InputRateHz}]
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

// ask waits until all is quiet, says something and waits for the answer.
func (s *caller) ask(word string) {
	for limit := s.line.now() + time.Minute; s.line.now() < limit; {
		if min(s.line.quietFor(), s.mic.quietFor()) > 1500*time.Millisecond {
			break
		}
		if !s.sleep(100 * time.Millisecond) {
			return
		}
	}
	q := question{from: s.line.now(), muted: s.mic.gateClosed()}
	if !s.sleep(s.say(word)) {
		return
	}
	q.to = s.line.now()
	for s.line.now() < q.to+answerMax && !s.line.answeredIn(q.to, q.to+answerMax) && !q.over {
		q.over = !s.sleep(100 * time.Millisecond)
	}
	s.asked = append(s.asked, q)
}

// answerMax is the longest a question waits: the longest deadline, and a little.
const answerMax = 35 * time.Second
