package adkagent

import (
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// Limits of events that wait for the consumer.
const (
	outAudioMax  = 10 * liveOutputHz * 2 // bytes
	outMergeMax  = liveOutputHz / 10 * 2 // bytes of one event: 100 ms
	outNotesMax  = 1024                  // events; a partial one more is dropped
	outEventsMax = 2048                  // events; one more ends the call
	wordsMax     = 32 << 10              // bytes of one transcript; a longer one becomes two
)

// outItem is an event that waits to be yielded.
type outItem struct {
	event      *session.Event
	generation uint64        // audio of this reply; 0: not audio
	call       *liveToolCall // runs when the event is stored
}

// outbox holds the events of a session until they are yielded. The mu of the liveCall guards it.
type outbox struct {
	items    []outItem
	bytes    int // of audio
	wake     chan struct{}
	finished bool
	left     bool // the consumer takes nothing more
	err      error
}

func (o *outbox) add(it outItem) {
	if !o.left {
		o.items = append(o.items, it)
		signal(o.wake)
	}
}

// audio adds a frame to the last event, or makes one more. It returns how many samples were dropped,
// the oldest first.
func (o *outbox) audio(generation uint64, pcm []int16, make func() *session.Event) (dropped int) {
	if o.left {
		return 0
	}
	n := len(o.items)
	if n == 0 || o.items[n-1].generation != generation || len(*o.items[n-1].sound())+2*len(pcm) > outMergeMax {
		o.add(outItem{event: make(), generation: generation})
		n = len(o.items)
	}
	b := o.items[n-1].sound()
	*b = audio.AppendBytes(*b, pcm)
	o.bytes += 2 * len(pcm)
	for i := 0; o.bytes > outAudioMax; {
		if o.items[i].generation == 0 {
			i++
			continue
		}
		size := len(*o.items[i].sound())
		o.bytes, dropped = o.bytes-size, dropped+size/2
		o.items = append(o.items[:i], o.items[i+1:]...)
	}
	return dropped
}

// sound is the audio of an event.
func (it *outItem) sound() *[]byte { return &it.event.Content.Parts[0].InlineData.Data }

// dropAudio removes all audio.
func (o *outbox) dropAudio() {
	kept := o.items[:0]
	for _, it := range o.items {
		if it.generation == 0 {
			kept = append(kept, it)
		}
	}
	clear(o.items[len(kept):])
	o.items, o.bytes = kept, 0
}

// finish ends the events when those that wait are yielded.
func (o *outbox) finish(err error) {
	o.finished, o.err = true, err
	signal(o.wake)
}

// next waits for the next event. It reports false when there is none any more.
func (c *liveCall) next() (outItem, bool) {
	for {
		c.mu.Lock()
		if len(c.out.items) > 0 {
			it := c.out.items[0]
			c.out.items[0] = outItem{}
			if c.out.items = c.out.items[1:]; it.generation != 0 {
				c.out.bytes -= len(*it.sound())
			}
			c.mu.Unlock()
			return it, true
		}
		finished := c.out.finished
		c.mu.Unlock()
		if finished {
			return outItem{}, false
		}
		<-c.out.wake
	}
}

// leave drops what waits: the consumer takes nothing more.
func (c *liveCall) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.items, c.out.bytes, c.out.left = nil, 0, true
}

// event makes an event of the session; mu is held, so that ids and times have the order of the events.
// No two have one time: ADK's database sorts by microseconds.
func (c *liveCall) event(author string) *session.Event {
	ev := session.NewEvent(c.ic, c.ic.InvocationID())
	ev.Timestamp = ev.Timestamp.Truncate(time.Microsecond)
	if !ev.Timestamp.After(c.latest) {
		ev.Timestamp = c.latest.Add(time.Microsecond)
	}
	c.latest = ev.Timestamp
	ev.Author, ev.Branch, ev.IsolationScope = author, c.ic.Branch(), c.ic.IsolationScope()
	return ev
}

// keep queues an event. A partial one is dropped, counted, when 1,024 wait; any other one ends the
// call when 2,048 wait.
func (c *liveCall) keep(it outItem) error {
	switch n := len(c.out.items); {
	case c.over: // the end of the call is reported already
		return nil
	case it.event.Partial && n >= outNotesMax:
		c.live.droppedNotes.Add(1)
		return nil
	case n >= outEventsMax:
		return transport.ErrStalled
	}
	c.out.add(it)
	return nil
}

// note queues a message of the gateway that has no form of its own.
func (c *liveCall) note(data map[string]any) error {
	ev := c.event(c.live.Name())
	ev.Partial, ev.CustomMetadata = true, map[string]any{"voicegw": data}
	return c.keep(outItem{event: ev})
}

// fault queues an error.
func (c *liveCall) fault(code, text string) error {
	ev := c.event(c.live.Name())
	ev.ErrorCode, ev.ErrorMessage = code, text
	return c.keep(outItem{event: ev})
}

// transcript is what one side said so far.
type transcript struct {
	generation uint64
	text       string
}

// The sides of liveCall.words.
const (
	callerWords = iota
	modelWords
)

// said takes a fragment of a transcript.
func (c *liveCall) said(m *transport.Message) error {
	side := callerWords
	if m.Who == transport.WhoModel {
		side = modelWords
	}
	w := &c.words[side]
	if w.text != "" && (w.generation != m.Generation || len(w.text)+len(m.Text) > wordsMax) {
		if err := c.finishSide(side); err != nil {
			return err
		}
	}
	w.generation, w.text = m.Generation, w.text+m.Text
	if m.Text != "" {
		if err := c.keep(outItem{event: c.transcript(side, m.Text, false)}); err != nil {
			return err
		}
	}
	if m.Final {
		return c.finishSide(side)
	}
	return nil
}

// finishWords queues the whole transcripts of both sides. The runner stores a call of a tool at once
// only if no transcript is open.
func (c *liveCall) finishWords() error {
	if err := c.finishSide(callerWords); err != nil {
		return err
	}
	return c.finishSide(modelWords)
}

func (c *liveCall) finishSide(side int) error {
	text := c.words[side].text
	if text == "" {
		return nil
	}
	c.words[side].text = ""
	return c.keep(outItem{event: c.transcript(side, text, true)})
}

// transcript makes an event of a transcript.
func (c *liveCall) transcript(side int, text string, whole bool) *session.Event {
	t := &genai.Transcription{Text: text, Finished: whole}
	author := c.live.Name()
	if side == callerWords {
		author = "user"
	}
	ev := c.event(author)
	ev.Partial = !whole
	if side == callerWords {
		ev.InputTranscription = t
	} else {
		ev.OutputTranscription = t
	}
	return ev
}

// usageOf returns the tokens of a turn, or nil if the model reported none.
func usageOf(u *transport.Usage) *genai.GenerateContentResponseUsageMetadata {
	if *u == (transport.Usage{}) {
		return nil
	}
	details := func(text, audio int32) (list []*genai.ModalityTokenCount) {
		if text > 0 {
			list = append(list, &genai.ModalityTokenCount{Modality: genai.MediaModalityText, TokenCount: text})
		}
		if audio > 0 {
			list = append(list, &genai.ModalityTokenCount{Modality: genai.MediaModalityAudio, TokenCount: audio})
		}
		return list
	}
	return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: u.Prompt, CandidatesTokenCount: u.Response,
		ThoughtsTokenCount: u.Thoughts, TotalTokenCount: u.Total, CachedContentTokenCount: u.Cached,
		PromptTokensDetails:     details(u.PromptText, u.PromptAudio),
		CandidatesTokensDetails: details(u.ResponseText, u.ResponseAudio)}
}
