package wsclient

import (
	"fmt"
	"math"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// loudRMS is the level, as a fraction of full scale, from which audio counts as loud: -40 dBFS.
const loudRMS = 0.01

// microphone produces the caller input, a frame at a time: the caller's voice, if any, and the
// echo.
type microphone struct {
	rateHz int
	at     int     // samples given so far
	frames int     // frames given so far
	voice  []int16 // still to be spoken
	frame  []int16
	echo   *echo // nil for none
}

// speak begins to say pcm, in place of the current speech.
func (m *microphone) speak(pcm []int16) { m.voice = pcm }

// quiet reports whether no speech is left.
func (m *microphone) quiet() bool { return len(m.voice) == 0 }

// due returns when the next frame is complete: frame k ends at (k+1) times 20 ms.
func (m *microphone) due() time.Duration { return time.Duration(m.frames+1) * audio.FrameDuration }

// next returns the next frame, valid until the next call, and whether the caller's own voice in it
// is loud.
func (m *microphone) next() (frame []int16, loud bool) {
	m.frames++
	end := m.frames * m.rateHz / int(time.Second/audio.FrameDuration)
	frame = append(m.frame[:0], make([]int16, end-m.at)...)
	m.frame = frame
	m.voice = m.voice[copy(frame, m.voice):]
	loud = audio.RMS(frame) >= loudRMS
	if m.echo != nil {
		m.echo.mix(frame, m.at)
	}
	m.at = end
	return frame, loud
}

// echo is the path from the loudspeaker to the caller input.
type echo struct {
	toMic *audio.Resampler
	taken int     // samples of the audible audio that are in line
	line  []int16 // the audible audio, at the input rate, from time 0
	delay int     // samples
	gain  float64
}

func newEcho(e Echo, outHz, inHz int) (*echo, error) {
	if !e.On {
		return nil, nil
	}
	r, err := audio.NewResampler(outHz, inHz)
	if err != nil {
		return nil, fmt.Errorf("wsclient: new echo: %w", err)
	}
	delay := int(e.Delay * time.Duration(inHz) / time.Second)
	return &echo{toMic: r, delay: delay, gain: math.Pow(10, e.GainDB/20)}, nil
}

// hear takes the audible audio from time 0 until now.
func (e *echo) hear(heard []int16) {
	e.line = e.toMic.Resample(e.line, heard[e.taken:])
	e.taken = len(heard)
}

// mix adds the echo to the frame that begins at sample at.
func (e *echo) mix(frame []int16, at int) {
	for i := range frame {
		if j := at + i - e.delay; j >= 0 && j < len(e.line) {
			v := float64(frame[i]) + e.gain*float64(e.line[j])
			frame[i] = int16(max(math.MinInt16, min(math.MaxInt16, math.Round(v))))
		}
	}
}
