package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// wavBytesMax is the largest data chunk: 512 MiB, over 40 minutes of stereo at 48 kHz.
const wavBytesMax = 512 << 20

const (
	wavPCM        = 1
	wavExtensible = 0xfffe
	// wavUnknownLength is the least length that means "until the end". Programs that write to a
	// pipe leave 0, or a length just under 2 or 4 GiB.
	wavUnknownLength = 0x7ff00000
	wavBlock         = 32 << 10
)

// PCM is mono sound.
type PCM struct {
	RateHz  int
	Samples []int16
}

// wavFormat is the content of the fmt chunk.
type wavFormat struct {
	tag, channels, bits int
	rateHz              int
}

// ReadWAV reads a RIFF WAVE file of 16-bit PCM, mono or stereo, at 8 to 48 kHz. It averages two
// channels to one. If the header does not know the length of the data, because a program wrote the
// file to a pipe, it reads to the end of r. It returns an error that names the format of any other
// file, and an error if the data has more than 512 MiB or is shorter than its header says.
func ReadWAV(r io.Reader) (PCM, error) {
	pcm, err := readWAV(r, wavBytesMax)
	if err != nil {
		return PCM{}, fmt.Errorf("audio: read WAV: %w", err)
	}
	return pcm, nil
}

// WriteWAV writes p as a RIFF WAVE file of 16-bit mono PCM. It returns an error if [CheckRate]
// refuses the rate, or if the samples take more than 512 MiB.
func WriteWAV(w io.Writer, p PCM) error {
	if err := CheckRate(p.RateHz); err != nil {
		return fmt.Errorf("audio: write WAV: %w", err)
	}
	size := 2 * len(p.Samples)
	if size > wavBytesMax {
		return fmt.Errorf("audio: write WAV: %d bytes of samples, want at most %d", size, wavBytesMax)
	}
	buf := slices.Grow([]byte("RIFF"), wavBlock)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(36+size))
	buf = append(buf, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(p.RateHz))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(2*p.RateHz))
	buf = append(buf, "\x02\x00\x10\x00data"...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(size))
	for block := range slices.Chunk(p.Samples, wavBlock/2) {
		if buf = AppendBytes(buf, block); len(buf) < wavBlock {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("audio: write WAV: %w", err)
		}
		buf = buf[:0]
	}
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("audio: write WAV: %w", err)
	}
	return nil
}

// readWAV is ReadWAV with limit in place of wavBytesMax.
func readWAV(r io.Reader, limit int64) (PCM, error) {
	var head [12]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		return PCM{}, fmt.Errorf("not a WAV file: %w", notWAV(head[:n]))
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return PCM{}, fmt.Errorf("not a WAV file: %w", notWAV(head[:]))
	}
	var format wavFormat
	for skipped := int64(0); ; {
		id, size, err := readChunkHeader(r)
		if err != nil {
			return PCM{}, fmt.Errorf("no data chunk: %w", err)
		}
		switch id {
		case "data":
			return readData(r, format, size, limit)
		case "fmt ":
			if format, err = readFormat(r, size); err != nil {
				return PCM{}, err
			}
			continue
		}
		if skipped += size + size%2; skipped > limit {
			return PCM{}, fmt.Errorf("chunk %q of %d bytes: more than %d bytes before the data", id, size, limit)
		}
		if _, err := io.CopyN(io.Discard, r, size+size%2); err != nil {
			return PCM{}, fmt.Errorf("chunk %q of %d bytes: %w", id, size, unexpected(err))
		}
	}
}

func readChunkHeader(r io.Reader) (id string, size int64, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", 0, unexpected(err)
	}
	return string(b[:4]), int64(binary.LittleEndian.Uint32(b[4:])), nil
}

