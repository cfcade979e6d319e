package voicegw

import (
	"context"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// PromptMax is the longest a prompt may be.
const PromptMax = time.Minute

// Prompt is audio of our own, mono.
type Prompt struct {
	PCM    []int16
	RateHz int // 8000 to 48000
}

// check says what is wrong with a prompt.
func (p Prompt) check(kind voicenets.Prompt) error {
	switch {
	case audio.CheckRate(p.RateHz) != nil:
		return fmt.Errorf("voicegw: Config.Prompts[%s]: %w", kind, audio.CheckRate(p.RateHz))
	case len(p.PCM) == 0 || time.Duration(len(p.PCM))*time.Second > PromptMax*time.Duration(p.RateHz):
		return fmt.Errorf("voicegw: Config.Prompts[%s] has %d samples of %d Hz; up to %v are possible", kind, len(p.PCM),
			p.RateHz, PromptMax)
	}
	return nil
}

// prompts says which there are.
func (c *Config) prompts() voicenets.Prompts {
	var set voicenets.Prompts
	for kind := range c.Prompts {
		set = set.With(kind)
	}
	return set
}

// play gives a prompt to the net, frame by frame, as long as it takes them.
func (c *call) play(ctx context.Context, p voicenets.Playing) {
	prompt := c.cfg.Prompts[p.Prompt]
	giving := true
	s, err := newSpeaker(c.hello.OutputRateHz, func(f *voicenets.ReplyFrame) {
		f.Gen = p.Gen
		giving = giving && c.injectFrame(ctx, voicenets.PromptAudio.Token(f))
	})
	if err == nil {
		const most = 2 // seconds that wait here
		for pcm := prompt.PCM; len(pcm) > 0 && giving && err == nil; {
			n := min(len(pcm), most*prompt.RateHz)
			err = s.push(pcm[:n], prompt.RateHz)
			pcm = pcm[n:]
		}
		s.flush()
	}
	if err != nil {
		c.broke(err)
	}
	c.inject(ctx, voicenets.PromptEnd.Token(voicenets.Ack{Gen: p.Gen}))
}
