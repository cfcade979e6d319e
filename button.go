package voicegw

import "github.com/voicegw/voicegw/voicenets"

// button makes edges of speech from a button to talk. What the caller says with
// it is meant: it is confirmed at once. It belongs to the goroutine that reads
// the peer.
type button struct {
	pressed bool
	frames  int // since the last sign of life
}

// moreEvery is how many frames lie between two signs that speech goes on.
const moreEvery = 5

// press takes the button's position.
func (b *button) press(on bool, edge func(voicenets.Edge)) {
	if on == b.pressed {
		return
	}
	b.pressed, b.frames = on, 0
	if !on {
		edge(voicenets.SpeechStop)
		return
	}
	edge(voicenets.SpeechStart)
	edge(voicenets.SpeechConfirm)
}

// hear takes one frame: while the button is pressed, speech goes on.
func (b *button) hear(edge func(voicenets.Edge)) {
	if !b.pressed {
		return
	}
	if b.frames++; b.frames >= moreEvery {
		b.frames = 0
		edge(voicenets.SpeechMore)
	}
}
