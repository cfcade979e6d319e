package relay

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestRead reads the audio of a message, if it has any.
func TestRead(t *testing.T) {
	t.Parallel()
	audio := `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"` +
		base64.StdEncoding.EncodeToString([]byte("sound")) + `"}}]}}}`
	if s, err := read([]byte(audio), nil); err != nil || string(s.pcm) != "sound" || s.interrupted {
		t.Errorf("%+v, %v", s, err)
	}
	interrupted := []byte(`{"serverContent": {"interrupted": true}}`)
	if s, err := read(interrupted, nil); err != nil || len(s.pcm) > 0 || !s.interrupted {
		t.Errorf("%+v, %v", s, err)
	}
	for _, broken := range []string{strings.TrimRight(audio, `"}]`), strings.Replace(audio, `"data":"`, `"data":"*`, 1)} {
		if _, err := read([]byte(broken), nil); err == nil || !strings.Contains(err.Error(), "a message of the model") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

// FuzzRead reads anything.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"data":"AAAA"}}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := read(b, nil); err != nil && (s.pcm != nil || s.interrupted) {
			t.Errorf("it is wrong and says %+v", s)
		}
	})
}

// FuzzStream reads anything.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"event":"media","streamSid":"MZ1","media":{"payload":"AAAA"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readStream(b); err != nil && (m.Event != "" || m.Media.Payload != nil) {
			t.Errorf("it is wrong and says %+v", m)
		}
	})
}
