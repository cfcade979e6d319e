//go:build !race

package voicegw_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// simRamp is how many values the samples of a simulated model go through, 1 to simRamp, so that each tells its place.
const simRamp = 32000

func simRampNext(v int16) int16 { return v%simRamp + 1 }

// simModel is the way of one call to its model. It knows the connections, marks what the model says and looks at what
// it hears. It is a live.Dialer.
type simModel struct {
	live.Dialer
	line *simLine
	mic  *simMic
	box  *simToolbox

	patience time.Duration // with a function; 0: there are none

	mu       sync.Mutex
	open     int
	closed   int // of those that were dialled, by us
	dialed   int
	failed   int
	credit   time.Duration // for dials, at lastDial
	lastDial time.Duration
	ramp     int16
	speaks   bool // a generation has begun and is not over

	called, replied int // functions
	carried         simCarried
	callers         []simSent // what of the caller's was sent
	greeting        string
	broke, slow     bool // a connection did
	spoken          []simSpoken
	generations     int // and interruptions of them
}

func (m *simModel) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	m.mu.Lock()
	m.paced()
	m.mu.Unlock()
	if len(s.History) > 0 {
		m.sent("the conversation so far")
	}
	conn, err := m.Dialer.Dial(ctx, s)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dialed++
	if err != nil {
		m.failed++
		m.line.wrongUnless(true, "-- dial %d: %v", m.dialed, err)
		return nil, err
	}
	m.open, m.speaks = m.open+1, false
	m.line.mu.Lock()
	m.line.ear.seams = append(m.line.ear.seams, simRampNext(m.ramp))
	m.line.mu.Unlock()
	m.line.wrongUnless(m.open == 1, "-- dial %d: %d connections to the model are open", m.dialed, m.open)
	hello := m.line.plan.hello
	return &simConn{Conn: conn, model: m, tools: map[string]*simTooled{}, next: -1,
		whole: hello.Detection == transport.DetectionServer && !hello.HalfDuplex}, nil
}

// A call may try to have simDialsMax connections at once, and one more after each simDialEvery.
const (
	simDialsMax  = 4
	simDialEvery = time.Second
	simDialSlack = 50 * time.Millisecond // a dial may be late, and the next one is not
)

// paced wants some time between connections, and ends a call that gives them none. m.mu is held.
func (m *simModel) paced() {
	now := m.line.now()
	if m.dialed == 0 {
		m.credit = simDialsMax * simDialEvery
	}
	m.credit = min(simDialsMax*simDialEvery, m.credit+now-m.lastDial) - simDialEvery
	if m.lastDial = now; m.credit < -simDialSlack {
		m.line.wrong("connection %d to the model was tried %v too early", m.dialed+1, -m.credit)
		m.line.breaks(transport.ReasonPeerLost)
	}
}

// wrongUnless notes something that happened, which is wrong unless ok.
func (l *simLine) wrongUnless(ok bool, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.ear.note(l.now(), format, args...)
		return
	}
	l.ear.wrong(l.now(), format, args...)
}

// simConn is a connection of a simModel.
type simConn struct {
	live.Conn
	model *simModel
	once  sync.Once

	closing sync.Once
	closed  bool
	turn    atomic.Bool           // the caller's is open
	tools   map[string]*simTooled // by the call's id
	whole   bool                  // frames of the caller's must follow one another, as in a turn
	next    int                   // the number of the next one; -1: any
}

// ends counts the end of the connection, once: it broke, or is closed.
func (c *simConn) ends() {
	c.once.Do(func() {
		c.unreplied()
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		c.model.open--
	})
}

// breaks notes that the connection ended by itself, unless it was closed before.
func (c *simConn) breaks() {
	c.model.mu.Lock()
	defer c.model.mu.Unlock()
	c.model.broke = c.model.broke || !c.closed
}

func (c *simConn) Close(code int, reason string) error {
	c.ends()
	c.closing.Do(func() {
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		c.model.closed++
		c.closed = true
		c.model.cuts()
	})
	return c.Conn.Close(code, reason)
}

func (c *simConn) SendAudio(ctx context.Context, pcm []int16) error {
	c.model.sent("a frame")
	if n, ok := c.model.mic.goesUp(pcm); ok {
		if missing := c.model.mic.missing(c.next, n); c.whole && c.next >= 0 && missing >= 0 {
			c.model.line.wrong("the model heard frame %d after frame %d: frame %d is lost", n, c.next-1, missing)
		} else if c.whole && n < c.next {
			c.model.line.wrong("the model heard frame %d after frame %d", n, c.next-1)
		}
		c.next = n + 1
	}
	defer c.model.sends(&c.model.carried.frames)()
	return c.Conn.SendAudio(ctx, pcm)
}

