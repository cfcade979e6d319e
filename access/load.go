package access

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// LoadConfig says when a machine is overloaded. A zero field takes its default.
type LoadConfig struct {
	// CPUMax is the highest share of GOMAXPROCS processors that the process may use: default 0.85.
	// More than 1 disables the check.
	CPUMax float64
	// LateMax is how late a timer may be: default 100 ms.
	LateMax time.Duration
	// Every is the time between two readings: default 250 ms, at least 10 ms.
	Every time.Duration
	// CPU returns the processor time that the process has used. The default asks the operating
	// system.
	CPU func() time.Duration
}

// Load measures whether the process is overloaded, so that a Guard can refuse new calls before
// running ones suffer. It is high after four readings in a row above CPUMax or LateMax, and low
// again after eight in a row below nine tenths of both. It is safe for concurrent use.
type Load struct {
	cfg  LoadConfig
	high atomic.Bool
	late atomic.Int64 // the highest lateness since the last reading

	above, below int // readings in a row; used by Run alone
}

// reading is one measurement.
type reading struct {
	cpu  float64       // share of the processors
	late time.Duration // highest lateness
}

const (
	readingsToHigh = 4
	readingsToLow  = 8
	lowShare       = 0.9
)

// NewLoad returns a Load, or an error if a field of cfg is out of range. It is low until Run has
// measured otherwise.
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
		return nil, fmt.Errorf("access: new load: CPUMax is %v, LateMax %v, Every %v; want positive values, Every at "+
			"least 10ms", cfg.CPUMax, cfg.LateMax, cfg.Every)
	}
	return &Load{cfg: cfg}, nil
}

// Run measures until ctx is done; then the load is low. At most one goroutine may call it.
func (l *Load) Run(ctx context.Context) {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	before, cpu := time.Now(), l.cfg.CPU()
	for {
		select {
		case due := <-tick.C:
			now, used := time.Now(), l.cfg.CPU()
			l.Late(now.Sub(due))
			l.judge(reading{cpu: share(used-cpu, now.Sub(before)), late: time.Duration(l.late.Swap(0))})
			before, cpu = now, used
		case <-ctx.Done():
			l.high.Store(false)
			return
		}
	}
}

// share returns the used share of the processors.
func share(used, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(used) / float64(elapsed) / float64(runtime.GOMAXPROCS(0))
}

// Late records that a timer fired d after its time. Run records the lateness of its own ticker.
func (l *Load) Late(d time.Duration) {
	for {
		old := l.late.Load()
		if int64(d) <= old || l.late.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// judge updates high after a reading.
func (l *Load) judge(r reading) {
	if r.cpu > l.cfg.CPUMax || r.late > l.cfg.LateMax {
		l.above, l.below = l.above+1, 0
	} else if r.cpu < lowShare*l.cfg.CPUMax && r.late < time.Duration(lowShare*float64(l.cfg.LateMax)) {
		l.above, l.below = 0, l.below+1
	} else {
		l.above, l.below = 0, 0
	}
	if l.above >= readingsToHigh {
		l.high.Store(true)
	} else if l.below >= readingsToLow {
		l.high.Store(false)
	}
}

// retryAfter returns the least time until a high load can be low again, rounded up to seconds.
func (l *Load) retryAfter() time.Duration {
	return (readingsToLow*l.cfg.Every + time.Second - 1).Truncate(time.Second)
}
