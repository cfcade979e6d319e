package main

import (
	"io"
	"sync"
	"time"

	"go.uber.org/zap"
)

// proofProgress shows how far the proof of the nets is: in a line of the terminal, or a line of the log every
// proofProgressLog. It is safe for concurrent use.
type proofProgress struct {
	line *progress
	log  *zap.Logger

	mu        sync.Mutex
	slice     string // that was proved last
	done, all int
	began     time.Time

	ended, idle chan struct{}
	once        sync.Once
}

const (
	proofProgressFirst = 2 * time.Second // until the first line of a log
	proofProgressLog   = 5 * time.Second
)

// newProofProgress begins to show it in a goroutine, until end.
func newProofProgress(stderr io.Writer, log *zap.Logger) *proofProgress {
	p := &proofProgress{line: newProgress(stderr, ""), log: log, began: time.Now(), ended: make(chan struct{}),
		idle: make(chan struct{})}
	first, every := proofProgressFirst, proofProgressLog
	if p.line.terminal {
		first, every = progressTerminal, progressTerminal
	}
	go p.run(first, every)
	return p
}

// step notes that a slice has been proved.
func (p *proofProgress) step(slice string, done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slice, p.done, p.all = slice, done, all
}

// end ends it, and clears the line of a terminal.
func (p *proofProgress) end() {
	p.once.Do(func() {
		close(p.ended)
		<-p.idle
		p.line.end()
	})
}

func (p *proofProgress) run(next, every time.Duration) {
	defer close(p.idle)
	for {
		timer := time.NewTimer(next)
		select {
		case <-p.ended:
			timer.Stop()
			return
		case <-timer.C:
			p.show()
		}
		next = every
	}
}

func (p *proofProgress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	seconds := int(time.Since(p.began).Seconds())
	const what = "proving the nets of calls"
	switch {
	case p.line.terminal && p.all == 0: // the slices are not known yet
		p.line.say("%s: %d s", what, seconds)
	case p.line.terminal:
		p.line.say("%s: %d of %d slices, %d s %s", what, p.done, p.all, seconds, p.slice)
	case p.all == 0:
		p.log.Info(what, zap.Int("seconds", seconds))
	default:
		p.log.Info(what, zap.Int("seconds", seconds), zap.Int("done", p.done), zap.Int("of", p.all),
			zap.String("slice", p.slice))
	}
}