func (c *simConn) Send(ctx context.Context, m live.ClientMessage) error {
	c.model.sentText(&m)
	switch m.Kind {
	case live.ClientActivityStart:
		c.model.line.wrongUnless(!c.turn.Swap(true), "-> model: a turn begins")
		c.whole, c.next = true, -1
	case live.ClientActivityEnd:
		c.model.line.wrongUnless(c.turn.Swap(false), "-> model: a turn ends")
		c.whole = false
	}
	count := &c.model.carried.notices
	if m.Kind == live.ClientToolReply {
		count = &c.model.carried.replies
	}
	went := c.model.sends(count)
	err := c.Conn.Send(ctx, m)
	went()
	if m.Kind == live.ClientToolReply {
		c.replied(m.Replies)
	}
	c.model.line.wrongUnless(true, "-> model: %v %q %v %v", m.Kind, m.Text, toolIDs(m.Replies), err)
	return err
}

func toolIDs(replies []live.ToolReply) (ids []string) {
	for _, r := range replies {
		ids = append(ids, r.ID)
	}
	return ids
}

func (c *simConn) Recv(ctx context.Context, m *live.ServerMessage) error {
	err := c.Conn.Recv(ctx, m)
	switch {
	case err != nil:
		c.breaks()
		c.ends()
		c.model.line.wrongUnless(true, "<- model: %v", err)
	case m.Kind == live.ServerAudio:
		c.model.mark(m)
		c.model.over(c.turn.Load())
	case m.Kind == live.ServerInterrupted || m.Kind == live.ServerGenerationComplete || m.Kind == live.ServerTurnComplete:
		c.model.pauses(m.Kind)
		c.model.line.wrongUnless(true, "<- model: %v", m.Kind)
	case m.Kind == live.ServerToolCall || m.Kind == live.ServerToolCancel:
		c.called(m)
		c.model.pauses(m.Kind) // until there is a result, perhaps
		c.model.line.wrongUnless(true, "<- model: %v %s %s %v", m.Kind, m.Call.ID, m.Call.Name, m.IDs)
	case m.Kind != live.ServerUsage && m.Kind != live.ServerResumption && m.Kind != live.ServerModelTranscript &&
		m.Kind != live.ServerCallerTranscript:
		c.model.line.wrongUnless(true, "<- model: %v %v", m.Kind, m.TimeLeft)
	}
	return err
}

