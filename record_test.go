package voicegw_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
	"github.com/voicegw/voicegw/voicenets"
)

// tape is the record of one call.
type tape struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	closed bool
}

func (t *tape) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(b)
}

func (t *tape) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return nil
}

// TestRecordReplays records a call with an interruption and plays it again through the net alone,
// event for event.
func TestRecordReplays(t *testing.T) {
	var record tape
	p := plan{gw: voicegw.Config{Archive: func(string) (io.WriteCloser, error) { return &record, nil }}}
	inBubble(t, p, func(w *world) {
		w.converse(wsclient.Config{In: audiotest.Speech("long"),
			BargeIn: wsclient.BargeIn{PCM: audiotest.Speech("over"), After: 2 * time.Second}})
	})
	if !record.closed {
		t.Error("the record was not closed")
	}
	net, err := voicenets.Session(voicenets.Config{})
	if err != nil {
		t.Fatal(err)
	}
	prog, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	n, err := event.Replay(prog, bytes.NewReader(record.buf.Bytes()))
	if err != nil || n < 1000 {
		t.Fatalf("%d events replayed: %v", n, err)
	}
	for _, want := range []string{"turns/pause_reply", "turns/barge_in_at_end", "call/end_call"} {
		if !strings.Contains(record.buf.String(), want) {
			t.Errorf("%s is not in the record", want)
		}
	}
	// A record that was tampered with does not replay: the difference is named.
	line := regexp.MustCompile(`"index":\d+,"name":"turns/barge_in_at_end"`)
	forged := line.ReplaceAllString(record.buf.String(), `"index":0,"name":"call/end_call"`)
	var diff *event.Difference
	_, err = event.Replay(prog, strings.NewReader(forged))
	if !errors.As(err, &diff) || !strings.Contains(err.Error(), "turns/barge_in") {
		t.Errorf("a forged record: %v", err)
	}
}

// TestRecordFails: a call goes on without its record.
func TestRecordFails(t *testing.T) {
	p := plan{gw: voicegw.Config{Archive: func(string) (io.WriteCloser, error) { return nil, errors.New("disk full") }}}
	inBubble(t, p, func(w *world) {
		if r := w.converse(wsclient.Config{In: audiotest.Speech("hello")}); r.Turns != 1 {
			t.Errorf("%d turns, want 1", r.Turns)
		}
	})
}
