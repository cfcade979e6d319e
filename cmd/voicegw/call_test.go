package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// speech writes a recording of audiotest to a file.
func speech(t *testing.T, name string) string {
	t.Helper()
	return writeFile(t, name+".wav", audiotest.SpeechWAV(name))
}

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// report is what `call --json` prints. Its fields are those the documentation names.
type report struct {
	ConnectedMS      *int64   `json:"connected_ms"`
	Turns            *int     `json:"turns"`
	FirstAudioMS     *[]int64 `json:"first_audio_ms"`
	Interruptions    *int     `json:"interruptions"`
	BargeInSilenceMS *[]int64 `json:"barge_in_silence_ms"`
	FramesSent       *int     `json:"frames_sent"`
	FramesReceived   *int     `json:"frames_received"`
	FramesCleared    *int     `json:"frames_cleared"`
	Closed           *string  `json:"closed"`
}

// parseReport reads the one object that was printed; every field must be there.
func parseReport(t *testing.T, stdout string) report {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: %q", err, stdout)
	}
	if r.ConnectedMS == nil || r.Turns == nil || r.FirstAudioMS == nil || r.Interruptions == nil ||
		r.BargeInSilenceMS == nil || r.FramesSent == nil || r.FramesReceived == nil || r.FramesCleared == nil ||
		r.Closed == nil {
		t.Fatalf("a field is missing or null: %s", stdout)
	}
	return r
}

// heard reads a WAV that `call --out` wrote.
func heard(t *testing.T, path string) audio.PCM {
	t.Helper()
	pcm, err := readWAV(path)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// match is how well what was heard is a recording.
func match(t *testing.T, name string, pcm audio.PCM) (corr float64, holes int) {
	t.Helper()
	ref := audiotest.Resample(audiotest.Speech(name), pcm.RateHz)
	parts := audiotest.Utterances(ref.Samples, ref.RateHz, 400*time.Millisecond)
	if len(parts) != 1 {
		t.Fatalf("%s has %d utterances", name, len(parts))
	}
	said := ref.Samples[parts[0][0]:parts[0][1]]
	lag, corr := audiotest.Align(said, pcm.Samples)
	return corr, audiotest.Holes(said, audiotest.Shift(pcm.Samples, lag, len(said)), pcm.RateHz)
}

// inRealTime tells a story up to three times. A machine that stops us for longer than the 40 ms
// that a player has in hand makes a gap which is nobody's fault; the stories of package voicegw,
// which have no real clock, allow none.
func inRealTime(t *testing.T, story func() error) {
	t.Helper()
	for n := 1; ; n++ {
		err := story()
		switch {
		case err == nil:
			return
		case n == 3:
			t.Fatal(err)
		}
		t.Logf("once more, because %v", err)
	}
}

// TestCallHearsItsOwnWords is the whole path: WAV, gateway, model and back.
func TestCallHearsItsOwnWords(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{"VOICEGW_GREETING="})
	in, out := speech(t, "question"), filepath.Join(t.TempDir(), "heard.wav")
	inRealTime(t, func() error {
		r := command(t, nil, "call", "--url", s.voiceURL, "--in", in, "--out", out, "--json")
		r.want(t, 0)
		got := parseReport(t, r.stdout)
		if *got.Turns != 1 || len(*got.FirstAudioMS) != 1 || *got.Interruptions != 0 ||
			*got.Closed != "caller_hung_up" || *got.FramesSent < 100 || *got.FramesReceived < 100 ||
			*got.FramesCleared != 0 {
			return fmt.Errorf("the call was %s", r.stdout)
		}
		pcm := heard(t, out)
		corr, holes := match(t, "question", pcm)
		other, _ := match(t, "hello", pcm)
		t.Logf("correlation %.3f, with another recording %.3f; %s", corr, other, strings.TrimSpace(r.stdout))
		if corr < 0.98 || holes > 0 || other > 0.7 {
			return fmt.Errorf("correlation %.3f with %d holes; with another recording %.3f", corr, holes, other)
		}
		return nil
	})
	s.end()
}

