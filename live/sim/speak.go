package sim

import (
	"fmt"
	"strings"
	"time"
)

// wake is when advance has something to do next.
func (m *machine) wake() time.Duration {
	at := min(m.goAway, m.deadline, m.retry)
	if m.reply != nil && !m.frozen {
		at = min(at, m.reply.due)
	}
	return at
}

// advance does what is due up to now, each thing at the time it was due.
func (m *machine) advance(now time.Duration) {
	for at := m.wake(); at <= now && m.end == nil; at = m.wake() {
		m.now = max(m.now, at)
		switch at {
		case m.goAway:
			m.goAway = never
			m.deadline = m.now + m.faults.GoAwayTimeLeft
			m.log("go_away", m.faults.GoAwayTimeLeft.String())
			m.send(m.tongue.goAway(m.faults.GoAwayTimeLeft))
		case m.retry:
			if refused := m.begin(); refused != nil {
				m.refuse(refused)
			}
		case m.deadline:
			m.refuse(refuse(1011, "Deadline expired before operation could complete."))
		default:
			m.speak()
		}
	}
	m.now = max(m.now, now)
}

// speak sends what of the reply is due: a chunk, generation complete, or turn complete.
func (m *machine) speak() {
	r := m.reply
	switch {
	case r.sent < len(r.pcm):
		m.sendChunk(r)
	case !r.done:
		r.done = true
		r.due = max(r.due, r.played)
		m.log("generation_complete", "")
		m.send(m.content(`"generationComplete":true`))
		if m.faults.NoTurnComplete {
			m.fault("no turn complete")
			m.quiet, m.reply = r.played, nil
		}
	default:
		m.endReply()
	}
}

// sendChunk sends some audio and the words that belong to it, and says when the next chunk is due.
func (m *machine) sendChunk(r *reply) {
	more := time.Duration(m.rng.Int64N(int64(m.cfg.ChunkMax - m.cfg.ChunkMin + 1)))
	size := m.cfg.ChunkMin + more.Truncate(10*time.Millisecond)
	pcm := r.chunk(int(size * outputRateHz / time.Second))
	m.use.response += tokens(playtime(r.sent)) - tokens(playtime(r.sent-len(pcm)))
	m.send(m.audio(pcm))
	if text := r.fragment(); text != "" && m.setup.modelText {
		m.send(m.transcript("outputTranscription", text))
	}
	r.due += time.Duration(float64(playtime(len(pcm))) / m.cfg.Speed)
	m.misspeak(r)
}

// endReply ends the model's turn, also one without any audio.
func (m *machine) endReply() {
	if m.reply != nil {
		m.quiet = m.now
	}
	m.reply = nil
	m.log("turn_complete", "")
	m.turns++
	if !m.faults.NoTurnComplete {
		m.send(m.turnComplete(m.use))
	}
	if m.setup.resumption && !m.faults.NeverResumable {
		handle := fmt.Sprintf("sim-%d-%d", m.id, m.turns)
		m.store.put(handle, session{owner: m.rec, turns: m.turns, use: m.use})
		m.send(m.resumption(handle))
	}
}

// interrupt cuts a reply short: interrupted, then turn complete, and no generation complete in between.
func (m *machine) interrupt() {
	r := m.reply
	if r == nil {
		return
	}
	m.log("interrupted", playtime(r.sent).String())
	if m.faults.AudioWithInterrupted {
		m.fault("audio with interrupted")
		late := string(tongue{}.audio(r.late()).data)
		m.send(m.json(strings.Replace(late, `{"serverContent":{`, `{"serverContent":{"interrupted":true,`, 1)))
	} else {
		m.send(m.content(`"interrupted":true`))
	}
	for range m.faults.LateAudioChunks {
		m.fault("late audio")
		m.send(m.audio(r.late()))
	}
	if m.faults.FreezeAfterInterrupted {
		m.freeze()
	}
	m.endReply()
}

func (m *machine) fault(what string) { m.log("fault", what) }

// freeze silences the model for good, and nothing else.
func (m *machine) freeze() {
	m.fault("freeze")
	m.frozen = true
}

// misspeak does what the faults say after a chunk of the first reply.
func (m *machine) misspeak(r *reply) {
	f := &m.faults
	if m.replies != 1 {
		return
	}
	if r.chunks == f.GarbageAfterChunks {
		m.fault("garbage")
		m.send(m.json(`{"serverContent":{"modelTurn":`))
	}
	if r.chunks == f.OversizeAfterChunks {
		m.fault("oversize")
		m.send(m.json(`{"serverContent":{"pad":"` + strings.Repeat("x", 5<<20) + `"}}`))
	}
	if r.chunks == f.PhantomAfterChunks {
		m.fault("phantom interrupted")
		m.send(m.content(`"interrupted":true`))
	}
	if f.UnknownFields {
		m.fault("unknown fields")
		m.send(m.json(`{"fancyNewThing":{"on":true}}`))
		m.send(m.content(`"fancyNewThing":[1,2]`))
	}
	if r.chunks == f.FreezeAfterChunks {
		m.freeze()
	}
	if r.chunks == f.StallWritesAfterChunks {
		m.fault("stall writes")
		m.stalled = true
	}
	if r.chunks == f.DropTCPAfterChunks {
		m.fault("drop TCP")
		m.send(frame{drop: true})
	}
}
