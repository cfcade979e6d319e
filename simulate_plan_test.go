//go:build !race

package voicegw_test

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// simPlan is what a simulated world is made of. All of it comes from the seed.
type simPlan struct {
	seed  uint64
	gw    voicegw.Config
	box   *simToolbox
	calls []*simCallPlan
	// closes ends the world's gateway in the middle of its calls; 0: when all are over.
	closes time.Duration
}

// simCallPlan is one call of a world.
type simCallPlan struct {
	n       int
	after   time.Duration // the start
	hello   transport.Hello
	model   sim.Config
	faults  string // the model's scenario, in words
	good    bool   // model and peer keep their protocol: everything asked is answered
	sound   bool   // and nothing keeps the model's speech waiting: see Net.ReplyFramesMax
	manner  simManner
	steps   []simStep
	consent bool // the gateway asks for it
	budget  int  // of frames
}

// simManner is how a peer differs from a good one.
type simManner struct {
	packet  int           // frames that the microphone sends at one time
	loss    int           // one packet in so many is lost; 0: none
	drift   float64       // how fast the player's clock runs
	lag     time.Duration // of acknowledgements
	acks    ackManner
	mute    bool          // no microphone
	answers bool          // tool calls that reach the peer
	deaf    time.Duration // takes nothing any more after so long; 0: never
}

type ackManner int

const (
	acksWell ackManner = iota
	acksNothing
	acksLies
)

// newSimPlan plans the world of a seed.
func newSimPlan(seed uint64, snd *simSounds) *simPlan {
	c := newChance(seed, 0)
	p := &simPlan{seed: seed}
	p.gw, p.box = simGateway(c, snd)
	if c.oneIn(8) {
		p.closes = c.between(2*time.Second, 25*time.Second)
	}
	for n := range 5 + c.IntN(4) {
		p.calls = append(p.calls, newSimCall(newChance(seed, uint64(n)+1), n, &p.gw))
	}
	return p
}

// simGateway is a configuration, and the functions of it.
func simGateway(c chance, snd *simSounds) (voicegw.Config, *simToolbox) {
	const ms = time.Millisecond
	cfg := voicegw.Config{Setup: live.Setup{Model: sim.ModelName}, CallsMax: 20}
	if c.oneIn(2) {
		cfg.Greeting = greetCaller
	}
	cfg.Net = voicenets.Config{
		GreetingFirm: c.oneIn(4), Adaptive: c.oneIn(2), Hints: c.oneIn(3), Consent: c.oneIn(6),
		BudgetFrames: pick(c, 0, 0, 1, 2, 5, 10, 30, 60), ReplyFramesMax: pick(c, 0, 0, 0, 1, 7, 50),
		PreRollFrames: pick(c, 0, 0, 1, 25),
		ConfirmWindow: c.maybe(100*ms, 900*ms), FrameGap: c.maybe(150*ms, 500*ms), LateAudio: c.maybe(50*ms, 2000*ms),
		AckTimeout: c.maybe(500*ms, 3000*ms), OwedTimeout: c.maybe(500*ms, 4000*ms), SilentTurn: c.maybe(1000*ms, 5000*ms),
		NudgeAfter: c.maybe(500*ms, 3000*ms), RenewAfter: c.maybe(500*ms, 3000*ms), FallbackAfter: c.maybe(500*ms, 3000*ms),
		ReplyDeadline: pick(c, 0, 2*time.Second, 5*time.Second, 12*time.Second),
		GoodbyeAfter:  c.maybe(1000*ms, 6000*ms), ConsentWait: c.maybe(1000*ms, 20_000*ms),
		ToolTimeout: c.between(100*ms, pick(c, 800*ms, 4000*ms)), FillerAfter: c.maybe(100*ms, 2000*ms),
		ToolSlots: pick(c, 0, 1, 2, 4),
		Stable:    c.maybe(1000*ms, 5000*ms), RotateWithin: c.maybe(1000*ms, 8000*ms), RotateSoon: c.maybe(50*ms, 2000*ms),
		DigitGap: c.maybe(200*ms, 2000*ms), Farewell: c.maybe(1000*ms, 5000*ms),
	}
	if c.oneIn(3) {
		cfg.Net.RepromptAfter = c.between(time.Second, 8*time.Second)
	}
	if c.oneIn(6) {
		cfg.Net.MaxDuration = c.between(5*time.Second, 40*time.Second)
	}
	if c.oneIn(2) {
		cfg.Net.Backoff = [3]time.Duration{c.between(10*ms, 400*ms), c.between(10*ms, 800*ms), c.between(10*ms, 1000*ms)}
	}
	if c.oneIn(2) {
		cfg.DialTimeout = c.between(500*ms, 8*time.Second)
	}
	box, tools := newSimToolbox(c, cfg.Net.ToolTimeout)
	cfg.Tools = tools
	cfg.Prompts = simPrompts(c, &cfg, snd)
	return cfg, box
}

