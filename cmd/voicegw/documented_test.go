//go:build !race

package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/settings"
)

// documentedValues are those that the words about a setting name: "wire or sdk", "any of webrtc,
// ...", "from 20ms to 2s", "such as de-DE", and what is in quotes.
func documentedValues(s settings.Row) []string {
	list := []string{}
	for _, pattern := range []string{`"([^"]+)"`, `such as ([^\s,";]+)`, `from (\S+) to ([^\s,]+)`,
		`^(\w+)(?:, (\w+))*? or (\w+)$`, `^(0), or`, `at most (\d+)$`} {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s.Want, -1) {
			list = append(list, m[1:]...)
		}
	}
	words := regexp.MustCompile(`^(?:any of )?(\w+(?:, \w+)+)(?: or \w+)?$`)
	if m := words.FindStringSubmatch(s.Want); m != nil {
		list = append(list, strings.Split(m[1], ", ")...)
	}
	if s.Kind == settings.Number || s.Kind == settings.Time || s.Kind == settings.Score {
		list = append(list, s.Default)
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
	case "workflows", "after_call.agent", "after_call.transcripts":
		return []string{"--data-dir=."}
	case "handoff.tool":
		return []string{"--handoff-targets=sales=+4930123456"}
	case "advertise":
		return []string{"--journal=nats://127.0.0.1:4222"}
	case "cluster.listen":
		return []string{"--data-dir=.", "--node=a", "--advertise=http://10.0.0.7:8080", "--cluster-routes=10.0.0.8:6222",
			"--cluster-secret-file=secret"}
	case "webrtc.turn_servers":
		return []string{"--webrtc-turn-secret-file=secret"}
	case "vertex.project":
		return []string{"--vertex-location=global", "--model-name=m"}
	case "vertex.location":
		return []string{"--vertex-project=p", "--model-name=m"}
	}
	return nil
}

// TestEveryDocumentedValue starts a gateway, up to the proof of its nets, with each value that the
// documentation of a setting names.
func TestEveryDocumentedValue(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, s := range settings.Rows() {
		for _, v := range documentedValues(s) {
			tried++
			args := append([]string{"--show-net=false"}, besides(s.Key)...) // the drawing takes longest
			if s.Key != "session.client_modes" {
				args = append(args, "--session-client-modes=false") // one kind of session to compile, not four
			}
			args = append(args, "--"+s.Flag()+"="+v)
			o, err := configured(t, "", []string{"GEMINI_API_KEY=k"}, args...)
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			if o.Model.Project != "" {
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

// TestDocumentedWords wants the values to be found in the words.
func TestDocumentedWords(t *testing.T) {
	t.Parallel()
	for _, s := range settings.Rows() {
		want, ok := map[string][]string{
			"listen":         {"127.0.0.1:8080"},
			"origins":        {"*", "https://example.com"},
			"show_net":       {"false", "true"},
			"endpoints":      {"asterisk", "gemini", "openai", "rtvi", "twilio", "webrtc"},
			"log.level":      {"debug", "error", "info", "warn"},
			"model.dialer":   {"sdk", "wire"},
			"prompts.filler": {"default", "none"}, "prompts.notify": {"none"},
			"timing.budget":                   {"20ms", "2s", "400ms"},
			"speech.threshold":                {"0.5", "100"},
			"access.address_bytes_per_minute": {"0", "1000000000", "60"},
		}[s.Key]
		if got := documentedValues(s); ok && !slices.Equal(got, want) {
			t.Errorf("%s, %q: %q, want %q", s.Key, s.Want, got, want)
		}
	}
}

// TestIdleSettings starts with settings that have no effect, and says so.
func TestIdleSettings(t *testing.T) {
	t.Parallel()
	o, err := configured(t, "", nil, "--session-client-tools=none", "--prompts-filler=default",
		"--prompts-reprompt=none", "--timing-consent-wait=5s")
	if err != nil {
		t.Fatal(err)
	}
	if err := opened(o); err != nil {
		t.Error(err)
	}
	notes := strings.Join(o.Notes, "\n")
	for _, want := range []string{
		"prompts.filler (from --prompts-filler) has no effect: session.tools_file names no tools, " +
			"session.client_tools is none, and handoff.tool is false",
		"prompts.reprompt (from --prompts-reprompt) has no effect: timing.reprompt_after is 0",
		"timing.consent_wait (from --timing-consent-wait) has no effect: session.consent is false",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("not noted: %s\n%s", want, notes)
		}
	}
	o, err = configured(t, "", nil, "--session-client-tools=none", "--prompts-filler=default", "--session-tools-file=x",
		"--timing-reprompt-after=9s", "--prompts-reprompt=none", "--session-consent", "--timing-consent-wait=5s")
	if err != nil || len(o.Notes) > 0 {
		t.Errorf("%v, %q", err, o.Notes)
	}
}

// TestServeWithAFiller proves and serves with a filler, although there is no tool to bridge.
func TestServeWithAFiller(t *testing.T) {
	t.Parallel()
	s := startProved(t, nil, "--prompts-filler=default")
	s.end()
	if said := s.stderr.String(); !strings.Contains(said, "prompts.filler (from --prompts-filler) has no effect") {
		t.Errorf("it said %q", bytes.TrimSpace([]byte(said)))
	}
}
