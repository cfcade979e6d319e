package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// syncs is how often a side synced in each phase, for a turn.
type syncs struct{ alone, many float64 }

// countSyncs runs a side once under strace, which makes it slow, and counts its syncs.
func (s *settings) countSyncs(ctx context.Context, name string) (*syncs, error) {
	fmt.Fprintf(os.Stderr, "syncs: %s\n", name)
	dir, err := os.MkdirTemp(s.dir, "durable")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	trace := filepath.Join(dir, "trace")
	few := *s
	few.alone, few.length = 2, min(s.length, 4)
	args := append([]string{"-f", "-y", "--seccomp-bpf", "-s", "0", "-e", "trace=openat,write,pwrite64,fsync,fdatasync",
		"-e", "signal=none", "-o", trace, self}, few.args(name, dir)...)
	if _, err := read(exec.CommandContext(ctx, "strace", args...)); err != nil {
		return nil, err
	}
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	n, err := countIn(f)
	if err != nil {
		return nil, err
	}
	c := &syncs{alone: float64(n["alone"]) / float64(few.alone*few.length),
		many: float64(n["many"]) / float64(few.many*few.length)}
	if c.alone < 1 {
		return nil, fmt.Errorf("a turn syncs %.2f times, alone: the engine does not sync what it commits", c.alone)
	}
	return c, nil
}

var (
	synced = regexp.MustCompile(`^\d+ +f(data)?sync\(`)
	opened = regexp.MustCompile(`^\d+ +openat\([^,]*, "([^"]*)", ([A-Z_|]+)`)
	wrote  = regexp.MustCompile(`^\d+ +p?write(64)?\(\d+<([^>]*)>`)
)

// countIn counts the syncs of each phase in what strace wrote: fsync, fdatasync, and writes to files that were opened
// with O_SYNC or O_DSYNC.
func countIn(trace io.Reader) (map[string]int, error) {
	n := map[string]int{}
	phase := ""
	direct := map[string]bool{}
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := opened.FindStringSubmatch(line); m != nil {
			path, flags := m[1], m[2]
			if _, mark, ok := strings.Cut(path, "/mark-"); ok {
				name, what, _ := strings.Cut(mark, "-")
				phase = ""
				if what == "begin" {
					phase = name
				}
			}
			direct[path] = strings.Contains(flags, "O_SYNC") || strings.Contains(flags, "O_DSYNC")
		}
		m := wrote.FindStringSubmatch(line)
		if synced.MatchString(line) || m != nil && direct[m[2]] {
			n[phase]++
		}
	}
	return n, lines.Err()
}
