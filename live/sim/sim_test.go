package sim_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// TestNeverSpeaksFirst waits a minute for a word.
func TestNeverSpeaksFirst(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		wantKinds(t, c.after(time.Minute))
		c.end()
	})
}

// TestGreeting asks for the greeting and looks at the sizes, the pace and the order of everything.
func TestGreeting(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		c.text("Greet the caller.")
		got := c.after(10 * time.Second)
		wantKinds(t, got, "resumption", "audio", "generation_complete", "usage", "turn_complete", "resumption")
		length := playtime(len(pcmOf(got)))
		if length < 5*time.Second || length > 7*time.Second {
			t.Errorf("the greeting is %v long", length)
		}
		checkPace(t, got, length)
		if got, want := textOf(got, live.ServerModelTranscript), "Hello. Say something, and I will repeat it. "+
			"You can talk over me at any time."; got != want {
			t.Errorf("transcript %q, want %q", got, want)
		}
		if u := first(t, got, live.ServerUsage).Usage; u.Response != int32(length*25/time.Second) {
			t.Errorf("usage %+v for %v; want 25 tokens a second", u, length)
		}
		c.end()
	})
}

// checkPace wants chunks of 40 to 240 ms, four times as fast as they play, and the end of the turn
// with the end of playout.
func checkPace(t *testing.T, got []heard, length time.Duration) {
	t.Helper()
	var sent time.Duration
	sizes := map[time.Duration]bool{}
	for _, m := range got {
		if m.Kind != live.ServerAudio {
			continue
		}
		if late := m.at - sent/4; late < 0 || late > time.Millisecond {
			t.Errorf("the chunk after %v came at %v", sent, m.at)
		}
		size := playtime(len(m.PCM))
		sent += size
		sizes[size] = true
		if sent < length && (size < 40*time.Millisecond || size > 240*time.Millisecond) {
			t.Errorf("a chunk of %v", size)
		}
	}
	if len(sizes) < 5 {
		t.Errorf("only %d sizes of chunks", len(sizes))
	}
	if at := first(t, got, live.ServerGenerationComplete).at; at < length/5 || at > length/3 {
		t.Errorf("generation complete after %v of %v", at, length)
	}
	if at := first(t, got, live.ServerTurnComplete).at; at < length || at > length+time.Millisecond {
		t.Errorf("turn complete after %v of %v", at, length)
	}
}

// TestParrot speaks three different things over both kinds of connection and hears each back,
// unpitched.
func TestParrot(t *testing.T) {
	for seed := range uint64(2) {
		inWorld(t, sim.Config{Seed: seed}, func(w *world) {
			c := w.call(live.Setup{})
			all := sha256.New()
			for i, name := range []string{"hello", "question", "german"} {
				said := speech(name)
				all.Write(audio.AppendBytes(nil, said))
				c.turn(said)
				got := c.after(10 * time.Second)
				wantKinds(t, got, "caller_transcript", "resumption", "audio", "generation_complete", "usage", "turn_complete",
					"resumption")
				reply := pcmOf(got)
				if lag, corr := audiotest.Align(parroted(said), reply); corr < 0.999 || lag > 100 || lag < -100 {
					t.Errorf("%s: correlation %.4f at lag %d", name, corr, lag)
				}
				if d := playtime(len(reply)) - time.Duration(len(said))*time.Second/16000; d < 0 || d > 5*time.Millisecond {
					t.Errorf("%s: the reply is %v longer", name, d)
				}
				turn := w.connection(1).Turns[i]
				if sum := sha256.Sum256(audio.AppendBytes(nil, said)); turn.SHA256 != hex.EncodeToString(sum[:]) ||
					turn.Samples != int64(len(said)) || !turn.Answered || turn.OverReply {
					t.Errorf("%s: the server remembers %+v", name, turn)
				}
			}
			c.end()
			conn := w.connection(1)
			if conn.SHA256 != hex.EncodeToString(all.Sum(nil)) || conn.Binary != (seed == 1) {
				t.Errorf("seed %d: the server remembers %+v", seed, conn)
			}
			if conn.Open || conn.Code != 1000 || conn.Reason != "done" || !conn.ByClient {
				t.Errorf("the end: %+v", conn)
			}
		})
	}
}

// TestBargeIn speaks over a reply: while it is generated, and while it is only assumed to be
// playing.
func TestBargeIn(t *testing.T) {
	tests := []struct {
		name  string
		after time.Duration
		want  []string
	}{
		{"generating", 400 * time.Millisecond, []string{"resumption", "audio", "interrupted", "usage", "turn_complete",
			"resumption"}},
		{"playing", 3 * time.Second, []string{"resumption", "audio", "generation_complete", "interrupted",
			"usage", "turn_complete", "resumption"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, sim.Config{}, func(w *world) {
				c := w.call(live.Setup{})
				c.text("Greet the caller.")
				time.Sleep(test.after)
				c.start()
				got := c.after(10 * time.Second)
				wantKinds(t, got, test.want...)
				if at := first(t, got, live.ServerInterrupted).at; at > test.after+time.Millisecond {
					t.Errorf("interrupted at %v", at)
				}
				c.speak(speech("over"))
				c.stop()
				got = c.after(10 * time.Second)
				if _, corr := audiotest.Align(parroted(speech("over")), pcmOf(got)); corr < 0.999 {
					t.Errorf("the answer to the barge-in: %v, correlation %.3f", kinds(got), corr)
				}
				if turn := w.connection(1).Turns[0]; !turn.OverReply {
					t.Errorf("the server remembers %+v", turn)
				}
				c.end()
			})
		})
	}
}

