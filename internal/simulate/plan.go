package simulate

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// worldPlan is what a world is made of. All of it comes from the seed.
type worldPlan struct {
	seed  uint64
	gw    voicegw.Config
	tools *toolSet
	calls []*callPlan
	// closes ends the world's gateway in the middle of its calls; 0: when all are over.
	closes time.Duration
}

// callPlan is one call of a world.
type callPlan struct {
	n       int
	after   time.Duration // when it starts
	hello   transport.Hello
	model   sim.Config
	script  string   // what the model follows, in words
	faults  []string // the names of those in the table
	good    bool     // model and peer have no fault: everything asked is answered
	sound   bool     // and nothing keeps the model's speech waiting: see Net.ReplyFramesMax
	peer    behavior
	steps   []step
	consent bool // the gateway asks for it
	budget  int  // of frames
}

// newWorldPlan plans the world of a seed.
func newWorldPlan(seed uint64, snd *sounds) *worldPlan {
	c := newChance(seed, 0)
	p := &worldPlan{seed: seed}
	p.gw, p.tools = gatewayConfig(c, snd)
	if c.oneIn(8) {
		p.closes = c.between(2*time.Second, 25*time.Second)
	}
	for n := range 5 + c.IntN(4) {
		p.calls = append(p.calls, newCallPlan(newChance(seed, uint64(n)+1), n, &p.gw))
	}
	return p
}

// newCallPlan plans a call.
func newCallPlan(c chance, n int, cfg *voicegw.Config) *callPlan {
	p := &callPlan{n: n, after: c.between(0, 4*time.Second), consent: cfg.Net.Consent,
		budget: cfg.Net.Budget(), good: n == 0, sound: n == 0 && cfg.Net.ReplyFramesMax == 0}
	p.hello = transport.Hello{
		InputRateHz: pick(c, 16000, 16000, 16000, 8000), OutputRateHz: pick(c, 24000, 24000, 24000, 8000),
		Detection:  pick(c, "", transport.DetectionGatewayVAD, transport.DetectionModelVAD, transport.DetectionPush),
		HalfDuplex: c.oneIn(5), Params: map[string]string{"n": fmt.Sprint(n)},
	}
	p.model = sim.Config{Seed: c.Uint64(), Speed: pick(c, 2.0, 4, 20, 200),
		EchoMax: c.between(300*time.Millisecond, 2*time.Second),
		Latency: c.maybe(0, 800*time.Millisecond), ChunkMin: 40 * time.Millisecond, ChunkMax: 240 * time.Millisecond}
	p.peer = goodPeer(pick(c, 1, 2, 3, 5))
	if !p.good {
		injectFaults(c, p)
	} else if c.oneIn(2) {
		toolScenario(c, p)
	}
	p.steps = newScript(c, p)
	return p
}

// pushes reports whether speech needs the button.
func (p *callPlan) pushes() bool { return p.hello.Detection == transport.DetectionPush }
