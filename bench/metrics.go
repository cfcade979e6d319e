package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// metricsMax is the most that is read of a process's metrics.
const metricsMax = 16 << 20

// usage is what a process says of itself.
type usage struct {
	cpuSeconds float64
	bytes      float64 // of memory that its runtime holds
	goroutines float64
}

// readUsage asks a process.
func readUsage(ctx context.Context, url string) (u usage, err error) {
	err = get(ctx, url, func(r *http.Response) error {
		u, err = parseUsage(io.LimitReader(r.Body, metricsMax))
		return err
	})
	return u, err
}

// parseUsage reads metrics in Prometheus' text format.
func parseUsage(r io.Reader) (usage, error) {
	const cpu, sys, released, goroutines = "process_cpu_seconds_total", "go_memstats_sys_bytes",
		"go_memstats_heap_released_bytes", "go_goroutines"
	found := map[string]float64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case cpu, sys, released, goroutines:
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return usage{}, fmt.Errorf("bench: metric %s is %.40q; want a number", name, value)
			}
			found[name] = v
		}
	}
	if err := lines.Err(); err != nil {
		return usage{}, fmt.Errorf("bench: read metrics: %w", err)
	}
	for _, name := range []string{cpu, sys, released, goroutines} {
		if _, ok := found[name]; !ok {
			return usage{}, fmt.Errorf("bench: the metrics have no %s", name)
		}
	}
	return usage{found[cpu], found[sys] - found[released], found[goroutines]}, nil
}
