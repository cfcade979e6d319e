package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// wav builds a file: a header as given, then chunks.
func wav(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// chunk builds a chunk; size < 0 is the true one.
func chunk(id string, size int, data ...byte) []byte {
	if size < 0 {
		size = len(data)
	}
	b := append(binary.LittleEndian.AppendUint32([]byte(id), uint32(size)), data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// format builds a fmt chunk.
func format(tag, channels, rateHz, bits int) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rateHz))
	b = binary.LittleEndian.AppendUint32(b, uint32(rateHz*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	return chunk("fmt ", -1, binary.LittleEndian.AppendUint16(b, uint16(bits))...)
}

// extensible builds a fmt chunk of WAVE_FORMAT_EXTENSIBLE with the given sub-format.
func extensible(sub, bits int) []byte {
	b := slices.Clone(format(wavExtensible, 1, 16000, bits)[8:])
	b = append(b, 22, 0, byte(bits), 0, 4, 0, 0, 0, byte(sub), byte(sub>>8))
	return chunk("fmt ", -1, append(b, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)...)
}

func TestReadWAV(t *testing.T) {
	mono, data := format(1, 1, 16000, 16), []byte{1, 0, 2, 0, 255, 255}
	for _, c := range []struct {
		name string
		file []byte
		want []int16
	}{
		{"plain", wav(mono, chunk("data", -1, data...)), []int16{1, 2, -1}},
		{"odd chunk before, another behind", wav(chunk("LIST", -1, 1, 2, 3), mono, chunk("data", -1, data...),
			chunk("cue ", -1, 9, 9)), []int16{1, 2, -1}},
		{"odd fmt chunk", wav(chunk("fmt ", -1, append(mono[8:24:24], 0)...), chunk("data", -1, data...)),
			[]int16{1, 2, -1}},
		{"empty", wav(mono, chunk("data", 0)), nil},
		{"length 0, to the end", wav(mono, chunk("data", 0, data...)), []int16{1, 2, -1}},
		{"length of a pipe, to the end", wav(mono, chunk("data", 0x7ffff000, data...)), []int16{1, 2, -1}},
		{"length unknown, to the end", wav(mono, chunk("data", 0xffffffff, data...)), []int16{1, 2, -1}},
		{"stereo", wav(format(1, 2, 16000, 16), chunk("data", -1, 2, 0, 4, 0, 0, 128, 0, 128)), []int16{3, -32768}},
		{"stereo with half a sample at the end", wav(format(1, 2, 16000, 16), chunk("data", 0, 2, 0, 4, 0, 9, 9)),
			[]int16{3}},
		{"extensible", wav(extensible(1, 16), chunk("data", -1, data...)), []int16{1, 2, -1}},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.file), iotest.OneByteReader(bytes.NewReader(c.file))} {
			got, err := ReadWAV(r)
			if err != nil || got.RateHz != 16000 || !slices.Equal(got.Samples, c.want) {
				t.Errorf("%s: %v, %v, want %v at 16000 Hz", c.name, got, err, c.want)
			}
		}
	}
}

