package rtvi

import "github.com/voicegw/voicegw/transport/wsendpoint"

// openMax is how many sentences of a reply wait for its end, to be reported as spoken. Of more, the
// first ones are not.
const openMax = 200

// reply is the bot's text.
type reply struct {
	sentences
	last uint64    // segment_id of the last sentence
	open []segment // of the running turn, not reported as spoken yet
}

// segment is a sentence with its number.
type segment struct {
	id   uint64
	text string
}

// sentence sends a sentence of the reply, unless it is empty: as bot-transcription, which UIs before
// RTVI 1.1 show, and as bot-output. To clients of 1.x it counts as spoken at once, to others when
// the turn has ended.
func (c *codec) sentence(text string, out *wsendpoint.Outbox) {
	if text == "" {
		return
	}
	put(out, "bot-transcription", "", object{"text": text})
	if c.legacy {
		put(out, "bot-output", "", object{"text": text, "aggregated_by": "sentence", "spoken": true})
		return
	}
	c.reply.last++
	s := segment{c.reply.last, text}
	if len(c.reply.open) == openMax {
		c.reply.open = c.reply.open[:copy(c.reply.open, c.reply.open[1:])]
	}
	c.reply.open = append(c.reply.open, s)
	s.put("new", "", text, out)
}

// replyEnds reports the sentences of a reply that was played to its end as spoken. How much of an
// interrupted one was spoken is not known by the sentence.
func (c *codec) replyEnds(whole bool, out *wsendpoint.Outbox) {
	for _, s := range c.reply.open {
		if whole {
			s.put("completed", s.text, "", out)
		}
	}
	c.reply.open = c.reply.open[:0]
}

// put sends the state of a segment.
func (s segment) put(status, spoken, remaining string, out *wsendpoint.Outbox) {
	put(out, "bot-output", "", object{"text": s.text, "aggregated_by": "sentence", "segment_id": s.id,
		"will_be_spoken": true, "spoken_status": status,
		"spoken_progress": object{"accumulated_text": spoken, "remaining_text": remaining}})
}
