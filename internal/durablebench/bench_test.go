package main

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// TestCountIn counts in lines as strace writes them.
func TestCountIn(t *testing.T) {
	trace := `10 fsync(3</d/before>) = 0
10 openat(AT_FDCWD</w>, "/d/1.blk", O_RDWR|O_CREAT|O_SYNC|O_CLOEXEC, 0640) = 5</d/1.blk>
10 openat(AT_FDCWD</w>, "/d/plain", O_RDWR|O_CREAT|O_CLOEXEC, 0640 <unfinished ...>
10 openat(AT_FDCWD</w>, "/d/mark-alone-begin", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600) = 6</d/mark-alone-begin>
11 write(5</d/1.blk>, ""..., 400 <unfinished ...>
10 write(7</d/plain>, ""..., 400) = 400
12 pwrite64(5</d/1.blk>, ""..., 400, 0) = 400
12 write(9<socket:[77]>, ""..., 400) = 400
11 <... write resumed>) = 400
10 fdatasync(7</d/plain> <unfinished ...>
10 <... fdatasync resumed>) = 0
10 openat(AT_FDCWD</w>, "/d/mark-alone-end", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600) = 6</d/mark-alone-end>
10 fsync(7</d/plain>) = 0
10 openat(AT_FDCWD</w>, "/d/mark-many-begin", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600) = 6</d/mark-many-begin>
4242 fsync(7</d/plain>) = 0
`
	n, err := countIn(strings.NewReader(trace))
	if want := map[string]int{"": 2, "alone": 3, "many": 1}; err != nil || !maps.Equal(n, want) {
		t.Errorf("counted %v, %v; want %v", n, err, want)
	}
}

// TestQuantile: of a hundred turns that took 1 to 100 ms.
func TestQuantile(t *testing.T) {
	p := phase{}
	for i := 100; i > 0; i-- {
		p.Turns = append(p.Turns, time.Duration(i)*time.Millisecond)
	}
	for q, want := range map[float64]string{0: "1.0 ms", 0.5: "50.0 ms", 0.99: "99.0 ms", 1: "100.0 ms"} {
		if got := p.quantile(q); got != want {
			t.Errorf("quantile %v is %s, want %s", q, got, want)
		}
	}
}
