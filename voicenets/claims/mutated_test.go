package claims

import "github.com/voicegw/voicegw/voicenets"

// small is a session with small counts.
func small(c voicenets.Config) voicenets.Config {
	c.BudgetFrames, c.ReplyFramesMax, c.PreRollFrames, c.DialsMax = 1, 2, 1, 1
	return c
}

func mutated() voicenets.Config {
	return small(voicenets.Config{Greeting: true, ToolSlots: 1,
		Prompts: voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)})
}
