package simulate

import (
	"sync"
	"time"
)

// microphone is the microphone of a caller. It writes its number into every frame, in the lowest
// bits of the samples, which change no sound: what the model is sent tells when it was captured.
type microphone struct {
	line *line
	rate int

	mu     sync.Mutex
	voice  []int16        // what the caller still says
	stuck  bool           // it sends nothing
	frame  int            // the number of the next one
	lost   map[int]bool   // frames that never left
	closed map[action]int // from which frame on the input gate is closed, and why
	spans  []frameSpan    // of frames that the model must not hear
	heard  int            // samples that the model was sent
	spoke  time.Duration  // when the caller spoke last
	since  time.Duration  // since when the caller speaks through an open gate; 0: no
}

// frameSpan is the frames from, and before to, that were captured while the input gate was closed.
type frameSpan struct {
	from, to int
	why      action
}

// frameMagic begins the number in a frame.
const frameMagic = 0xA5

// stamp notes n in the lowest bits of a frame.
func stamp(pcm []int16, n int) {
	bits := uint32(n)<<8 | frameMagic
	for i := range 32 {
		pcm[i] = pcm[i]&^1 | int16(bits>>i&1)
	}
}

// stamped reads the number of a frame.
func stamped(pcm []int16) (n int, ok bool) {
	bits := uint32(0)
	for i := range 32 {
		bits |= uint32(pcm[i]&1) << i
	}
	return int(bits >> 8), bits&0xFF == frameMagic
}

// lose notes that the last frames are never sent.
func (m *microphone) lose(frames int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := m.frame - frames; n < m.frame; n++ {
		m.lost[n] = true
	}
}

// closeGate notes that the model must hear nothing from now on.
func (m *microphone) closeGate(why action) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, already := m.closed[why]; !already {
		m.closed[why] = m.frame
	}
}

// openGate notes that the reason to close the gate is gone. The last frames may be under way, and
// may be heard or not.
func (m *microphone) openGate(why action, underWay int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from, ok := m.closed[why]; ok {
		m.spans = append(m.spans, frameSpan{from, m.frame - underWay, why})
		delete(m.closed, why)
	}
}

// next is the next packet of so many frames.
func (m *microphone) next(frames int) (pcm []int16, silent bool) {
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

// speaksSince is since when the caller speaks through an open gate, or zero.
func (m *microphone) speaksSince() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.since
}

// quietFor is for how long the caller has said nothing.
func (m *microphone) quietFor() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.line.now() - m.spoke
}

// say makes the caller say something, in place of what was not said yet.
func (m *microphone) say(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.voice = pcm
}

// stick makes the microphone send nothing, or again.
func (m *microphone) stick(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stuck = on
}

// gateClosed reports whether the model must hear nothing.
func (m *microphone) gateClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.closed) > 0
}
