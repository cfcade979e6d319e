package sim

import (
	"slices"
	"strings"
	"time"
)

// historyMax is the most lines of a conversation, and historyBytesMax the longest line, in bytes.
const (
	historyMax      = 1000
	historyBytesMax = 4 << 10
)

// answer is the audio and the transcript of a reply.
type answer struct {
	pcm  []int16
	text string
}

// usual returns the answer unless a rule replaces it.
func (m *machine) usual(pcm []int16, text string) answer {
	if m.cfg.FixedReply != nil {
		pcm = m.cfg.FixedReply
	}
	return answer{pcm, text}
}

// decide runs the rules of a cue that the model answers. It returns the usual answer, or the one of
// a rule; ok is false if a rule wants no answer at all.
func (m *machine) decide(c cue, nth int, words string, usual answer) (said answer, ok bool) {
	m.answer, m.ignored, m.answering = nil, false, true
	m.cue(c, nth, words)
	m.answering = false
	if m.answer != nil {
		usual = *m.answer
	}
	return usual, !m.ignored
}

// respond sends the answer of decide.
func (m *machine) respond(said answer, ok bool) {
	switch {
	case m.end != nil:
	case !ok:
		m.fault("ignore")
	case len(said.pcm) == 0:
		m.sayNothing("a rule")
	default:
		m.say(said.pcm, said.text)
	}
}

// takeText answers a text of the caller with the greeting.
func (m *machine) takeText(text string) {
	m.log("text", text)
	m.note("user", text)
	m.rec.text(m.now, "text", Line{"user", text})
	m.texts++
	m.interrupt()
	said, ok := m.decide(cueText, m.texts, text, m.usual(m.cfg.Greeting, m.cfg.GreetingText))
	m.respond(said, ok)
}

// historyOnly reports whether a model accepts content only as history, at the start.
func historyOnly(model string) bool {
	return strings.Contains(model, "/gemini-3.")
}

// takeContent takes content. It interrupts the reply, and answers if the client asks for it. It
// does not answer history that the setup announced; models of the third generation accept no other
// content.
func (m *machine) takeContent(r *request) *refusal {
	if !m.setup.history && historyOnly(m.setup.model) {
		return invalid(invalidArgument)
	}
	m.log("content", "")
	for _, line := range r.turns {
		m.note(line.Role, line.Text)
		m.rec.text(m.now, "content", line)
	}
	if m.setup.history {
		m.setup.history = !r.turnComplete
		return nil
	}
	m.contents++
	m.interrupt()
	said, ok := m.decide(cueContent, m.contents, "", m.usual(m.cfg.Greeting, m.cfg.GreetingText))
	if r.turnComplete || m.answer != nil {
		m.respond(said, ok)
	}
	return nil
}

// note adds a line to the history of the conversation.
func (m *machine) note(role, text string) {
	if len(m.history) == historyMax {
		return
	}
	line := Line{role, text[:min(len(text), historyBytesMax)]}
	m.history = append(m.history, line)
	m.rec.remember(line)
}

// restore resumes a conversation in the state in which its handle was sent.
func (m *machine) restore(s session) {
	m.turns, m.use = s.turns, s.use
	for _, line := range s.history {
		m.note(line.Role, line.Text)
	}
	for _, c := range s.calls {
		c.at = -crossing
		m.calls = append(m.calls, &c)
	}
}

// save returns the state of the conversation.
func (m *machine) save() session {
	s := session{owner: m.rec, turns: m.turns, use: m.use, history: slices.Clone(m.history)}
	for _, c := range m.calls {
		s.calls = append(s.calls, *c)
	}
	return s
}

// sayNothing ends a turn without an answer.
func (m *machine) sayNothing(why string) {
	m.log("empty_turn", why)
	if m.reply == nil { // with NO_INTERRUPTION there may be one
		m.endReply()
	}
}

// say starts a reply. pcm must not change; repeat may use it again.
func (m *machine) say(pcm []int16, text string) {
	if m.reply != nil { // only with NO_INTERRUPTION
		m.reply.pcm = slices.Concat(m.reply.pcm, pcm)
		m.reply.played += playtime(len(pcm))
		return
	}
	m.log("reply", playtime(len(pcm)).String())
	m.replies++
	if m.setup.resumption {
		m.send(m.resumption("")) // not now
	}
	m.last = answer{pcm, text}
	m.reply = newReply(max(m.now+m.cfg.Latency, m.held), pcm, text)
	m.cue(cueReply, m.replies, "")
	m.advance(m.now)
}

// sayTone says a tone, in place of the usual answer if the cue has one.
func (m *machine) sayTone(length time.Duration, words string) {
	said := answer{tone(m.replies, length), words}
	if m.answering {
		m.answer = &said
		return
	}
	m.say(said.pcm, said.text)
}

// repeat says the last reply once more.
func (m *machine) repeat() {
	m.fault("repeat")
	m.say(m.last.pcm, m.last.text)
}

// cut ends a reply early, as if it were complete.
func (m *machine) cut() {
	if m.reply != nil {
		m.fault("cut")
		m.endReply()
	}
}

// hold delays the rest of the reply, and the next one.
func (m *machine) hold(d time.Duration) {
	m.fault("hold " + d.String())
	m.held = m.now + d
	if r := m.reply; r != nil && !m.waiting() {
		r.postpone(m.held)
	}
}
