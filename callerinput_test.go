package voicegw

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// heardInput is a caller input and what came of it: f for a frame, and the edges by their names.
type heardInput struct {
	*callerInput
	at     time.Duration
	frames []*voicenets.CallerFrame
	got    []string
}

func newHeardInput(t *testing.T, rateHz int) *heardInput {
	t.Helper()
	h := &heardInput{}
	var err error
	h.callerInput, err = newCallerInput(rateHz, audio.ActivityConfig{}, func() time.Duration { return h.at },
		func(f *voicenets.CallerFrame) {
			h.frames = append(h.frames, f)
			h.got = append(h.got, "f")
		}, func(e voicenets.Edge) { h.got = append(h.got, e.String()) })
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// edges are the edges that came, without the frames.
func (h *heardInput) edges() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(h.got), func(s string) bool { return s == "f" }), " ")
}

// TestCallerInputFrames cuts what a peer sends into frames of 16 kHz that share no memory, whatever
// its rate and the length of its packets.
func TestCallerInputFrames(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		for _, packet := range []int{1, 7, 160, 1000} {
			h := newHeardInput(t, rate)
			second := make([]int16, rate)
			for i := range second {
				second[i] = int16(8000 * math.Sin(float64(i)*2*math.Pi*300/float64(rate)))
			}
			for part := range slices.Chunk(second, packet) {
				h.push(part)
			}
			if n := len(h.frames); n < 49 || n > 50 {
				t.Errorf("%d Hz in packets of %d: %d frames in a second", rate, packet, n)
			}
			for i, f := range h.frames {
				if len(f.PCM) != 320 || cap(f.PCM) != 320 || i > 0 && &f.PCM[0] == &h.frames[i-1].PCM[0] {
					t.Fatalf("%d Hz: frame %d has %d samples with room for %d", rate, i, len(f.PCM), cap(f.PCM))
				}
			}
		}
	}
}

// TestCallerInputReopens: what was captured before the input gate opened is in no frame.
func TestCallerInputReopens(t *testing.T) {
	h := newHeardInput(t, 16000)
	h.push(slices.Repeat([]int16{1}, 319))
	h.reopen.Store(true)
	h.push(slices.Repeat([]int16{2}, 320))
	if len(h.frames) != 1 || h.frames[0].PCM[0] != 2 || h.reopen.Load() {
		t.Errorf("%d frames came, the first %v", len(h.frames), h.frames[0].PCM[:3])
	}
	h.push(slices.Repeat([]int16{3}, 100))
	h.push(slices.Repeat([]int16{3}, 220))
	if len(h.frames) != 2 {
		t.Errorf("%d frames came: the gate opens once", len(h.frames))
	}
}

// TestCallerInputSpeech: the frame comes before the edge that it causes; speech starts, is
// confirmed and stops; a detector that starts over reports speech that goes on anew.
func TestCallerInputSpeech(t *testing.T) {
	say := func(h *heardInput, seconds float64) {
		pcm := audiotest.Resample(audiotest.Speech("long"), 16000).Samples
		h.push(pcm[:int(16000*seconds)])
	}
	h := newHeardInput(t, 16000)
	say(h, 1)
	h.push(make([]int16, 2*16000))
	edges := h.edges()
	if !strings.HasPrefix(edges, "start ") || !strings.Contains(edges, "confirm") || !strings.HasSuffix(edges, "stop") ||
		strings.Count(edges, "start") != 1 {
		t.Errorf("a second of speech and two of silence make %q", edges)
	}
	if h.got[0] != "f" {
		t.Errorf("%q comes before its frame", h.got[0])
	}
	h = newHeardInput(t, 16000)
	say(h, 1)
	h.abort.Store(true)
	say(h, 1)
	if edges := h.edges(); strings.Count(edges, "start") != 2 || strings.Contains(edges, "stop") {
		t.Errorf("a detector that starts over in speech makes %q", edges)
	}
}

// TestCallerInputButton: with push to talk the button alone makes edges, and a detector that starts
// over repeats a button that is pressed.
func TestCallerInputButton(t *testing.T) {
	pcm := audiotest.Resample(audiotest.Speech("long"), 16000).Samples[:16000]
	h := newHeardInput(t, 16000)
	h.button = &pushToTalk{}
	h.push(pcm)
	if edges := h.edges(); edges != "" {
		t.Errorf("speech without the button makes %q", edges)
	}
	h.got = nil
	h.talk(true)
	h.push(make([]int16, 320*moreEvery))
	h.abort.Store(true)
	h.push(make([]int16, 320))
	h.talk(false)
	if edges := h.edges(); edges != "start confirm more start confirm stop" {
		t.Errorf("a press makes %q", edges)
	}
	h = newHeardInput(t, 16000)
	if h.talk(true); len(h.got) > 0 {
		t.Errorf("without push to talk a press makes %q", h.got)
	}
}

