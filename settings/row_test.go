package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/voicenets"
)

// TestRows wants a default, limits and texts of every row, and three names that no other row has.
func TestRows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rows() {
		if r.Kind == "" || r.Default == "" || r.Doc == "" || r.Want == "" || r.Words == nil && r.Max == "" {
			t.Errorf("%s lacks something: %+v", r.Key, r)
		}
		if strings.HasSuffix(r.Doc, ".") || strings.Count(r.Key, ".") > 1 {
			t.Errorf("%s: %s", r.Key, r.Doc)
		}
		for _, name := range []string{r.Key, r.Env(), r.Flag(), r.oldKey} {
			if seen[name] && name != "" && name != r.Flag() {
				t.Errorf("%s is the name of two settings", name)
			}
			seen[name] = true
		}
	}
}

// another returns a valid value that is not the row's default.
func another(r Row) string {
	switch {
	case r.Kind == Word, r.Key == "endpoints":
		return r.Words[slices.IndexFunc(r.Words, func(w string) bool { return w != r.Default })]
	case r.Kind == Bool:
		return map[bool]string{true: "false", false: "true"}[r.Default == "true"]
	case r.Max == r.Default:
		return r.Min
	case r.Kind == Number, r.Kind == Score, r.Kind == Time:
		return r.Max
	}
	return map[string]string{
		"listen": "localhost:0", "hosts": "a.example", "origins": "https://a.example", "admin.listen": "localhost:1",
		"tls.acme_hosts": "a.example", "tls.acme_directory": "https://a.example/dir", "webrtc.listen": "localhost:2",
		"webrtc.public_ips": "203.0.113.7", "webrtc.ice_servers": "stun:stun.example.com:3478",
		"webrtc.turn_servers": "turn:a.example",
		"twilio.public_url":   "https://a.example", "twilio.after_url": "https://a.example", "twilio.targets": "a=1",
		"asterisk.ari_url": "http://a.example", "asterisk.targets": "a=1", "handoff.targets": "a=1",
		"keys.consent": "A", "keys.protect": "B", "keys.protect_end": "C",
		"webhooks.begin_url": "https://a.example",
		"webhooks.end_url":   "https://a.example", "webhooks.digits_url": "https://a.example",
		"access.jwks":           "https://a.example/keys",
		"prompts.notify":        "x.wav",
		"otel.endpoint":         "https://a.example",
		"session.client_voices": "Puck", "session.client_models": "all", "session.client_tools": "none",
		"webhooks.begin_models": "all",
		"model.temperature":     "0.7",
		"prompts.filler":        "default", "journal": "nats://a.example:4222", "advertise": "http://a.example",
		"workflow.public_url": "http://a.example",
		"cluster.listen":      "a.example:6222", "cluster.routes": "a.example:6222",
	}[r.Key]
}

// TestEveryRowChangesSomething stores a value that is not the default, and wants other settings
// then. Without the values of its own, or with the default, nothing differs.
func TestEveryRowChangesSomething(t *testing.T) {
	t.Parallel()
	for i, r := range Rows() {
		s, same := newSettings(), newSettings()
		text := another(r)
		if text == "" {
			text = "none" // any text
		}
		if !s.rows[i].store(value{text: text}) {
			t.Errorf("%s: %q is refused; want %s", r.Key, text, r.Want)
		}
		if r.literal && !same.rows[i].store(value{text: r.Default}) {
			t.Errorf("%s: its default %q is refused", r.Key, r.Default)
		}
		s.rows, same.rows = nil, nil
		if plain := bare(); reflect.DeepEqual(s, plain) {
			t.Errorf("%s: %q changes nothing", r.Key, text)
		} else if r.literal && !reflect.DeepEqual(same, plain) {
			t.Errorf("%s: its default changes something", r.Key)
		}
	}
}

// bare returns the defaults without the rows, for comparisons.
func bare() *Settings {
	s := newSettings()
	s.rows = nil
	return s
}

// TestThreeNames gives each setting by all three of its names.
func TestThreeNames(t *testing.T) {
	t.Parallel()
	for _, r := range Rows() {
		text := another(r)
		if r.Kind != Number && r.Kind != Time || strings.HasSuffix(r.Key, "frames") || strings.HasSuffix(r.Key, "window") {
			continue
		}
		section, name, nested := strings.Cut(r.Key, ".")
		file := r.Key + ": " + text
		if nested {
			file = section + ": {" + name + ": " + text + "}"
		}
		want := newSettings()
		want.rows[slices.IndexFunc(want.rows, func(o Row) bool { return o.Key == r.Key })].store(value{text: text})
		for _, given := range []struct {
			file string
			env  []string
			args []string
		}{{file, nil, nil}, {"", []string{r.Env() + "=" + text}, nil}, {"", nil, []string{"--" + r.Flag() + "=" + text}}} {
			s, err := configured(t, given.file, given.env, given.args...)
			if err != nil {
				t.Errorf("%+v: %v", given, err)
				continue
			}
			s.rows, s.Notes, want.rows, s.given, s.files = nil, nil, nil, nil, nil // how it was given is told apart
			if !reflect.DeepEqual(s, want) {
				t.Errorf("%+v: %+v", given, s)
			}
		}
	}
}

