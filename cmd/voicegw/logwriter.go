package main

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// logBytesMax limits the log that waits for its reader; lines beyond that are lost and counted.
	logBytesMax = 1 << 20
	// logCloseTimeout limits how long the end of the process waits for the reader of the log.
	logCloseTimeout = time.Second
)

// logWriter writes lines to a writer that may block or fail, such as a pipe; its own Write does
// neither. Its goroutine ends with close. Safe for concurrent use.
type logWriter struct {
	w    io.Writer
	name string                   // of the logger that reports lost lines; "" of the log itself
	note func(lost uint64) []byte // returns the line that reports lost lines; nil: none

	flood flood

	mu      sync.Mutex
	waiting []byte
	unnoted uint64 // lines lost since the last note
	lost    uint64 // in all
	closing bool
	news    chan struct{} // room for one
	idle    chan struct{} // closed when the goroutine has ended
}

func newLogWriter(w io.Writer) *logWriter {
	l := &logWriter{w: w, news: make(chan struct{}, 1), idle: make(chan struct{})}
	go l.run()
	return l
}

// Write takes one line or several. It never blocks and never fails.
func (l *logWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || len(l.waiting)+len(b) > logBytesMax {
		l.lose(b)
		return len(b), nil
	}
	l.waiting = append(l.waiting, b...)
	l.wake()
	return len(b), nil
}

// lose counts lost lines; mu is held.
func (l *logWriter) lose(b []byte) {
	n := uint64(bytes.Count(b, []byte{'\n'}))
	l.lost += n
	l.unnoted += n
}

func (l *logWriter) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// run writes the lines that wait, until close.
func (l *logWriter) run() {
	defer close(l.idle)
	for {
		b, noted, closing := l.take()
		if len(b) > 0 {
			l.put(b, noted)
			continue
		}
		if closing {
			return
		}
		<-l.news
	}
}

// take returns the lines that wait, followed by a note if lines were lost. noted is how many the note is about, 0
// without one.
func (l *logWriter) take() (b []byte, noted uint64, closing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, l.waiting = l.waiting, nil
	if len(b) > 0 && l.unnoted > 0 && l.note != nil {
		noted, l.unnoted = l.unnoted, 0
		b = append(b, l.note(noted)...)
	}
	return b, noted, l.closing
}

// put writes lines and counts those that it could not write as lost. A note that is lost is none of them; what it was
// about is noted again.
func (l *logWriter) put(b []byte, noted uint64) {
	n, err := l.w.Write(b)
	if err == nil || n == len(b) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose(b[n:])
	if noted > 0 {
		l.lost--
		l.unnoted += noted - 1
	}
}

// losses returns the number of lines lost so far.
func (l *logWriter) losses() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// close writes the lines that wait, within logCloseTimeout.
func (l *logWriter) close() {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	l.wake()
	timer := time.NewTimer(logCloseTimeout)
	defer timer.Stop()
	select {
	case <-l.idle:
	case <-timer.C:
	}
}

// say writes a text to a writer that may block, and waits for it for a moment only.
func say(w io.Writer, text string) {
	said := make(chan struct{})
	go func() { // ends with the process if nobody reads
		_, _ = io.WriteString(w, text)
		close(said)
	}()
	timer := time.NewTimer(logCloseTimeout / 5)
	defer timer.Stop()
	select {
	case <-said:
	case <-timer.C:
	}
}
