package sim

import (
	"fmt"
	"strings"
	"time"
)

// wake returns when advance must be called next.
func (m *machine) wake() time.Duration {
	at := min(m.goAway, m.deadline, m.retry)
	if len(m.plans) > 0 {
		at = min(at, m.plans[0].at)
	}
	if m.reply != nil && !m.frozen && !m.waiting() {
		at = min(at, m.reply.due)
	}
	return at
}

// advance does everything that is due up to now, each at its time.
func (m *machine) advance(now time.Duration) {
	for at := m.wake(); at <= now && m.end == nil; at = m.wake() {
		m.now = max(m.now, at)
		switch at {
		case m.goAway:
			m.goAway = never
			m.announceEnd(m.faults.GoAwayTimeLeft)
			m.deadline = m.now + m.faults.GoAwayTimeLeft
		case m.retry:
			if refused := m.begin(); refused != nil {
				m.refuse(refused)
			}
		case m.deadline:
			m.refuse(refuse(1011, "Deadline expired before operation could complete."))
		default:
			if len(m.plans) > 0 && at == m.plans[0].at {
				m.runPlanned()
				continue
			}
			m.speak()
		}
	}
	m.now = max(m.now, now)
}

// speak sends the next part of the reply: a chunk, generation complete, or turn complete.
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
		m.generated++
		m.cue(cueGenerated, m.generated, "")
		if m.faults.NoTurnComplete {
			m.fault("no turn complete")
			m.quiet, m.reply = r.played, nil
			m.noteReply(r)
		}
	default:
		m.endReply()
	}
}

// sendChunk sends audio with its transcript, and sets when the next chunk is due.
func (m *machine) sendChunk(r *reply) {
	more := time.Duration(m.rng.Int64N(int64(m.cfg.ChunkMax - m.cfg.ChunkMin + 1)))
	size := m.cfg.ChunkMin + more.Truncate(10*time.Millisecond)
	pcm := r.chunk(int(size * outputRateHz / time.Second))
	m.use.response += tokens(playtime(r.sent)) - tokens(playtime(r.sent-len(pcm)))
	if r.chunks == 1 {
		m.watched(WatchedReply, nil)
	}
	m.send(m.audio(pcm))
	m.sendModelTranscript(r)
	r.due += time.Duration(float64(playtime(len(pcm))) / m.cfg.Speed)
	m.applyFaults(r)
	m.cue(cueChunk, r.chunks, "")
}

// endReply ends the turn of the model, also if there was no reply.
func (m *machine) endReply() {
	m.closeReply()
	m.log("turn_complete", "")
	if !m.faults.NoTurnComplete {
		m.send(m.turnComplete(m.use))
	}
	m.use = usage{prompt: m.use.prompt + m.use.response}
	m.offerHandle()
	m.planLateTranscripts()
	m.completed++
	m.cue(cueTurnComplete, m.completed, "")
	if len(m.later) > 0 && m.reply == nil && m.end == nil {
		text := m.later[0]
		m.later = m.later[1:]
		m.say(m.toolVoice(), text)
	}
}

// closeReply drops the current reply, if there is one, and counts the turn.
func (m *machine) closeReply() {
	if m.reply != nil {
		m.quiet = m.now
		m.noteReply(m.reply)
	}
	m.reply = nil
	m.turns++
}

// noteReply adds the part of a reply that was sent to the history.
func (m *machine) noteReply(r *reply) {
	if text := strings.Join(r.words[:len(r.words)*r.sent/max(1, len(r.pcm))], ""); text != "" {
		m.note("model", text)
	}
}

// offerHandle sends a handle for the conversation so far.
func (m *machine) offerHandle() {
	if m.setup.resumption && !m.faults.NeverResumable {
		handle := fmt.Sprintf("sim-%d-%d", m.id, m.turns)
		m.store.put(handle, m.save())
		m.send(m.resumption(handle))
	}
}

// interrupt ends the reply, and cancels the calls that it waits for. It sends interrupted and turn
// complete, without generation complete.
func (m *machine) interrupt() {
	r := m.reply
	if r == nil {
		m.cancelCalls(func(c *call) bool { return c.blocking })
		return
	}
	m.log("interrupted", playtime(r.sent).String())
	m.watched(WatchedInterrupted, nil)
	if m.faults.AudioWithInterrupted {
		m.fault("audio with interrupted")
		late := string(dialect{}.audio(r.late()).data)
		m.send(m.json(strings.Replace(late, `{"serverContent":{`, `{"serverContent":{"interrupted":true,`, 1)))
	} else {
		m.send(m.content(`"interrupted":true`))
	}
	m.cancelCalls(func(c *call) bool { return c.blocking })
	for range m.faults.LateAudioChunks {
		m.fault("late audio")
		m.send(m.audio(r.late()))
	}
	if m.faults.FreezeAfterInterrupted {
		m.freeze()
	}
	m.cutShort++
	m.cue(cueInterrupted, m.cutShort, "")
	if m.cfg.bareInterrupted {
		m.fault("no turn complete")
		m.closeReply()
		return
	}
	m.endReply()
}

func (m *machine) fault(what string) { m.log("fault", what) }

// freeze stops all messages of the model, but not pongs.
func (m *machine) freeze() {
	m.fault("freeze")
	m.frozen = true
}

// applyFaults applies the faults that follow a chunk of the first reply.
func (m *machine) applyFaults(r *reply) {
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
		m.drop()
	}
}
