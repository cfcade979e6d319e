package main

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/voicenets"
)

// documentedValues are those that the words about a setting name: "wire or sdk", "any of webrtc, ...", "from 20ms to
// 2s", "such as de-DE", and what is in quotes.
func documentedValues(s setting) []string {
	list := []string{}
	for _, pattern := range []string{`"([^"]+)"`, `such as ([^\s,";]+)`, `from (\S+) to ([^\s,]+)`,
		`^(\w+)(?:, (\w+))*? or (\w+)$`, `^(0), or`, `at most (\d+)$`} {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s.want, -1) {
			list = append(list, m[1:]...)
		}
	}
	words := regexp.MustCompile(`^(?:any of )?(\w+(?:, \w+)+)(?: or \w+)?$`)
	if m := words.FindStringSubmatch(s.want); m != nil {
		list = append(list, strings.Split(m[1], ", ")...)
	}
	if s.kind == "number" || s.kind == "time" {
		list = append(list, s.def)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(v string) bool { return v == "" })
}

// besides is what else must be set for a documented value to make sense.
func besides(key string) []string {
	switch key {
	case "speech.start_frames":
		return []string{"--speech-start-window=64", "--speech-raised-start-frames=1"}
	case "speech.start_window":
		return []string{"--speech-start-frames=1", "--speech-raised-start-frames=1"}
	case "speech.raised_start_frames":
		return []string{"--speech-start-window=3"}
	case "speech.confirm_frames":
		return []string{"--speech-confirm-window=64"}
	case "speech.confirm_window":
		return []string{"--speech-confirm-frames=1"}
	case "vertex.project":
		return []string{"--vertex-location=global", "--model-name=m"}
	case "vertex.location":
		return []string{"--vertex-project=p", "--model-name=m"}
	}
	return nil
}

// TestEveryDocumentedValue starts a gateway, up to the proof of its nets, with each value that the documentation of a
// setting names.
func TestEveryDocumentedValue(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, s := range settings() {
		for _, v := range documentedValues(s) {
			tried++
			args := append([]string{"--show-net=false"}, besides(s.key)...) // the drawing takes longest
			args = append(args, "--"+s.flag()+"="+v)
			o, err := configured(t, "", []string{"GEMINI_API_KEY=k"}, args...)
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			if o.model.project != "" {
				continue // its credentials are not here
			}
			if err := opened(o); err != nil {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d values were tried; the documentation names more", tried)
	}
}

// opened compiles the nets of a gateway and opens its doors, but does not listen.
func opened(o *options) error {
	m, err := openModel(o)
	if err != nil {
		return err
	}
	defer func() { _ = m.close() }()
	s, err := newServing(o, m, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { _ = s.gw.Close() }()
	if err := s.open(); err != nil {
		return err
	}
	return s.protocols.Close()
}

// TestDocumentedWords wants the values to be found in the words.
func TestDocumentedWords(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		want, ok := map[string][]string{
			"listen":         {"127.0.0.1:8080"},
			"origins":        {"*", "https://example.com"},
			"show_net":       {"false", "true"},
			"doors":          {"asterisk", "gemini", "openai", "rtvi", "twilio", "webrtc"},
			"log.level":      {"debug", "error", "info", "warn"},
			"model.dialer":   {"sdk", "wire"},
			"prompts.filler": {"default", "none"}, "prompts.notify": {"none"},
			"timing.budget":                   {"20ms", "2s", "400ms"},
			"speech.threshold":                {"0.5", "100"},
			"access.address_bytes_per_minute": {"0", "1000000000", "60"},
		}[s.key]
		if got := documentedValues(s); ok && !slices.Equal(got, want) {
			t.Errorf("%s, %q: %q, want %q", s.key, s.want, got, want)
		}
	}
}

// TestIdleSettings starts with settings that have no effect, and says so.
func TestIdleSettings(t *testing.T) {
	t.Parallel()
	o, err := configured(t, "", nil, "--prompts-filler=default", "--prompts-reprompt=none", "--timing-consent-wait=5s")
	if err != nil {
		t.Fatal(err)
	}
	if err := opened(o); err != nil {
		t.Error(err)
	}
	notes := strings.Join(o.notes, "\n")
	for _, want := range []string{
		"prompts.filler (from --prompts-filler) has no effect: session.tools_file names no tools",
		"prompts.reprompt (from --prompts-reprompt) has no effect: timing.reprompt_after is 0",
		"timing.consent_wait (from --timing-consent-wait) has no effect: session.consent is false",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("not noted: %s\n%s", want, notes)
		}
	}
	o, err = configured(t, "", nil, "--prompts-filler=default", "--session-tools-file=x", "--timing-reprompt-after=9s",
		"--prompts-reprompt=none", "--session-consent", "--timing-consent-wait=5s")
	if err != nil || len(o.notes) > 0 {
		t.Errorf("%v, %q", err, o.notes)
	}
}

// TestServeWithAFiller proves and serves with a filler, although there is no tool to bridge.
func TestServeWithAFiller(t *testing.T) {
	t.Parallel()
	s := startServe(t, nil, "--prompts-filler=default")
	s.end()
	if said := s.stderr.String(); !strings.Contains(said, "prompts.filler (from --prompts-filler) has no effect") {
		t.Errorf("it said %q", bytes.TrimSpace([]byte(said)))
	}
}

// TestEveryTimeIsASetting wants a setting for every length of time of the net.
func TestEveryTimeIsASetting(t *testing.T) {
	t.Parallel()
	set := map[string]bool{}
	for _, s := range settings() {
		if s.kind != "time" {
			continue
		}
		before, after := newOptions(settings()), newOptions(settings())
		for _, v := range documentedValues(s) {
			s.store(after, value{text: v})
			was, is := timesOf(before.timing), timesOf(after.timing)
			for name, d := range is {
				set[name] = set[name] || d != was[name]
			}
		}
	}
	for name := range timesOf(voicenets.Config{}) {
		if !set[name] {
			t.Errorf("no setting sets voicenets.Config.%s", name)
		}
	}
}

// timesOf are the lengths of time of a session's configuration, by their names.
func timesOf(c voicenets.Config) map[string]time.Duration {
	times := map[string]time.Duration{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch d := v.Field(i).Interface().(type) {
		case time.Duration:
			times[name] = d
		case [3]time.Duration:
			for j := range d {
				times[fmt.Sprintf("%s[%d]", name, j)] = d[j]
			}
		}
	}
	return times
}
