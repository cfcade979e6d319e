package live

import (
	"mime"
	"strconv"
	"testing"
)

func TestAudioRate(t *testing.T) {
	for _, test := range []struct {
		mime string
		want int // 0 is an error
	}{
		{"audio/pcm;rate=24000", 24000}, {"audio/pcm", 24000}, {"audio/pcm;", 24000}, {"audio/pcm;rate=8000", 8000},
		{"audio/pcm;rate=48000", 48000}, {"audio/pcm; rate=16000", 16000}, {"AUDIO/PCM;RATE=16000", 16000},
		{`audio/pcm;rate="16000"`, 16000}, {"audio/pcm;channels=1;rate=44100", 44100}, {"audio/pcm;rate=44100;x", 44100},
		{"", 0}, {"audio/l16;rate=24000", 0}, {"audio/pcmu", 0}, {"audio/pcm;rate=", 0}, {"audio/pcm;rate=7999", 0},
		{"audio/pcm;rate=48001", 0}, {"audio/pcm;rate=-24000", 0}, {"audio/pcm;rate=2e4", 0},
		{"audio/pcm;rate=99999999999999999999", 0}, {"audio/pcm;rate=16000;rate=16000", 0}, {`audio/pcm;rate="`, 0},
	} {
		got, err := audioRate(test.mime)
		if got != test.want && (err == nil || test.want != 0) || (err != nil) != (test.want == 0) {
			t.Errorf("%q: %d, %v; want %d", test.mime, got, err, test.want)
		}
	}
}

// FuzzMimeRate holds audioRate to its limits, and to the mime package wherever both understand.
func FuzzMimeRate(f *testing.F) {
	for _, s := range []string{mimeAudioDown, mimeAudioUp, "audio/pcm", "audio/pcm;rate=7", "audio/pcm; a=b; rate=8000",
		`AUDIO/PCM;RATE="8000"`, "audio/pcm;;rate=8000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rateHz, err := audioRate(s)
		if err == nil && (rateHz < rateHzMin || rateHz > rateHzMax) {
			t.Fatalf("%q: %d", s, rateHz)
		}
		if fast, ok := fastRate([]byte(s)); ok && (err != nil || fast != rateHz) {
			t.Fatalf("%q: fast %d, slow %d, %v", s, fast, rateHz, err)
		}
		kind, params, mimeErr := mime.ParseMediaType(s)
		if err != nil || mimeErr != nil || kind != mimeAudio || params["rate"] == "" {
			return
		}
		if want, convErr := strconv.Atoi(params["rate"]); convErr == nil && want != rateHz {
			t.Fatalf("%q: %d, the mime package says %d", s, rateHz, want)
		}
	})
}
