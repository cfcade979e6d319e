package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// echoTail is how long after a reply a new turn may be its echo.
const echoTail = 300 * time.Millisecond

// A setup whose handle is still in use is tried again every resumeRetry, for resumeGrace. So a
// client may close a connection and dial the next one at once.
const (
	resumeRetry = 10 * time.Millisecond
	resumeGrace = 500 * time.Millisecond
)

// never is later than any other time.
const never = time.Duration(1<<63 - 1)

// machine is the model's side of one connection. It has no clock and does no I/O: the time is a
// parameter of receive and advance, and out collects what to send. So equal messages at equal times
// give equal replies.
type machine struct {
	cfg     *behavior
	rules   []rule
	faults  Faults
	grammar *node
	rng     *rand.Rand
	rec     *recorder
	store   *handles
	id      int
	version string // of the API, for messages
	badKey  *refusal
	dialect
	out []frame
	end *refusal // how to close the connection, after out
	now time.Duration

	messages int  // of the client, after the setup
	asked    bool // the setup has come
	ready    bool // the setup is accepted
	setup    setupRequest
	retry    time.Duration // when to check the setup again
	patience time.Duration // until when to check it again
	input    *callerInput
	over     bool // the open turn began during a reply
	stalled  bool // sends nothing any more
	frozen   bool // sends no messages any more
	deaf     bool // reads nothing any more

	reply      *reply
	quiet      time.Duration // when the last reply has been played
	unprompted int           // answered turns in a row that began during a reply
	replies    int
	turns      int
	use        usage
	history    []Line
	goAway     time.Duration // when to send go away
	deadline   time.Duration // when to close

	calls []*call
	later []string      // replies to say when the model is silent
	held  time.Duration // until when the model says nothing new
	last  answer        // the last reply

	lateTranscripts []frame // transcripts to send after the turn

	plans     []planned // actions of rules, the next one first
	actions   int       // number of actions so far
	cueDepth  int
	answering bool    // the current cue has an answer
	answer    *answer // set by a rule, in place of the usual answer
	ignored   bool    // set by a rule: no answer at all

	texts, contents, starts, turnsHeard, cutShort, completed, generated, callsMade, toolReplies, audioInCall int
}

// receive handles a message of the client.
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

// refuse closes the connection after the frames in out.
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
		m.rec.setup(data, r.setup.handle)
		m.log("setup", r.setup.model)
		m.asked, m.setup = true, r.setup
		return m.answerSetup()
	}
	m.messages++
	if c := m.faults.CloseAt; c != nil && m.messages == c.Messages {
		return &refusal{c.Code, c.Reason}
	}
	if r.verb != verbAudio {
		m.rec.said(data)
	}
	if m.cue(cueMessage, m.messages, ""); m.end != nil {
		return nil
	}
	return m.act(r)
}

// answerSetup answers the setup, unless a rule prevents it.
func (m *machine) answerSetup() *refusal {
	if m.setup.handle != "" {
		m.cue(cueResume, 1, "")
	}
	if _, ok := m.decide(cueSetup, 1, "", answer{}); !ok {
		m.fault("no setup complete")
		return nil
	}
	m.patience = max(m.now, m.held) + resumeGrace
	if m.held > m.now {
		m.retry = m.held
		return nil
	}
	return m.begin()
}

// act acts on a request after the setup.
func (m *machine) act(r *request) *refusal {
	switch r.verb {
	case verbSetup:
		return invalid("%s setup may be sent only once.", invalidArgument)
	case verbAudio:
		return m.takeAudio(r)
	case verbText:
		m.takeText(r.text)
	case verbContent:
		return m.takeContent(r)
	case verbToolResponse:
		return m.takeToolReplies(r.replies)
	case verbIgnored:
		m.log("ignored", "")
	default:
		return m.activity(r.verb)
	}
	return nil
}

