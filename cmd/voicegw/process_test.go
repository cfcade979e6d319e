package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait; what is waited for comes within milliseconds, or when a call is over.
const patience = 2 * time.Minute

// binary is the command as users have it, made once by TestMain. It is not compiled with the race
// detector, which the packages have in their own tests: calls and pages run in real time, and
// certificates are checked at each start.
var binary string

// noProof is the same command, except that its serve starts without proving the nets of its calls,
// which takes some seconds of a processor. Tests of what serve does after that use it; TestServe,
// and the tests that start serve with nets of other settings, use binary.
var noProof string

// goCommand is a run of the go command without cgo, as `make build` runs it. The race detector needs
// cgo, so tests have it; with it, every package would be compiled once more.
func goCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == mcpServer {
		if err := serveMCP(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	if flag.Parse(); flag.Lookup("test.fuzz").Value.String() != "" { // its workers would build too, and start no binary
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "voicegw-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, noProof = filepath.Join(dir, "voicegw"), filepath.Join(dir, "unproved")
	if err := errors.Join(build(binary), buildUnproved(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build compiles the command to a file.
func build(file string, args ...string) error {
	args = append([]string{"build", "-buildvcs=false", "-o", file}, args...)
	if out, err := goCommand(append(args, ".")...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// buildUnproved compiles noProof, with a file of testdata in the place of package voicenets/prove.
func buildUnproved(dir string) error {
	proves, err := filepath.Abs(filepath.Join("..", "..", "voicenets", "prove", "prove.go"))
	if err != nil {
		return err
	}
	stub, err := filepath.Abs(filepath.Join("testdata", "unproved.go.txt"))
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {proves: stub}})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	return build(noProof, "-ldflags=-w", "-overlay", file)
}

// process is a run of the binary. It is killed at the end of its test if it still runs.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	lines  chan string   // of stdout, closed at its end
	ended  chan struct{} // closed when the process is gone
	reader sync.WaitGroup
	stderr watched
}

// start runs the binary with arguments, in an environment that has nothing of the person who tests.
func start(tb testing.TB, env []string, args ...string) *process {
	tb.Helper()
	return startWith(tb, binary, env, nil, args...)
}

// startWith runs binary or noProof, with a file as its stderr; nil: it is watched.
func startWith(tb testing.TB, binary string, env []string, stderr *os.File, args ...string) *process {
	tb.Helper()
	p := &process{tb: tb, lines: make(chan string, 1000), ended: make(chan struct{}), stderr: newWatched()}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + tb.TempDir()}, env...)
	if p.cmd.Stderr = p.stderr; stderr != nil {
		p.cmd.Stderr = stderr
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.reader.Go(func() {
		defer close(p.lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			p.lines <- s.Text()
		}
	})
	go func() {
		p.reader.Wait()
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// line waits for the next line of stdout.
func (p *process) line() string {
	p.tb.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.tb.Fatalf("%v ended without another line\n%s", p.cmd.Args[1:], p.stderr.String())
		}
		return line
	case <-time.After(patience):
		p.tb.Fatalf("%v prints nothing\n%s", p.cmd.Args[1:], p.stderr.String())
	}
	return ""
}

// wait waits for the end and returns the exit code and what was left of stdout.
func (p *process) wait() (code int, stdout string) {
	p.tb.Helper()
	var out strings.Builder
	for deadline := time.After(patience); ; {
		select {
		case line, ok := <-p.lines:
			if ok {
				out.WriteString(line + "\n")
				continue
			}
			<-p.ended
			return p.cmd.ProcessState.ExitCode(), out.String()
		case <-deadline:
			p.tb.Fatalf("%v does not end\n%s", p.cmd.Args[1:], p.stderr.String())
		}
	}
}

// signal sends a signal.
func (p *process) signal(s os.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Fatal(err)
	}
}

// result is a run that has ended.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the binary to its end.
func command(tb testing.TB, env []string, args ...string) result {
	tb.Helper()
	return start(tb, env, args...).result()
}

// result waits for the end.
func (p *process) result() result {
	p.tb.Helper()
	code, stdout := p.wait()
	return result{code, stdout, p.stderr.String()}
}

// want fails the test unless the run ended with a code and said all the words.
func (r result) want(tb testing.TB, code int, words ...string) {
	tb.Helper()
	if r.code != code {
		tb.Errorf("exit code %d; want %d\n%s%s", r.code, code, r.stdout, r.stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.stdout+r.stderr, w) {
			tb.Errorf("it does not say %q:\n%s%s", w, r.stdout, r.stderr)
		}
	}
}

// watched collects what is written to it and wakes whoever waits for words in it.
type watched struct{ *watchedState }

type watchedState struct {
	mu   sync.Mutex
	more *sync.Cond
	b    bytes.Buffer
}

func newWatched() watched {
	w := watched{&watchedState{}}
	w.more = sync.NewCond(&w.mu)
	return w
}

// Write keeps b.
func (w watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.more.Broadcast()
	return w.b.Write(b)
}

// String is what was written so far.
func (w watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// waitFor waits until words were written.
func (w watched) waitFor(tb testing.TB, words string) {
	tb.Helper()
	w.waitForAfter(tb, 0, words)
}

// waitForAfter waits until words were written after the first bytes.
func (w watched) waitForAfter(tb testing.TB, first int, words string) {
	tb.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		late = true
		w.more.Broadcast()
	})
	defer timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !strings.Contains(w.b.String()[first:], words) {
		if late {
			tb.Fatalf("it does not say %q:\n%s", words, w.b.String())
		}
		w.more.Wait()
	}
}
