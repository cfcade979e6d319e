package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSearch doubles, and then halves the distance to a tenth. The report is that of the limit.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, limit int
		want         []int
		found        int
	}{
		{20, 100, []int{20, 40, 80, 160, 120, 100, 110}, 100},
		{20, 3, []int{20, 10, 5, 2, 3, 4}, 3},
		{20, 0, []int{20, 10, 5, 2, 1}, 0},
		{1500, 5000, []int{1500, 2000}, 2000},
	} {
		var tried []int
		r, err := search(c.first, 20, func(calls int) (*Report, error) {
			tried = append(tried, calls)
			r := &Report{Calls: calls, Added: &Added{Up: &Quantiles{P99: 1}, Down: &Quantiles{P99: 1}}}
			if calls > c.limit {
				r.Errors = 1
			}
			return r, nil
		})
		if err != nil || !slices.Equal(tried, c.want) || r.Limit.Calls != c.found || len(r.Limit.Steps) != len(tried) {
			t.Errorf("from %d: %v, %+v, %v; want %v and %d", c.first, tried, r.Limit, err, c.want, c.found)
		}
		if want := max(c.found, 1); r.Calls != want {
			t.Errorf("from %d: the report is of %d calls, want %d", c.first, r.Calls, want)
		}
	}
	broken := errors.New("broken")
	if _, err := search(1, 20, func(int) (*Report, error) { return nil, broken }); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
}

// TestStep is within the target if all is known, nothing went wrong, and both ways are fast enough.
func TestStep(t *testing.T) {
	t.Parallel()
	added := func(up, down float64) *Added { return &Added{Up: &Quantiles{P99: up}, Down: &Quantiles{P99: down}} }
	for name, c := range map[string]struct {
		report Report
		want   bool
	}{
		"fast":    {Report{Added: added(20, 19)}, true},
		"slow up": {Report{Added: added(21, 1)}, false}, "slow down": {Report{Added: added(1, 21)}, false},
		"an error": {Report{Added: added(1, 1), Errors: 1}, false},
		"unknown":  {Report{}, false}, "unknown down": {Report{Added: &Added{Up: &Quantiles{}}}, false},
	} {
		if got := stepOf(&c.report, 20); got.Within != c.want {
			t.Errorf("%s: %v, want %v", name, got.Within, c.want)
		}
	}
}

// TestLimitNeedsRelay refuses to find what it cannot know.
func TestLimitNeedsRelay(t *testing.T) {
	t.Parallel()
	_, err := FindLimit(t.Context(), Config{Transport: WebSocket}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "without a relay") {
		t.Error(err)
	}
}
