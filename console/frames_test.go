package console

import "testing"

// TestFrames: in a call with many kinds of events, those of each frame count as frames, and the others do not.
func TestFrames(t *testing.T) {
	t.Parallel()
	p := posed(t)
	_, b := whole(t, p.prog, p.file())
	often, isFrame := map[int64]int{}, map[string]bool{}
	for i := 1; i < len(b.Events); i += 2 {
		often[b.Events[i]]++
	}
	for i, k := range b.Kinds {
		if isFrame[k.Name] = k.Frame; !k.Frame && often[int64(i)] > 10 {
			t.Errorf("%s %s happens %d times, and is taken for a decision", k.Kind, k.Name, often[int64(i)])
		}
	}
	for _, name := range []string{"model/accept_frame", "playout/send_frame", "playout/play_again", "peer_ack[fresh]",
		"speech_edge[more]"} {
		if !isFrame[name] {
			t.Errorf("%s is taken for a decision", name)
		}
	}
	for _, name := range []string{"playout/begin_reply", "playout/mark_end", "speech_edge[start]", "turns/barge_in_at_end",
		"speech/confirm_speech"} {
		if frame, ok := isFrame[name]; frame || !ok {
			t.Errorf("%s is known: %v, and taken for a frame: %v", name, ok, frame)
		}
	}
}
