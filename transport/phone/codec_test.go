package phone

import (
	"bytes"
	"testing"
)

func TestCodecs(t *testing.T) {
	for _, tt := range []struct {
		codec Codec
		name  string
		bytes []byte // of the samples below
		loss  int    // at most, of a sample of this size
	}{
		{CodecNone, "none", nil, 0},
		{PCMU, "PCMU", []byte{0xff, 0xce, 0x4e, 0x80}, 1024},
		{PCMA, "PCMA", []byte{0xd5, 0xfa, 0x7a, 0xaa}, 1024},
		{L16, "L16", []byte{0, 0, 0xe8, 3, 0x18, 0xfc, 0xff, 0x7f}, 0},
	} {
		pcm := []int16{0, 1000, -1000, 32767}
		if tt.codec.String() != tt.name {
			t.Errorf("codec %d is %s, want %s", tt.codec, tt.codec, tt.name)
		}
		b := tt.codec.AppendBytes(nil, pcm)
		if !bytes.Equal(b, tt.bytes) || len(b) != len(pcm)*tt.codec.SampleBytes() {
			t.Errorf("%s: %v is % x, want % x", tt.codec, pcm, b, tt.bytes)
		}
		for i, s := range tt.codec.AppendSamples(nil, b) {
			if d := int(s) - int(pcm[i]); d > tt.loss || -d > tt.loss {
				t.Errorf("%s: %d came back as %d", tt.codec, pcm[i], s)
			}
		}
	}
}

func TestCodecsAllocateNothing(t *testing.T) {
	pcm, b := make([]int16, 160), make([]byte, 320)
	out, in := make([]byte, 0, 320), make([]int16, 0, 320)
	for _, c := range []Codec{PCMU, PCMA, L16} {
		if n := testing.AllocsPerRun(100, func() { c.AppendBytes(out, pcm); c.AppendSamples(in, b) }); n != 0 {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}