// TestLimitsAreThoseOfTheNet wants the limits of the rows to be those that package voicenets has:
// it takes every value that a row takes, and refuses those that it refuses.
func TestLimitsAreThoseOfTheNet(t *testing.T) {
	t.Parallel()
	for i, r := range Rows() {
		if !strings.HasPrefix(r.Key, "timing.") {
			continue
		}
		for text, step := range map[string]time.Duration{r.Min: -audio.FrameDuration, r.Max: audio.FrameDuration} {
			limit, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			if limit+step == 0 {
				step = -2 * audio.FrameDuration // zero means the default there
			}
			for _, c := range []struct {
				value time.Duration
				ok    bool
			}{{limit, true}, {limit + step, false}} {
				s := newSettings()
				took := s.rows[i].store(value{text: c.value.String()})
				_, err := s.gateway.Net.Filled()
				if took != c.ok || (err == nil) != c.ok {
					t.Errorf("%s: %v: taken %v; voicenets says %v", r.Key, c.value, took, err)
				}
			}
		}
	}
}

// TestDefaultsAreThoseOfTheNet wants the rows' defaults to be those of package voicenets.
func TestDefaultsAreThoseOfTheNet(t *testing.T) {
	t.Parallel()
	want, err := voicenets.Config{}.Filled()
	if err != nil {
		t.Fatal(err)
	}
	got, err := newSettings().gateway.Net.Filled()
	if err != nil || !reflect.DeepEqual(timesOf(got), timesOf(want)) {
		t.Errorf("%v, %+v, want %+v", err, got, want)
	}
	if newSettings().gateway.Net.ReplyFramesMax != want.ReplyFramesMax || Parrot != sim.ModelName {
		t.Error("other defaults")
	}
}

// TestEveryTimeIsASetting wants a row for every length of time, and every count of frames, of the
// net.
func TestEveryTimeIsASetting(t *testing.T) {
	t.Parallel()
	set := map[string]bool{}
	was := timesOf(bare().gateway.Net)
	for i, r := range Rows() {
		s := newSettings()
		s.rows[i].store(value{text: another(r)})
		for name, d := range timesOf(s.gateway.Net) {
			set[name] = set[name] || d != was[name]
		}
	}
	for name := range was {
		if !set[name] {
			t.Errorf("no setting sets voicenets.Config.%s", name)
		}
	}
	if len(was) < 30 {
		t.Errorf("only %d times were found", len(was))
	}
}

// timesOf returns the lengths of time and counts of frames of a session's configuration, by their
// names.
func timesOf(c voicenets.Config) map[string]int64 {
	times := map[string]int64{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch d := v.Field(i).Interface().(type) {
		case time.Duration:
			times[name] = int64(d)
		case [3]time.Duration:
			for j := range d {
				times[fmt.Sprintf("%s[%d]", name, j)] = int64(d[j])
			}
		case int:
			if strings.Contains(name, "Frames") {
				times[name] = int64(d)
			}
		}
	}
	return times
}

// TestSpeechLimits wants the counts that package audio takes to be taken.
func TestSpeechLimits(t *testing.T) {
	t.Parallel()
	for _, start := range []int{1, 3, 4, 5, 64} {
		for _, window := range []int{1, 4, 30, 64} {
			for _, raised := range []int{1, 3, 34, 38, 64} {
				_, err := configured(t, fmt.Sprintf("speech: {start_frames: %d, start_window: %d, raised_start_frames: %d}",
					start, window, raised), nil)
				_, want := audio.NewActivity(audio.ActivityConfig{StartFrames: start, StartWindow: window,
					RaisedStartFrames: raised})
				if (err == nil) != (want == nil) {
					t.Errorf("start %d of %d, raised %d: %v; audio says %v", start, window, raised, err, want)
				}
			}
		}
	}
}

// TestFreshDocs holds the table and the example of docs/configuration.md to the rows.
func TestFreshDocs(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "docs", "configuration.md")
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| key | default | purpose | valid values |\n|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`)
	for _, r := range Rows() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Key, cell.Replace(r.Default), cell.Replace(r.Doc),
			cell.Replace(r.Want))
	}
	table := regexp.MustCompile(`(?s)(<!-- settings: .*?-->\n).*?(<!-- end of settings -->)`)
	fresh := table.ReplaceAll(doc, []byte("${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}"))
	if !slices.Equal(doc, fresh) {
		if !*update {
			t.Errorf("%s is out of date: go test ./settings -run Fresh -update", name)
		} else if err := os.WriteFile(name, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	if example == nil {
		t.Fatal("there is no example")
	}
	if _, err := configured(t, string(example[1]), []string{"GEMINI_API_KEY=k"}); err != nil {
		t.Errorf("the example: %v", err)
	}
}

// FuzzFile wants any file to be taken or refused.
func FuzzFile(f *testing.F) {
	f.Add("listen: :0\ntiming: {frame_gap: 1s}")
	f.Add("a: &a [*a]\nhosts: *a")
	f.Add("model:\n  ? [x]\n  : y")
	f.Add("instructions: {a: &b x, <<: *b}")
	f.Add("access: {cpu_max: 100, address_bytes_per_minute: 0}\ndoors: [x]\ndetection: manual")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := configured(t, text+" ", nil)
		if (s == nil) == (err == nil) {
			t.Errorf("settings %v and error %v", s, err)
		}
	})
}
