package voicegw_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// hear makes one call in a bubble and returns what the caller heard, and what the model remembers
// of it.
func hear(t *testing.T, model sim.Config, cfg wsclient.Config) (r wsclient.Report, c sim.Connection) {
	t.Helper()
	inBubble(t, plan{model: model}, func(w *world) {
		r = w.converse(cfg)
		c = w.connection(1)
	})
	return r, c
}

// converse makes one call as a person would.
func (w *world) converse(cfg wsclient.Config) wsclient.Report {
	w.t.Helper()
	cfg.URL, cfg.Dial.DialContext = w.url, w.dial
	r, err := wsclient.Call(context.Background(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Logf("first audio %v ms, barge-in to silence %v ms, %d turns, %d interruptions, %d pauses, closed %s %v",
		r.FirstAudioMS, r.BargeInSilenceMS, r.Turns, r.Interruptions, r.Pauses, r.Closed, r.Notes)
	return r
}

// replies cuts what was heard at long silences.
func replies(r wsclient.Report) [][2]int {
	return audiotest.Utterances(r.Heard.Samples, r.Heard.RateHz, 700*time.Millisecond)
}

// joined is speech with a second and a half of silence between utterances.
func joined(names ...string) audio.PCM {
	out := audio.PCM{RateHz: 16000}
	for _, n := range names {
		out.Samples = append(out.Samples, audiotest.Speech(n).Samples...)
		out.Samples = append(out.Samples, make([]int16, 16000*5)...)
	}
	return out
}

// TestHearsItsOwnWords judges the echo on the waveform, utterance by utterance.
func TestHearsItsOwnWords(t *testing.T) {
	names := []string{"question", "german"}
	r, _ := hear(t, sim.Config{}, wsclient.Config{In: joined(names...)})
	itsOwnWords(t, r, names)
}

// TestHearsItsOwnWordsOnLoopback is the same in real time over real sockets, where a busy machine
// may delay everything.
func TestHearsItsOwnWordsOnLoopback(t *testing.T) {
	w := onLoopback(t, plan{})
	itsOwnWords(t, w.converse(wsclient.Config{In: joined("question")}), []string{"question"})
}

func itsOwnWords(t *testing.T, r wsclient.Report, names []string) {
	t.Helper()
	heard := replies(r)
	if len(heard) != len(names) || r.Closed != "caller_hung_up" {
		t.Fatalf("%d replies were heard, want %d; closed by %q", len(heard), len(names), r.Closed)
	}
	for i, h := range heard {
		piece := r.Heard.Samples[max(0, h[0]-r.Heard.RateHz/2):min(len(r.Heard.Samples), h[1]+r.Heard.RateHz/2)]
		for _, name := range names {
			ref := audiotest.Resample(audiotest.Speech(name), r.Heard.RateHz).Samples
			lag, corr := audiotest.Align(ref, piece)
			holes := audiotest.Holes(ref, audiotest.Shift(piece, lag, len(ref)), r.Heard.RateHz)
			t.Logf("the reply to %s is like %s by %.4f, %d holes", names[i], name, corr, holes)
			if name == names[i] && (corr < 0.98 || holes > 0) {
				t.Errorf("%s came back with correlation %.3f and %d holes, want 0.98 and none", name, corr, holes)
			}
			if name != names[i] && corr > 0.5 {
				t.Errorf("the reply to %s is like %s by %.2f", names[i], name, corr)
			}
		}
	}
}

// TestModelGetsWhatWasSaid compares what the model received with what was sent: with model VAD
// every frame goes up.
func TestModelGetsWhatWasSaid(t *testing.T) {
	said := audiotest.Speech("hello")
	r, c := hear(t, sim.Config{}, wsclient.Config{In: said,
		Hello: transport.Hello{Detection: transport.DetectionModelVAD}})
	all := make([]int16, r.FramesSent*320)
	copy(all, said.Samples)
	if lost := int64(len(all)) - c.Samples; lost < 0 || lost > 5*320 {
		t.Fatalf("%d samples were sent and %d received", len(all), c.Samples)
	}
	sum := sha256.Sum256(audio.AppendBytes(nil, all[:c.Samples]))
	if want := hex.EncodeToString(sum[:]); c.SHA256 != want {
		t.Errorf("the model received %d samples with hash %s; sent were %d with hash %s", c.Samples, c.SHA256, len(all), want)
	}
}

// TestModelOffIsSilence: what is heard comes from the model and nowhere else.
func TestModelOffIsSilence(t *testing.T) {
	r, _ := hear(t, sim.Config{Faults: sim.Faults{EmptyTurns: 1000}},
		wsclient.Config{In: audiotest.Speech("hello"), Patience: 3 * time.Second})
	if audio.Peak(r.Heard.Samples) != 0 || r.Turns != 0 {
		t.Errorf("%d turns and a peak of %.3f were heard of a model that says nothing", r.Turns, audio.Peak(r.Heard.Samples))
	}
}

// TestBargeIn speaks over a reply and judges what is heard afterwards.
func TestBargeIn(t *testing.T) {
	for _, det := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(det), func(t *testing.T) {
			r, rest := bargeIn(t, transport.Hello{Detection: det})
			if r.Interruptions != 1 || len(r.BargeInSilenceMS) != 1 {
				t.Errorf("%d replies were interrupted, want 1", r.Interruptions)
			}
			if rest > 0.2 {
				t.Errorf("what was heard after the interruption is like the rest of the reply by %.2f, want below 0.2", rest)
			}
			nothingOfCleared(t, r)
		})
	}
}

