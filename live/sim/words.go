package sim

import "strings"

// writeCaller sends the transcript of a turn of the caller, in the manner of the connection.
func (m *machine) writeCaller(text string) {
	if !m.setup.callerText {
		return
	}
	switch m.cfg.words {
	case wordsMissing:
	case wordsLate:
		m.lateWords = append(m.lateWords, m.finished("inputTranscription", text))
	case wordsAsSpoken:
		m.send(m.transcript("inputTranscription", text))
	default:
		m.send(m.finished("inputTranscription", text))
	}
}

// writeModel sends what of a reply's transcript is due, in the manner of the connection.
func (m *machine) writeModel(r *reply) {
	if !m.setup.modelText {
		return
	}
	const who = "outputTranscription"
	switch m.cfg.words {
	case wordsAsSpoken:
		if text := r.fragment(); text != "" {
			m.send(m.transcript(who, text))
		}
	case wordsFinished:
		text := r.fragment()
		switch {
		case text == "":
		case r.said == len(r.words):
			m.send(m.finished(who, text))
		default:
			m.send(m.transcript(who, text))
		}
	case wordsAtOnce:
		if r.said == 0 {
			r.said = len(r.words)
			m.send(m.finished(who, strings.Join(r.words, "")))
		}
	case wordsLate:
		if r.said == 0 {
			r.said = len(r.words)
			m.lateWords = append(m.lateWords, m.finished(who, strings.Join(r.words, "")))
		}
	}
}

// planLateWords sends the transcripts that were kept back, some time after the turn.
func (m *machine) planLateWords() {
	words := m.lateWords
	m.lateWords = nil
	if len(words) == 0 {
		return
	}
	m.plan(m.now+m.cfg.wordsLate, func(m *machine) {
		for _, f := range words {
			m.send(f)
		}
	})
}
