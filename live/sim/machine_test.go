package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// newMachine is the model's side of connection id, without a wire.
func newMachine(t testing.TB, cfg Config, id int) *machine {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.machine(id, cfg.Faults, "/")
}

// step is a message at a time.
type step struct {
	at   time.Duration
	data string
}

func audioMessage(pcm []int16) string {
	data := base64.StdEncoding.EncodeToString(audio.AppendBytes(nil, pcm))
	return audioHead + data + audioTail + "16000" + audioEnd
}

// conversation greets, speaks a turn, and interrupts the answer.
func conversation() []step {
	script := []step{
		{0, `{"setup":{"model":"models/parrot","sessionResumption":{},"inputAudioTranscription":{},` +
			`"outputAudioTranscription":{},"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}}}`},
		{10 * time.Millisecond, `{"realtimeInput":{"text":"Greet the caller."}}`},
		{8 * time.Second, `{"realtimeInput":{"activityStart":{}}}`},
	}
	at := 8 * time.Second
	said := audiotest.Resample(audiotest.Speech("question"), inputRateHz).Samples
	for frame := range slices.Chunk(said, 320) {
		script = append(script, step{at, audioMessage(frame)})
		at += 20 * time.Millisecond
	}
	return append(script,
		step{at, `{"realtimeInput":{"activityEnd":{}}}`},
		step{at + time.Second, `{"realtimeInput":{"activityStart":{}}}`},
		step{at + 2*time.Second, `{"realtimeInput":{"activityEnd":{}}}`},
	)
}

// run plays a script, waking the machine whenever it wants but late by lateness, and returns
// everything it sent.
func (m *machine) run(script []step, lateness time.Duration) (trace []string) {
	take := func(at time.Duration) {
		for _, f := range m.out {
			trace = append(trace, fmt.Sprintf("%v %v %x", at.Round(time.Second), f.binary, sha256.Sum256(f.data)))
		}
		m.out = m.out[:0]
	}
	for _, s := range script {
		for m.wake() < s.at {
			m.advance(m.wake() + lateness)
			take(m.now)
		}
		m.receive(s.at, []byte(s.data))
		take(m.now)
	}
	for m.wake() != never {
		m.advance(m.wake() + lateness)
		take(m.now)
	}
	return trace
}

// TestSameScriptSameAnswer plays one script twice, with another seed, and on another connection.
func TestSameScriptSameAnswer(t *testing.T) {
	script := conversation()
	first := newMachine(t, Config{Seed: 7}, 1).run(script, 0)
	if len(first) < 50 {
		t.Fatalf("only %d messages", len(first))
	}
	if again := newMachine(t, Config{Seed: 7}, 1).run(script, 0); !slices.Equal(again, first) {
		t.Error("the same script gave another answer")
	}
	if other := newMachine(t, Config{Seed: 9}, 1).run(script, 0); slices.Equal(other, first) {
		t.Error("another seed gave the same answer")
	}
	if other := newMachine(t, Config{Seed: 7}, 3).run(script, 0); slices.Equal(other, first) {
		t.Error("another connection gave the same answer")
	}
}

// TestResumeWaits resumes a session whose connection is about to end: the setup waits for that,
// half a second at most.
func TestResumeWaits(t *testing.T) {
	const resume = `{"setup":{"model":"models/parrot","sessionResumption":{"handle":"h"}}}`
	for _, ends := range []time.Duration{100 * time.Millisecond, time.Second} {
		m := newMachine(t, Config{}, 2)
		owner := newRecorder(1, "/", false)
		m.store.put("h", session{owner: owner, turns: 5})
		m.receive(0, []byte(resume))
		for m.end == nil && m.wake() != never {
			if m.wake() >= ends {
				owner.closed(1000, "", true)
			}
			m.advance(m.wake())
		}
		if ends < resumeGrace && (!m.ready || m.turns != 5 || m.now < ends) {
			t.Errorf("the connection ends after %v: ready %v at %v, end %v", ends, m.ready, m.now, m.end)
		}
		if ends > resumeGrace && (m.end == nil || m.end.code != 1011 || m.now != resumeGrace) {
			t.Errorf("the connection ends after %v: end %v at %v", ends, m.end, m.now)
		}
	}
}