// simPrompts are some of the prompts that a configuration asks for.
func simPrompts(c chance, cfg *voicegw.Config, snd *simSounds) map[voicenets.Prompt]voicegw.Prompt {
	list := map[voicenets.Prompt]voicegw.Prompt{}
	wanted := map[voicenets.Prompt]bool{voicenets.AskConsent: cfg.Net.Consent, voicenets.Notify: c.oneIn(4),
		voicenets.Filler: len(cfg.Tools) > 0, voicenets.Fallback: true, voicenets.Reprompt: cfg.Net.RepromptAfter > 0,
		voicenets.Goodbye: true}
	for p := range voicenets.Prompt(len(wanted)) {
		if wanted[p] && c.oneIn(2) {
			list[p] = voicegw.Prompt{PCM: snd.prompt[:24*(200+c.IntN(800))], RateHz: 24000}
		}
	}
	return list
}

// newSimCall plans a call.
func newSimCall(c chance, n int, cfg *voicegw.Config) *simCallPlan {
	p := &simCallPlan{n: n, after: c.between(0, 4*time.Second), consent: cfg.Net.Consent,
		budget: cfg.Net.Budget(), good: n == 0, sound: n == 0 && cfg.Net.ReplyFramesMax == 0}
	p.hello = transport.Hello{
		InputRateHz: pick(c, 16000, 16000, 16000, 8000), OutputRateHz: pick(c, 24000, 24000, 24000, 8000),
		Detection:  pick(c, "", transport.DetectionManual, transport.DetectionServer, transport.DetectionPush),
		HalfDuplex: c.oneIn(5), Params: map[string]string{"n": fmt.Sprint(n)},
	}
	p.model = sim.Config{Seed: c.Uint64(), Speed: pick(c, 2.0, 4, 20, 200),
		EchoMax: c.between(300*time.Millisecond, 2*time.Second),
		Latency: c.maybe(0, 800*time.Millisecond), ChunkMin: 40 * time.Millisecond, ChunkMax: 240 * time.Millisecond}
	p.manner = simManner{packet: pick(c, 1, 2, 3, 5), drift: 1, answers: true}
	if !p.good {
		simFaults(c, p)
		simMisbehaves(c, p)
	} else if c.oneIn(2) {
		simCalls(c, p)
	}
	p.steps = simScript(c, p)
	return p
}

// simMisbehaves makes a peer one that does not keep the protocol, perhaps.
func simMisbehaves(c chance, p *simCallPlan) {
	m := &p.manner
	m.drift = pick(c, 1, 1, 0.995, 1.005, 0.9, 1.1)
	m.acks = pick(c, acksWell, acksWell, acksWell, acksNothing, acksLies)
	m.lag = pick(c, 0, 0, 80*time.Millisecond, 700*time.Millisecond)
	m.loss = pick(c, 0, 0, 0, 50, 8)
	m.mute, m.answers = c.oneIn(12), !c.oneIn(3)
	if c.oneIn(12) {
		m.deaf = c.between(time.Second, 15*time.Second)
	}
}
