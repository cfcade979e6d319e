package sim

import "strings"

// sendCallerTranscript sends the transcript of a turn of the caller, as the settings say.
func (m *machine) sendCallerTranscript(text string) {
	if !m.setup.callerText {
		return
	}
	switch m.cfg.transcripts {
	case transcriptsMissing:
	case transcriptsLate:
		m.lateTranscripts = append(m.lateTranscripts, m.finished("inputTranscription", text))
	case transcriptsAsSpoken:
		m.send(m.transcript("inputTranscription", text))
	default:
		m.send(m.finished("inputTranscription", text))
	}
}

// sendModelTranscript sends the next part of the transcript of a reply, as the settings say.
func (m *machine) sendModelTranscript(r *reply) {
	if !m.setup.modelText {
		return
	}
	const who = "outputTranscription"
	switch m.cfg.transcripts {
	case transcriptsAsSpoken:
		if text := r.fragment(); text != "" {
			m.send(m.transcript(who, text))
		}
	case transcriptsFinished:
		text := r.fragment()
		switch {
		case text == "":
		case r.said == len(r.words):
			m.send(m.finished(who, text))
		default:
			m.send(m.transcript(who, text))
		}
	case transcriptsAtOnce:
		if r.said == 0 {
			r.said = len(r.words)
			m.send(m.finished(who, strings.Join(r.words, "")))
		}
	case transcriptsLate:
		if r.said == 0 {
			r.said = len(r.words)
			m.lateTranscripts = append(m.lateTranscripts, m.finished(who, strings.Join(r.words, "")))
		}
	}
}

// planLateTranscripts plans to send the late transcripts.
func (m *machine) planLateTranscripts() {
	words := m.lateTranscripts
	m.lateTranscripts = nil
	if len(words) == 0 {
		return
	}
	m.plan(m.now+m.cfg.transcriptsDelay, func(m *machine) {
		for _, f := range words {
			m.send(f)
		}
	})
}
