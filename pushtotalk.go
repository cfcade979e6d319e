package voicegw

import "github.com/voicegw/voicegw/voicenets"

// pushToTalk makes edges of speech from a push-to-talk button. Speech is confirmed at once, because
// a press is deliberate. The goroutine that reads the peer owns it.
type pushToTalk struct {
	pressed bool
	frames  int // since the last edge
}

// moreEvery is how many frames pass between two reports that speech continues.
const moreEvery = 5

// press takes the button's position.
func (b *pushToTalk) press(on bool, edge func(voicenets.Edge)) {
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

// repeat reports a pressed button again, to a net that has dropped its speech.
func (b *pushToTalk) repeat(edge func(voicenets.Edge)) {
	if b.pressed {
		b.pressed = false
		b.press(true, edge)
	}
}

// hear counts a frame: while the button is pressed, speech continues.
func (b *pushToTalk) hear(edge func(voicenets.Edge)) {
	if !b.pressed {
		return
	}
	if b.frames++; b.frames >= moreEvery {
		b.frames = 0
		edge(voicenets.SpeechMore)
	}
}