// activity acts on messages that only one kind of detection allows.
func (m *machine) activity(v verb) *refusal {
	if v == verbStreamEnd {
		if m.setup.manual {
			return invalid("%s audioStreamEnd needs automatic activity detection.", invalidArgument)
		}
		m.log("stream_end", "")
		if m.input.open {
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
	if m.input.open {
		m.endTurn()
	}
	return nil
}

// begin answers the setup, or postpones the answer until retry.
func (m *machine) begin() *refusal {
	m.retry = never
	if refused := m.checkSetup(); refused != nil {
		return refused
	}
	if m.retry != never {
		return nil
	}
	var err error
	if m.input, err = newCallerInput(!m.setup.manual, m.cfg.EchoMax); err != nil {
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
	m.watched(WatchedReady, nil)
	m.send(m.json(fmt.Sprintf(`{"setupComplete":{"sessionId":"sim-%d"}}`, m.id)))
	m.cue(cueReady, 1, "")
	return nil
}

// checkSetup checks the model and the handle, and restores the state of the handle.
func (m *machine) checkSetup() *refusal {
	s := &m.setup
	if !m.cfg.hasModel(s.model, m.vertex) {
		return refuse(1008, "%.60s is not found for API version %s, or is not supported for bidiGenerateContent.",
			s.model, m.version)
	}
	if s.handle == "" {
		return nil
	}
	saved, ok := m.store.get(s.handle)
	switch {
	case !ok, m.cfg.forgetful:
		return refuse(1008, "Requested entity was not found.")
	case !saved.owner.open():
		m.restore(saved)
		m.log("resumed", s.handle)
	case m.now >= m.patience:
		return refuse(1011, "Internal error encountered. The session is still in use.")
	default:
		m.retry = m.now + resumeRetry
	}
	return nil
}

// hear takes audio of the caller.
func (m *machine) takeAudio(r *request) *refusal {
	m.watched(WatchedAudio, r.pcm)
	m.rec.message(r.pcm)
	if m.calling() {
		m.audioInCall++
		if m.cue(cueAudioInCall, m.audioInCall, ""); m.end != nil {
			return nil
		}
	}
	pcm, err := m.input.samples(r.pcm, r.rateHz)
	if err != nil {
		return invalid(invalidArgument)
	}
	if m.setup.manual {
		if m.input.open {
			m.rec.heard(r.pcm)
			m.input.add(pcm)
		}
		return nil
	}
	if m.input.open {
		m.rec.heard(r.pcm)
	}
	m.input.framer.Push(pcm, func(frame []int16) {
		switch m.input.detect(frame) {
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

// startTurn opens a turn of the caller, which interrupts the reply.
func (m *machine) startTurn() {
	m.over = m.reply != nil || m.replies > 0 && m.now < m.quiet+echoTail
	if !m.setup.noInterruption && !(m.cfg.wedge && m.waiting()) {
		m.interrupt()
	}
	m.rec.startTurn(m.now, m.over)
	m.input.start()
	m.starts++
	m.cue(cueStart, m.starts, "")
}

// endTurn closes the turn of the caller and answers it.
func (m *machine) endTurn() {
	pcm := m.input.end()
	spoken := loud(pcm)
	if spoken < m.cfg.short {
		m.rec.endTurn(m.now, spoken, false)
		m.fault("ignore short")
		return
	}
	silent := m.judge(spoken)
	m.use.prompt += tokens(time.Duration(len(pcm)) * time.Second / inputRateHz)
	if silent != "" {
		m.rec.endTurn(m.now, spoken, false)
		m.sayNothing(silent)
		return
	}
	text := m.cfg.CallerText
	if text == "" {
		text = fmt.Sprintf("(%.1f s of speech)", spoken.Seconds())
	}
	m.note("user", text)
	m.sendCallerTranscript(text)
	var echo []int16
	if m.cfg.FixedReply == nil {
		var err error
		if echo, err = resampleAll(pcm, inputRateHz, outputRateHz); err != nil {
			m.refuse(refuse(1011, "Internal error encountered."))
			return
		}
	}
	m.turnsHeard++
	said, ok := m.decide(cueTurn, m.turnsHeard, text, m.usual(echo, text))
	m.rec.endTurn(m.now, spoken, ok && len(said.pcm) > 0)
	m.respond(said, ok)
}

// judge returns why a turn gets no answer, "" if it gets one.
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
