package sim

import (
	"fmt"
	"time"
)

// ModelName is a model every Server has. It also has every model whose name begins with "gemini-", unless
// Config.Models says otherwise.
const ModelName = "parrot"

// Rates and defaults.
const (
	inputRateHz  = 16000
	outputRateHz = 24000

	defaultSpeed     = 4
	defaultChunkMin  = 40 * time.Millisecond
	defaultChunkMax  = 240 * time.Millisecond
	defaultEchoMax   = 10 * time.Second
	defaultReplies   = 3
	defaultConnsMax  = 256
	fixedReplyMax    = 120 * time.Second
	defaultReadLimit = 4 << 20
)

// Config says how a Server behaves. The zero value works.
type Config struct {
	// Greeting is what the model says when it is sent text, 24 kHz mono, at most two minutes; nil means a short
	// invitation in English. GreetingText is its transcript.
	Greeting     []int16
	GreetingText string
	// FixedReply, 24 kHz mono, at most two minutes, is said in place of everything else; nil means the parrot.
	FixedReply []int16
	// CallerText is the transcript of every caller turn; empty means one such as "(2.4 s of speech)".
	CallerText string
	// Speed is how many times faster than real time audio is delivered, 0.1 to 1000. Default: 4.
	Speed float64
	// Latency passes between the end of the caller's turn and the first audio, at most 10 s. Default: none.
	Latency time.Duration
	// ChunkMin and ChunkMax bound the audio of one message, multiples of 1 ms, 1 ms to 2 s. Default: 40 and 240 ms.
	ChunkMin, ChunkMax time.Duration
	// Seed decides the sizes of chunks, and which connections get text and which binary frames. Equal seeds and equal
	// messages at equal times give equal answers.
	Seed uint64
	// EchoMax is how much of a caller's turn is repeated, at most 60 s. Default: 10 s.
	EchoMax time.Duration
	// RepliesMax is how many turns in a row are answered that began over a reply, or within 300 ms of its end, and so
	// may be the reply itself, heard through a loudspeaker. One more gets an empty turn; a turn that begins in silence
	// counts from zero again. Default: 3; negative means no limit.
	RepliesMax int
	// APIKey is the key a client must show. Empty means any or none.
	APIKey string
	// Models are the names accepted, without "models/". Default: see ModelName.
	Models []string
	// ConnectionsMax bounds the connections at a time, and how many ended ones are remembered. Default: 256.
	ConnectionsMax int
	// Faults misbehave on purpose. Default: none.
	Faults Faults
	// Scenario misbehaves on cue, and calls tools. It comes on top of everything else. Default: none.
	Scenario *Scenario
}

// withDefaults returns the configuration to use.
func (c Config) withDefaults() Config {
	setDefault(&c.Speed, defaultSpeed)
	if c.ChunkMin == 0 && c.ChunkMax > 0 {
		c.ChunkMin = min(defaultChunkMin, c.ChunkMax)
	}
	setDefault(&c.ChunkMin, defaultChunkMin)
	setDefault(&c.ChunkMax, max(defaultChunkMax, c.ChunkMin))
	setDefault(&c.EchoMax, defaultEchoMax)
	setDefault(&c.RepliesMax, defaultReplies)
	setDefault(&c.ConnectionsMax, defaultConnsMax)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// span is a field with its limits.
type span struct {
	field           string
	value, min, max time.Duration
}

// check refuses what New cannot honour.
func (c *Config) check() error {
	for _, s := range []span{
		{"Latency", c.Latency, 0, 10 * time.Second},
		{"ChunkMin", c.ChunkMin, time.Millisecond, 2 * time.Second},
		{"ChunkMax", c.ChunkMax, c.ChunkMin, 2 * time.Second},
		{"EchoMax", c.EchoMax, time.Millisecond, time.Minute},
		{"Greeting", playtime(len(c.Greeting)), 0, fixedReplyMax},
		{"FixedReply", playtime(len(c.FixedReply)), 0, fixedReplyMax},
	} {
		if s.value < s.min || s.value > s.max {
			return fmt.Errorf("sim: %s is %v; want %v to %v", s.field, s.value, s.min, s.max)
		}
	}
	if !(c.Speed >= 0.1 && c.Speed <= 1000) {
		return fmt.Errorf("sim: Speed is %v; want 0.1 to 1000", c.Speed)
	}
	if c.ConnectionsMax < 0 {
		return fmt.Errorf("sim: ConnectionsMax is %d; want 1 or more", c.ConnectionsMax)
	}
	return c.Faults.check()
}

// playtime is how long n samples of the model play.
func playtime(n int) time.Duration { return time.Duration(n) * time.Second / outputRateHz }
