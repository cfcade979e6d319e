package voicegw

import (
	"cmp"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// newCall builds a call that has not begun; run must follow.
func newCall(g *Gateway, peer transport.Peer, hello transport.Hello, plan *Plan) *call {
	hello, _, _ = g.cfg.mode(hello)
	c := &call{id: newCallID(), cfg: &g.cfg, peer: peer, hello: hello, plan: plan, metrics: g.metrics}
	c.log = g.cfg.Log.With(zap.String("call", c.id), zap.String("client", hello.Client))
	det := detection(c.cfg, &hello)
	c.prog = g.programs[variant{det, hello.HalfDuplex}]
	c.events = newEventRing(&c.prog.drops)
	c.session = &Session{id: c.id, hello: hello, labels: plan.Labels, prog: c.prog.Program,
		protection: protection{switchLock: newSwitchLock()}}

	talk, dialer, tools := &conversation{}, &modelDialer{}, newToolCalls(plan.Tools)
	c.end = newEnder(dialer.stop)
	c.workers = &workers{log: c.log, fail: c.end.fail}
	c.in = &injector{fail: c.end.fail, log: c.log}
	c.out = &outputs{peer: c.newPeerWriter(), model: c.newModelWriter(det, talk, tools), dialer: dialer, tools: tools,
		prompts: &promptPlayer{prompts: c.cfg.Prompts, outputRateHz: hello.OutputRateHz, in: c.in, end: c.end},
		acks:    &ackTracker{}, talk: talk, tally: &tally{}, turns: &turnLog{now: c.sinceBegan}, end: c.end,
		workers: c.workers, hooks: &c.cfg.Hooks, session: c.session, log: c.log, metrics: c.metrics}
	c.out.silence = &silence{now: c.sinceBegan, observe: func(seconds float64) {
		c.metrics.silence.Observe(seconds)
		c.out.turns.stage(Silent)
	}}
	c.session.peer, c.session.hold, c.session.model = c.out.peer, &holdSwitch{switchLock: newSwitchLock()}, c.out.model
	c.session.in = c.in
	c.messages = newPageMessages(c.cfg.Hooks.Message)
	c.out.up = func() { g.sessions.Store(c.id, c.session); close(c.messages.up) }
	c.down = func() { g.sessions.Delete(c.id) }

	dialer.dialer, dialer.setup, dialer.timeout = plan.Dialer, modelSetup(c.cfg, plan, &hello), c.cfg.DialTimeout
	c.out.modelName = cmp.Or(dialer.setup.Model, c.cfg.Model.Name)
	dialer.ownLanguage, dialer.announce = hello.Language != "", c.prog.timings.RotateSoon
	dialer.dialled, tools.now = c.metrics.dialled, c.sinceBegan
	tools.ended = func(tc ToolCall, took time.Duration) {
		c.metrics.tool(tc.Name, tc.Result, took)
		c.out.turns.tool(tc)
	}
	dialer.in, dialer.workers, dialer.end, dialer.talk, dialer.log = c.in, c.workers, c.end, talk, c.log
	tools.schedules = schedules(c.cfg, dialer.setup.Model)
	tools.inNet, tools.in, tools.workers, tools.session, tools.log = c.prog.hasTools, c.in, c.workers, c.session, c.log
	tools.send = func(m *transport.Message) { c.out.peer.put(peerItem{msg: m}) }
	if c.cfg.Archive != nil {
		c.archive = newArchiver(c.cfg, c.id, &g.writers, c.log)
		c.archive.lost = c.archiveLost
	}
	return c
}

func (c *call) newPeerWriter() *peerWriter {
	w := newPeerWriter(c.peer)
	w.ready = func() transport.Ready { return readyMessage(c.id, c.cfg, c.plan, &c.hello) }
	w.stalled = func() { c.end.ask(peerStalled()) }
	w.gone = func(err error) {
		if errors.Is(err, errUnknown) {
			c.end.fail(err)
		} else {
			c.end.ask(peerGone(err))
		}
	}
	if event := c.cfg.Hooks.Event; event != nil {
		w.event = func(m *transport.Message) { event(c.session, m) }
	}
	if turn := c.cfg.Hooks.Turn; turn != nil {
		w.turn = func(t Turn) { turn(c.session, t) }
	}
	if c.hello.ShowNet && c.cfg.ShowNet {
		w.showNet(c.prog, c.log)
	}
	return w
}

// newModelWriter makes the queue to the model. It is held at first if the caller
// has to consent.
func (c *call) newModelWriter(det voicenets.Detection, talk *conversation, tools *toolCalls) *modelWriter {
	return &modelWriter{modelVAD: det == voicenets.ModelVAD, greeting: c.plan.Greeting, nudge: c.cfg.Nudge,
		talk: talk, reply: tools.reply, log: c.log, wake: make(chan struct{}, 1), held: c.cfg.Net.Consent,
		fail:    c.end.fail,
		stalled: func() { c.end.ask(modelLost(errModelStalled)) }}
}
