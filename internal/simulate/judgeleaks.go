package simulate

import (
	"runtime"
	"strings"
	"testing/synctest"
	"weak"

	"github.com/voicegw/voicegw"
)

// weakSession is a session that may be collected, and the number of its call.
type weakSession struct {
	n    int
	weak weak.Pointer[voicegw.Session]
}

// track keeps a weak pointer to a session, for judgeMemory.
func (w *world) track(n int, s *voicegw.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, weakSession{n, weak.Make(s)})
}

// judgeGoroutines wants no goroutine to run for calls that are over, although their gateway goes
// on. The bubble's first goroutine calls it.
func (w *world) judgeGoroutines() {
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	mine := ""
	for i, one := range strings.Split(string(stacks), "\n\n") {
		head, _, _ := strings.Cut(one, "\n")
		_, bubble, _ := strings.Cut(head, "synctest bubble ")
		switch {
		case i == 0: // this one
			mine = bubble
		case bubble == mine && !strings.Contains(one, "testing/synctest."): // the bubble's own
			w.violation("a goroutine is left of calls that are over: %s", one)
		}
	}
}

// judgeMemory wants no session to be reachable when the calls are over, although their gateway is.
// It is called when the bubble is over. It takes a while, so not every world is judged.
func (w *world) judgeMemory() {
	left := func() (calls []int) {
		for _, s := range w.sessions {
			if s.weak.Value() != nil {
				calls = append(calls, s.n)
			}
		}
		return calls
	}
	for range collectionsMax {
		if runtime.GC(); len(left()) == 0 {
			break
		}
	}
	for _, n := range left() {
		w.violation("call %d: its session is over, and something keeps it", n)
	}
	runtime.KeepAlive(w.gw)
}

// collectionsMax is after how many collections something keeps what is left. A pool keeps things
// for two.
const collectionsMax = 3
