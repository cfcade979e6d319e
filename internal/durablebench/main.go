// Command durablebench runs one agent loop on voicegw and on Temporal, in turns, and compares them. `make
// bench-durable` runs it; docs/performance.md has what it measured and what it leaves out.
//
// A session of the agent gets a message, asks the model, calls a tool that must not run twice, asks the model again and
// answers. The model takes no time. Every step is stored, and synced to the disk, before the next depends on it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// settings are the flags.
type settings struct {
	sides  string // names, separated by commas
	rounds int    // how often each side runs
	length int    // turns of a session
	alone  int    // sessions of the phase that has one at a time
	many   int    // sessions of the phase that has them at once
	dir    string // where the sides keep their data
	syncs  bool   // count the syncs under strace
	crash  bool   // kill the process in a call, and start it again

	child string // the side that this process runs
	phase string // what a child of a crash does
}

func main() {
	var s settings
	flag.StringVar(&s.sides, "sides", strings.Join(names(), ","), "what to run, in this order")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each side runs")
	flag.IntVar(&s.length, "length", 10, "turns of a session")
	flag.IntVar(&s.alone, "alone", 10, "sessions, one after the other")
	flag.IntVar(&s.many, "many", 50, "sessions at once")
	flag.StringVar(&s.dir, "dir", "", "a directory on the disk to measure (default: the system's for temporary files)")
	flag.BoolVar(&s.syncs, "syncs", true, "also count the syncs, with strace, in a run that is not timed")
	flag.BoolVar(&s.crash, "crash", true, "also kill each side that has a server of its own in a call of the tool")
	flag.StringVar(&s.child, "child", "", "for the program itself")
	flag.StringVar(&s.phase, "phase", "", "for the program itself")
	flag.Parse()
	runtime.LockOSThread() // database.command depends on it
	run := s.parent
	if s.child != "" {
		run = s.runChild
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "durablebench:", err)
		os.Exit(1)
	}
}

// parent runs the sides in turns, each in a process of its own, and prints what they report.
func (s *settings) parent(ctx context.Context) error {
	if s.rounds < 1 || s.length < 1 || s.alone < 1 || s.many < 1 {
		return fmt.Errorf("-rounds, -length, -alone and -many must be at least 1")
	}
	sides := strings.Split(s.sides, ",")
	for _, name := range sides {
		if _, err := newSide(name, nil); err != nil {
			return err
		}
	}
	all := map[string]*total{}
	for round := range s.rounds {
		for _, name := range sides {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, s.rounds, name)
			r, err := s.spawn(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if all[name] == nil {
				all[name] = &total{}
			}
			all[name].add(r)
		}
	}
	for _, name := range sides {
		if s.syncs {
			n, err := s.countSyncs(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: count syncs: %w", name, err)
			}
			all[name].syncs = n
		}
		if s.crash && restartable(name) {
			c, err := s.crashed(ctx, name)
			if err != nil {
				return fmt.Errorf("%s: crash: %w", name, err)
			}
			all[name].crash = c
		}
	}
	tabulate(os.Stdout, sides, all)
	return nil
}

// args are the arguments of a child.
func (s *settings) args(name, dir string) []string {
	return []string{"-child", name, "-dir", dir, fmt.Sprint("-length=", s.length), fmt.Sprint("-alone=", s.alone),
		fmt.Sprint("-many=", s.many)}
}

// spawn runs a side in a process and a directory of its own.
func (s *settings) spawn(ctx context.Context, name string) (*report, error) {
	dir, err := os.MkdirTemp(s.dir, "durable")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return read(exec.CommandContext(ctx, self, s.args(name, dir)...))
}

// read runs a child and reads its report.
func read(cmd *exec.Cmd) (*report, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	r := &report{}
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("the report %.200q: %w", out, err)
	}
	return r, nil
}

// runChild runs the side of this process.
func (s *settings) runChild(ctx context.Context) error {
	if s.phase != "" {
		return s.crashChild(ctx)
	}
	t := &tool{}
	side, err := newSide(s.child, t)
	if err != nil {
		return err
	}
	defer side.close()
	if err := side.open(ctx, s.dir); err != nil {
		return err
	}
	r, err := s.measure(ctx, side, t)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// mark makes a file whose making strace shows.
func (s *settings) mark(name string) error {
	return os.WriteFile(filepath.Join(s.dir, "mark-"+name), nil, 0o600)
}
