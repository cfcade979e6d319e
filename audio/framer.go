package audio

import "fmt"

// Framer cuts a stream of mono PCM, which arrives in pieces of any length, into frames of 20 ms.
type Framer struct {
	rateHz int
	index  int     // frames emitted, modulo framesPerSecond
	rest   []int16 // the start of the next frame; its capacity is the longest frame
}

// NewFramer returns a Framer for PCM at rateHz, or the error of [CheckRate].
func NewFramer(rateHz int) (*Framer, error) {
	if err := CheckRate(rateHz); err != nil {
		return nil, fmt.Errorf("audio: new framer: %w", err)
	}
	return &Framer{rateHz: rateHz, rest: make([]int16, 0, FrameSamples(rateHz)+1)}, nil
}

// Push adds pcm and calls emit for each complete frame, in order. A frame has [FrameSamples]
// samples, or one more if 20 ms is not a whole number of samples: fifty frames are exactly one
// second. The frame may share memory with pcm and is valid only until emit returns. Push copies the
// rest, which is less than one frame, and does not allocate.
func (f *Framer) Push(pcm []int16, emit func(frame []int16)) {
	for len(pcm) > 0 {
		n := f.next()
		if len(f.rest) == 0 && len(pcm) >= n {
			f.advance()
			emit(pcm[:n:n])
			pcm = pcm[n:]
			continue
		}
		take := min(n-len(f.rest), len(pcm))
		f.rest = append(f.rest, pcm[:take]...)
		pcm = pcm[take:]
		if len(f.rest) == n {
			f.advance()
			emit(f.rest)
			f.rest = f.rest[:0]
		}
	}
}

// Pending returns the number of samples kept for the next frame.
func (f *Framer) Pending() int { return len(f.rest) }

// Reset drops the samples kept for the next frame. The next sample begins a new stream.
func (f *Framer) Reset() { f.rest, f.index = f.rest[:0], 0 }

// next returns the length of the next frame in samples: frame k ends at sample (k+1)*rate/50.
func (f *Framer) next() int {
	return (f.index+1)*f.rateHz/framesPerSecond - f.index*f.rateHz/framesPerSecond
}

func (f *Framer) advance() { f.index = (f.index + 1) % framesPerSecond }
