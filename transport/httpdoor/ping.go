package httpdoor

import (
	"sync"
	"time"
)

// Pinger calls ping at an interval, never twice at once, without a goroutine that waits.
type Pinger struct {
	every time.Duration
	ping  func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	running sync.WaitGroup
}

// Start begins; Stop must follow.
func (p *Pinger) Start(every time.Duration, ping func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every, p.ping = every, ping
	p.timer = time.AfterFunc(every, p.fire)
}

// fire runs when the timer does, and sets it again.
func (p *Pinger) fire() {
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

// Stop ends it and waits for a ping in progress, which must be about to return.
func (p *Pinger) Stop() {
	p.mu.Lock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// Stopped reports whether Stop was called: there will be no more pings.
func (p *Pinger) Stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}
