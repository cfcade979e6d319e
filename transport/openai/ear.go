package openai

import (
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

const earFrame = bufferRateHz / 50

// ear detects the caller's turns in the input buffer, for clients that want turns detected and
// decide themselves when the model answers (create_response false).
type ear struct {
	detector *audio.Detector
	activity *audio.Activity
	scored   int  // samples of the buffer that were heard
	begun    int  // where the speech begins
	speaking bool // the speech is confirmed
}

// listen hears what was appended.
func (c *codec) listen(out *wsendpoint.Outbox) error {
	i := &c.input
	if i.ear == nil {
		a, err := audio.NewActivity(audio.ActivityConfig{})
		if err != nil {
			return err
		}
		i.ear = &ear{detector: audio.NewDetector(), activity: a, scored: i.committed}
	}
	for e := i.ear; e.scored+earFrame <= len(i.buffer); {
		score := e.detector.Score(i.buffer[e.scored : e.scored+earFrame])
		e.scored += earFrame
		c.edge(e.activity.Frame(score, c.reply.open), out)
	}
	return nil
}

// edge reports speech when it is confirmed, so that a cough interrupts nothing, and makes an item of
// it when it ends.
func (c *codec) edge(edge audio.Edge, out *wsendpoint.Outbox) {
	i, e, r := &c.input, c.input.ear, &c.reply
	switch {
	case edge == audio.Start:
		e.begun = max(i.committed, e.scored-leadSamples)
	case edge == audio.Confirm && !e.speaking:
		e.speaking = true
		c.endTranscript(out)
		i.item = c.name("item_")
		c.put(out, "input_audio_buffer.speech_started", object{"audio_start_ms": i.before(e.begun), "item_id": i.item})
		if c.session.detection.interrupt && r.open {
			r.silenced = r.generation
			c.finish(out, statusCancelled, "turn_detected")
		}
	case edge == audio.Stop && e.speaking:
		e.speaking = false
		c.put(out, "input_audio_buffer.speech_stopped", object{"audio_end_ms": i.before(e.scored), "item_id": i.item})
		i.drop(i.committed, max(i.committed, e.begun))
		c.keepItem(e.scored, out)
	}
}

// before returns the ms of all appended audio at a sample of the buffer.
func (i *input) before(sample int) uint64 {
	return i.ms() - min(i.ms(), uint64(len(i.buffer)-sample)*1000/bufferRateHz)
}
