package settings

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/voicenets"
)

// TestArchive creates one archive for a call, and never writes over one.
func TestArchive(t *testing.T) {
	t.Parallel()
	s, err := configured(t, "", nil, "--archive", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Gateway()
	if err != nil {
		t.Fatal(err)
	}
	w, err := cfg.Archive("c-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := cfg.Archive("c-1"); err == nil {
		t.Error("an archive was written over")
	}
	if s, err = configured(t, "", nil); err != nil {
		t.Fatal(err)
	}
	if cfg, err = s.Gateway(); err != nil || cfg.Archive != nil {
		t.Errorf("without a directory calls are archived: %v", err)
	}
}

// TestModelParameters: the temperature and the longest reply go to the model if they are given, 0 degrees too.
func TestModelParameters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "- -",
		"model: {temperature: 0}": "0 -", "model: {temperature: 0.5}": "0.5 -",
		"model: {max_output_tokens: 300}":                "- 300",
		"model: {temperature: '', max_output_tokens: 0}": "- -",
	} {
		s, err := configured(t, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := s.Gateway()
		got := []string{"-", "-"}
		if cfg.Setup.Temperature != nil {
			got[0] = fmt.Sprint(*cfg.Setup.Temperature)
		}
		if cfg.Setup.MaxOutputTokens != nil {
			got[1] = fmt.Sprint(*cfg.Setup.MaxOutputTokens)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"temperature: 2.1", "temperature: -0.1", "temperature: warm", "temperature: NaN",
		"max_output_tokens: -1", "max_output_tokens: 9999999"} {
		if _, err := configured(t, "model: {"+text+"}", nil); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPrompts reads the recordings, leaves out those that are "none", and names the file it cannot
// read.
func TestPrompts(t *testing.T) {
	t.Parallel()
	s, err := configured(t, "prompts: {fallback: none, filler: default, goodbye: ''}", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Gateway()
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[voicenets.Prompt]bool{voicenets.Fallback: false, voicenets.Filler: true,
		voicenets.Goodbye: true, voicenets.Notify: false, voicenets.Reprompt: true} {
		if _, got := cfg.Prompts[p]; got != want {
			t.Errorf("prompt %d is there: %v", p, got)
		}
	}
	file := filepath.Join(t.TempDir(), "nope.wav")
	if s, err = configured(t, "", nil, "--prompts-notify", file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Gateway(); err == nil || !strings.HasPrefix(err.Error(), "prompts.notify "+file) {
		t.Errorf("it says %v", err)
	}
}
