package wsclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

func TestMain(m *testing.M) {
	// A dependency of the gateway's that the benchmark holds calls with starts this one when the
	// program does.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// outHz is the output rate of most calls: a low one, as it is much work to compare sound.
const outHz = 8000

// simulate makes a call to a parrot in a world of its own time.
func simulate(t *testing.T, p *parrot, cfg Config) (r Report, heard heardCall) {
	t.Helper()
	if cfg.Hello.OutputRateHz == 0 {
		cfg.Hello.OutputRateHz = outHz
	}
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, heard, err = callParrot(t.Context(), p, cfg)
		if err != nil {
			t.Fatal(err)
		}
	})
	if heard.excess != 0 {
		t.Errorf("%d acknowledgements of more than was handed over", heard.excess)
	}
	return r, heard
}

func callParrot(ctx context.Context, p *parrot, cfg Config) (Report, heardCall, error) {
	network := wstest.New()
	p.calls = make(chan heardCall, 1)
	srv := &http.Server{Handler: p}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(network) })
	cfg.URL, cfg.Dial.DialContext = "ws://localhost/v1/voice", network.Dial
	r, err := Call(ctx, cfg)
	heard := <-p.calls
	_ = srv.Close()
	wg.Wait()
	return r, heard, err
}

// match looks for what was said, from its first loud sound to its last, in what was heard.
func match(t *testing.T, what string, said, heard audio.PCM, least float64) (lag int) {
	t.Helper()
	ref := audiotest.Resample(said, heard.RateHz).Samples
	from, to := audiotest.FirstLoud(ref, heard.RateHz), audiotest.LastLoud(ref, heard.RateHz)
	lag, corr := audiotest.Align(ref[from:to], heard.Samples)
	if corr < least {
		t.Errorf("%s: correlation %.3f at %d, want %.2f", what, corr, lag, least)
	}
	if n := audiotest.Holes(ref[from:to], audiotest.Shift(heard.Samples, lag, to-from), heard.RateHz); n > 0 {
		t.Errorf("%s: %d holes of 20 ms", what, n)
	}
	return lag
}

// brief is a report without its sound.
func brief(r Report) string {
	b, err := json.Marshal(r)
	return fmt.Sprintf("%s %v", b, err)
}

// near reports whether every value lies between from and to.
func near(t *testing.T, what string, got []int64, n int, from, to int64) {
	t.Helper()
	if len(got) != n {
		t.Errorf("%s = %v, want %d values", what, got, n)
	}
	for _, v := range got {
		if v < from || v > to {
			t.Errorf("%s = %v, want %d-%d ms", what, got, from, to)
		}
	}
}

func TestCallHearsItsOwnWords(t *testing.T) {
	for _, rate := range []int{8000, 16000, 44100, 48000} {
		in := audiotest.Resample(audiotest.Speech("question"), rate)
		cfg := Config{In: in}
		if rate == 16000 {
			cfg.Hello.OutputRateHz = OutputRateHzDefault
		}
		r, heard := simulate(t, &parrot{}, cfg)
		match(t, "heard", in, r.Heard, 0.98)
		if _, corr := audiotest.Align(audiotest.Resample(audiotest.Speech("german"), r.Heard.RateHz).Samples,
			r.Heard.Samples); corr > 0.5 {
			t.Errorf("another recording matches with %.2f", corr)
		}
		if string(audio.AppendBytes(nil, heard.samples[:len(in.Samples)])) != string(audio.AppendBytes(nil, in.Samples)) {
			t.Errorf("%d Hz: what arrived is not what was said", rate)
		}
		if len(heard.samples) != r.FramesSent*rate/50 {
			t.Errorf("%d samples arrived of %d frames", len(heard.samples), r.FramesSent)
		}
		if r.Turns != 1 || r.Interruptions != 0 || r.FramesCleared != 0 || r.Closed != "caller_hung_up" || len(r.Notes) > 0 {
			t.Errorf("report %s", brief(r))
		}
		// 25 quiet frames, a frame of the microphone, the prebuffer, and where in its frame the
		// voice ends
		near(t, "first_audio_ms", r.FirstAudioMS, 1, 500, 600)
		near(t, "barge_in_silence_ms", r.BargeInSilenceMS, 0, 0, 0)
	}
}

