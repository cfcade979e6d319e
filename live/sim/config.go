package sim

import (
	"fmt"
	"time"
)

// ModelName is the name of the model. Unless Config.Models is set, a Server also has every model
// whose name begins with "gemini-".
const ModelName = "parrot"

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

// Config configures a Server. The zero value works.
type Config struct {
	// Greeting is the reply to text: mono samples at 24 kHz, at most two minutes. The default is a
	// short invitation in English.
	Greeting []int16
	// GreetingText is the transcript of Greeting.
	GreetingText string
	// FixedReply replaces every reply: mono samples at 24 kHz, at most two minutes. The default is
	// to repeat the caller.
	FixedReply []int16
	// CallerText is the transcript of every turn of the caller. The default names the length, such
	// as "(2.4 s of speech)".
	CallerText string
	// Speed is how many times faster than real time the model sends audio, 0.1 to 1000. The default
	// is 4.
	Speed float64
	// Latency is the time from the end of a turn to the first audio, at most 10 s. The default is
	// 0.
	Latency time.Duration
	// ChunkMin and ChunkMax bound the audio of one message: whole milliseconds, 1 ms to 2 s. The
	// defaults are 40 ms and 240 ms.
	ChunkMin, ChunkMax time.Duration
	// Seed selects the sizes of chunks, and the connections that get binary frames. Equal seeds and
	// equal messages at equal times give equal replies.
	Seed uint64
	// EchoMax is how much of a turn the model repeats, at most 60 s. The default is 10 s.
	EchoMax time.Duration
	// RepliesMax is how many turns in a row the model replies to if they began during a reply or
	// within 300 ms after it, and so may be its echo. The next one gets an empty turn. A turn that
	// begins in silence starts the count again. The default is 3; a negative value means no limit.
	RepliesMax int
	// APIKey is the key that a client must send. If it is empty, any key or none will do.
	APIKey string
	// Models are the accepted names, without "models/". See ModelName for the default.
	Models []string
	// ConnectionsMax is the most connections at one time, and the most that Connections returns.
	// The default is 256.
	ConnectionsMax int
	// Faults are the faults of the model. The default is none.
	Faults Faults
	// Scenario adds faults and tool calls at chosen points. The default is none.
	Scenario *Scenario
	// Watch gets what happens on the connections, as it happens: the goroutine of the connection
	// calls it. It must not block. nil means nobody watches.
	Watch func(Watched)
}

// withDefaults returns c with the defaults set.
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

// span is a duration with its limits.
type span struct {
	field           string
	value, min, max time.Duration
}

// check returns an error for a field that is out of range.
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

// playtime returns the duration of n samples of the model.
func playtime(n int) time.Duration { return time.Duration(n) * time.Second / outputRateHz }
