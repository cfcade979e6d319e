package access

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// LoadConfig says when a machine has too much to do for another call.
type LoadConfig struct {
	// CPUMax is the share of the processors the process may use (GOMAXPROCS) that is too much: 0.85; more than 1 means
	// never.
	CPUMax float64
	// LateMax is how late timers may be: 100 ms, five frames.
	LateMax time.Duration
	// Every is how often both are looked at: 250 ms.
	Every time.Duration
	// CPU is the processor time that the process has used since it began: what the system says.
	CPU func() time.Duration
}

// Load watches how busy the process is. One that is too busy refuses calls that come so that those it has go on well.
// It becomes high after four looks in a row that found too much, and low after eight in a row that found less than
// nine tenths of that. Safe for concurrent use.
type Load struct {
	cfg  LoadConfig
	high atomic.Bool
	late atomic.Int64 // the latest that was noted since the last look
	last atomic.Pointer[Reading]

	// of Run alone
	above, below int
}

// Reading is what one look found.
type Reading struct {
	CPU  float64       // share of the processors
	Late time.Duration // of the latest timer
}

const (
	looksToHigh = 4
	looksToLow  = 8
	lowShare    = 0.9
)

// NewLoad checks cfg. Until Run runs nothing is high.
func NewLoad(cfg LoadConfig) (*Load, error) {
	if cfg.CPUMax == 0 {
		cfg.CPUMax = 0.85
	}
	if cfg.LateMax == 0 {
		cfg.LateMax = 100 * time.Millisecond
	}
	if cfg.Every == 0 {
		cfg.Every = 250 * time.Millisecond
	}
	if cfg.CPU == nil {
		cfg.CPU = processTime
	}
	if cfg.CPUMax < 0 || cfg.LateMax < 0 || cfg.Every < 10*time.Millisecond {
		return nil, fmt.Errorf("access: new load: CPUMax %v, LateMax %v, Every %v; they must be positive, Every 10ms",
			cfg.CPUMax, cfg.LateMax, cfg.Every)
	}
	return &Load{cfg: cfg}, nil
}

// Run looks until ctx is done. One goroutine calls it.
func (l *Load) Run(ctx context.Context) {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	before, cpu := time.Now(), l.cfg.CPU()
	for {
		select {
		case due := <-tick.C:
			now, used := time.Now(), l.cfg.CPU()
			l.Late(now.Sub(due))
			l.look(Reading{CPU: share(used-cpu, now.Sub(before)), Late: time.Duration(l.late.Swap(0))})
			before, cpu = now, used
		case <-ctx.Done():
			l.high.Store(false)
			return
		}
	}
}

// share is what part of the processors was used.
func share(used, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(used) / float64(elapsed) / float64(runtime.GOMAXPROCS(0))
}

// Late notes that something with a time came so late. Run notes its own ticks.
func (l *Load) Late(d time.Duration) {
	for {
		old := l.late.Load()
		if int64(d) <= old || l.late.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// look judges a reading.
func (l *Load) look(r Reading) {
	l.last.Store(&r)
	if r.CPU > l.cfg.CPUMax || r.Late > l.cfg.LateMax {
		l.above, l.below = l.above+1, 0
	} else if r.CPU < lowShare*l.cfg.CPUMax && r.Late < time.Duration(lowShare*float64(l.cfg.LateMax)) {
		l.above, l.below = 0, l.below+1
	} else {
		l.above, l.below = 0, 0
	}
	if l.above >= looksToHigh {
		l.high.Store(true)
	} else if l.below >= looksToLow {
		l.high.Store(false)
	}
}

// High reports whether the machine has too much to do for another call.
func (l *Load) High() bool { return l.high.Load() }

// RetryAfter is when it can be low again at the earliest, in whole seconds.
func (l *Load) RetryAfter() time.Duration {
	return (looksToLow*l.cfg.Every + time.Second - 1).Truncate(time.Second)
}

// Last is the last reading; zero before the first.
func (l *Load) Last() Reading {
	if r := l.last.Load(); r != nil {
		return *r
	}
	return Reading{}
}