// TestNothingSaid ends turns without speech.
func TestNothingSaid(t *testing.T) {
	for name, pcm := range map[string][]int16{
		"nothing":   nil,
		"silence":   make([]int16, 16000),
		"too short": speech("hello")[8000 : 8000+640],
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sim.Config{}, func(w *world) {
				c := w.call(live.Setup{})
				c.turn(pcm)
				wantKinds(t, c.after(time.Second), "usage", "turn_complete", "resumption")
				c.turn(speech("over")) // and then it goes on as ever
				if got := c.after(5 * time.Second); len(pcmOf(got)) == 0 {
					t.Errorf("no answer: %v", kinds(got))
				}
				c.end()
			})
		})
	}
}

// TestEchoMax speaks for longer than is repeated.
func TestEchoMax(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		said := slices.Concat(speech("long"), speech("long"))
		c.turn(said)
		got := c.after(30 * time.Second)
		if d := playtime(len(pcmOf(got))); d < 10*time.Second || d > 10*time.Second+5*time.Millisecond {
			t.Errorf("the reply to %v of speech is %v long", time.Duration(len(said))*time.Second/16000, d)
		}
		if turn := w.connection(1).Turns[0]; turn.Samples != int64(len(said)) {
			t.Errorf("the server counted %d of %d samples", turn.Samples, len(said))
		}
		c.end()
	})
}

// TestAnswersItselfThreeTimes is a loudspeaker without echo cancellation: each reply comes back as
// a turn.
func TestAnswersItselfThreeTimes(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		c.text("Greet the caller.")
		var answers []bool
		for range 6 {
			time.Sleep(500 * time.Millisecond)
			c.turn(speech("over"))
			got := c.take()
			answers = append(answers, len(got) > 0 && got[len(got)-1].Kind == live.ServerAudio)
		}
		if want := []bool{true, true, true, false, true, true}; !slices.Equal(answers, want) {
			t.Errorf("answered %v, want %v: the fourth is refused, the fifth begins in silence", answers, want)
		}
		c.end()
	})
}

// TestSilenceBetweenTurnsCountsFromZero has a conversation of ten turns, each after the reply.
func TestSilenceBetweenTurnsCountsFromZero(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		for i := range 10 {
			c.turn(speech("over"))
			if got := c.after(3 * time.Second); len(pcmOf(got)) == 0 {
				t.Errorf("no answer to turn %d", i)
			}
		}
		c.end()
	})
}

// TestAutomatic lets the server find the speech.
func TestAutomatic(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{Automatic: true})
		silence := make([]int16, 16000)
		c.speak(silence)
		wantKinds(t, c.take())
		said := speech("question")
		c.speak(slices.Concat(said, silence))
		c.speak(make([]int16, 6*16000))
		got := c.take()
		wantKinds(t, got, "caller_transcript", "resumption", "audio", "generation_complete", "usage", "turn_complete",
			"resumption")
		if _, corr := audiotest.Align(parroted(said), pcmOf(got)); corr < 0.99 {
			t.Errorf("correlation %.3f", corr)
		}
		if before := playtime(audiotest.FirstLoud(pcmOf(got), 24000)); before < 100*time.Millisecond {
			t.Errorf("only %v from before the speech", before)
		}

		c.text("Greet the caller.") // and speak over it
		time.Sleep(time.Second)
		c.speak(slices.Concat(speech("over"), silence))
		got = c.after(5 * time.Second)
		wantKinds(t, got, "resumption", "audio", "interrupted", "usage", "turn_complete", "resumption",
			"caller_transcript", "resumption", "audio", "generation_complete", "usage", "turn_complete", "resumption")
		if at := first(t, got, live.ServerInterrupted).at - got[0].at; at > 2*time.Second {
			t.Errorf("interrupted %v after the greeting began", at)
		}
		c.end()
	})
}

// TestStreamEnd ends a turn without the silence.
func TestStreamEnd(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{Automatic: true})
		said := speech("over")
		c.speak(said[:len(said)-16000*3/10]) // without the silence at the end
		c.send(live.ClientMessage{Kind: live.ClientStreamEnd})
		if got := c.after(5 * time.Second); len(pcmOf(got)) == 0 {
			t.Errorf("no answer: %v", kinds(got))
		}
		c.end()
	})
}

