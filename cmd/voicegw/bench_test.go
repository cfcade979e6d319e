package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio/opus"
	"github.com/voicegw/voicegw/bench"
)

// TestBench measures a few calls of each transport, and with each detection: every figure is there and
// can be true.
func TestBench(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct{ transport, detection string }{
		{bench.WebSocket, bench.ByGateway},
		{bench.WebSocket, bench.ByModel},
		{bench.WebRTC, bench.ByGateway},
		{bench.Twilio, bench.ByGateway},
	} {
		t.Run(kind.transport+" "+kind.detection, func(t *testing.T) {
			t.Parallel()
			r := startWith(t, noProof, nil, nil, "bench", "--transport", kind.transport, "--detection", kind.detection,
				"--calls", "3", "--seconds", "5", "--rounds", "1", "--seed", "1", "-o", "json").result()
			r.want(t, 0)
			got := benchReport(t, r.stdout)
			if got.Transport != kind.transport || got.Detection != kind.detection ||
				got.Calls != 3 || got.Seconds != 5 || got.Seed != 1 || got.Errors != 0 {
				t.Errorf("it is a report of something else, or of errors:\n%s", r.stdout)
			}
			plausible(t, got)
		})
	}
}

// benchReport reads a report, which must have every field of docs/performance.md.
func benchReport(t *testing.T, text string) (r bench.Report) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, field := range []string{"transport", "detection", "calls", "seconds", "gateway", "relay", "ratio", "added_ms",
		"interrupted_to_clear_ms", "speech_to_silence_ms", "speech_end_to_first_audio_ms", "late_frames", "errors"} {
		if !strings.Contains(text, `"`+field+`":`) {
			t.Errorf("there is no %s:\n%s", field, text)
		}
	}
	return r
}

// plausible wants figures that a machine can have, however busy it is.
func plausible(t *testing.T, r bench.Report) {
	t.Helper()
	within := func(what string, v *float64, low, high float64) {
		t.Helper()
		if v == nil || *v < low || *v > high {
			text, _ := json.MarshalIndent(r, "", "  ")
			t.Errorf("%s is not within %v and %v:\n%s", what, low, high, text)
		}
	}
	if r.Gateway == nil || r.Relay == nil || r.Ratio == nil || r.Added == nil || r.Added.Up == nil ||
		r.Added.Down == nil || r.EndToFirstAudio == nil {
		t.Fatalf("figures are missing: %+v", r)
	}
	within("the processor time of a call", r.Gateway.CPU, 0.1, 1000)
	within("the processor time of a relayed call", r.Relay.CPU, 0.1, 1000)
	within("their ratio", r.Ratio.CPU, 0.1, 100)
	within("the number of goroutines", r.Gateway.Goroutines, 5, 40)
	within("the number of a relayed call's", r.Relay.Goroutines, 1, 40)
	within("the time to the reply", &r.EndToFirstAudio.P50, 100, 10_000)
	if r.Added.Up.N < 10 || r.Added.Down.N < 1 {
		t.Errorf("%d frames and %d replies are too few", r.Added.Up.N, r.Added.Down.N)
	}
}

// TestBenchURL measures a gateway that runs already. What it cannot know is null.
func TestBenchURL(t *testing.T) {
	t.Parallel()
	s := startCostly(t, noProof)
	r := startWith(t, noProof, nil, nil, "bench", "--calls", "2", "--seconds", "6", "--rounds", "1", "--seed", "1",
		"--url", strings.Replace(s.url, "http", "ws", 1)+"v1/voice", "--metrics", s.admin+"metrics", "-o", "json").result()
	r.want(t, 0, `"relay": null`, `"ratio": null`, `"added_ms": null`, "there is no relay")
	got := benchReport(t, r.stdout)
	if got.Gateway == nil || got.Gateway.CPU == nil || got.EndToFirstAudio == nil || got.Errors != 0 {
		t.Errorf("figures are missing, or there are errors:\n%s", r.stdout)
	}
}

// TestBenchMistakes names the flag, its value and what it must be.
func TestBenchMistakes(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--calls is 0; want 1 to 2000":                           {"--calls", "0"},
		"--seconds is 3601; want 1 to 3600":                      {"--seconds", "3601"},
		"--rounds is -1; want 1 to 100":                          {"--rounds", "-1"},
		`--transport is "smoke"; want one of ws, webrtc, twilio`: {"--transport", "smoke"},
		`--codec is "pcmu" with --transport ws; it is for --tra`: {"--codec", "pcmu"},
		`--codec is "mp3"; want one of pcmu, opus`:               {"--transport", "webrtc", "--codec", "mp3"},
		`--detection is "me"; want one of gateway, model`:        {"--detection", "me"},
		"--seconds is 2, fewer than the 3 rounds":                {"--seconds", "2", "--rounds", "3"},
		`--metrics is "http://x" without --url`:                  {"--metrics", "http://x"},
		"--find-limit and --url exclude each other":              {"--find-limit", "--url", "ws://x"},
		"--target is 1µs; want 1ms to 10s":                       {"--target", "1us"},
		"want a part: gateway, relay or model":                   {"part", "trumpet"},
		"want the URL of the model":                              {"part", "relay"},
		"nothing is listening there; is the gateway running":     nil,
	} {
		if args == nil {
			command(t, nil, "bench", "--url", "ws://127.0.0.1:1/v1/voice").want(t, exitFailed, want)
			continue
		}
		command(t, nil, append([]string{"bench"}, args...)...).want(t, exitUsage, want)
	}
}

// TestBenchNoOpus refuses Opus where libopus is not built in, and says how to get it.
func TestBenchNoOpus(t *testing.T) {
	t.Parallel()
	if opus.HasEncoder {
		t.Skip("built with libopus")
	}
	command(t, nil, "bench", "--transport", "webrtc", "--codec", "opus").want(t, exitUsage,
		`--codec is "opus", but this program was built without libopus; build it with`, "make build-opus")
}
