package openai

import (
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

const detectorFrame = bufferRateHz / 50

// turnDetector detects the caller's turns in the input buffer, for clients that want turns detected and
// decide themselves when the model answers (create_response false).
type turnDetector struct {
	detector *audio.Detector
	activity *audio.Activity
	scored   int  // samples of the buffer that the detector has had
	begun    int  // where the speech begins
	speaking bool // the speech is confirmed
}

// listen looks for turns in what was appended.
func (c *codec) listen(out *wsendpoint.Outbox) error {
	i := &c.input
	if i.turns == nil {
		a, err := audio.NewActivity(audio.ActivityConfig{})
		if err != nil {
			return err
		}
		i.turns = &turnDetector{detector: audio.NewDetector(), activity: a, scored: i.committed}
	}
	for d := i.turns; d.scored+detectorFrame <= len(i.buffer); {
		score := d.detector.Score(i.buffer[d.scored : d.scored+detectorFrame])
		d.scored += detectorFrame
		c.edge(d.activity.Frame(score, c.reply.open), out)
	}
	return nil
}

// edge reports speech when it is confirmed, so that a cough interrupts nothing, and makes an item of
// it when it ends.
func (c *codec) edge(edge audio.Edge, out *wsendpoint.Outbox) {
	i, d, r := &c.input, c.input.turns, &c.reply
	switch {
	case edge == audio.Start:
		d.begun = max(i.committed, d.scored-leadSamples)
	case edge == audio.Confirm && !d.speaking:
		d.speaking = true
		c.endTranscript(out)
		i.item = c.name("item_")
		c.put(out, "input_audio_buffer.speech_started", object{"audio_start_ms": i.before(d.begun), "item_id": i.item})
		if c.session.detection.interrupt && r.open {
			r.silenced = r.generation
			c.finish(out, statusCancelled, "turn_detected")
		}
	case edge == audio.Stop && d.speaking:
		d.speaking = false
		c.put(out, "input_audio_buffer.speech_stopped", object{"audio_end_ms": i.before(d.scored), "item_id": i.item})
		i.drop(i.committed, max(i.committed, d.begun))
		c.keepItem(d.scored, out)
	}
}

// before returns the ms of all appended audio at a sample of the buffer.
func (i *input) before(sample int) uint64 {
	return i.ms() - min(i.ms(), uint64(len(i.buffer)-sample)*1000/bufferRateHz)
}