// TestCallEndsAfterQuiet: 3.5 s of speech, half a second to notice, 3.5 s of reply, 2 s of quiet.
func TestCallEndsAfterQuiet(t *testing.T) {
	in := audiotest.Speech("question")
	r, _ := simulate(t, &parrot{}, Config{In: in})
	last := audiotest.LastLoud(r.Heard.Samples, r.Heard.RateHz)
	after := time.Duration(len(r.Heard.Samples)-last) * time.Second / time.Duration(r.Heard.RateHz)
	// the reply ends with the half second of silence in which the parrot listened
	if after < 2*time.Second+400*time.Millisecond || after > 3*time.Second {
		t.Errorf("the call went on for %v after the last sound, want 2 s of quiet after the reply's own 0.5 s", after)
	}
	if got := r.FramesSent; got < 450 || got > 600 {
		t.Errorf("%d frames were sent, want about 10 s of them: the microphone never pauses", got)
	}
}

// TestPushToTalk presses the talk button for what is said, and at no other time.
func TestPushToTalk(t *testing.T) {
	in, over := audiotest.Speech("question"), audiotest.Speech("over")
	for _, c := range []struct {
		name string
		cfg  Config
		asks bool
		want string
	}{
		{"push", Config{In: in, Hello: transport.Hello{Detection: transport.DetectionPush}}, false, "[true false]"},
		{"barge-in", Config{In: in, BargeIn: BargeIn{PCM: over, After: time.Second},
			Hello: transport.Hello{Detection: transport.DetectionPush}}, false, "[true false true false]"},
		{"consent", Config{In: in, Consent: true, SpeakAtOnce: true,
			Hello: transport.Hello{Detection: transport.DetectionPush}}, true, "[true false true false]"},
		{"the gateway detects", Config{In: in}, false, "[]"},
	} {
		r, heard := simulate(t, &parrot{asks: c.asks}, c.cfg)
		if got := fmt.Sprint(heard.talks); got != c.want || r.Turns == 0 || len(r.FirstAudioMS) == 0 {
			t.Errorf("%s: the button was %s, want %s; %s", c.name, got, c.want, brief(r))
		}
	}
}

// TestConsent is given when it is asked for, and then everything that was to be said is heard;
// otherwise nothing is.
func TestConsent(t *testing.T) {
	greeting := audiotest.Resample(audiotest.Speech("german"), outHz)
	in := audiotest.Speech("hello")
	for _, c := range []struct {
		name     string
		greeting []int16
		agree    bool
		consent  string
		turns    int
	}{
		{"without a greeting", nil, true, "given", 1},
		{"with one", greeting.Samples, true, "given", 2},
		{"not given", nil, false, "asked", 0},
	} {
		r, _ := simulate(t, &parrot{asks: true, greeting: c.greeting}, Config{In: in, Consent: c.agree})
		if r.Consent != c.consent || r.Turns != c.turns || r.Interruptions != 0 {
			t.Errorf("%s: %s", c.name, brief(r))
		}
		if c.agree {
			match(t, c.name+": reply", in, r.Heard, 0.98)
		}
	}
	if r, _ := simulate(t, &parrot{}, Config{In: in, Consent: true}); r.Consent != "" {
		t.Errorf("nobody asked: %s", brief(r))
	}
}

