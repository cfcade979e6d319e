package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// How often progress is shown: a line that a terminal overwrites, or lines of a log.
const (
	progressTerminal = 200 * time.Millisecond
	progressLog      = 10 * time.Second
)

// terminalWidth is what even a narrow terminal shows in one line.
const terminalWidth = 79

// progress shows people that work goes on. It is not safe for concurrent use.
type progress struct {
	w        io.Writer
	what     string // "classes"
	terminal bool
	next     time.Time
	shown    bool
}

// newProgress returns a progress that counts things called what on w. The first line comes after a
// while.
func newProgress(w io.Writer, what string) *progress {
	if v, ok := w.(*visible); ok {
		w = v.w // these lines are our own, and clear a line of the terminal
	}
	p := &progress{w: w, what: what}
	if l, ok := w.(*logWriter); ok {
		if w = l.w; isTerminal(w) {
			p.w = w
		} else if v, ok := w.(*visible); ok && isTerminal(v.w) {
			p.w = v.w
		}
	}
	p.terminal = isTerminal(p.w)
	p.next = time.Now().Add(p.every())
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) every() time.Duration {
	if p.terminal {
		return progressTerminal
	}
	return progressLog
}

// step shows how many things were found and done, unless it did so a moment ago.
func (p *progress) step(found, done int) { p.say("%d %s found, %d of them done", found, p.what, done) }

// say shows a line, unless it did so a moment ago.
func (p *progress) say(format string, args ...any) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(p.every()), true
	line := fmt.Sprintf(format, args...)
	if p.terminal {
		if r := []rune(line); len(r) > terminalWidth { // a line that wraps could not be cleared
			line = string(r[:terminalWidth-3]) + "..."
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", shown([]byte(line)))
		return
	}
	fmt.Fprintln(p.w, line)
}

// end clears the line on a terminal.
func (p *progress) end() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
