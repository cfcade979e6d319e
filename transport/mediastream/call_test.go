package mediastream_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// TestHearsItsOwnWords: what the caller says comes back, through each carrier's dialect, and two
// sentences are told apart.
func TestHearsItsOwnWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  phonetest.Config
	}{
		{"twilio", phonetest.Config{}},
		{"twilio behind a slow network", phonetest.Config{Delay: 60 * time.Millisecond, Jitter: jitter(40)}},
		{"telnyx", phonetest.Config{Dialect: phonetest.Telnyx}},
		{"telnyx, A-law", phonetest.Config{Dialect: phonetest.Telnyx, Codec: phone.PCMA}},
		{"telnyx, out of order", phonetest.Config{Dialect: phonetest.Telnyx, Shuffle: func(n int) bool { return n%3 == 0 }}},
		{"plivo", phonetest.Config{Dialect: phonetest.Plivo}},
		{"plivo, linear", phonetest.Config{Dialect: phonetest.Plivo, Codec: phone.L16}},
		{"exotel", phonetest.Config{Dialect: phonetest.Exotel}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{}, func(w *world) {
				p := w.call(tt.cfg)
				names := []string{"question", "german"}
				if tt.cfg.Dialect != phonetest.Twilio {
					names = names[:1]
				}
				for _, name := range names {
					before := len(p.Heard())
					p.Say(speech(name, 8000))
					judge(t, name, w.heard(p, before, 2*time.Second))
				}
			})
		})
	}
}

// jitter is up to ms of it, the same each time.
func jitter(ms int) func() time.Duration {
	n := 0
	return func() time.Duration {
		n = (n*31 + 7) % 101
		return time.Duration(n*ms/101) * time.Millisecond
	}
}

// fineHz is the rate at which waveforms are compared, so that a part of a sample at 8 kHz does not
// count.
const fineHz = 24000

func fine(pcm []int16) []int16 {
	return audiotest.Resample(audio.PCM{RateHz: 8000, Samples: pcm}, fineHz).Samples
}

// judge compares what was heard with what was said, and with what was not, on the waveform. Two
// conversions to G.711 cost some of it.
func judge(t *testing.T, name string, heard []int16) {
	t.Helper()
	itself(t, name, heard)
	for _, other := range []string{"question", "german"} {
		if other == name {
			continue
		}
		if _, corr := audiotest.Align(fine(speech(other, 8000)), fine(heard)); corr > 0.5 {
			t.Errorf("%s came back like %s by %.2f", name, other, corr)
		}
	}
}

// itself compares what was heard with what was said alone.
func itself(t *testing.T, name string, heard []int16) {
	t.Helper()
	ref, heard := fine(speech(name, 8000)), fine(heard)
	lag, corr := audiotest.Align(ref, heard)
	holes := audiotest.Holes(ref, audiotest.Shift(heard, lag, len(ref)), fineHz)
	t.Logf("%s came back with correlation %.4f and %d holes", name, corr, holes)
	if corr < 0.98 || holes > 0 {
		t.Errorf("%s came back with correlation %.3f and %d holes, want 0.98 and none", name, corr, holes)
	}
}

// TestOnLoopback is the same in real time over real sockets. A busy machine may hold up a telephone
// so that it stutters; one call of three must not.
func TestOnLoopback(t *testing.T) {
	t.Parallel()
	w := onLoopback(t, plan{})
	best := 0.0
	for range 3 {
		p := w.call(phonetest.Config{})
		p.Say(speech("question", 8000))
		_, corr := audiotest.Align(fine(speech("question", 8000)), fine(w.heard(p, 0, time.Second)))
		p.HangUp()
		if best = max(best, corr); best >= 0.98 {
			return
		}
	}
	t.Errorf("of three calls the best came back with correlation %.3f, want 0.98", best)
}

// long is a model that always says the same eight seconds.
func long() sim.Config { return sim.Config{FixedReply: speech("long", 24000)} }

// reply lets the caller say something and waits until d of the answer was heard. It returns the
// sample at which the answer began.
func (w *world) reply(p *phonetest.Phone, d time.Duration) (from int) {
	w.t.Helper()
	p.Say(speech("hello", 8000))
	w.look("the reply is heard", 40*time.Millisecond, func() bool {
		h := p.Heard()
		from = audiotest.FirstLoud(h, 8000)
		return from >= 0 && len(h)-from >= int(d*8000/time.Second)
	})
	return from
}