// mark makes the model's speech tell its place. What comes at another rate is resampled, and cannot.
func (m *simModel) mark(msg *live.ServerMessage) {
	if msg.RateHz != 24000 {
		m.line.mu.Lock()
		m.line.ear.tagged = false
		m.line.mu.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.speaks {
		m.speaks = true
		m.line.begins(simRampNext(m.ramp))
	}
	if msg.RateHz > 0 {
		length := time.Duration(len(msg.PCM)) * time.Second / time.Duration(msg.RateHz)
		m.spoken = append(m.spoken, simSpoken{time.Now(), length})
	}
	for i := range msg.PCM {
		m.ramp = simRampNext(m.ramp)
		msg.PCM[i] = m.ramp
	}
}

// isClosed wants every connection to have been closed, however it ended.
func (m *simModel) isClosed() {
	m.mu.Lock()
	open := m.dialed - m.failed - m.closed
	m.mu.Unlock()
	if open != 0 {
		m.line.wrong("%d of %d connections to the model were never closed", open, m.dialed)
	}
}

// pauses notes that a generation is over. What was said last of one that was interrupted may fill no frame.
// What it said last before a function was called waits until it fills one.
func (m *simModel) pauses(kind live.ServerKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.speaks = false
	m.generations++
	m.line.mu.Lock()
	defer m.line.mu.Unlock()
	end, ear := simRampNext(m.ramp), &m.line.ear
	switch kind {
	case live.ServerInterrupted:
		ear.torn = append(ear.torn, end)
	case live.ServerToolCall, live.ServerToolCancel:
		ear.ends, ear.rests = append(ear.ends, end), append(ear.rests, end)
	default:
		ear.ends = append(ear.ends, end)
	}
}

// cuts notes that the gateway closes the connection, perhaps in the middle of a generation. m.mu is held.
func (m *simModel) cuts() {
	if m.speaks {
		m.line.mu.Lock()
		defer m.line.mu.Unlock()
		m.line.ear.cuts = append(m.line.ear.cuts, simCutOff{m.line.now(), simRampNext(m.ramp)})
	}
}

// over notes audio that came while the caller spoke, and is not heard: the next reply may begin anywhere.
func (m *simModel) over(caller bool) {
	m.line.mu.Lock()
	defer m.line.mu.Unlock()
	m.line.ear.amid = m.line.ear.amid || caller
}

// begins notes that a generation begins with a sample.
func (l *simLine) begins(first int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ear.begins = append(l.ear.begins, first)
}

// simMic is the microphone of a caller. In every frame it notes the frame's number, in the lowest bits of its
// samples, which change no sound; so what goes up to the model tells when it was captured.
type simMic struct {
	line *simLine
	rate int

	mu     sync.Mutex
	voice  []int16
	stuck  bool
	frame  int          // the number of the next one
	lost   map[int]bool // frames that never left
	closed map[simVerb]int
	spans  []simSpan     // of frames that nobody may hear
	heard  int           // by the model
	spoke  time.Duration // when the voice spoke last
	since  time.Duration // when it began to speak to somebody who may listen; 0: it does not
}

// simSpan is the frames from, and before to, that were captured while nobody
// may listen.
type simSpan struct {
	from, to int
	why      simVerb
}

// simMagic begins the number in a frame.
const simMagic = 0xA5

// stamp notes n in the lowest bits of a frame.
func stamp(pcm []int16, n int) {
	bits := uint32(n)<<8 | simMagic
	for i := range 32 {
		pcm[i] = pcm[i]&^1 | int16(bits>>i&1)
	}
}

// stamped reads a number.
func stamped(pcm []int16) (n int, ok bool) {
	bits := uint32(0)
	for i := range 32 {
		bits |= uint32(pcm[i]&1) << i
	}
	return int(bits >> 8), bits&0xFF == simMagic
}

// goesUp looks at what the model hears, and returns the number of the frame if it has one.
func (m *simMic) goesUp(pcm []int16) (n int, ok bool) {
	m.mu.Lock()
	m.heard += len(pcm)
	n, ok = stamped(pcm)
	var why simVerb
	for _, s := range m.spans {
		if n >= s.from && n < s.to {
			why = s.why
		}
	}
	for verb, from := range m.closed {
		if n >= from {
			why = verb
		}
	}
	m.mu.Unlock()
	switch {
	case m.rate != 16000:
		return 0, false
	case !ok || len(pcm) != 320:
		m.line.wrong("the model heard %d samples that are no frame of the caller's", len(pcm))
	case why != "":
		m.line.wrong("the model heard frame %d, captured while the caller %s", n, why)
	}
	return n, ok
}

// simAround is how many frames beside those that nobody may hear may be missing: they were on their way.
const simAround = 24

// missing is the first frame from one to before another that should have been heard, or -1. A frame that comes before
// is one that was said again.
func (m *simMic) missing(from, to int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := from; n < to; n++ {
		if !m.lost[n] && !m.mayMiss(n) {
			return n
		}
	}
	return -1
}

// mayMiss reports whether a frame is near one that nobody may hear. m.mu is held.
func (m *simMic) mayMiss(n int) bool {
	for _, from := range m.closed {
		if n >= from-simAround {
			return true
		}
	}
	return slices.ContainsFunc(m.spans, func(s simSpan) bool { return n >= s.from-simAround && n < s.to+2*simAround })
}

// loses notes that the last frames never leave.
func (m *simMic) loses(frames int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := m.frame - frames; n < m.frame; n++ {
		m.lost[n] = true
	}
}

// shut notes that nobody may listen from now on.
func (m *simMic) shut(why simVerb) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, already := m.closed[why]; !already {
		m.closed[why] = m.frame
	}
}

// unshut notes that somebody may, as far as this goes. The last frames, which may still be on their way, are nobody's.
func (m *simMic) unshut(why simVerb, onTheWay int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from, ok := m.closed[why]; ok {
		m.spans = append(m.spans, simSpan{from, m.frame - onTheWay, why})
		delete(m.closed, why)
	}
}

// next is the next packet of so many frames.
func (m *simMic) next(frames int) (pcm []int16, silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.rate / 50
	pcm = make([]int16, n*frames)
	if len(m.voice) > 0 {
		m.spoke = m.line.now()
	}
	if len(m.voice) == 0 || len(m.closed) > 0 || m.stuck {
		m.since = 0
	} else if m.since == 0 {
		m.since = m.line.now()
	}
	m.voice = m.voice[copy(pcm, m.voice):]
	for i := range frames {
		stamp(pcm[i*n:], m.frame)
		m.frame++
	}
	return pcm, m.stuck
}

// spoken is since when the caller speaks to somebody who may listen, or zero.
func (m *simMic) spoken() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.since
}

// quietFor is how long the caller has said nothing.
func (m *simMic) quietFor() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.line.now() - m.spoke
}
