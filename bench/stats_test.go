package bench

import (
	"testing"
	"time"
)

// TestQuantiles takes the nearest rank.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	if q := quantiles(nil); q != nil {
		t.Errorf("of nothing: %+v, want nil", *q)
	}
	var set []time.Duration
	for i := range 200 {
		set = append(set, time.Duration(200-i)*time.Millisecond)
	}
	if q := quantiles(set); *q != (Quantiles{P50: 100, P95: 190, P99: 198, N: 200}) {
		t.Errorf("of 1 to 200 ms: %+v", *q)
	}
	if q := quantiles([]time.Duration{1234567}); *q != (Quantiles{P50: 1.235, P95: 1.235, P99: 1.235, N: 1}) {
		t.Errorf("of one time: %+v", *q)
	}
}

// TestMinus keeps what is unknown unknown, and what is faster than the relay negative.
func TestMinus(t *testing.T) {
	t.Parallel()
	gateway, relay := &Quantiles{P50: 2, P95: 3.5, P99: 4, N: 10}, &Quantiles{P50: 1.5, P95: 3, P99: 9, N: 7}
	if d := gateway.minus(relay); *d != (Quantiles{P50: 0.5, P95: 0.5, P99: -5, N: 7}) {
		t.Errorf("the difference is %+v", *d)
	}
	var none *Quantiles
	if gateway.minus(nil) != nil || none.minus(relay) != nil {
		t.Error("a difference from something unknown is known")
	}
}

// TestRatio compares what is known.
func TestRatio(t *testing.T) {
	t.Parallel()
	v := func(v float64) *float64 { return &v }
	r := ratio(&Cost{CPU: v(3), Bytes: v(5e5)}, &Cost{CPU: v(2)})
	if r.CPU == nil || *r.CPU != 1.5 || r.Memory != nil {
		t.Errorf("the ratios are %v and %v, want 1.5 and nil", r.CPU, r.Memory)
	}
	if ratio(&Cost{}, nil) != nil || ratio(nil, &Cost{}) != nil {
		t.Error("there is a ratio to nothing")
	}
	for _, v := range []float64{0, -1, 0.0004} {
		if positive(v) != nil {
			t.Errorf("%v passes for a figure", v)
		}
	}
}