func TestCallWaitsForTheGreeting(t *testing.T) {
	greeting := audiotest.Resample(audiotest.Speech("german"), outHz)
	in := audiotest.Speech("hello")
	r, _ := simulate(t, &parrot{greeting: greeting.Samples}, Config{In: in})
	first := match(t, "greeting", greeting, r.Heard, 0.98)
	second := match(t, "reply", in, r.Heard, 0.98)
	if first >= second || r.Turns != 2 || r.Interruptions != 0 {
		t.Errorf("greeting at %d, reply at %d, %d turns, %d interruptions", first, second, r.Turns, r.Interruptions)
	}
	near(t, "first_audio_ms", r.FirstAudioMS, 1, 500, 600) // nobody asked for the greeting

	r, _ = simulate(t, &parrot{greeting: greeting.Samples}, Config{In: in, SpeakAtOnce: true})
	if r.Interruptions != 1 {
		t.Errorf("spoken at once over the greeting: %d interruptions, want 1", r.Interruptions)
	}
}

func TestBargeIn(t *testing.T) {
	in, over := audiotest.Speech("long"), audiotest.Speech("over")
	cfg := Config{In: in, BargeIn: BargeIn{PCM: over, After: 2 * time.Second}}
	r, _ := simulate(t, &parrot{}, cfg)
	if r.Turns != 2 || r.Interruptions != 1 || r.Pauses != 1 || r.FramesCleared < 5 {
		t.Errorf("report %s, want an interruption with cleared frames", brief(r))
	}
	near(t, "barge_in_silence_ms", r.BargeInSilenceMS, 1, 20, 120) // three frames to notice
	near(t, "first_audio_ms", r.FirstAudioMS, 2, 500, 600)
	match(t, "the answer to the interruption", over, r.Heard, 0.98)
	remainder := audiotest.Resample(in, outHz).Samples[outHz*4:]
	if _, corr := audiotest.Align(remainder, r.Heard.Samples); corr > 0.2 {
		t.Errorf("the remainder of the interrupted reply was heard: correlation %.2f", corr)
	}

	r, _ = simulate(t, &parrot{halfDuplex: true}, cfg)
	if r.Interruptions != 0 || len(r.BargeInSilenceMS) != 0 || r.FramesCleared != 0 {
		t.Errorf("a gateway without barge-in: report %s", brief(r))
	}
	match(t, "the whole reply", in, r.Heard, 0.98)
}

// TestCough: what is too short to interrupt pauses the reply, which goes on without a hole and
// without a repetition.
func TestCough(t *testing.T) {
	in := audiotest.Speech("long")
	r, _ := simulate(t, &parrot{}, Config{In: in, BargeIn: BargeIn{PCM: audiotest.Speech("cough"),
		After: 2 * time.Second}})
	if r.Turns != 1 || r.Interruptions != 0 || r.Pauses != 1 || r.FramesCleared == 0 || len(r.BargeInSilenceMS) != 0 {
		t.Fatalf("report %s, want one pause", brief(r))
	}
	var whole []int16 // the reply without the pause
	for _, s := range r.Spans {
		whole = append(whole, r.Heard.Samples[s.From:s.To]...)
	}
	if len(r.Spans) != 2 || len(whole) != r.FramesReceived*outHz/50-r.FramesCleared*outHz/50 {
		t.Errorf("%d stretches of %d samples, want two of what was not cleared: %d", len(r.Spans), len(whole),
			(r.FramesReceived-r.FramesCleared)*outHz/50)
	}
	match(t, "the reply without its pause", in, audio.PCM{RateHz: outHz, Samples: whole}, 0.98)
	if r.FramesSent > 970 { // the reply that goes on is the answer; there is no waiting for another one
		t.Errorf("%d frames were sent, want about 18.8 s of them", r.FramesSent)
	}
	if gap := r.Spans[1].From - r.Spans[0].To; gap < outHz/4 || gap > outHz*2 {
		t.Errorf("paused for %d samples", gap)
	}
}