// sent plays a script and returns the audio and the names of the events.
func sent(t *testing.T, m *machine, script []step) (pcm []int16, events []string) {
	t.Helper()
	for i, s := range script {
		m.receive(s.at, []byte(s.data))
		next := never
		if i+1 < len(script) {
			next = script[i+1].at
		}
		for m.wake() < next {
			m.advance(m.wake())
		}
	}
	for _, f := range m.out {
		if rest, ok := bytes.CutPrefix(f.data, []byte(compactHead)); ok {
			le, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(string(rest), compactTail))
			if err != nil {
				t.Fatal(err)
			}
			pcm = audio.AppendSamples(pcm, le)
		}
	}
	for _, e := range m.rec.snapshot().Events {
		events = append(events, e.Name)
	}
	return pcm, events
}

// TestOtherRates hears speech at 8 and 48 kHz.
func TestOtherRates(t *testing.T) {
	for _, rateHz := range []int{8000, 48000} {
		said := audiotest.Resample(audiotest.Speech("over"), rateHz)
		message := strings.Replace(audioMessage(said.Samples), "16000", fmt.Sprint(rateHz), 1)
		pcm, _ := sent(t, newMachine(t, Config{}, 1), []step{
			conversation()[0], {0, `{"realtimeInput":{"activityStart":{}}}`}, {0, message},
			{time.Second, `{"realtimeInput":{"activityEnd":{}}}`},
		})
		want := audiotest.Resample(said, outputRateHz).Samples
		if _, corr := audiotest.Align(want, pcm); corr < 0.99 {
			t.Errorf("%d Hz: correlation %.3f of %d samples", rateHz, corr, len(pcm))
		}
	}
}

// TestNoInterruption lets the model finish, whatever the caller says.
func TestNoInterruption(t *testing.T) {
	setup := `{"setup":{"model":"models/parrot","realtimeInputConfig":{"activityHandling":"NO_INTERRUPTION",` +
		`"automaticActivityDetection":{"disabled":true}}}}`
	said := audiotest.Resample(audiotest.Speech("over"), inputRateHz).Samples
	greeting := make([]int16, 3*outputRateHz)
	pcm, events := sent(t, newMachine(t, Config{Greeting: greeting}, 1), []step{
		{0, setup}, {0, `{"realtimeInput":{"text":"x"}}`},
		{100 * time.Millisecond, `{"realtimeInput":{"activityStart":{}}}`},
		{100 * time.Millisecond, audioMessage(said)},
		{200 * time.Millisecond, `{"realtimeInput":{"activityEnd":{}}}`},
	})
	if slices.Contains(events, "interrupted") || len(pcm) < len(greeting)+len(said)*3/2 {
		t.Errorf("%d samples, events %v", len(pcm), events)
	}
}

// TestLatenessDoesNotAddUp wakes the machine 3 ms late each time: the pace of the reply stays.
func TestLatenessDoesNotAddUp(t *testing.T) {
	script := conversation()[:2]
	punctual, late := newMachine(t, Config{}, 1), newMachine(t, Config{}, 1)
	punctual.run(script, 0)
	late.run(script, 3*time.Millisecond)
	if d := late.now - punctual.now; d < 0 || d > 10*time.Millisecond {
		t.Errorf("the turn ended %v later", d)
	}
}

// TestGreetingFile has the length and the level it should have.
func TestGreetingFile(t *testing.T) {
	if len(greetingWAV) > 130_000 {
		t.Errorf("greeting.wav has %d bytes", len(greetingWAV))
	}
	pcm, err := greeting()
	if err != nil {
		t.Fatal(err)
	}
	if d := playtime(len(pcm)); d < 5*time.Second || d > 7*time.Second {
		t.Errorf("the greeting is %v long", d)
	}
	if level := audio.DBFS(audio.RMS(pcm)); level < -35 || level > -10 {
		t.Errorf("the greeting has %.1f dBFS", level)
	}
}

