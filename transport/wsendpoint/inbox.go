package wsendpoint

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

const (
	inboxEventsMax = 256             // events of one message, or events that wait for Ready
	earlyMax       = 5 * time.Second // of audio that waits for Ready; more is dropped
)

// Inbox takes the events of a message.
type Inbox struct {
	rateHz int // of the hello
	events []pending
	pcm    []int16
	head   int // index into events; those before it are taken

	inHz      int
	resampler *audio.Resampler
	le        []int16

	heard   []heard
	unknown int
	dropped int
}

// pending is an event that waits; its audio is pcm between from and to.
type pending struct {
	ev       transport.Event
	from, to int
}

type heard struct {
	generation uint64
	ms         int64
}

// NewInbox makes an inbox for tests of a codec; it delivers audio at rateHz.
func NewInbox(rateHz int) *Inbox { return &Inbox{rateHz: rateHz} }

// Next takes the next event into ev, reusing the PCM of ev, and reports false when there is none.
func (in *Inbox) Next(ev *transport.Event) bool { return in.next(ev, true) }

// Audio adds 16-bit little-endian PCM of any valid rate. It does not check for an odd last byte;
// the codec must refuse one. Audio of more than a second makes several events. It returns an error
// for an invalid rate.
func (in *Inbox) Audio(rateHz int, le []byte) error {
	in.le = audio.AppendSamples(in.le[:0], le)
	return in.Samples(rateHz, in.le)
}

// Samples is Audio for samples.
func (in *Inbox) Samples(rateHz int, pcm []int16) error {
	if in.resampler == nil || rateHz != in.inHz {
		r, err := audio.NewResampler(rateHz, in.rateHz)
		if err != nil {
			return err
		}
		in.inHz, in.resampler = rateHz, r
	}
	from := len(in.pcm)
	if from > in.rateHz*int(earlyMax/time.Second) {
		in.dropped++
		return nil
	}
	if rateHz == in.rateHz {
		in.pcm = append(in.pcm, pcm...)
	} else {
		in.pcm = in.resampler.Resample(in.pcm, pcm)
	}
	most := in.rateHz * transport.AudioMSMax / 1000
	for from < len(in.pcm) {
		to := min(from+most, len(in.pcm))
		in.put(pending{ev: transport.Event{Kind: transport.EventAudio}, from: from, to: to})
		from = to
	}
	return nil
}

// Event adds an event without audio.
func (in *Inbox) Event(ev transport.Event) { in.put(pending{ev: ev}) }

// Heard reports how much of a generation the far end says it played in all before a clear.
func (in *Inbox) Heard(generation uint64, playedMS int64) {
	in.heard = append(in.heard, heard{generation, playedMS})
}

// Unknown counts a message, or a part of one, that has no meaning here.
func (in *Inbox) Unknown() { in.unknown++ }

func (in *Inbox) put(p pending) {
	if len(in.events)-in.head >= inboxEventsMax {
		in.dropped++
		return
	}
	in.events = append(in.events, p)
}

// next takes an event into ev, copying its audio. Before the call is ready it returns only a bye.
func (in *Inbox) next(ev *transport.Event, ready bool) bool {
	if !ready {
		return in.nextBye(ev)
	}
	if in.head == len(in.events) {
		in.events, in.pcm, in.head = in.events[:0], in.pcm[:0], 0
		return false
	}
	p := in.events[in.head]
	in.head++
	pcm := append(ev.PCM[:0], in.pcm[p.from:p.to]...)
	*ev = p.ev
	ev.PCM = pcm
	return true
}

func (in *Inbox) nextBye(ev *transport.Event) bool {
	for _, p := range in.events[in.head:] {
		if p.ev.Kind == transport.EventBye {
			ev.Reset()
			ev.Kind, ev.Text = transport.EventBye, p.ev.Text
			in.events, in.pcm, in.head = nil, nil, 0
			return true
		}
	}
	return false
}
