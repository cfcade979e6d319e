package browsertest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// WriteWAV writes 16-bit mono PCM to a WAV file in a directory that is removed with tb, and returns
// its path.
func WriteWAV(tb testing.TB, rateHz int, pcm []int16) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "microphone.wav")
	if err := os.WriteFile(path, WAV(rateHz, pcm), 0o644); err != nil {
		tb.Fatalf("browsertest: write wav: %v", err)
	}
	return path
}

// WAV encodes 16-bit mono PCM as a WAV file, with the 44-byte header that every reader knows.
func WAV(rateHz int, pcm []int16) []byte {
	size := 2 * len(pcm)
	out := make([]byte, 0, 44+size)
	le := binary.LittleEndian
	out = append(out, "RIFF"...)
	out = le.AppendUint32(out, uint32(36+size))
	out = append(out, "WAVEfmt "...)
	out = le.AppendUint32(out, 16)
	out = le.AppendUint16(out, 1) // PCM
	out = le.AppendUint16(out, 1) // mono
	out = le.AppendUint32(out, uint32(rateHz))
	out = le.AppendUint32(out, uint32(2*rateHz))
	out = le.AppendUint16(out, 2)
	out = le.AppendUint16(out, 16)
	out = append(out, "data"...)
	out = le.AppendUint32(out, uint32(size))
	for _, s := range pcm {
		out = le.AppendUint16(out, uint16(s))
	}
	return out
}