// TestContent sends history, which interrupts, and is answered when it says so.
func TestContent(t *testing.T) {
	inWorld(t, sim.Config{FixedReply: make([]int16, 24000)}, func(w *world) {
		c := w.call(live.Setup{Model: sim.ModelName})
		turns := []live.Turn{{Role: "user", Text: "Hi."}}
		c.send(live.ClientMessage{Kind: live.ClientContent, Turns: turns})
		wantKinds(t, c.after(time.Second))
		c.send(live.ClientMessage{Kind: live.ClientContent, Turns: turns, TurnComplete: true})
		time.Sleep(100 * time.Millisecond)
		c.send(live.ClientMessage{Kind: live.ClientContent})
		wantKinds(t, c.after(3*time.Second), "resumption", "audio", "interrupted", "usage", "turn_complete", "resumption")
		c.end()
	})
}

// TestTranscripts are sent to who asks for them, in the configured words.
func TestTranscripts(t *testing.T) {
	tests := []struct {
		name          string
		cfg           sim.Config
		setup         live.Setup
		caller, model string
	}{
		{"default", sim.Config{}, live.Setup{}, "(0.9 s of speech)", "(0.9 s of speech)"},
		{"configured", sim.Config{CallerText: "a b c"}, live.Setup{}, "a b c", "a b c"},
		{"neither", sim.Config{}, live.Setup{NoCallerTranscript: true, NoModelTranscript: true}, "", ""},
		{"model's", sim.Config{CallerText: "x"}, live.Setup{NoCallerTranscript: true}, "", "x"},
	}
	tone := slices.Repeat([]int16{4000, -4000}, 16000*9/20)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, test.cfg, func(w *world) {
				c := w.call(test.setup)
				c.turn(tone)
				got := c.after(3 * time.Second)
				if text := textOf(got, live.ServerCallerTranscript); text != test.caller {
					t.Errorf("caller %q, want %q", text, test.caller)
				}
				if text := textOf(got, live.ServerModelTranscript); text != test.model {
					t.Errorf("model %q, want %q", text, test.model)
				}
				c.end()
			})
		})
	}
}

// TestResume continues a conversation on a second connection, once the first is gone.
func TestResume(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		c.turn(speech("over"))
		handle := ""
		got := c.after(5 * time.Second)
		before := first(t, got, live.ServerUsage).Usage
		for _, m := range got {
			if m.Kind == live.ServerResumption && m.Handle != "" {
				handle = m.Handle
			}
		}
		if _, err := w.wire.Dial(w.t.Context(), live.Setup{Handle: handle}); closeCode(err) != 1011 {
			t.Errorf("resuming what is still in use: %v; want 1011", err)
		}
		c.end()
		next := w.call(live.Setup{Handle: handle})
		next.turn(speech("over"))
		got = next.after(5 * time.Second)
		if u := first(t, got, live.ServerUsage).Usage; u.Response != before.Response ||
			u.Prompt != 2*before.Prompt+before.Response {
			t.Errorf("usage %+v; want a prompt with both questions and the first answer of %+v", u, before)
		}
		next.end()
		if _, err := w.wire.Dial(w.t.Context(), live.Setup{Handle: "nobody's"}); closeCode(err) != 1008 {
			t.Errorf("resuming nothing: %v; want 1008", err)
		}
	})
}

// TestFixedReply says the same to everything, after the configured time.
func TestFixedReply(t *testing.T) {
	fixed := parroted(speech("german"))
	inWorld(t, sim.Config{FixedReply: fixed, Latency: 700 * time.Millisecond}, func(w *world) {
		c := w.call(live.Setup{})
		for _, ask := range []func(){func() { c.text("Hi.") }, func() { c.turn(speech("over")) }} {
			ask()
			asked := time.Since(c.began)
			got := c.after(10 * time.Second)
			if !slices.Equal(pcmOf(got), fixed) {
				t.Errorf("%d samples, want the %d of the fixed reply", len(pcmOf(got)), len(fixed))
			}
			if d := first(t, got, live.ServerAudio).at - asked; d != 700*time.Millisecond {
				t.Errorf("the first audio came after %v", d)
			}
		}
		c.end()
	})
}

// TestOwnGreeting says other words than the built-in ones.
func TestOwnGreeting(t *testing.T) {
	inWorld(t, sim.Config{Greeting: parroted(speech("german")), GreetingText: "Guten Tag."}, func(w *world) {
		c := w.call(live.Setup{})
		c.text("Greet the caller.")
		got := c.after(10 * time.Second)
		if text := textOf(got, live.ServerModelTranscript); text != "Guten Tag." ||
			!slices.Equal(pcmOf(got), parroted(speech("german"))) {
			t.Errorf("greeted with %q and %d samples", text, len(pcmOf(got)))
		}
		c.end()
	})
}

// TestServerCloses ends calls politely, and twice.
func TestServerCloses(t *testing.T) {
	inWorld(t, sim.Config{}, func(w *world) {
		c := w.call(live.Setup{})
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		if e := c.lost(); e.Class != live.ClassEnded || e.Code != 1001 {
			t.Errorf("lost by %v", e)
		}
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		if _, err := w.wire.Dial(w.t.Context(), live.Setup{}); closeCode(err) != 503 {
			t.Errorf("dial a closed server: %v", err)
		}
	})
}
