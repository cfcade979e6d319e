package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// turn is a reply as the gateway reported it. Times are since ready, 0 for what did not happen.
type turn struct {
	generation             uint64
	started, resumed, over time.Duration
	end                    transport.TurnEnd
}

// stretch is a loud frame of the caller's own voice.
type stretch struct{ from, to time.Duration }

// record holds what finish measures at the end of the call.
type record struct {
	rateHz int // of heard
	heard  []int16
	spans  []audio.Span
	voice  []stretch // in order
	turns  []turn    // in order
}

// loudStep is the resolution at which loud audio is found.
const loudStep = 5 * time.Millisecond

// loud returns when the first loud audio of a generation began and the last one ended.
func (r *record) loud(generation uint64) (first, last time.Duration, ok bool) {
	step := r.rateHz / int(time.Second/loudStep)
	for _, s := range r.spans {
		to := min(s.To, len(r.heard))
		for from := s.From; s.Generation == generation && from < to; from += step {
			end := min(from+step, to)
			if audio.RMS(r.heard[from:end]) < loudRMS {
				continue
			}
			if !ok {
				first, ok = r.time(from), true
			}
			last = r.time(end)
		}
	}
	return first, last, ok
}

func (r *record) time(sample int) time.Duration {
	return time.Duration(sample) * time.Second / time.Duration(r.rateHz)
}

// firstAudio measures, for each reply to the caller, the time until it began.
func (r *record) firstAudio() []int64 {
	out := []int64{}
	answered := time.Duration(-1) // the end of the caller's speech before the previous reply
	for _, t := range r.turns {
		first, _, ok := r.loud(t.generation)
		if !ok {
			continue
		}
		said := time.Duration(-1)
		for _, v := range r.voice {
			if v.to <= first {
				said = v.to
			}
		}
		if said > answered {
			out = append(out, (first - said).Milliseconds())
			answered = said
		}
	}
	return out
}

// bargeInSilence measures, for each reply that the caller's voice interrupted, how long it went on.
func (r *record) bargeInSilence() []int64 {
	out := []int64{}
	for _, t := range r.turns {
		first, last, ok := r.loud(t.generation)
		if !ok || t.end != transport.TurnInterrupted {
			continue
		}
		since := max(first, t.resumed)
		for _, v := range r.voice {
			if v.from >= since && v.from <= t.over {
				out = append(out, max(0, last-v.from).Milliseconds())
				break
			}
		}
	}
	return out
}

// turn returns the newest turn of generation, nil if there is none.
func (r *record) turn(generation uint64) *turn {
	for i := len(r.turns) - 1; i >= 0; i-- {
		if r.turns[i].generation == generation {
			return &r.turns[i]
		}
	}
	return nil
}

// longPauses returns the silences of pcm between loud frames that are longer than least.
func longPauses(pcm []int16, rateHz int, least time.Duration) []stretch {
	var out []stretch
	m := microphone{rateHz: rateHz, voice: pcm}
	last := time.Duration(-1)
	for !m.quiet() {
		from := m.due() - audio.FrameDuration
		if _, loud := m.next(); !loud {
			continue
		}
		if last >= 0 && from-last > least {
			out = append(out, stretch{last, from})
		}
		last = from + audio.FrameDuration
	}
	return out
}
