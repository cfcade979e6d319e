package simulate

import (
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/voicenets"
)

// gatewayConfig draws the configuration of a gateway, and its functions.
func gatewayConfig(c chance, snd *sounds) (voicegw.Config, *toolSet) {
	const ms = time.Millisecond
	cfg := voicegw.Config{Setup: live.Setup{Model: sim.ModelName}, CallsMax: 20}
	if c.oneIn(2) {
		cfg.Greeting = "Greet the caller."
	}
	cfg.Net = voicenets.Config{
		GreetingFirm: c.oneIn(4), Adaptive: c.oneIn(2), Hints: c.oneIn(3), Consent: c.oneIn(6),
		BudgetFrames: pick(c, 0, 0, 1, 2, 5, 10, 30, 60), ReplyFramesMax: pick(c, 0, 0, 0, 1, 7, 50),
		PreRollFrames: pick(c, 0, 0, 1, 25),
		ConfirmWindow: c.maybe(100*ms, 900*ms), FrameGap: c.maybe(150*ms, 500*ms), LateAudio: c.maybe(50*ms, 2000*ms),
		AckTimeout: c.maybe(500*ms, 3000*ms), TurnEndTimeout: c.maybe(500*ms, 4000*ms), SilentTurn: c.maybe(1000*ms, 5000*ms),
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
	set, tools := newToolSet(c, cfg.Net.ToolTimeout)
	cfg.Tools = tools
	cfg.Prompts = randomPrompts(c, &cfg, snd)
	return cfg, set
}

// randomPrompts draws some of the prompts that a configuration needs.
func randomPrompts(c chance, cfg *voicegw.Config, snd *sounds) map[voicenets.Prompt]voicegw.Prompt {
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
