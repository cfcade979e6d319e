package bench

import (
	"context"
	"fmt"
	"time"
)

// TargetDefault is the 99th percentile of what may be added: one frame.
const TargetDefault = 20 * time.Millisecond

// FindLimit finds the most calls at which the 99th percentile of what the gateway adds, up and down,
// stays within the target, and nothing goes wrong. It doubles the calls of cfg and then halves the
// distance between too many and few enough, to a tenth. Each number of calls is measured for
// cfg.Length. The report is that of the most calls within the target, or of the fewest that were
// tried.
func FindLimit(ctx context.Context, cfg Config, target time.Duration) (*Report, error) {
	if cfg.Relay == nil {
		return nil, fmt.Errorf("bench: without a relay nobody knows what the gateway adds")
	}
	r, err := start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return search(r.cfg.Calls, milliseconds(target), func(calls int) (*Report, error) {
		report, err := r.measure(ctx, calls)
		if err != nil && ctx.Err() == nil { // such as a call that is refused
			report = &Report{Transport: cfg.Transport, Calls: calls, Seconds: r.cfg.Length.Seconds(), Seed: cfg.Seed}
			report.wrong("%v", err)
			err = nil
		}
		return report, err
	})
}

// search tries numbers of calls, beginning with the first.
func search(first int, targetMS float64, try func(calls int) (*Report, error)) (*Report, error) {
	limit := &Limit{TargetMS: targetMS}
	var best *Report
	few, many := 0, CallsMax+1
	for calls := first; calls > few; calls = between(few, many) {
		report, err := try(calls)
		if err != nil {
			return nil, err
		}
		step := stepOf(report, targetMS)
		limit.Steps = append(limit.Steps, step)
		if step.Within {
			few = calls
		} else {
			many = calls
		}
		if step.Within || few == 0 {
			best = report
		}
	}
	limit.Calls = few
	best.Limit = limit
	return best, nil
}

// between returns the next number to try: the double of few, or the middle to many. It is few if the
// two are near enough.
func between(few, many int) int {
	if many-few <= max(1, few/10) {
		return few
	}
	if few > 0 && many > CallsMax {
		return min(2*few, CallsMax)
	}
	return (few + many) / 2
}

// stepOf says whether a report is within a target. A report with an unknown figure is not within it.
func stepOf(r *Report, targetMS float64) Step {
	s := Step{Calls: r.Calls, Errors: r.Errors}
	if r.Gateway != nil {
		s.CPU = r.Gateway.CPU
	}
	if r.Added == nil || r.Added.Up == nil || r.Added.Down == nil {
		return s
	}
	s.UpP99, s.DownP99 = &r.Added.Up.P99, &r.Added.Down.P99
	s.Within = r.Errors == 0 && *s.UpP99 <= targetMS && *s.DownP99 <= targetMS
	return s
}
