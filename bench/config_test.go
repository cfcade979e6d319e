package bench

import (
	"strings"
	"testing"
	"time"
)

// TestRefused names what is out of range.
func TestRefused(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		`the transport is "smoke"; want one of [ws`:     {Transport: "smoke"},
		`the codec is "mp3"; want one of [pcmu opus]`:   {Transport: WebRTC, Codec: "mp3"},
		`codec "opus" is for the transport webrtc only`: {Transport: Twilio, Codec: Opus},
		`the detection is "me"; want one of [gateway`:   {Transport: WebSocket, Detection: "me"},
		"-1 calls; want 1 to 2000":                      {Transport: WebSocket, Calls: -1},
		"2001 calls; want 1 to 2000":                    {Transport: WebSocket, Calls: 2001},
		"1ms of measurement; want 1s to 3600s":          {Transport: WebSocket, Length: time.Millisecond},
		"101 rounds; want 1 to 100":                     {Transport: WebSocket, Rounds: 101},
		"a relay needs the model":                       {Transport: WebSocket, Relay: &Endpoint{}},
	} {
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}