// readFormat reads a fmt chunk. It returns an error for a format that ReadWAV does not support.
func readFormat(r io.Reader, size int64) (wavFormat, error) {
	if size < 16 || size > 1024 {
		return wavFormat{}, fmt.Errorf("fmt chunk of %d bytes, want 16 to 1024", size)
	}
	b := make([]byte, size+size%2)
	if _, err := io.ReadFull(r, b); err != nil {
		return wavFormat{}, fmt.Errorf("fmt chunk: %w", unexpected(err))
	}
	f := wavFormat{
		tag:      int(binary.LittleEndian.Uint16(b)),
		channels: int(binary.LittleEndian.Uint16(b[2:])),
		rateHz:   int(binary.LittleEndian.Uint32(b[4:])),
		bits:     int(binary.LittleEndian.Uint16(b[14:])),
	}
	if f.tag == wavExtensible && size >= 40 {
		f.tag = int(binary.LittleEndian.Uint16(b[24:])) // the first field of the sub-format's GUID
	}
	return f, f.check()
}

func (f wavFormat) check() error {
	if f.tag != wavPCM || f.bits != 16 {
		return fmt.Errorf("%s is not supported, want 16-bit PCM", f.encoding())
	}
	if f.channels != 1 && f.channels != 2 {
		return fmt.Errorf("%d channels are not supported, want one or two", f.channels)
	}
	return CheckRate(f.rateHz)
}

// encoding returns the name of the sample format. RFC 2361 lists the tags.
func (f wavFormat) encoding() string {
	names := map[int]string{
		wavPCM: "PCM", 2: "Microsoft ADPCM", 3: "float", 6: "A-law", 7: "mu-law", 0x11: "IMA ADPCM", 0x31: "GSM 6.10",
		0x50: "MPEG", 0x55: "MP3", 0xff: "AAC", 0xf1ac: "FLAC",
	}
	name, ok := names[f.tag]
	if !ok {
		name = fmt.Sprintf("format 0x%04x", f.tag)
	}
	return fmt.Sprintf("%d-bit %s", f.bits, name)
}

// readData reads size bytes of samples, or all if size stands for an unknown length.
func readData(r io.Reader, f wavFormat, size, limit int64) (PCM, error) {
	if f.tag == 0 {
		return PCM{}, errors.New("the data chunk comes before the fmt chunk")
	}
	open := size == 0 || size >= wavUnknownLength
	switch {
	case open:
		size = limit + 1
	case size > limit:
		return PCM{}, fmt.Errorf("%d bytes of data, want at most %d", size, limit)
	}
	pcm := PCM{RateHz: f.rateHz}
	buf := make([]byte, wavBlock)
	total := int64(0)
	for total < size {
		n, err := io.ReadFull(r, buf[:min(size-total, wavBlock)])
		total += int64(n)
		pcm.Samples = appendMono(pcm.Samples, buf[:n], f.channels)
		if err != nil && !open {
			return PCM{}, fmt.Errorf("%d of %d bytes of data: %w", total, size, unexpected(err))
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return pcm, nil
		}
		if err != nil {
			return PCM{}, err
		}
	}
	if open {
		return PCM{}, fmt.Errorf("more than %d bytes of data", limit)
	}
	return pcm, nil
}

// appendMono appends whole samples, and averages two channels.
func appendMono(dst []int16, le []byte, channels int) []int16 {
	if channels == 1 {
		return AppendSamples(dst, le)
	}
	for ; len(le) >= 4; le = le[4:] {
		left, right := int16(binary.LittleEndian.Uint16(le)), int16(binary.LittleEndian.Uint16(le[2:]))
		dst = append(dst, int16((int(left)+int(right))>>1))
	}
	return dst
}

// notWAV returns an error that names the kind of a file that begins with head.
func notWAV(head []byte) error {
	for _, kind := range []struct{ magic, name string }{
		{"RIFX", "a big-endian WAV file"}, {"RF64", "an RF64 file"}, {"OggS", "an Ogg file"}, {"fLaC", "a FLAC file"},
		{"ID3", "an MP3 file"}, {"\xff\xfb", "an MP3 file"}, {"FORM", "an AIFF file"}, {".snd", "an AU file"},
		{"\x1aE\xdf\xa3", "a WebM or Matroska file"},
	} {
		if len(head) >= len(kind.magic) && string(head[:len(kind.magic)]) == kind.magic {
			return fmt.Errorf("it is %s, want a RIFF WAVE file of 16-bit PCM", kind.name)
		}
	}
	if len(head) == 0 {
		return errors.New("it is empty")
	}
	return fmt.Errorf("it begins with %q", head)
}

// unexpected turns an end of file inside a chunk into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
