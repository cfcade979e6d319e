package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Phases of a crash.
const (
	beginPhase  = "begin"
	resumePhase = "resume"
)

// crash is what became of a turn whose process was killed in a call of the tool.
type crash struct {
	after  time.Duration // from the start of the next process to the end of the turn
	answer string
	calls  int // how often the tool ran in the next process
}

// before is how many turns a session has before the one with the crash.
const before = 3

// crashed kills a process in a call of the tool, with SIGKILL, and lets another go on.
func (s *settings) crashed(ctx context.Context, name string) (*crash, error) {
	fmt.Fprintf(os.Stderr, "crash: %s\n", name)
	dir, err := os.MkdirTemp(s.dir, "durable")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := killIn(exec.CommandContext(ctx, self, "-child", name, "-dir", dir, "-phase", beginPhase), dir); err != nil {
		return nil, err
	}
	began := time.Now()
	next := exec.CommandContext(ctx, self, "-child", name, "-dir", dir, "-phase", resumePhase)
	next.Stderr = os.Stderr
	out, err := next.Output()
	if err != nil {
		return nil, err
	}
	at, rest, _ := strings.Cut(string(out), " ")
	calls, answer, _ := strings.Cut(strings.TrimSpace(rest), " ")
	nanoseconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, err
	}
	c := &crash{after: time.Unix(0, nanoseconds).Sub(began), answer: answer}
	c.calls, err = strconv.Atoi(calls)
	return c, err
}

// killIn starts a process and kills it once its tool hangs.
func killIn(cmd *exec.Cmd, dir string) error {
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for range 6000 {
		if _, err := os.Stat(filepath.Join(dir, "hangs")); err == nil {
			err := cmd.Process.Kill()
			_ = cmd.Wait()
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return fmt.Errorf("the tool was not called within a minute")
}

// crashChild runs a session until its tool hangs, or goes on after that.
func (s *settings) crashChild(ctx context.Context) error {
	t := &tool{}
	e, err := newSide(s.child, t)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.open(ctx, s.dir); err != nil {
		return err
	}
	file := filepath.Join(s.dir, "session")
	if s.phase == resumePhase {
		id, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		answer, err := e.resume(ctx, string(id), "crash", before)
		if err != nil {
			return err
		}
		_, err = fmt.Println(time.Now().UnixNano(), t.calls.Load(), answer)
		return err
	}
	id, err := e.begin(ctx)
	if err != nil {
		return err
	}
	if _, err := session(ctx, e, id, before); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(id), 0o600); err != nil {
		return err
	}
	t.hang = filepath.Join(s.dir, "hangs")
	_, err = e.turn(ctx, id, "crash", question)
	return err
}