// TestBargeIn speaks over a reply: the queue is cleared, and the rest of the reply is not heard.
func TestBargeIn(t *testing.T) {
	for _, dialect := range []string{phonetest.Twilio, phonetest.Telnyx, phonetest.Plivo, phonetest.Exotel} {
		t.Run("dialect "+dialect, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: long()}, func(w *world) {
				p := w.call(phonetest.Config{Dialect: dialect, Delay: 30 * time.Millisecond})
				from := w.reply(p, 2*time.Second)
				began := len(p.Heard())
				p.Say(speech("over", 8000))
				w.eventually("the queue is cleared", func() bool { return p.Clears() > 0 })
				silence := len(p.Heard())
				if took := (silence - began) * 1000 / 8000; took > 900 {
					t.Errorf("the reply went on for %d ms", took)
				}
				w.heard(p, silence, 2*time.Second)
				heard := p.Heard()
				ref := speech("long", 8000)[audiotest.FirstLoud(speech("long", 8000), 8000):]
				judged := began - from + 8000
				end := min(len(heard), silence+8000) // before the next reply
				if _, corr := audiotest.Align(ref[judged:judged+8000], heard[silence:end]); corr > 0.2 {
					t.Errorf("behind the interruption the rest of the reply was heard by %.2f", corr)
				}
				clears := w.tap.seen(func(ev transport.Event) bool { return ev.Cleared })
				if len(clears) == 0 || clears[0].PlayedMS%transport.FrameMS != 0 || clears[0].PlayedMS == 0 {
					t.Errorf("clears were answered by %+v", clears)
				}
			})
		})
	}
}

// TestCough pauses and resumes: of the reply nothing is lost, and no more is repeated than was on
// its way.
func TestCough(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cfg    phonetest.Config
		repeat time.Duration // at most
	}{
		{"at once", phonetest.Config{}, 60 * time.Millisecond},
		{"far away", phonetest.Config{Delay: 50 * time.Millisecond}, 160 * time.Millisecond},
		{"telnyx", phonetest.Config{Dialect: phonetest.Telnyx}, 60 * time.Millisecond},
		{"plivo", phonetest.Config{Dialect: phonetest.Plivo}, 60 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: long()}, func(w *world) {
				p := w.call(tt.cfg)
				w.reply(p, 2*time.Second)
				p.Say(speech("cough", 8000))
				heard := w.heard(p, 0, 2*time.Second)
				if p.Clears() == 0 {
					w.t.Fatal("the reply was not paused")
				}
				ref := speech("long", 8000)
				to := 0
				for i, u := range utterances(heard) {
					part := heard[u[0]:u[1]]
					lag, corr := audiotest.Align(part, ref)
					t.Logf("part %d: %d samples from %d, behind %d, like it by %.3f", i, len(part), lag, to, corr)
					if corr < 0.97 {
						t.Errorf("part %d is like the reply by %.3f", i, corr)
					}
					if i > 0 && (lag > to+80 || lag < to-int(tt.repeat*8000/time.Second)) {
						t.Errorf("part %d goes on at sample %d; heard were %d", i, lag, to)
					}
					to = lag + len(part)
				}
				if loud := audiotest.LastLoud(ref, 8000); to < loud-80 {
					t.Errorf("the reply was heard until sample %d of %d", to, loud)
				}
			})
		})
	}
}

// utterances cuts what was heard at the pause that a cough makes.
func utterances(heard []int16) [][2]int {
	return audiotest.Utterances(heard, 8000, 450*time.Millisecond)
}

// TestKeys: each pressed key is an event, in order.
func TestKeys(t *testing.T) {
	for _, dialect := range []string{phonetest.Twilio, phonetest.Telnyx, phonetest.Plivo, phonetest.Exotel} {
		inBubble(t, plan{}, func(w *world) {
			p := w.call(phonetest.Config{Dialect: dialect})
			for _, d := range []string{"1", "#", "*", "0"} {
				p.Press(d)
			}
			var got []string
			w.eventually("four keys", func() bool {
				got = got[:0]
				for _, ev := range w.tap.seen(func(ev transport.Event) bool { return ev.Kind == transport.EventDTMF }) {
					got = append(got, ev.Text)
				}
				return len(got) == 4
			})
			if !slices.Equal(got, []string{"1", "#", "*", "0"}) {
				t.Errorf("%s: pressed 1#*0, got %q", dialect, got)
			}
		})
	}
}
