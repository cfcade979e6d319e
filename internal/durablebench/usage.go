package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is what processes have used.
type usage struct {
	cpu     time.Duration
	written int64 // bytes given to the disk
}

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// used sums up what this process, others and their children have used, those included that have ended.
func used(others []int) (usage, error) {
	pids := append([]int{os.Getpid()}, others...)
	sum := usage{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return sum, err
	}
	for _, name := range stats {
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil {
			return sum, err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has just ended
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the first is field 3 of proc(5)
		parent := fields[1]
		own := slices.Contains(pids, pid)
		if !own && !slices.ContainsFunc(others, func(p int) bool { return strconv.Itoa(p) == parent }) {
			continue
		}
		times := fields[11:13] // user and system
		if own && pid != os.Getpid() {
			times = fields[11:15] // and those of children that have ended
		}
		for _, f := range times {
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return sum, fmt.Errorf("%s: %w", name, err)
			}
			sum.cpu += time.Duration(n) * tick
		}
		n, err := writtenBy(pid)
		if err != nil {
			return sum, err
		}
		sum.written += n
	}
	return sum, nil
}

// writtenBy is how many bytes a process has given to the disk.
func writtenBy(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		}
	}
	return 0, fmt.Errorf("/proc/%d/io has no write_bytes", pid)
}

// size is the sum of the sizes of the files in a directory.
func size(dir string) (int64, error) {
	sum := int64(0)
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if os.IsNotExist(err) {
			return nil // it has just been removed
		}
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