// TestMuLaw compares a few codes with ITU-T G.711.
func TestMuLaw(t *testing.T) {
	for code, want := range map[byte]int16{0xff: 0, 0x7f: 0, 0xfe: 8, 0x7e: -8, 0x80: 32124, 0x00: -32124, 0xf0: 120} {
		if got := muLaw(code); got != want {
			t.Errorf("%#x is %d, want %d", code, got, want)
		}
	}
	for _, wav := range [][]byte{nil, greetingWAV[:11], greetingWAV[:40], bytes.Repeat([]byte("RIFF"), 10),
		append([]byte("RIFF0000WAVEdata\x01\x00\x00\x00"), 0)} {
		if _, err := decodeMuLaw(wav); err == nil {
			t.Errorf("%.40q is taken", wav)
		}
	}
}

// TestDialects compares the two dialects.
func TestDialects(t *testing.T) {
	pcm := []int16{1, -2, 300}
	for _, f := range []func(dialect) frame{
		func(d dialect) frame { return d.audio(pcm) },
		func(d dialect) frame { return d.turnComplete(usage{1, 2}) },
		func(d dialect) frame { return d.goAway(9500 * time.Millisecond) },
		func(d dialect) frame { return d.transcript("inputTranscription", `a "b" <c>`) },
		func(d dialect) frame { return d.resumption("h") },
		func(d dialect) frame { return d.resumption("") },
	} {
		text, binary := f(dialect{}), f(dialect{binary: true})
		var a, b bytes.Buffer
		if json.Compact(&a, text.data) != nil || json.Compact(&b, binary.data) != nil || text.binary || !binary.binary {
			t.Fatalf("no JSON: %s, %s", text.data, binary.data)
		}
		if got := strings.Replace(a.String(), `"role":"model",`, "", 1); got != b.String() {
			t.Errorf("%s is not %s", a.String(), b.String())
		}
		if !bytes.Contains(binary.data, []byte("\n  ")) || bytes.Contains(text.data, []byte("\n")) {
			t.Errorf("spacing of %s and %s", text.data, binary.data)
		}
	}
}

// FuzzParse holds the short cut for audio to what the grammar says, and the grammar to never
// failing.
func FuzzParse(f *testing.F) {
	f.Add([]byte(audioMessage([]int16{1, 2, 3})))
	f.Add([]byte(`{"realtime_input":{"audio":{"mime_type":"audio/pcm;rate=48000","data":"-_8="}}}`))
	for _, s := range conversation()[:3] {
		f.Add([]byte(s.data))
	}
	grammar := clientGrammar()
	f.Fuzz(func(t *testing.T, data []byte) {
		quick, ok := parseAudio(data)
		slow, refused := parse(append([]byte(" "), data...), grammar)
		if !ok {
			if refused != nil && (refused.code < 1000 || len(refused.reason) > reasonBytesMax) {
				t.Fatalf("refused with %+v", refused)
			}
			return
		}
		if refused != nil || slow.verb != verbAudio || !bytes.Equal(slow.pcm, quick.pcm) || slow.rateHz != quick.rateHz {
			t.Fatalf("quick %+v, slow %+v %+v", quick, slow, refused)
		}
	})
}

// FuzzConversation sends anything after a setup; the machine must keep its limits and come to rest.
func FuzzConversation(f *testing.F) {
	setup := []byte(conversation()[0].data)
	const start, end = `{"realtimeInput":{"activityStart":{}}}`, `{"realtimeInput":{"activityEnd":{}}}`
	f.Add(`{"realtimeInput":{"text":"x"}}`, start, `{"clientContent":{"turnComplete":true}}`)
	f.Add(start, audioMessage(make([]int16, 320)), end)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		m := newMachine(t, Config{Greeting: make([]int16, 2400)}, 1)
		m.receive(0, setup)
		for i, data := range []string{a, b, c} {
			m.receive(time.Duration(i)*50*time.Millisecond, []byte(data))
		}
		for range 1000 {
			if m.wake() == never || m.end != nil {
				return
			}
			m.advance(m.wake())
		}
		t.Fatal("it does not come to rest")
	})
}

// TestAudioJoinsReply lets audio come to a reply whose words are all said
// already: they stay said.
func TestAudioJoinsReply(t *testing.T) {
	t.Parallel()
	r := newReply(0, make([]int16, 100), "a b c d e f")
	r.chunk(100)
	if text := r.fragment(); text != "a b c d e f" {
		t.Errorf("the words were %q", text)
	}
	r.pcm = append(r.pcm, make([]int16, 100)...)
	if text := r.fragment(); text != "" {
		t.Errorf("after them came %q", text)
	}
}
