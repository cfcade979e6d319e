package voicegw

import (
	"context"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// PromptMax is the longest a prompt may be.
const PromptMax = time.Minute

// Prompt is recorded audio, mono.
type Prompt struct {
	PCM    []int16
	RateHz int // 8000 to 48000
}

// check reports what is wrong with a prompt.
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

// prompts is the set of prompts that exist.
func (c *Config) prompts() voicenets.Prompts {
	var set voicenets.Prompts
	for kind := range c.Prompts {
		set = set.With(kind)
	}
	return set
}

// promptPlayer plays prompts into the net of a call.
type promptPlayer struct {
	prompts      map[voicenets.Prompt]Prompt
	outputRateHz int
	in           *injector
	end          *ender
}

// promptAhead is how many seconds of a prompt are converted at a time.
const promptAhead = 2

// play injects a prompt, frame by frame, until it ends or the net accepts no more of it.
func (p *promptPlayer) play(ctx context.Context, playing voicenets.Playing) {
	prompt := p.prompts[playing.Prompt]
	accepted := true
	framer, err := newReplyFramer(p.outputRateHz, func(frames []voicenets.ReplyFrame) {
		accepted = accepted && p.in.injectFrames(ctx, frames, func(f *voicenets.ReplyFrame) petri.Token {
			f.Gen = playing.Gen
			return voicenets.PromptAudio.Token(f)
		})
	})
	if err == nil {
		for pcm := prompt.PCM; len(pcm) > 0 && accepted && err == nil; {
			n := min(len(pcm), promptAhead*prompt.RateHz)
			err = framer.push(pcm[:n], prompt.RateHz)
			pcm = pcm[n:]
		}
		framer.flush()
	}
	if err != nil {
		p.end.fail(err)
	}
	p.in.inject(ctx, voicenets.PromptEnd.Token(voicenets.Ack{Gen: playing.Gen}))
}
