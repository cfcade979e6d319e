package wsconn

import (
	"sync"
	"time"
)

// pinger calls ping at an interval, never twice at once, without a waiting goroutine.
type pinger struct {
	every time.Duration
	ping  func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	running sync.WaitGroup
}

// start starts the timer; stop must follow.
func (p *pinger) start(every time.Duration, ping func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every, p.ping = every, ping
	p.timer = time.AfterFunc(every, p.fire)
}

// fire runs when the timer expires, and sets the timer again.
func (p *pinger) fire() {
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return
	}
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()
	p.ping()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.timer.Reset(p.every)
	}
}

// stop stops the timer and waits for a ping in progress, which must be about to return.
func (p *pinger) stop() {
	p.mu.Lock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.running.Wait()
}