func TestReadWAVRefuses(t *testing.T) {
	data := chunk("data", -1, 1, 0)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "audio: read WAV: not a WAV file: it is empty"},
		{"text", []byte("hello, this is text"), `it begins with "hello, this `},
		{"Ogg", []byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00"), "it is an Ogg file"},
		{"short MP3", []byte("ID3\x04"), "it is an MP3 file"},
		{"RF64", []byte("RF64\x00\x00\x00\x00WAVE"), "it is an RF64 file"},
		{"24 bits", wav(format(1, 1, 16000, 24), data), "audio: read WAV: 24-bit PCM is not supported, want 16-bit PCM"},
		{"float", wav(format(3, 1, 16000, 32), data), "32-bit float is not supported, want 16-bit PCM"},
		{"mu-law", wav(format(7, 1, 8000, 8), data), "8-bit mu-law is not supported"},
		{"extensible float", wav(extensible(3, 32), data), "32-bit float is not supported"},
		{"unknown tag", wav(format(0x1234, 1, 8000, 4), data), "4-bit format 0x1234 is not supported"},
		{"six channels", wav(format(1, 6, 48000, 16), data), "6 channels are not supported, want one or two"},
		{"no channel", wav(format(1, 0, 48000, 16), data), "0 channels"},
		{"rate", wav(format(1, 1, 96000, 16), data), "96000 Hz, want 8000 to 48000"},
		{"no fmt", wav(data), "the data chunk comes before the fmt chunk"},
		{"no data", wav(format(1, 1, 16000, 16)), "no data chunk: unexpected EOF"},
		{"short fmt", wav(chunk("fmt ", -1, 1, 0, 1, 0)), "fmt chunk of 4 bytes"},
		{"cut fmt", wav(format(1, 1, 16000, 16)[:14]), "fmt chunk: unexpected EOF"},
		{"huge fmt", wav(chunk("fmt ", 1<<31)), "fmt chunk of 2147483648 bytes"},
		{"cut data", wav(format(1, 1, 16000, 16), chunk("data", 100, 1, 0)), "2 of 100 bytes of data: unexpected EOF"},
		{"cut chunk", wav(chunk("LIST", 100, 1, 0)), `chunk "LIST" of 100 bytes: unexpected EOF`},
		{"huge chunk", wav(chunk("LIST", 1<<30, 1, 0)), "before the data"},
		{"huge data", wav(format(1, 1, 16000, 16), chunk("data", 600<<20, 1, 0)), "want at most 536870912"},
	} {
		if _, err := ReadWAV(bytes.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadWAVPassesReadErrorsOn(t *testing.T) {
	broken := errors.New("broken disk")
	file := wav(format(1, 1, 16000, 16), chunk("data", 0, 1, 0))
	_, err := ReadWAV(io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
}

// zeros is an endless reader of silence that allocates nothing.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadWAVLimit(t *testing.T) {
	file := wav(format(1, 2, 16000, 16), chunk("data", 0))
	_, err := readWAV(io.MultiReader(bytes.NewReader(file), zeros{}), 1<<20)
	if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes of data") {
		t.Errorf("endless data: %v", err)
	}
	pcm, err := readWAV(io.MultiReader(bytes.NewReader(file), io.LimitReader(zeros{}, 1<<20)), 1<<20)
	if err != nil || len(pcm.Samples) != 1<<18 {
		t.Errorf("1 MiB of data under that limit: %d samples, %v", len(pcm.Samples), err)
	}
}

func TestWriteWAV(t *testing.T) {
	for _, n := range []int{0, 1, 16383, 16384, 16385, 100000} {
		var buf bytes.Buffer
		want := PCM{RateHz: 24000, Samples: ramp(n)}
		if err := WriteWAV(&buf, want); err != nil {
			t.Fatal(err)
		}
		if buf.Len() != 44+2*n {
			t.Errorf("%d samples: a file of %d bytes", n, buf.Len())
		}
		got, err := ReadWAV(&buf)
		if err != nil || got.RateHz != want.RateHz || !slices.Equal(got.Samples, want.Samples) {
			t.Errorf("%d samples came back as %d at %d Hz, %v", n, len(got.Samples), got.RateHz, err)
		}
	}
	if err := WriteWAV(io.Discard, PCM{RateHz: 96000}); err == nil {
		t.Error("a rate of 96000 Hz was written")
	}
	for _, room := range []int64{0, 40000} {
		err := WriteWAV(&full{room: room}, PCM{RateHz: 8000, Samples: ramp(100000)})
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a disk with %d bytes left: %v", room, err)
		}
	}
}

// full is a disk with little room left.
type full struct{ room int64 }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= int64(len(p)); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wav(format(1, 1, 16000, 16), chunk("data", -1, 1, 0, 2, 0)))
	f.Add(wav(chunk("LIST", -1, 1), format(1, 2, 44100, 16), chunk("data", 0, 1, 0, 2, 0, 3)))
	f.Add(wav(extensible(1, 16), chunk("data", 0xffffffff, 1, 0)))
	f.Add([]byte("OggS"))
	f.Fuzz(func(t *testing.T, file []byte) {
		pcm, err := ReadWAV(bytes.NewReader(file))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "audio: read WAV: ") || pcm.Samples != nil {
				t.Errorf("error %q with %d samples", err, len(pcm.Samples))
			}
			return
		}
		var buf bytes.Buffer
		if err := WriteWAV(&buf, pcm); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadWAV(&buf); err != nil || !slices.Equal(again.Samples, pcm.Samples) {
			t.Errorf("written and read again: %v", err)
		}
	})
}