func TestEcho(t *testing.T) {
	in := audiotest.Speech("hello")
	// loud enough to be taken for speech: the parrot interrupts itself, so the echo does reach the
	// microphone
	r, heard := simulate(t, &parrot{}, Config{In: in, Echo: Echo{On: true, Delay: 120 * time.Millisecond},
		Max: 10 * time.Second})
	if r.Pauses == 0 {
		t.Errorf("report %s, want that the parrot hears itself", brief(r))
	}
	if len(r.BargeInSilenceMS) != 0 {
		t.Errorf("barge_in_silence_ms = %v; the caller did not interrupt", r.BargeInSilenceMS)
	}
	first := audiotest.FirstLoud(r.Heard.Samples, outHz) * 1000 / outHz
	spoken := len(in.Samples) // nothing of the caller's own after it
	back := (audiotest.FirstLoud(heard.samples[spoken:], 16000) + spoken) * 1000 / 16000
	if d := back - first; d < 115 || d > 145 {
		t.Errorf("the echo came back after %d ms, want 120", d)
	}
	// quiet enough: nothing happens
	r, _ = simulate(t, &parrot{}, Config{In: in, Echo: Echo{On: true, Delay: 120 * time.Millisecond, GainDB: -50}})
	if r.Pauses != 0 || r.Turns != 1 {
		t.Errorf("report %s, want one turn", brief(r))
	}
}

func TestCallWithoutAnswer(t *testing.T) {
	in := audiotest.Speech("hello")
	r, _ := simulate(t, &parrot{silent: true}, Config{In: in, Patience: 5 * time.Second})
	if r.Turns != 0 || len(r.FirstAudioMS) != 0 || audio.Peak(r.Heard.Samples) != 0 || r.Closed != "caller_hung_up" {
		t.Errorf("report %s, want silence", brief(r))
	}
	if s := len(r.Heard.Samples) / outHz; s < 6 || s > 8 {
		t.Errorf("the call lasted %d s, want 2 s of speech and 5 s of patience", s)
	}
	r, _ = simulate(t, &parrot{}, Config{}) // nothing to say
	if s := len(r.Heard.Samples) / outHz; r.FramesSent < 95 || s > 3 {
		t.Errorf("with nothing to say: %d frames, %d s", r.FramesSent, s)
	}
}

// TestModelThinksInMidReply: a reply that has not ended is waited for, however long nothing is to
// be heard.
func TestModelThinksInMidReply(t *testing.T) {
	in := audiotest.Speech("question")
	r, _ := simulate(t, &parrot{stutter: 400}, Config{In: in})
	if len(r.Spans) != 2 || r.Spans[1].From-r.Spans[0].To < 3*outHz || r.Closed != "caller_hung_up" || r.Turns != 1 {
		t.Errorf("%d stretches, report %s, want the whole reply with a gap", len(r.Spans), brief(r))
	}
}

// TestBargeInIsForTheReply: the greeting goes on while the caller has spoken; it is not what is to
// be interrupted.
func TestBargeInIsForTheReply(t *testing.T) {
	greeting, in := audiotest.Resample(audiotest.Speech("long"), outHz), audiotest.Speech("hello")
	_, heard := simulate(t, &parrot{greeting: greeting.Samples, halfDuplex: true}, Config{In: in, SpeakAtOnce: true,
		BargeIn: BargeIn{PCM: audiotest.Speech("over"), After: time.Second}})
	if audio.Peak(heard.samples[len(in.Samples):]) != 0 {
		t.Error("the greeting was spoken over")
	}
}

func TestGreetingThatDoesNotCome(t *testing.T) {
	in := audiotest.Speech("hello")
	r, _ := simulate(t, &parrot{shy: true}, Config{In: in, Patience: 4 * time.Second})
	if r.Turns != 1 || len(r.Spans) != 1 || r.Spans[0].From < 6*outHz || r.Spans[0].From > 8*outHz {
		t.Errorf("report %s, want a reply after 4 s of patience and 2 s of speech", brief(r))
	}
}

func TestGatewayDoesNotAnswerBye(t *testing.T) {
	r, _ := simulate(t, &parrot{rude: true}, Config{})
	if r.Closed != "caller_hung_up" || !strings.Contains(r.Message, "did not answer") || len(r.Heard.Samples) > 5*outHz ||
		len(r.Heard.Samples) < 4*outHz {
		t.Errorf("report %s, want that the call ended all the same", brief(r))
	}
}

