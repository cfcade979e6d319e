package wsconn

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPingerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		var p pinger
		p.start(time.Second, func() { n++; time.Sleep(time.Second / 2) })
		time.Sleep(4600 * time.Millisecond) // at 1 s, 2.5 s and 4 s
		p.stop()
		time.Sleep(time.Minute)
		if n != 3 {
			t.Errorf("%d pings, want 3", n)
		}
		p.fire() // a timer that had run when it was stopped
		if n != 3 {
			t.Error("a ping came after stop")
		}
	})
}
