package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// launchTimeout bounds how long a browser may take to start, closeTimeout how long to end before it
// is killed.
const (
	launchTimeout = 60 * time.Second
	closeTimeout  = 5 * time.Second
)

// Browser is a running Chromium. Its methods may be called by several goroutines.
type Browser struct {
	pipe    *pipe
	process *exec.Cmd
	profile string // a directory
	close   sync.Once
}

// Launch starts a browser for tb and ends it with tb. It fails tb when Chromium is missing or does
// not start.
func Launch(tb testing.TB, cfg Config) *Browser {
	tb.Helper()
	b, err := Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	return b
}

// Start starts a browser that the caller ends with Close. Use it where no testing.TB lives long
// enough, as in TestMain.
func Start(cfg Config) (*Browser, error) {
	path, err := cfg.find()
	if err != nil {
		return nil, err
	}
	flags, err := cfg.flags()
	if err != nil {
		return nil, err
	}
	b, err := run(path, flags)
	if err != nil {
		return nil, fmt.Errorf("browsertest: start %s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), launchTimeout)
	defer cancel()
	if err := b.pipe.call(ctx, "", "Browser.getVersion", nil, nil); err != nil {
		said, _ := os.ReadFile(b.stderr())
		b.Close()
		return nil, fmt.Errorf("browsertest: start %s: %w: %s", path, err, said)
	}
	return b, nil
}

// run starts the process, with a profile of its own.
func run(path string, flags []string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return nil, err
	}
	b := &Browser{profile: profile}
	b.process = exec.Command(path, append(flags, "--user-data-dir="+profile, "about:blank")...)
	stderr, err := os.Create(b.stderr())
	theirIn, ourIn, err1 := os.Pipe()
	ourOut, theirOut, err2 := os.Pipe()
	if err := errors.Join(err, err1, err2); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	b.process.Stderr = stderr
	b.process.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4, as the protocol wants them
	err = b.process.Start()
	_, _, _ = stderr.Close(), theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = ourIn.Close(), ourOut.Close()
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	b.pipe = newPipe(ourIn, ourOut)
	go b.pipe.read() // until Close
	return b, nil
}

// stderr is the file with what the browser says of itself.
func (b *Browser) stderr() string { return filepath.Join(b.profile, "stderr") }

// Close ends the browser and waits until its process is gone. It may be called more than once.
func (b *Browser) Close() { b.close.Do(b.end) }

func (b *Browser) end() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = b.pipe.call(ctx, "", "Browser.close", nil, nil)
	late := time.AfterFunc(closeTimeout, func() { _ = b.process.Process.Kill() })
	_ = b.process.Wait()
	late.Stop()
	b.pipe.close()
	for range 10 { // its children may still write there
		if os.RemoveAll(b.profile) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