// TestCallGreetingAndBargeIn runs a model in a process of its own, which greets with a recording,
// and speaks over its reply.
func TestCallGreetingAndBargeIn(t *testing.T) {
	t.Parallel()
	m := start(t, nil, "sim", "--listen", "127.0.0.1:0", "--greeting", speech(t, "hello"), "--seed", "7")
	url, ok := strings.CutPrefix(m.line(), "the embedded model is at ")
	if !ok {
		t.Fatal("sim prints no URL")
	}
	s := startServe(t, []string{"VOICEGW_GREETING=Greet."}, "--model-base-url", url)
	out := filepath.Join(t.TempDir(), "heard.wav")
	args := []string{"call", "--url", s.voiceURL, "--in", speech(t, "long"), "--barge-in", speech(t, "over") + "@2s",
		"--out", out, "--max", "40s"}
	inRealTime(t, func() error {
		r := command(t, nil, args...)
		r.want(t, 0, "model gemini", "closed       caller_hung_up", "written to "+out)
		if !strings.Contains(r.stdout, "interrupted  1, silent ") {
			return fmt.Errorf("the call was\n%s", r.stdout)
		}
		if corr, holes := match(t, "hello", heard(t, out)); corr < 0.98 || holes > 0 {
			return fmt.Errorf("the greeting: correlation %.3f with %d holes", corr, holes)
		}
		return nil
	})
	s.end()
	m.signal(os.Interrupt)
	if code, _ := m.wait(); code != 0 {
		t.Errorf("sim: exit code %d\n%s", code, m.stderr.String())
	}
}

// faultyModel starts an embedded model in the test, to misbehave.
func faultyModel(t *testing.T, cfg sim.Config) string {
	t.Helper()
	m, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m.URL()
}

// dies is a model that breaks in its first reply and does not come back.
func dies(t *testing.T) *sim.Scenario {
	t.Helper()
	const script = "connection 1\non chunk 3: drop\nconnection 2-\non setup: close 1011 Internal error."
	s, err := sim.ParseScenario("dies", script)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCallModelTrouble wants the person who called to be told what is wrong with the model.
func TestCallModelTrouble(t *testing.T) {
	t.Parallel()
	const key, wrong = "sim-key-that-is-right", "sim-key-that-is-wrong"
	for _, c := range []struct {
		name  string
		model sim.Config
		words []string
	}{
		{"refused key", sim.Config{APIKey: key}, []string{"refused the API key", "model_refused"}},
		{"no answer to the setup", sim.Config{APIKey: wrong, Faults: sim.Faults{NoSetupComplete: true}},
			[]string{"did not answer", "1s", "model_timeout"}},
		{"dies in mid-reply, for good", sim.Config{APIKey: wrong, Scenario: dies(t)},
			[]string{"model_lost", `"closed":"model_lost"`, "the gateway ended the call"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startServe(t, []string{"GEMINI_API_KEY=" + wrong, "VOICEGW_GREETING=Hi."},
				"--model-base-url", faultyModel(t, c.model), "--limits-dial-timeout", "1s")
			r := command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "hello"), "--json")
			r.want(t, exitFailed, c.words...)
			s.end()
			if all := r.stdout + r.stderr + s.stderr.String(); strings.Contains(all, wrong) {
				t.Errorf("the key is shown:\n%s", all)
			}
		})
	}
}

