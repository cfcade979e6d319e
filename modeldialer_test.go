package voicegw

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/voicenets"
)

// TestDialAfterTheEnd: a connection that opens when the call is to end is closed, and never becomes the call's.
func TestDialAfterTheEnd(t *testing.T) {
	m := newMind()
	d := &modelDialer{dialer: m, timeout: time.Second, talk: &conversation{},
		dialled: func(voicenets.DialResult, time.Duration) {}}
	if !d.begin(func() {}, false) {
		t.Fatal("the dial does not begin")
	}
	d.stop()
	d.open(t.Context(), t.Context(), nil)
	select {
	case <-m.closed:
	default:
		t.Error("the connection stays open")
	}
	if d.newest() != nil || d.opened() != 0 {
		t.Error("the connection is the call's")
	}
	if d.begin(func() {}, false) {
		t.Error("another dial begins")
	}
}
