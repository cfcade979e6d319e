//go:build !race

package voicegw_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"weak"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
)

// simLog keeps what is logged, in words: fields may hold the call that they speak of. It is a zapcore.Core.
type simLog struct {
	with []zapcore.Field
	book *simLogBook
}

// simLogBook is what the cores of a log have in common.
type simLogBook struct {
	mu    sync.Mutex
	lines []simLogged
}

// simLogged is a line of a log.
type simLogged struct {
	level  zapcore.Level
	what   string
	fields map[string]any
}

func newSimLog() *simLog { return &simLog{book: &simLogBook{}} }

func (l *simLog) Enabled(level zapcore.Level) bool { return level >= zapcore.InfoLevel }

func (l *simLog) With(fields []zapcore.Field) zapcore.Core {
	return &simLog{with: slices.Concat(l.with, fields), book: l.book}
}

func (l *simLog) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(e.Level) {
		return to.AddCore(e, l)
	}
	return to
}

func (l *simLog) Write(e zapcore.Entry, fields []zapcore.Field) error {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(l.with, fields) {
		f.AddTo(m)
	}
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	l.book.lines = append(l.book.lines, simLogged{e.Level, e.Message, m.Fields})
	return nil
}

func (l *simLog) Sync() error { return nil }

// simSession is a session that may be forgotten, and whose it was.
type simSession struct {
	n    int
	weak weak.Pointer[voicegw.Session]
}

// keeps notes a session, of which nothing may be left when it is over.
func (w *simWorld) keeps(n int, s *voicegw.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, simSession{n, weak.Make(s)})
}

// judgeGoroutines wants nothing to run any more for calls that are over, although their gateway goes on. It is called
// by the bubble's first goroutine.
func (w *simWorld) judgeGoroutines() {
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	mine := ""
	for i, one := range strings.Split(string(stacks), "\n\n") {
		head, _, _ := strings.Cut(one, "\n")
		_, bubble, _ := strings.Cut(head, "synctest bubble ")
		switch {
		case i == 0: // the one that asks
			mine = bubble
		case bubble == mine && !strings.Contains(one, "testing/synctest."): // the bubble's own
			w.wrong("a goroutine is left of calls that are over: %s", one)
		}
	}
}

// forgets lets go of what the callers know of their calls.
func (w *simWorld) forgets() {
	for _, s := range w.callers {
		s.host = nil
		select {
		case <-s.session:
		default:
		}
	}
}

// judgeMemory wants nothing to be left of calls that are over, although their gateway is still known. It is called when
// the bubble is over, and takes a while: not after every world.
func (w *simWorld) judgeMemory() {
	left := func() (calls []int) {
		for _, s := range w.sessions {
			if s.weak.Value() != nil {
				calls = append(calls, s.n)
			}
		}
		return calls
	}
	for range simCollects {
		if runtime.GC(); len(left()) == 0 {
			break
		}
	}
	for _, n := range left() {
		w.wrong("call %d: it is over, and kept by somebody", n)
	}
	runtime.KeepAlive(w.gw)
}

// simCollects is how often memory is collected until what is left is kept by somebody: pools hold on to things for two
// times.
const simCollects = 3
