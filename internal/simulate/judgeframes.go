package simulate

import "slices"

// judgeFrame wants a frame that is sent to the model to be the caller's, captured while the input
// gate was open, and to follow the one before it: nothing of a turn is lost.
func (c *modelConn) judgeFrame(pcm []int16) {
	n, ok := c.model.mic.judgeFrame(pcm)
	if !ok {
		return
	}
	if missing := c.model.mic.missing(c.next, n); c.gapless && c.next >= 0 && missing >= 0 {
		c.model.line.violation("the model heard frame %d after frame %d: frame %d is lost", n, c.next-1, missing)
	} else if c.gapless && n < c.next {
		c.model.line.violation("the model heard frame %d after frame %d", n, c.next-1)
	}
	c.next = n + 1
}

// judgeFrame returns the number of a frame that is sent to the model, if it has one.
func (m *microphone) judgeFrame(pcm []int16) (n int, ok bool) {
	m.mu.Lock()
	m.heard += len(pcm)
	n, ok = stamped(pcm)
	var why action
	for _, s := range m.spans {
		if n >= s.from && n < s.to {
			why = s.why
		}
	}
	for action, from := range m.closed {
		if n >= from {
			why = action
		}
	}
	m.mu.Unlock()
	switch {
	case m.rate != 16000:
		return 0, false
	case !ok || len(pcm) != 320:
		m.line.violation("the model heard %d samples that are no frame of the caller's", len(pcm))
	case why != "":
		m.line.violation("the model heard frame %d, captured while the caller %s", n, why)
	}
	return n, ok
}

// framesUnderWay is how many frames beside those of a closed gate may be missing: they were under
// way.
const framesUnderWay = 24

// missing is the first frame from one to before another that the model should have heard, or -1.
func (m *microphone) missing(from, to int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := from; n < to; n++ {
		if !m.lost[n] && !m.mayMiss(n) {
			return n
		}
	}
	return -1
}

// mayMiss reports whether a frame is near one of a closed gate. m.mu is held.
func (m *microphone) mayMiss(n int) bool {
	for _, from := range m.closed {
		if n >= from-framesUnderWay {
			return true
		}
	}
	return slices.ContainsFunc(m.spans, func(s frameSpan) bool {
		return n >= s.from-framesUnderWay && n < s.to+2*framesUnderWay
	})
}
