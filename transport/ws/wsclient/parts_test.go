package wsclient

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

const ms = time.Millisecond

// tone is n samples loud enough to count.
func tone(n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(8000 * math.Sin(float64(i)/5))
	}
	return out
}

func TestParseFlags(t *testing.T) {
	if path, after, err := ParseBargeIn("dir@x/over.wav@1500ms"); err != nil || path != "dir@x/over.wav" ||
		after != 1500*ms {
		t.Errorf("%q, %v, %v", path, after, err)
	}
	for _, s := range []string{"", "over.wav", "@2s", "over.wav@", "over.wav@2", "over.wav@-2s"} {
		if _, _, err := ParseBargeIn(s); err == nil {
			t.Errorf("barge-in %q was taken", s)
		}
	}
	if e, err := ParseEcho("120ms, -15dB"); err != nil || e != (Echo{On: true, Delay: 120 * ms, GainDB: -15}) {
		t.Errorf("%+v, %v", e, err)
	}
	for _, s := range []string{"", "120ms", "120,-15dB", "120ms,-15", "120ms,xdB", "120ms,3dB", "120ms,NaNdB",
		"-1ms,-15dB", "3s,-15dB"} {
		if e, err := ParseEcho(s); err == nil {
			t.Errorf("echo %q was taken as %+v", s, e)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []Config{
		{In: audio.PCM{RateHz: 96000}}, {Hello: transport.Hello{OutputRateHz: 7000}}, {Max: -1}, {Max: 2 * time.Hour},
		{Quiet: -1}, {Patience: -1}, {BargeIn: BargeIn{After: -1}}, {Echo: Echo{On: true, GainDB: 1}},
	} {
		if _, err := Call(t.Context(), c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	c := Config{BargeIn: BargeIn{PCM: audio.PCM{RateHz: 96000, Samples: tone(10)}}}
	if _, err := Call(t.Context(), c); err == nil {
		t.Error("a barge-in of 96 kHz was taken")
	}
}

// TestMicrophone: fifty frames are a second at every rate, the voice comes out whole, and then
// there is silence.
func TestMicrophone(t *testing.T) {
	for _, rate := range []int{8000, 11025, 16000, 44100, 48000} {
		voice := tone(rate / 3)
		m := microphone{rateHz: rate}
		m.speak(voice)
		var all []int16
		louds := 0
		for range 50 {
			frame, loud := m.next()
			all = append(all, frame...)
			if loud {
				louds++
			}
		}
		if len(all) != rate || !reflect.DeepEqual(all[:len(voice)], voice) || audio.Peak(all[len(voice):]) != 0 {
			t.Errorf("%d Hz: %d samples a second, or not what was to be said", rate, len(all))
		}
		if !m.quiet() || louds != 17 || m.due() != 1020*ms {
			t.Errorf("%d Hz: quiet %v, %d loud frames, next %v", rate, m.quiet(), louds, m.due())
		}
	}
}

func TestEchoIsDelayedAndWeaker(t *testing.T) {
	e, err := newEcho(Echo{On: true, Delay: 100 * ms, GainDB: -20}, 16000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	e.hear(tone(800)[:400])
	e.hear(tone(800)) // in pieces
	frame := make([]int16, 320)
	if e.mix(frame, 1280); audio.Peak(frame) != 0 {
		t.Error("something came before the delay")
	}
	e.mix(frame, 1600)
	for i, v := range tone(320) {
		if d := float64(frame[i]) - float64(v)/10; math.Abs(d) > 1 {
			t.Fatalf("sample %d is %d, want a tenth of %d", i, frame[i], v)
		}
	}
	loud := []int16{math.MaxInt16, math.MinInt16}
	e.line, e.delay, e.gain = []int16{30000, -30000}, 0, 1
	if e.mix(loud, 0); loud[0] != math.MaxInt16 || loud[1] != math.MinInt16 {
		t.Errorf("the sum wrapped: %v", loud)
	}
}

// acksAt is what a playout acknowledges at a time.
type acksAt struct {
	at   time.Duration
	want []transport.Event
}

func ack(generation uint64, playedMS int64, mark string) transport.Event {
	return transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: playedMS, Mark: mark}
}

func TestPlayoutAcknowledges(t *testing.T) {
	p := newPlayout(8000)
	p.push(0, 1, tone(8*250)) // 250 ms
	p.mark(0, 1, "1:end")
	p.push(0, 2, tone(8*60)) // 60 ms
	for _, step := range []acksAt{
		{20 * ms, nil},
		{60 * ms, nil},
		{100 * ms, []transport.Event{ack(1, 100, "")}},
		{180 * ms, nil},
		{200 * ms, []transport.Event{ack(1, 200, "")}},
		{260 * ms, []transport.Event{ack(1, 250, "1:end")}},
		{300 * ms, []transport.Event{ack(2, 50, "")}},
		{320 * ms, []transport.Event{ack(2, 60, "")}}, // ran dry
		{600 * ms, nil},
	} {
		if got := p.tick(step.at); len(got)+len(step.want) > 0 && !reflect.DeepEqual(got, step.want) {
			t.Errorf("at %v: %+v, want %+v", step.at, got, step.want)
		}
	}
}

func TestPlayoutClears(t *testing.T) {
	p := newPlayout(8000)
	p.push(0, 1, tone(8*400))
	p.mark(0, 1, "1:end")
	want := transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 120, Cleared: true}
	if got := p.clear(133*ms, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("clear = %+v, want %+v", got, want)
	}
	if p.cleared != 14 || !p.idle() {
		t.Errorf("%d frames cleared, want 14 of 20; idle %v", p.cleared, p.idle())
	}
	if got := p.tick(300 * ms); len(got) != 0 {
		t.Errorf("after the clear %+v", got)
	}
	p.push(300*ms, 1, tone(8*280)) // the rest again, from 120 ms on
	if got := p.tick(500 * ms); !reflect.DeepEqual(got, []transport.Event{ack(1, 320, "")}) {
		t.Errorf("counted on to %+v, want 320 ms", got)
	}
	if got := p.clear(500*ms, 7); got.PlayedMS != 0 || !got.Cleared || got.Generation != 7 {
		t.Errorf("a clear of what never came: %+v", got)
	}
}

// TestMeasure at 1,000 Hz for short numbers: sample n is heard at n ms.
func TestMeasure(t *testing.T) {
	sound := func(stretches ...[2]int) []int16 {
		out := make([]int16, 5000)
		for _, s := range stretches {
			copy(out[s[0]:s[1]], tone(s[1]-s[0]))
		}
		return out
	}
	voice := func(from, to time.Duration) (out []stretch) {
		for ; from < to; from += 20 * ms {
			out = append(out, stretch{from, from + 20*ms})
		}
		return out
	}
	tests := []struct {
		name    string
		rec     record
		first   []int64
		silence []int64
	}{
		{"nothing", record{}, []int64{}, []int64{}},
		{"a greeting answers nobody", record{heard: sound([2]int{100, 900}), spans: []audio.Span{{Generation: 1,
			From: 100, To: 900}},
			turns: []turn{{generation: 1}}}, []int64{}, []int64{}},
		{"a reply with silence at its beginning", record{heard: sound([2]int{1000, 1500}),
			spans: []audio.Span{{Generation: 1, From: 900, To: 1500}}, voice: voice(0, 400*ms), turns: []turn{{generation: 1}}},
			[]int64{600}, []int64{}},
		{"two replies to one question", record{heard: sound([2]int{1000, 1500}, [2]int{2000, 2500}),
			spans: []audio.Span{{Generation: 1, From: 1000, To: 1500}, {Generation: 2, From: 2000, To: 2500}},
			voice: voice(0, 400*ms), turns: []turn{{generation: 1}, {generation: 2}}}, []int64{600}, []int64{}},
		{"a reply that was never heard", record{heard: sound(), spans: []audio.Span{{Generation: 1, From: 1000, To: 1500}},
			voice: voice(0, 400*ms), turns: []turn{{generation: 1, end: transport.TurnInterrupted, over: 9000 * ms}}},
			[]int64{}, []int64{}},
		{"interrupted", record{heard: sound([2]int{1000, 2100}), spans: []audio.Span{{Generation: 1, From: 1000, To: 2100}},
			voice: append(voice(0, 400*ms), voice(2000*ms, 2600*ms)...),
			turns: []turn{{generation: 1, end: transport.TurnInterrupted, over: 2400 * ms}}}, []int64{600}, []int64{100}},
		{"a cough, then interrupted", record{heard: sound([2]int{1000, 1600}, [2]int{2000, 3050}),
			spans: []audio.Span{{Generation: 1, From: 1000, To: 1600}, {Generation: 1, From: 2000, To: 3050}},
			voice: append(append(voice(0, 400*ms), voice(1500*ms, 1600*ms)...), voice(3000*ms, 3400*ms)...),
			turns: []turn{{generation: 1, end: transport.TurnInterrupted, resumed: 1990 * ms, over: 3300 * ms}}},
			[]int64{600}, []int64{50}},
		{"interrupted by its echo", record{heard: sound([2]int{1000, 2100}), spans: []audio.Span{{Generation: 1,
			From: 1000, To: 2100}},
			voice: voice(0, 400*ms), turns: []turn{{generation: 1, end: transport.TurnInterrupted, over: 2400 * ms}}},
			[]int64{600}, []int64{}},
		{"completed while spoken over", record{heard: sound([2]int{1000, 2100}), spans: []audio.Span{{Generation: 1,
			From: 1000, To: 2100}},
			voice: append(voice(0, 400*ms), voice(2000*ms, 2600*ms)...),
			turns: []turn{{generation: 1, end: transport.TurnComplete, over: 2400 * ms}}}, []int64{600}, []int64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.rec.rateHz = 1000
			if got := tt.rec.firstAudio(); !reflect.DeepEqual(got, tt.first) {
				t.Errorf("first audio %v, want %v", got, tt.first)
			}
			if got := tt.rec.bargeInSilence(); !reflect.DeepEqual(got, tt.silence) {
				t.Errorf("barge-in silence %v, want %v", got, tt.silence)
			}
		})
	}
}

func TestLongPauses(t *testing.T) {
	pcm := append(append(make([]int16, 16000), tone(8000)...), make([]int16, 24000)...)
	pcm = append(append(pcm, tone(8000)...), make([]int16, 32000)...)
	want := []stretch{{1500 * ms, 3000 * ms}}
	if got := longPauses(pcm, 16000, time.Second); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v: silence at the ends is no pause", got, want)
	}
	if got := longPauses(pcm, 16000, 2*time.Second); len(got) != 0 {
		t.Errorf("%v, want none", got)
	}
}