func TestCallEndsAtMax(t *testing.T) {
	r, _ := simulate(t, &parrot{}, Config{In: audiotest.Speech("long"), Max: 3 * time.Second})
	if r.FramesSent != 150 || r.Closed != "caller_hung_up" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "3s") {
		t.Errorf("report %s, want 150 frames and a note", brief(r))
	}
}

func TestGatewayEndsTheCall(t *testing.T) {
	in := audiotest.Speech("hello")
	r, _ := simulate(t, &parrot{leave: transport.ReasonModelLost}, Config{In: in})
	if r.Closed != "model_lost" || r.Reason != transport.ReasonModelLost || !strings.Contains(r.Message, "model") {
		t.Errorf("report %s, want model_lost", brief(r))
	}
	r, _ = simulate(t, &parrot{leave: transport.ReasonModelLost, unsaid: true}, Config{In: in})
	if r.Closed != "peer_lost" || r.Message == "" {
		t.Errorf("report %s, want peer_lost", brief(r))
	}
}

func TestCallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, heard, err := callParrot(ctx, &parrot{}, Config{In: audiotest.Speech("long")})
		if !errors.Is(err, context.DeadlineExceeded) || r.Closed != "caller_hung_up" || r.FramesSent < 95 {
			t.Errorf("Call = %v, %s", err, brief(r))
		}
		if heard.end != nil {
			t.Errorf("the gateway's side ended with %v, want a bye", heard.end)
		}
	})
}

// TestCallInRealTime is a short call over a socket, with the clock of the machine.
func TestCallInRealTime(t *testing.T) {
	p := &parrot{calls: make(chan heardCall, 1)}
	srv := httptest.NewServer(p)
	defer srv.Close()
	in := audio.PCM{RateHz: 16000, Samples: audiotest.Speech("over").Samples[4000:12000]} // half a second
	r, err := Call(t.Context(), Config{URL: "ws" + strings.TrimPrefix(srv.URL, "http"), In: in,
		Quiet: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if heard := <-p.calls; heard.end != nil || heard.excess != 0 || len(heard.samples) != r.FramesSent*320 {
		t.Errorf("the gateway's side: %v, %d acknowledgements too many, %d samples of %d frames", heard.end, heard.excess,
			len(heard.samples), r.FramesSent)
	}
	if r.Turns != 1 || r.Interruptions != 0 || r.Closed != "caller_hung_up" || len(r.FirstAudioMS) != 1 {
		t.Errorf("report %s", brief(r))
	}
	match(t, "heard", in, r.Heard, 0.95)
	t.Logf("first audio after %v ms", r.FirstAudioMS)
}

func TestCallWithoutGateway(t *testing.T) {
	if _, err := Call(t.Context(), Config{URL: "htp://localhost"}); err == nil || !strings.Contains(err.Error(), "htp") {
		t.Errorf("Call = %v", err)
	}
}

func TestLongPausesAreNoted(t *testing.T) {
	in := audiotest.Speech("hello")
	in.Samples = append(append(in.Samples, make([]int16, 3*16000)...), audiotest.Speech("over").Samples...)
	r, _ := simulate(t, &parrot{halfDuplex: true}, Config{In: in})
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "without waiting") {
		t.Errorf("notes %q, want one about the pause", r.Notes)
	}
}

func TestReportIsOneObject(t *testing.T) {
	r, _ := simulate(t, &parrot{silent: true}, Config{In: audiotest.Speech("hello"), Patience: time.Second})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	_ = json.Unmarshal(b, &m)
	for _, key := range []string{"connected_ms", "turns", "first_audio_ms", "interruptions", "barge_in_silence_ms",
		"frames_sent",
		"frames_received", "frames_cleared", "closed"} {
		if m[key] == nil {
			t.Errorf("%s is missing or null in %s", key, b)
		}
	}
}
