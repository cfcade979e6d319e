package sim

import (
	"bytes"
	_ "embed" // for the greeting
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/audio"
)

// greetingText is the text of greeting.wav, which make.sh makes.
const greetingText = "Hello. Say something, and I will repeat it. You can talk over me at any time."

//go:embed greeting.wav
var greetingWAV []byte

// greeting returns the built-in greeting at 24 kHz.
func greeting() ([]int16, error) {
	samples, err := decodeMuLaw(greetingWAV)
	if err != nil {
		return nil, fmt.Errorf("sim: read greeting: %w", err)
	}
	return resampleAll(samples, inputRateHz, outputRateHz)
}

// decodeMuLaw reads a mono WAV of 16 kHz mu-law (RIFF format 7).
func decodeMuLaw(wav []byte) ([]int16, error) {
	const formatMuLaw = 7
	if len(wav) < 12 || string(wav[:4]) != "RIFF" || string(wav[8:12]) != "WAVE" {
		return nil, errors.New("not a WAV file")
	}
	known := false
	for rest := wav[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
		if size > len(body) {
			return nil, fmt.Errorf("chunk %q is cut short", id)
		}
		body = body[:size]
		switch {
		case id == "fmt " && size >= 16:
			known = bytes.Equal(body[:8], []byte{formatMuLaw, 0, 1, 0, 0x80, 0x3e, 0, 0}) // mono, 16000 Hz
		case id == "data" && known:
			out := make([]int16, size)
			for i, b := range body {
				out[i] = muLaw(b)
			}
			return out, nil
		}
		rest = rest[min(len(rest), 8+size+size%2):]
	}
	return nil, errors.New("want mu-law, mono, 16 kHz")
}

// muLaw expands one sample, ITU-T G.711 table 2a.
func muLaw(b byte) int16 {
	b = ^b
	v := (int16(b&0x0f)<<3 + 0x84) << (b >> 4 & 7)
	if b&0x80 != 0 {
		return 0x84 - v
	}
	return v - 0x84
}

// resampleAll converts a whole recording. It adds silence to get the samples that the filter holds
// back.
func resampleAll(pcm []int16, inHz, outHz int) ([]int16, error) {
	r, err := audio.NewResampler(inHz, outHz)
	if err != nil {
		return nil, err
	}
	out := r.Resample(make([]int16, 0, len(pcm)*outHz/inHz+outHz/10), pcm)
	if inHz == outHz {
		return out, nil
	}
	return r.Resample(out, make([]int16, resampleTail*inHz/1000)), nil
}

// resampleTail is longer than any filter of audio.Resampler, in ms.
const resampleTail = 2