// TestWithoutBargeIn holds the measure of TestBargeIn against a gateway that cannot be interrupted.
func TestWithoutBargeIn(t *testing.T) {
	r, rest := bargeIn(t, transport.Hello{HalfDuplex: true})
	if r.Interruptions != 0 || rest < 0.9 {
		t.Errorf("a gateway without barge-in: %d interruptions, the rest of the reply heard by %.2f", r.Interruptions, rest)
	}
}

// bargeIn speaks two seconds into a reply of eight. It returns how like the rest of that reply,
// from 0.8 s after the first word over it, is what was heard from then on.
func bargeIn(t *testing.T, hello transport.Hello) (r wsclient.Report, rest float64) {
	t.Helper()
	said := audiotest.Speech("long")
	r, _ = hear(t, sim.Config{}, wsclient.Config{Hello: hello, In: said,
		BargeIn: wsclient.BargeIn{PCM: audiotest.Speech("over"), After: 2 * time.Second}})
	reply := audiotest.Resample(said, r.Heard.RateHz).Samples
	second := r.Heard.RateHz
	from, corr := audiotest.Align(reply[second/2:2*second], r.Heard.Samples)
	if from -= second / 2; corr < 0.98 || from < 0 {
		t.Fatalf("the reply was not heard: correlation %.3f at %d", corr, from)
	}
	judged := 2*second + second*8/10
	if len(reply)-judged < 2*second {
		t.Fatalf("only %d samples of the reply were still to come", len(reply)-judged)
	}
	_, rest = audiotest.Align(reply[judged:], r.Heard.Samples[min(len(r.Heard.Samples), from+judged):])
	return r, rest
}

// nothingOfCleared checks that no sound of a generation follows its end.
func nothingOfCleared(t *testing.T, r wsclient.Report) {
	t.Helper()
	last := uint64(0)
	for _, s := range r.Spans {
		if s.Generation < last {
			t.Errorf("generation %d was heard after generation %d", s.Generation, last)
		}
		last = s.Generation
	}
}

// TestFalseStart coughs over a reply: it pauses and resumes, nothing is lost, and the model never
// hears of it.
func TestFalseStart(t *testing.T) {
	said := audiotest.Speech("long")
	r, c := hear(t, sim.Config{}, wsclient.Config{In: said,
		BargeIn: wsclient.BargeIn{PCM: audiotest.Speech("cough"), After: 2 * time.Second}})
	if r.Pauses != 1 || r.Interruptions != 0 {
		t.Errorf("%d pauses and %d interruptions, want 1 and 0", r.Pauses, r.Interruptions)
	}
	starts := 0
	for _, e := range c.Events {
		if e.Name == "activity_start" {
			starts++
		}
	}
	if starts != 1 {
		t.Errorf("the model was told of %d activity starts, want the one of the question", starts)
	}
	ref := audiotest.Resample(said, r.Heard.RateHz).Samples
	to := 0 // how much of the reply was heard so far
	for i, part := range stretches(r) {
		lag, corr := audiotest.Align(part, ref)
		if i == 0 {
			to = lag // the pre-roll begins where it begins
		}
		holes := audiotest.Holes(part, audiotest.Shift(ref, lag, len(part)), r.Heard.RateHz)
		t.Logf("part %d: %d samples from %d, correlation %.4f, %d holes", i, len(part), lag, corr, holes)
		if corr < 0.98 || holes > 0 {
			t.Errorf("part %d of the reply has correlation %.3f and %d holes, want 0.98 and none", i, corr, holes)
		}
		if frame := audio.FrameSamples(r.Heard.RateHz); lag > to+1 || lag < to-frame {
			t.Errorf("part %d goes on at sample %d; heard until then were %d: at most one frame may be repeated, none lost",
				i, lag, to)
		}
		to = lag + len(part)
	}
	if loud := audiotest.LastLoud(ref, r.Heard.RateHz); to < loud {
		t.Errorf("the reply was heard until sample %d of %d", to, loud)
	}
}

// stretches are what was heard of replies, cut where nothing played for long.
func stretches(r wsclient.Report) [][]int16 {
	var out [][]int16
	to := -r.Heard.RateHz
	for _, s := range r.Spans {
		if s.From-to > r.Heard.RateHz/5 {
			out = append(out, nil)
		}
		i := len(out) - 1
		out[i] = append(out[i], r.Heard.Samples[s.From:s.To]...)
		to = s.To
	}
	return out
}

// TestEcho lets the microphone hear the loudspeaker: the reply does not interrupt itself, and a
// caller is still heard over it.
func TestEcho(t *testing.T) {
	for _, room := range []wsclient.Echo{
		{On: true, Delay: 120 * time.Millisecond, GainDB: -15},
		{On: true, Delay: 60 * time.Millisecond, GainDB: -25},
		{On: true, Delay: 250 * time.Millisecond, GainDB: -12},
	} {
		t.Run(fmt.Sprintf("%v %v dB", room.Delay, room.GainDB), func(t *testing.T) {
			r, _ := hear(t, sim.Config{}, wsclient.Config{In: audiotest.Speech("long"), Echo: room})
			if r.Turns != 1 || r.Interruptions != 0 || r.Pauses != 0 {
				t.Errorf("the reply heard itself: %d turns, %d interruptions, %d pauses", r.Turns, r.Interruptions, r.Pauses)
			}
			r, _ = hear(t, sim.Config{}, wsclient.Config{In: audiotest.Speech("long"), Echo: room,
				BargeIn: wsclient.BargeIn{PCM: audiotest.Speech("over"), After: 2 * time.Second}})
			if r.Turns != 2 || r.Interruptions != 1 || r.Pauses != 1 {
				t.Errorf("the caller over an echo: %d turns, %d interruptions, %d pauses; want 2, 1, 1",
					r.Turns, r.Interruptions, r.Pauses)
			}
		})
	}
}