// TestCallerInputEcho: the echo of a reply does not confirm speech of the caller's. The same sound
// does when no reply was played, or when a clear dropped it.
func TestCallerInputEcho(t *testing.T) {
	speech := audiotest.Resample(audiotest.Speech("long"), 16000).Samples[:16000]
	for name, test := range map[string]struct {
		plays, clears bool
		heard         bool
	}{
		"no reply":     {heard: true},
		"echo":         {plays: true},
		"cleared":      {plays: true, clears: true, heard: true},
		"clear of all": {clears: true, heard: true},
	} {
		h := newHeardInput(t, 16000)
		for frame := range slices.Chunk(speech, 320) {
			if test.plays {
				h.playing(frame)
			}
			if test.clears {
				h.cleared()
			}
			echo := slices.Clone(frame)
			for i := range echo {
				echo[i] /= 2
			}
			h.at += audio.FrameDuration
			h.push(echo)
		}
		if edges := h.edges(); strings.Contains(edges, "confirm") != test.heard {
			t.Errorf("%s: %q", name, edges)
		}
	}
}

// TestCallerInputReopensQuietly: a microphone that closed in the middle of a word, and opens in
// silence, makes no edge.
func TestCallerInputReopensQuietly(t *testing.T) {
	h := newHeardInput(t, 16000)
	h.push(make([]int16, 16000))
	h.push(speech16("long")[:16000])
	if edges := h.edges(); !strings.HasSuffix(edges, "more") {
		t.Fatalf("speech makes %q", edges)
	}
	h.got, h.at = nil, time.Minute
	h.abort.Store(true) // by the net, 300 ms later
	h.push(make([]int16, 2*16000))
	if edges := h.edges(); edges != "" {
		t.Errorf("silence makes %q", edges)
	}
}

// TestCallerInputKnowsWhenItWasCaptured: a piece of five seconds began while the reply played that
// ended a second ago. One that comes later did not.
func TestCallerInputKnowsWhenItWasCaptured(t *testing.T) {
	reply := speech16("long")[:4*16000]
	piece := append(slices.Clone(reply), make([]int16, 16000)...)
	for i := range piece {
		piece[i] /= 4
	}
	for later, heard := range map[time.Duration]bool{0: false, 10 * time.Second: true} {
		h := newHeardInput(t, 16000)
		h.at = time.Second
		h.push(make([]int16, 320))
		for frame := range slices.Chunk(reply, 320) {
			h.playing(frame)
			h.at += audio.FrameDuration
		}
		h.alive()
		h.at += time.Second + later
		h.push(piece)
		if edges := h.edges(); strings.Contains(edges, "confirm") != heard {
			t.Errorf("%v later: %q", later, edges)
		}
	}
}

// TestCallerInputSilentMicrophone: after a reply that was played while the microphone was silent,
// speech starts and is confirmed as soon as in a call without a reply. The microphone sends what
// was said before it opened at once.
func TestCallerInputSilentMicrophone(t *testing.T) {
	question := speech16("german")
	for i := range question {
		question[i] /= 5
	}
	ask := func(h *heardInput) string {
		h.got = nil
		h.at += 30 * audio.FrameDuration
		for i, frame := range slices.Collect(slices.Chunk(question[:100*320], 320)) {
			if i >= 30 { // the first come at once
				h.at += audio.FrameDuration
			}
			h.push(frame)
		}
		return strings.Join(h.got, " ")
	}
	h := newHeardInput(t, 16000)
	h.push(make([]int16, 16000))
	want := ask(h)
	for _, after := range []time.Duration{0, 100, 300, 1000, 10000} {
		h := newHeardInput(t, 16000)
		h.push(make([]int16, 16000))
		r := &peerReader{input: h.callerInput, acks: &ackTracker{}, tally: &tally{}}
		ack := &transport.Event{Kind: transport.EventAck, Generation: 1}
		r.acks.sent(0)
		for i, frame := range slices.Collect(slices.Chunk(speech16("long")[:300*320], 320)) {
			h.playing(frame)
			if h.at += audio.FrameDuration; i%5 == 0 {
				r.event(t.Context(), ack)
			}
		}
		r.acks.giveUp() // nothing is still to be heard
		r.event(t.Context(), ack)
		h.at += after * time.Millisecond
		if got := ask(h); got != want {
			t.Errorf("%d ms after the reply a question makes %s; without it %s", after, got, want)
		}
	}
}

// speech16 is an utterance at 16 kHz.
func speech16(name string) []int16 { return audiotest.Speech(name).Samples }

// TestCallerInputMayWait checks that while no turn is open every fifth frame makes the net look, and in
// a turn each.
func TestCallerInputMayWait(t *testing.T) {
	var in callerInput
	looks := func(idle bool, frames int) (list []int) {
		for n := range frames {
			if !in.mayWait(idle) {
				list = append(list, n)
			}
		}
		return list
	}
	if got, want := looks(true, 12), []int{4, 9}; !slices.Equal(got, want) {
		t.Errorf("without a turn the net looks at frames %v, want %v", got, want)
	}
	if got, want := looks(false, 3), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("in a turn the net looks at frames %v, want %v", got, want)
	}
	if got, want := looks(true, 5), []int{4}; !slices.Equal(got, want) {
		t.Errorf("after a turn the net looks at frames %v, want %v", got, want)
	}
}
