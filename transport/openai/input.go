package openai

import (
	"encoding/base64"
	"fmt"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Limits of the audio that waits for response.create, when the client detects turns.
const (
	bufferSeconds = 30
	bufferRateHz  = audio.DetectorRateHz // the gateway hears no more
)

// What of the silence before the caller's first word goes to the model, and by which score of the
// detector a frame is speech.
const (
	leadSamples = bufferRateHz / 2
	speechScore = 0.5
)

// input is the caller's side.
type input struct {
	us uint64 // appended so far, in microseconds

	// If the gateway detects turns, the fields of the input buffer of a real server are only ids.
	item  string // id of the caller's current item, or of the last one
	open  bool   // the caller speaks
	maybe bool   // the caller speaks over a reply: it may be a cough
	early string // what the transcript has before the item is one
	final bool   // and that it is complete
	fresh bool   // the transcript has words that were not reported as completed

	informs bool // the caller speaks: the model is to know what was written before

	// If the model answers only with response.create, the audio waits here until then: another reply
	// must not be interrupted by a microphone that is always on.
	buffer    []int16       // at bufferRateHz
	committed int           // the first so many samples are items
	cut       bool          // committed audio was dropped
	turns     *turnDetector // nil until there is something to detect
	down      *audio.Resampler
	downHz    int

	coded []byte // reused buffers
	pcm   []int16
}

func (i *input) ms() uint64 { return i.us / 1000 }

// push reports whether audio waits for response.create.
func (c *codec) push() bool { return c.session.detection.waits() }

// append64 takes audio in base64.
func (c *codec) append64(data []byte, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	i := &c.input
	if need := base64.StdEncoding.DecodedLen(len(data)); cap(i.coded) < need {
		i.coded = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(i.coded[:cap(i.coded)], data)
	if err != nil {
		return transport.End(transport.ReasonBadJSON, "input_audio_buffer.append: audio is not base64.", nil)
	}
	return c.append(i.coded[:n], in, out)
}

// append takes audio.
func (c *codec) append(coded []byte, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	i, k := &c.input, c.session.in
	if len(coded)%k.sampleBytes() != 0 {
		return transport.End(transport.ReasonBadAudio, fmt.Sprintf(
			"input_audio_buffer.append has %d bytes of audio; 16-bit samples come in pairs of bytes.", len(coded)), nil)
	}
	i.pcm = k.appendSamples(i.pcm[:0], coded)
	kept, err := c.appended(k.rateHz, out)
	if err == nil && !kept {
		err = in.Samples(k.rateHz, i.pcm)
	}
	if err != nil {
		return transport.End(transport.ReasonBadAudio, "", err)
	}
	return nil
}

// appended counts i.pcm as appended, and keeps it if it must wait for response.create.
func (c *codec) appended(rateHz int, out *wsendpoint.Outbox) (kept bool, err error) {
	i := &c.input
	i.us += uint64(len(i.pcm)) * 1e6 / uint64(rateHz)
	if !c.push() {
		return false, nil
	}
	err = i.keep(rateHz)
	if err == nil && c.session.detection != nil {
		err = c.listen(out)
	}
	return true, err
}

// keep puts i.pcm into the buffer, which drops its oldest audio when it is full.
func (i *input) keep(rateHz int) error {
	if i.down == nil || i.downHz != rateHz {
		r, err := audio.NewResampler(rateHz, bufferRateHz)
		if err != nil {
			return err
		}
		i.down, i.downHz = r, rateHz
	}
	i.buffer = i.down.Resample(i.buffer, i.pcm)
	if most := bufferSeconds * bufferRateHz; len(i.buffer) > most+bufferRateHz {
		n := len(i.buffer) - most
		i.cut = i.cut || i.committed > 0
		i.drop(0, n)
	}
	return nil
}

// drop removes samples of the buffer.
func (i *input) drop(from, to int) {
	i.committed -= max(0, min(to, i.committed)-from)
	if d := i.turns; d != nil {
		d.scored -= max(0, min(to, d.scored)-from)
		d.begun -= max(0, min(to, d.begun)-from)
	}
	i.buffer = append(i.buffer[:from], i.buffer[to:]...)
}

// spoken returns the committed audio without the silence before the first word, of which a
// microphone that is always on has much. Without a word it returns all.
func (i *input) spoken() []int16 {
	all, d := i.buffer[:i.committed], audio.NewDetector()
	const frame = bufferRateHz / 50
	for at := 0; at+frame <= len(all); at += frame {
		if d.Score(all[at:at+frame]) >= speechScore {
			return all[max(0, at-leadSamples):]
		}
	}
	return all
}

// commit makes an item of what was appended, if the client detects turns.
func (c *codec) commit(out *wsendpoint.Outbox) *fault {
	i := &c.input
	_, waiting := c.unsent()
	switch {
	case c.session.detection != nil:
		return unsupported("type", "With turn detection the gateway commits.")
	case waiting == unsentMax:
		return unsupported("type", "%d items wait for response.create; no more are taken.", waiting)
	case len(i.buffer) == i.committed:
		return &fault{"input_audio_buffer_commit_empty", "", "There is no audio to commit."}
	}
	c.endTranscript(out)
	i.item = c.name("item_")
	c.keepItem(len(i.buffer), out)
	return nil
}

// keepItem makes an item of the audio up to here, which waits for response.create.
func (c *codec) keepItem(to int, out *wsendpoint.Outbox) {
	i := &c.input
	c.committed(&item{samples: to - i.committed, unsent: true}, out)
	i.committed = to
}

// clear drops what was appended and not committed.
func (c *codec) clear(out *wsendpoint.Outbox) *fault {
	i := &c.input
	if !c.push() && i.open {
		return unsupported("type", "The gateway detects turns, and sends on what it hears at once.")
	}
	i.drop(i.committed, len(i.buffer))
	c.put(out, "input_audio_buffer.cleared", object{})
	return nil
}

// speech reports the detected speech. Speech that may be a cough becomes an item only when it is
// confirmed.
func (c *codec) speech(m *transport.Message, out *wsendpoint.Outbox) {
	i := &c.input
	if c.push() {
		return
	}
	if m.State == transport.StateStart {
		c.endTranscript(out)
		c.tools.due, i.informs = true, true
		i.item = c.name("item_")
		i.open, i.maybe, i.early, i.final = true, c.reply.playing, "", false
		c.put(out, "input_audio_buffer.speech_started", object{"audio_start_ms": i.ms(), "item_id": i.item})
		return
	}
	if !i.open {
		return
	}
	i.open = false
	c.put(out, "input_audio_buffer.speech_stopped", object{"audio_end_ms": i.ms(), "item_id": i.item})
	if !i.maybe {
		c.spoken(out)
	}
}

// spoken makes an item of speech that the gateway heard. The model answers it.
func (c *codec) spoken(out *wsendpoint.Outbox) {
	c.reply.replyPending = true
	c.committed(&item{}, out)
}

// committed reports that the caller's audio is an item of the conversation.
func (c *codec) committed(it *item, out *wsendpoint.Outbox) {
	i := &c.input
	if i.item == "" {
		i.item = c.name("item_")
	}
	it.id, it.kind, it.role, it.status, it.audio = i.item, kindMessage, roleUser, statusCompleted, true
	c.put(out, "input_audio_buffer.committed", object{"item_id": it.id, "previous_item_id": orNull(c.list.last())})
	c.add(it, c.list.last(), out)
	early, final := i.early, i.final
	i.early, i.final = "", false
	c.heard(early, final, out)
}

// add puts a whole item into the conversation.
func (c *codec) add(it *item, after string, out *wsendpoint.Outbox) {
	c.list.insert(it, after)
	o, previous := it.describe(c.beta), orNull(c.list.previous(it.id))
	c.put(out, "conversation.item.added", object{"previous_item_id": previous, "item": o})
	c.put(out, "conversation.item.done", object{"previous_item_id": previous, "item": o})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

const transcriptEvent = "conversation.item.input_audio_transcription."

// callerTranscript sends a transcript on, if the session wants one.
func (c *codec) callerTranscript(m *transport.Message, out *wsendpoint.Outbox) {
	i := &c.input
	if c.session.transcription == nil || i.item == "" {
		return
	}
	if c.list.find(i.item) != nil {
		c.heard(m.Text, m.Final, out)
		return
	}
	if room := transport.TextCharsMax - len(i.early); room > 0 {
		i.early += transport.Cut(m.Text, room)
	}
	i.final = i.final || m.Final
}

// heard adds to the transcript of the caller's item.
func (c *codec) heard(words string, final bool, out *wsendpoint.Outbox) {
	i := &c.input
	if it := c.list.find(i.item); it != nil && words != "" {
		i.fresh = true
		c.list.say(it, words)
		c.put(out, transcriptEvent+"delta", object{"item_id": it.id, "content_index": 0, "delta": words})
	}
	if final {
		c.endTranscript(out)
	}
}

// endTranscript completes a transcript, because models do not always send its end.
func (c *codec) endTranscript(out *wsendpoint.Outbox) {
	i := &c.input
	if it := c.list.find(i.item); it != nil && i.fresh {
		c.put(out, transcriptEvent+"completed", object{"item_id": it.id, "content_index": 0, "transcript": it.text})
	}
	i.fresh = false
}
