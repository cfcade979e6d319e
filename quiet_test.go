//go:build !race

package voicegw_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// memory is an archive in memory.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// times returns when events of a kind and name happened.
func (m *memory) times(t *testing.T, kind, name string) (list []time.Duration) {
	t.Helper()
	for line := range bytes.Lines(m.Bytes()) {
		var e struct {
			At         time.Duration
			Kind, Name string
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == kind && e.Name == name {
			list = append(list, e.At)
		}
	}
	return list
}

// TestQuietStretch lets a caller be silent after a turn, whose frames need not wake the net, until the net asks whether
// anybody is there, and then speak: every frame enters the net with the time at which it came, the timer that falls
// due between two of them fires when it is due, and speech that begins among them is noticed with the frame that it
// begins in.
func TestQuietStretch(t *testing.T) {
	archive, story := &memory{}, plan{gw: prompted()}
	story.gw.Net.RepromptAfter = 5*time.Second + 13*time.Millisecond // between two frames
	story.gw.Archive = func(string) (io.WriteCloser, error) { return archive, nil }
	var asked, noticed time.Duration
	inBubble(t, story, func(w *world) {
		p := w.call(hello(), manner{})
		p.answered("hello", 5*time.Second)
		p.ended(transport.TurnComplete)
		asked = p.turn(transport.StateStart).at
		p.ended(transport.TurnComplete)
		time.Sleep(2130 * time.Millisecond)
		p.utters("hello")
		noticed = p.state(transport.MessageSpeech, transport.StateStart).at
		p.hangUp()
	})
	frames := archive.times(t, "injected", "caller_audio")
	for i, at := range frames[1:] {
		if apart := at - frames[i]; apart != audio.FrameDuration {
			t.Fatalf("frame %d entered the net at %v, %v after the one before", i+1, at, apart)
		}
	}
	ended := archive.times(t, "fired", "playout/end_reply")[0]
	silent := archive.times(t, "fired", "caller_silence/notice_silence")[0]
	if silent-ended != story.gw.Net.RepromptAfter || asked < silent || asked-silent > audio.FrameDuration {
		t.Errorf("the reply ended at %v, the net noticed the silence at %v, and asked at %v", ended, silent, asked)
	}
	edge := archive.times(t, "injected", "speech_edge[start]")[1]
	if (edge-frames[0])%audio.FrameDuration != 0 || noticed < edge || noticed-edge > audio.FrameDuration {
		t.Errorf("speech that began in the net at %v was noticed at %v", edge, noticed)
	}
}
