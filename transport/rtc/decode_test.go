package rtc

import (
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// mode is how an Opus packet is coded (RFC 6716 table 2).
func mode(packet []byte) string {
	switch config := packet[0] >> 3; {
	case config < 12:
		return "silk"
	case config < 16:
		return "hybrid"
	}
	return "celt"
}

// TestDecode: every codec gives back the speech that was coded.
func TestDecode(t *testing.T) {
	in := audiotest.Speech("hello")
	narrow := audiotest.Resample(in, 8000).Samples
	for c, stream := range map[Codec][]byte{
		G722: audio.NewG722Encoder().Append(nil, in.Samples),
		PCMU: audio.AppendMuLaw(nil, narrow),
		PCMA: audio.AppendALaw(nil, narrow),
	} {
		d, err := newDecoder(c)
		if err != nil {
			t.Fatal(err)
		}
		var pcm []int16
		for len(stream) > 0 {
			n := min(160, len(stream))
			if pcm, err = d.decode(pcm, stream[:n]); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
		}
		if _, corr := audiotest.Align(in.Samples, pcm); corr < 0.97 {
			t.Errorf("%s: %.3f alike", c, corr)
		}
		if _, err := d.decode(nil, make([]byte, 2000)); err == nil {
			t.Errorf("%s: a packet of 2000 bytes was taken", c)
		}
	}
}

// TestEncode: every codec that is built in is understood by its decoder.
func TestEncode(t *testing.T) {
	in := audiotest.Speech("hello")
	for _, c := range (Config{}).withDefaults().Codecs {
		e, err := newEncoder(c)
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDecoder(c)
		if err != nil {
			t.Fatal(err)
		}
		pcm, frame := audiotest.Resample(in, c.rateHz()).Samples, audio.FrameSamples(c.rateHz())
		var payload []byte
		var out []int16
		for ; len(pcm) >= frame; pcm = pcm[frame:] {
			if payload, err = e.encode(payload[:0], pcm[:frame]); err != nil {
				t.Fatal(err)
			}
			if out, err = d.decode(out, payload); err != nil {
				t.Fatal(err)
			}
		}
		if _, corr := audiotest.Align(in.Samples, out); corr < 0.93 {
			t.Errorf("%s: %.3f alike", c, corr)
		}
		e.close()
		e.close()
	}
}

// TestModes: the files of testdata hold packets of each of Opus' modes.
func TestModes(t *testing.T) {
	for _, name := range []string{"silk", "hybrid", "celt"} {
		found := false
		for _, p := range OpusPackets(t, name) {
			found = found || mode(p) == name
		}
		if !found {
			t.Errorf("%s.opus has no such packet", name)
		}
	}
}
