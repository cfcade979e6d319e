package sim

import (
	"slices"
	"strings"
	"time"
)

// historyMax bounds what a conversation remembers of what was said; historyBytesMax each line of it.
const (
	historyMax      = 1000
	historyBytesMax = 4 << 10
)

// answer is what the model says in answer to something.
type answer struct {
	pcm  []int16
	text string
}

// usual is the answer unless a rule has a better one.
func (m *machine) usual(pcm []int16, text string) answer {
	if m.cfg.FixedReply != nil {
		pcm = m.cfg.FixedReply
	}
	return answer{pcm, text}
}

// decide plays a cue that the model answers, and reports what it will say: other than what it would have said when a
// rule says so, and nothing at all, not even that, when ok is false.
func (m *machine) decide(c cue, nth int, words string, usual answer) (said answer, ok bool) {
	m.answer, m.ignored, m.answering = nil, false, true
	m.cue(c, nth, words)
	m.answering = false
	if m.answer != nil {
		usual = *m.answer
	}
	return usual, !m.ignored
}

// respond says what was decided.
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

// texted answers a text of the caller with the greeting.
func (m *machine) texted(text string) {
	m.log("text", text)
	m.note("user", text)
	m.rec.text(m.now, "text", Line{"user", text})
	m.texts++
	m.interrupt()
	said, ok := m.decide(cueText, m.texts, text, m.usual(m.cfg.Greeting, m.cfg.GreetingText))
	m.respond(said, ok)
}

// historian tells the models that take content as history alone, before anything else.
func historian(model string) bool {
	return strings.Contains(model, "/gemini-3.")
}

// told takes history, which interrupts, and answers if it is asked to. History that the setup announced is not
// answered; models of the third generation take no other.
func (m *machine) told(r *request) *refusal {
	if !m.setup.history && historian(m.setup.model) {
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

// note adds to the history of the conversation.
func (m *machine) note(role, text string) {
	if len(m.history) == historyMax {
		return
	}
	line := Line{role, text[:min(len(text), historyBytesMax)]}
	m.history = append(m.history, line)
	m.rec.remember(line)
}

// restore goes on with a conversation as it was when its handle was given out.
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

// save is the conversation as it is.
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
	if m.reply == nil { // without interruption one may be going on
		m.endReply()
	}
}

// say begins a reply. pcm is not changed and not kept beyond the reply, but for repeating it.
func (m *machine) say(pcm []int16, text string) {
	if m.reply != nil { // only without interruption
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

// sayTone says a tone: in place of the usual answer when there is one to come.
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

// cut ends a reply where it is, as if that were all.
func (m *machine) cut() {
	if m.reply != nil {
		m.fault("cut")
		m.endReply()
	}
}

// hold delays what is still to be said.
func (m *machine) hold(d time.Duration) {
	m.fault("hold " + d.String())
	m.held = m.now + d
	if r := m.reply; r != nil && !m.waiting() {
		r.postpone(m.held)
	}
}
