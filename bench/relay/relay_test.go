package relay

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestSound reads the audio of a message, if it has any.
func TestSound(t *testing.T) {
	t.Parallel()
	audio := `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"` +
		base64.StdEncoding.EncodeToString([]byte("sound")) + `"}}]}}}`
	if b, err := sound([]byte(audio)); err != nil || string(b) != "sound" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := sound([]byte(`{"serverContent":{"turnComplete":true}}`)); err != nil || b != nil {
		t.Errorf("%q, %v", b, err)
	}
	_, err := sound([]byte(`{"serverContent":`))
	if err == nil || !strings.Contains(err.Error(), "a message of the model") {
		t.Errorf("half a message: %v", err)
	}
}

// FuzzSound reads anything.
func FuzzSound(f *testing.F) {
	f.Add([]byte(`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"data":"AAAA"}}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if pcm, err := sound(b); err != nil && pcm != nil {
			t.Errorf("it is wrong and says %q", pcm)
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
