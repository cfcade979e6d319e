package bench

import (
	"math"
	"slices"
	"time"
)

// Quantiles are those of a set of times, in milliseconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   int     `json:"n"` // times in the set
}

// quantiles returns those of a set, which it sorts; nil if the set is empty.
func quantiles(set []time.Duration) *Quantiles {
	if len(set) == 0 {
		return nil
	}
	slices.Sort(set)
	at := func(q float64) float64 {
		return milliseconds(set[int(math.Ceil(q*float64(len(set))))-1])
	}
	return &Quantiles{P50: at(0.50), P95: at(0.95), P99: at(0.99), N: len(set)}
}

// minus returns what q adds to the quantiles of the relay; nil if one of them is missing.
func (q *Quantiles) minus(relay *Quantiles) *Quantiles {
	if q == nil || relay == nil {
		return nil
	}
	return &Quantiles{P50: rounded(q.P50 - relay.P50), P95: rounded(q.P95 - relay.P95), P99: rounded(q.P99 - relay.P99),
		N: min(q.N, relay.N)}
}

func milliseconds(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }

// rounded keeps three places.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
