package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// echoTail is how long after a reply a turn may still be its echo.
const echoTail = 300 * time.Millisecond

// A setup that resumes what is still in use is tried again every resumeRetry, for resumeGrace: a client that closed one
// connection and at once dials the next must not lose a race against the end of the first.
const (
	resumeRetry = 10 * time.Millisecond
	resumeGrace = 500 * time.Millisecond
)

// never is later than any wake.
const never = time.Duration(1<<63 - 1)

// machine is the model's side of one connection. It has no clock and does no I/O: receive and advance are told the
// time, and what is to be sent collects in out. So equal messages at equal times give equal answers.
type machine struct {
	cfg     *Config
	faults  Faults
	grammar *node
	rng     *rand.Rand
	rec     *record
	store   *handles
	id      int
	version string // of the API, for messages
	badKey  *refusal
	tongue
	out []frame
	end *refusal // close, after out
	now time.Duration

	messages int  // of the client, after the setup
	asked    bool // the setup came
	ready    bool // and was accepted
	setup    setupRequest
	retry    time.Duration // when to look again whether the setup can be accepted
	patience time.Duration // until when to do so
	ear      *ear
	over     bool // the open turn began over a reply
	stalled  bool // nothing leaves any more
	frozen   bool // the model says nothing any more

	reply      *reply
	quiet      time.Duration // until when the last reply is played
	unprompted int           // answered turns in a row that began over a reply
	replies    int
	turns      int
	use        usage
	goAway     time.Duration // when to announce the end; never after that
	deadline   time.Duration // when to end
}

// receive takes a message of the client.
func (m *machine) receive(now time.Duration, data []byte) {
	m.advance(now)
	if m.end != nil {
		return
	}
	if m.badKey != nil {
		m.refuse(m.badKey)
		return
	}
	r, refused := parse(data, m.grammar)
	if refused == nil {
		refused = m.handle(&r, data)
	}
	if refused != nil {
		m.refuse(refused)
	}
}

// refuse ends the connection once what is in out is sent.
func (m *machine) refuse(r *refusal) {
	if m.end == nil {
		m.end = r
		m.log("close", fmt.Sprintf("%d %s", r.code, r.reason))
	}
}

func (m *machine) log(name, detail string) { m.rec.event(m.now, name, detail) }

func (m *machine) send(f frame) {
	if !m.stalled && !m.frozen && m.end == nil {
		m.out = append(m.out, f)
	}
}

// handle acts on a request.
func (m *machine) handle(r *request, data []byte) *refusal {
	if !m.ready {
		if r.verb != verbSetup || m.asked {
			return invalid("%s The first message must be setup, and nothing may follow before setupComplete.", invalidArgument)
		}
		m.rec.setup(data)
		m.log("setup", r.setup.model)
		m.asked, m.setup, m.patience = true, r.setup, m.now+resumeGrace
		return m.begin()
	}
	m.messages++
	if c := m.faults.CloseAt; c != nil && m.messages == c.Messages {
		return &refusal{c.Code, c.Reason}
	}
	switch r.verb {
	case verbSetup:
		return invalid("%s setup may be sent only once.", invalidArgument)
	case verbAudio:
		return m.hear(r)
	case verbText:
		m.log("text", r.text)
		m.sayGreeting()
	case verbContent:
		m.log("content", "")
		m.interrupt()
		if r.turnComplete {
			m.sayGreeting()
		}
	case verbToolResponse:
		return refuse(1008, "Requested entity was not found: no function call has the id of %.40q.", r.callIDs)
	case verbIgnored:
		m.log("ignored", "")
	default:
		return m.activity(r.verb)
	}
	return nil
}

// activity acts on the messages that belong to one kind of detection only.
func (m *machine) activity(v verb) *refusal {
	if v == verbStreamEnd {
		if m.setup.manual {
			return invalid("%s audioStreamEnd needs automatic activity detection.", invalidArgument)
		}
		m.log("stream_end", "")
		if m.ear.open {
			m.endTurn()
		}
		return nil
	}
	if !m.setup.manual {
		return invalid("Explicit activity control is not supported when automatic activity detection is enabled.")
	}
	if v == verbActivityStart {
		m.log("activity_start", "")
		m.startTurn()
		return nil
	}
	m.log("activity_end", "")
	if m.ear.open {
		m.endTurn()
	}
	return nil
}

