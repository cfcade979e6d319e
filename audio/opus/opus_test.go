package opus_test

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/audio/opus"
)

// TestEncode wants speech back from its packets, or the name of the build tag that is missing.
func TestEncode(t *testing.T) {
	t.Parallel()
	e, err := opus.NewEncoder()
	if !opus.HasEncoder {
		if err == nil || !strings.Contains(err.Error(), "build tag libopus") {
			t.Errorf("without libopus: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := opus.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	in := audiotest.Speech("hello")
	pcm, size := audiotest.Resample(in, opus.EncoderRateHz).Samples, audio.FrameSamples(opus.EncoderRateHz)
	frame := pcm[:size]
	var packet []byte
	var out []int16
	for ; len(pcm) >= size; pcm = pcm[size:] {
		if packet, err = e.Append(packet[:0], pcm[:size]); err != nil {
			t.Fatal(err)
		}
		if out, err = d.Append(out, packet); err != nil {
			t.Fatal(err)
		}
	}
	if _, corr := audiotest.Align(in.Samples, out); corr < 0.93 {
		t.Errorf("%.3f alike", corr)
	}
	if got, err := e.Append(nil, frame[1:]); err == nil || got != nil {
		t.Errorf("19.96 ms became %d bytes", len(got))
	}
	e.Close()
	e.Close()
	if got, err := e.Append(nil, frame); err == nil || got != nil {
		t.Errorf("a closed encoder made %d bytes", len(got))
	}
}

// FuzzDecode decodes anything. A packet that is wrong adds nothing.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x78, 0x07, 0xc9, 0x72})
	f.Fuzz(func(t *testing.T, packet []byte) {
		d, err := opus.NewDecoder()
		if err != nil {
			t.Fatal(err)
		}
		pcm, err := d.Append([]int16{1}, packet)
		if err != nil && len(pcm) != 1 || len(pcm) > 1+opus.DecoderRateHz*120/1000 {
			t.Errorf("%d samples, %v", len(pcm), err)
		}
	})
}
