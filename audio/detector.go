package audio

import (
	"fmt"
	"math"
	"sync"
)

const (
	// DetectorRateHz is the sample rate of the frames of a Detector.
	DetectorRateHz = 16000

	detectorSamples = DetectorRateHz / framesPerSecond
	detectorBands   = 24
	bandLowHz       = 120
	bandHighHz      = 6000
	binHz           = float64(DetectorRateHz) / fftSize
	// powerFloor is white noise at -66 dBFS. It keeps digital silence from scoring as speech.
	powerFloor = 3e4
	// minimumFrames is half of the longest window of minimum statistics: 1.5 s.
	minimumFrames = 75
	// settleFrames is how many first frames give the first estimate of the noise: 80 ms. With one
	// frame, one noisy call in 50 began with a false start.
	settleFrames = 4
	// updateThreshold is the score above which a frame does not count as noise.
	updateThreshold = 1.0
)

// band is the state of one band of the spectrum. All fields but prior are powers.
type band struct {
	noise     float64
	smooth    float64
	minimum   float64 // of smooth, over the last 1.5 to 3 s
	minimumIn float64 // of smooth, since the current 1.5 s began
	prior     float64 // the last frame's speech estimate, relative to the noise
}

// Detector is a voice activity detector. It scores each frame by the likelihood ratio of speech and
// noise under a Gaussian model in 24 mel bands (Sohn, Kim & Sung 1999), with the decision-directed
// estimate of Ephraim & Malah 1984, and tracks the noise by minimum statistics (Martin 2001). A
// Detector takes 6 kB.
type Detector struct {
	*detectorTables
	fft     spectrum
	power   [detectorBands]float64
	bands   [detectorBands]band
	settled int // first frames so far, at most settleFrames
	frames  int // in the current 1.5 s
	score   float64
}

// detectorTables are the same for all detectors, which share them and do not change them.
type detectorTables struct {
	window [detectorSamples]float64
	edges  [detectorBands + 1]int // first bin of each band
}

var sharedDetectorTables = sync.OnceValue(newDetectorTables)

func newDetectorTables() *detectorTables {
	d := &detectorTables{}
	for i := range d.window {
		d.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(detectorSamples-1))
	}
	low, high := mel(bandLowHz), mel(bandHighHz)
	for b := range d.edges {
		hz := unmel(low + (high-low)*float64(b)/detectorBands)
		d.edges[b] = int(hz/binHz + 1e-9)
		if b > 0 {
			d.edges[b] = max(d.edges[b], d.edges[b-1]+1)
		}
	}
	return d
}

// NewDetector returns a Detector for a new stream of frames.
func NewDetector() *Detector {
	d := &Detector{detectorTables: sharedDetectorTables()}
	d.fft.init()
	return d
}

// Score takes the next frame, 320 samples at [DetectorRateHz], and returns its score: about 0 for
// noise, up to 20 for clear speech. A threshold of 0.5 suits most calls, and 1.0 those where a
// false start is worse than a missed one. The score is smoothed over a few frames, so it stays high
// for about 100 ms after speech. The first 80 ms count as noise. When the noise rises in a step,
// the score stays high for up to 3.5 s. Score does not allocate. It panics if the frame has another
// length.
func (d *Detector) Score(frame []int16) float64 {
	if len(frame) != detectorSamples {
		panic(fmt.Sprintf("audio: score: a frame of %d samples, want %d", len(frame), detectorSamples))
	}
	d.analyse(frame)
	if d.settled < settleFrames {
		d.settle()
	}
	d.trackMinimum()
	d.score = 0.6*d.score + 0.4*min(d.likelihood(), 20)
	d.trackNoise(d.score > updateThreshold)
	return d.score
}

// Gap says that the next frame does not follow the last one: no speech before it counts. The noise
// stays known.
func (d *Detector) Gap() {
	d.score = 0
	for i := range d.bands {
		d.bands[i].prior = 0
	}
}

// analyse sets power to the mean power in each band.
func (d *Detector) analyse(frame []int16) {
	d.fft.load(frame, d.window[:])
	d.fft.transform()
	for b := range d.power {
		sum := 0.0
		for k := d.edges[b]; k < d.edges[b+1]; k++ {
			sum += d.fft.power(k)
		}
		d.power[b] = sum/float64(d.edges[b+1]-d.edges[b]) + powerFloor
	}
}

// settle sets the noise to the mean of the frames so far.
func (d *Detector) settle() {
	d.settled++
	for i, p := range d.power {
		b := &d.bands[i]
		if d.settled == 1 {
			*b = band{noise: p, smooth: p, minimum: p, minimumIn: p, prior: 1}
		}
		b.noise += (p - b.noise) / float64(d.settled)
	}
}

// trackMinimum tracks the minimum of the smoothed power over the last 1.5 to 3 s.
func (d *Detector) trackMinimum() {
	d.frames++
	for i := range d.bands {
		b := &d.bands[i]
		b.smooth = 0.8*b.smooth + 0.2*d.power[i]
		b.minimum = min(b.minimum, b.smooth)
		b.minimumIn = min(b.minimumIn, b.smooth)
		if d.frames == minimumFrames {
			b.minimum, b.minimumIn = b.minimumIn, b.smooth
		}
	}
	d.frames %= minimumFrames
}

// likelihood is the mean log likelihood ratio of speech over noise in this frame.
func (d *Detector) likelihood() float64 {
	sum, product := 0.0, 1.0
	for i := range d.bands {
		b := &d.bands[i]
		posterior := min(d.power[i]/b.noise, 1000)
		prior := max(0.003, 0.7*b.prior+0.3*max(posterior-1, 0))
		gain := prior / (1 + prior)
		sum += posterior * gain
		product *= 1 + prior // at most 1001^24, far from overflow: one logarithm instead of 24
		b.prior = gain * gain * posterior
	}
	return (sum - math.Log(product)) / detectorBands
}

// trackNoise updates the noise: fast without speech; during speech only down, or up towards the
// minimum.
func (d *Detector) trackNoise(speech bool) {
	for i := range d.bands {
		b := &d.bands[i]
		switch floor := 1.6 * b.minimum; {
		case !speech:
			b.noise = 0.93*b.noise + 0.07*d.power[i]
		case floor > b.noise: // ends the high score after a step in the noise
			b.noise = 0.98*b.noise + 0.02*floor
		case d.power[i] < b.noise:
			b.noise = 0.9*b.noise + 0.1*d.power[i]
		}
	}
}

func mel(hz float64) float64  { return 2595 * math.Log10(1+hz/700) }
func unmel(m float64) float64 { return 700 * (math.Pow(10, m/2595) - 1) }
