package simulate

import (
	"context"
	"sync"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// modelRateHz is the rate at which a model speaks. What comes at another rate is resampled.
const modelRateHz = 24000

// rampMax is how many values the samples of a model go through, 1 to rampMax, so that each tells
// its position.
const rampMax = 32000

func nextRamp(v int16) int16 { return v%rampMax + 1 }

// model is the way of one call to its model. It knows the connections, marks what the model says
// and looks at what is sent to it. It is a live.Dialer.
type model struct {
	live.Dialer
	line     *line
	mic      *microphone
	tools    *toolSet
	greeting string
	patience time.Duration // for the result of a function; 0: there are no functions

	mu       sync.Mutex
	ramp     int16 // the sample that was said last
	speaking bool  // a generation has begun and is not over
	dials    dials

	called, replied int // functions
	arrived         arrivals
	upItems         []upItem // what of the caller's was sent
	broke, slow     bool     // a connection did
	chunks          []modelChunk
	generations     int // that ended or were interrupted
}

// Dial implements live.Dialer.
func (m *model) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	m.mu.Lock()
	m.judgePace()
	m.mu.Unlock()
	if len(s.History) > 0 {
		m.sent("the conversation so far")
	}
	conn, err := m.Dialer.Dial(ctx, s)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dials.n++
	if err != nil {
		m.dials.failed++
		m.line.note("-- dial %d: %v", m.dials.n, err)
		return nil, err
	}
	m.dials.open++
	m.speaking = false
	m.line.withSpeech(func(j *speechJudge) { j.connections = append(j.connections, nextRamp(m.ramp)) })
	m.line.require(m.dials.open == 1, "-- dial %d: %d connections to the model are open", m.dials.n, m.dials.open)
	hello := m.line.plan.hello
	return &modelConn{Conn: conn, model: m, tools: map[string]*toolCall{}, next: -1,
		gapless: hello.Detection == transport.DetectionModelVAD && !hello.HalfDuplex}, nil
}

// mark makes the model's speech tell its position.
func (m *model) mark(msg *live.ServerMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.line.withSpeech(func(j *speechJudge) {
		j.positioned = j.positioned && msg.RateHz == modelRateHz
		if !m.speaking {
			j.begins = append(j.begins, nextRamp(m.ramp))
		}
	})
	m.speaking = true
	if msg.RateHz > 0 {
		length := time.Duration(len(msg.PCM)) * time.Second / time.Duration(msg.RateHz)
		m.chunks = append(m.chunks, modelChunk{time.Now(), length})
	}
	for i := range msg.PCM {
		m.ramp = nextRamp(m.ramp)
		msg.PCM[i] = m.ramp
	}
}

// pause notes that a generation is over. The last samples of one that was interrupted may fill no
// frame and be lost. Those before a function was called wait until they fill one.
func (m *model) pause(kind live.ServerKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.speaking = false
	m.generations++
	end := nextRamp(m.ramp)
	m.line.withSpeech(func(j *speechJudge) {
		switch kind {
		case live.ServerInterrupted:
			j.interrupted = append(j.interrupted, end)
		case live.ServerToolCall, live.ServerToolCancel:
			j.ends, j.toolPauses = append(j.ends, end), append(j.toolPauses, end)
		default:
			j.ends = append(j.ends, end)
		}
	})
}

// cut notes that the gateway closes the connection, perhaps in the middle of a generation. m.mu is
// held.
func (m *model) cut() {
	if m.speaking {
		m.line.withSpeech(func(j *speechJudge) { j.cuts = append(j.cuts, cut{m.line.now(), nextRamp(m.ramp)}) })
	}
}

// sends counts something that is sent to the model, and returns what to call when it is sent.
func (m *model) sends(count *int) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*count++
	began := time.Now()
	return func() {
		if time.Since(began) > 0 {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.slow = true
		}
	}
}