func TestCallBadInput(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	_ = free.Close()
	s := startServe(t, nil)
	t.Cleanup(s.end)
	good, dir := speech(t, "hello"), t.TempDir()
	float := bytes.Clone(audiotest.SpeechWAV("hello"))
	copy(float[20:], []byte{3, 0}) // the format: IEEE float
	args := func(list ...string) []string { return append([]string{"call"}, list...) }
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		words []string
	}{
		{"no --in", args(), 2, []string{"--in is missing"}},
		{"an argument", args("x.wav"), 2, []string{`not "x.wav"`}},
		{"unknown flag", args("--bargein", "x"), 2, []string{"--bargein", "did you mean --barge-in?"}},
		{"no such WAV", args("--in", "nope.wav"), 1, []string{"--in: open nope.wav: no such file"}},
		{"no WAV", args("--in", writeFile(t, "a.flac", []byte("fLaC is something else"))), 1,
			[]string{"a.flac", "not a WAV file", "FLAC"}},
		{"float WAV", args("--in", writeFile(t, "float.wav", float)), 1, []string{"float.wav", "float", "16-bit PCM"}},
		{"barge-in without time", args("--in", good, "--barge-in", good), 2, []string{"FILE@TIME"}},
		{"barge-in of nothing", args("--in", good, "--barge-in", "nope.wav@2s"), 1, []string{"--barge-in: open nope.wav"}},
		{"echo", args("--in", good, "--echo", "120ms"), 2, []string{`"120ms"`, "120ms,-15dB"}},
		{"max", args("--in", good, "--max", "2h"), 2, []string{"--max is 2h0m0s", "at most 1h"}},
		{"out", args("--in", good, "--out", dir), 1, []string{"--out: ", dir, "is a directory"}},
		{"scheme", args("--in", good, "--url", "ftp://localhost/"), 1, []string{`"ftp"`, "ws or wss"}},
		{"not a URL", args("--in", good, "--url", "localhost"), 1, []string{`"localhost"`, "ws://"}},
		{"nobody there", args("--in", good, "--url", "ws://"+nobody+"/v1/voice"), 1,
			[]string{nobody, "nothing is listening", "is the gateway running"}},
		{"another server", args("--in", good, "--url", "ws"+strings.TrimPrefix(other.URL, "http")), 1, []string{"404"}},
		{"another path", args("--in", good, "--url", strings.Replace(s.voiceURL, "voice", "voices", 1)), 1, []string{"404"}},
		{"no TLS there", args("--in", good, "--url", strings.Replace(s.voiceURL, "ws:", "wss:", 1)), 1, []string{"ws://"}},
		{"instructions", args("--in", good, "--url", s.voiceURL, "--instructions", "pirate"), 1,
			[]string{"instructions", "bad_hello"}},
		{"detection", args("--in", good, "--detection", "auto"), 2,
			[]string{`--detection is "auto"; want one of gateway, model, push`}},
		{"manual", args("--in", good, "--detection", "manual"), 2, []string{"want gateway, the new name of manual"}},
		{"server", args("--in", good, "--detection", "server"), 2, []string{"want model, the new name of server"}},
		{"certificate", args("--in", good, "--tls-ca", writeFile(t, "ca.pem", []byte("none"))), 2,
			[]string{"--tls-ca", "no certificate in PEM"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := command(t, nil, c.args...)
			r.want(t, c.code, append(c.words, "voicegw call: ")...)
			if r.stdout != "" {
				t.Errorf("on stdout: %q", r.stdout)
			}
		})
	}
}

// TestCallDetection asks for each detection by the name that the setting has, and holds the button of push to talk.
func TestCallDetection(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]transport.Detection{"": transport.DetectionDefault,
		"gateway": transport.DetectionGatewayVAD, "model": transport.DetectionModelVAD, "push": transport.DetectionPush} {
		if got, err := detection(value); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", value, got, err, want)
		}
	}
	s := startServe(t, []string{"VOICEGW_GREETING="})
	inRealTime(t, func() error {
		r := command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "hello"), "--detection", "push", "--json")
		r.want(t, 0)
		if got := parseReport(t, r.stdout); *got.Turns != 1 || len(*got.FirstAudioMS) != 1 {
			return fmt.Errorf("the call was %s", r.stdout)
		}
		return nil
	})
	s.end()
}

// TestCallReplacesOutput wants nothing of a longer recording to be left behind the new one.
func TestCallReplacesOutput(t *testing.T) {
	t.Parallel()
	name := speech(t, "long")
	out, err := createOutput(name)
	if err != nil {
		t.Fatal(err)
	}
	want := audio.PCM{RateHz: 8000, Samples: []int16{1, 2, 3}}
	if err := out.write(want); err != nil {
		t.Fatal(err)
	}
	out.abandon()
	info, err := os.Stat(name)
	if got := heard(t, name); err != nil || !slices.Equal(got.Samples, want.Samples) || info.Size() > 100 {
		t.Errorf("%d bytes, %d samples", info.Size(), len(got.Samples))
	}
}

// TestCallLeavesOutputAlone wants a call that does not come about to leave a file as it was, or not
// there.
func TestCallLeavesOutputAlone(t *testing.T) {
	t.Parallel()
	old, none := writeFile(t, "old.wav", []byte("precious")), filepath.Join(t.TempDir(), "new.wav")
	for _, out := range []string{old, none} {
		command(t, nil, "call", "--in", speech(t, "hello"), "--url", "ws://127.0.0.1:1/v1/voice", "--out", out).want(t, 1)
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a file was left behind: %v", err)
	}
}