// begin answers the setup, or puts that off until retry.
func (m *machine) begin() *refusal {
	m.retry = never
	if refused := m.checkSetup(); refused != nil {
		return refused
	}
	if m.retry != never {
		return nil
	}
	var err error
	if m.ear, err = newEar(!m.setup.manual, m.cfg.EchoMax); err != nil {
		return refuse(1011, "Internal error encountered.")
	}
	if m.faults.NoSetupComplete {
		m.fault("no setup complete")
		return nil
	}
	if c := m.faults.CloseAt; c != nil && c.Messages == 0 {
		return &refusal{c.Code, c.Reason}
	}
	m.ready = true
	if m.faults.GoAwayAt > 0 {
		m.goAway = m.now + m.faults.GoAwayAt
	}
	m.log("setup_complete", "")
	m.send(m.json(fmt.Sprintf(`{"setupComplete":{"sessionId":"sim-%d"}}`, m.id)))
	return nil
}

// checkSetup looks at the model and the handle, and restores what the handle stands for.
func (m *machine) checkSetup() *refusal {
	s := &m.setup
	if !m.cfg.hasModel(s.model) {
		return refuse(1008, "%.60s is not found for API version %s, or is not supported for bidiGenerateContent.",
			s.model, m.version)
	}
	if s.handle == "" {
		return nil
	}
	saved, ok := m.store.get(s.handle)
	switch {
	case !ok:
		return refuse(1008, "Requested entity was not found.")
	case !saved.owner.open():
		m.turns, m.use = saved.turns, saved.use
		m.log("resumed", s.handle)
	case m.now >= m.patience:
		return refuse(1011, "Internal error encountered. The session is still in use.")
	default:
		m.retry = m.now + resumeRetry
	}
	return nil
}

// hear takes audio of the caller.
func (m *machine) hear(r *request) *refusal {
	m.rec.message(r.pcm)
	pcm, err := m.ear.samples(r.pcm, r.rateHz)
	if err != nil {
		return invalid(invalidArgument)
	}
	if m.setup.manual {
		if m.ear.open {
			m.rec.heard(r.pcm)
			m.ear.add(pcm)
		}
		return nil
	}
	if m.ear.open {
		m.rec.heard(r.pcm)
	}
	m.ear.framer.Push(pcm, func(frame []int16) {
		switch m.ear.detect(frame) {
		case audio.Start:
			m.log("speech_start", "")
			m.startTurn()
		case audio.Stop:
			m.log("speech_stop", "")
			m.endTurn()
		}
	})
	return nil
}

// startTurn begins a turn of the caller, which cuts a reply short.
func (m *machine) startTurn() {
	m.over = m.reply != nil || m.replies > 0 && m.now < m.quiet+echoTail
	if !m.setup.noInterruption {
		m.interrupt()
	}
	m.rec.startTurn(m.now, m.over)
	m.ear.start()
}

// endTurn ends the turn of the caller and answers it.
func (m *machine) endTurn() {
	pcm := m.ear.end()
	spoken := loud(pcm)
	answer := m.judge(spoken)
	m.rec.endTurn(m.now, spoken, answer == "")
	m.use.prompt += tokens(time.Duration(len(pcm)) * time.Second / inputRateHz)
	if answer != "" {
		m.log("empty_turn", answer)
		if m.reply == nil { // without interruption one may be going on
			m.endReply()
		}
		return
	}
	text := m.cfg.CallerText
	if text == "" {
		text = fmt.Sprintf("(%.1f s of speech)", spoken.Seconds())
	}
	if m.setup.callerText {
		m.send(m.transcript("inputTranscription", text))
	}
	echo, err := resampleAll(pcm, inputRateHz, outputRateHz)
	if err != nil {
		m.refuse(refuse(1011, "Internal error encountered."))
		return
	}
	m.say(echo, text)
}

// judge says why a turn is not answered, or nothing if it is.
func (m *machine) judge(spoken time.Duration) string {
	switch {
	case m.turns < m.faults.EmptyTurns:
		return "fault"
	case spoken < loudMin:
		return "no speech"
	case !m.over:
		m.unprompted = 0
	case m.cfg.RepliesMax >= 0 && m.unprompted >= m.cfg.RepliesMax:
		return "it may be my own echo"
	default:
		m.unprompted++
	}
	return ""
}

func (m *machine) sayGreeting() {
	m.interrupt()
	m.say(m.cfg.Greeting, m.cfg.GreetingText)
}

// say begins a reply. pcm is not changed and not kept beyond the reply.
func (m *machine) say(pcm []int16, text string) {
	if m.cfg.FixedReply != nil {
		pcm = m.cfg.FixedReply
	}
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
	m.reply = newReply(m.now+m.cfg.Latency, pcm, text)
	m.advance(m.now)
}
