package npmtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds whatever a test waits for; it is reached only when the test fails. grace is how
// long a program may take to end by itself.
const (
	patience = 90 * time.Second
	grace    = 10 * time.Second
)

const lineBytesMax = 8 << 20

// Program is a client that runs.
type Program struct {
	tb     testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // read when the program has ended
	lines  chan Event   // closed with the program's output
	events []Event
	next   int // of events: not looked at by Await yet
	ended  bool
	reader sync.WaitGroup
}

// Event is a line of a program's output.
type Event struct {
	Type string        `json:"type"`
	At   time.Duration `json:"-"` // on the program's clock, since it began
	AtMS float64       `json:"at"`
	PCM  []byte        `json:"pcm"` // 16-bit little-endian
	Text string        `json:"text"`
	Code int           `json:"code"`
	Data json.RawMessage
	Raw  string `json:"-"` // the line
}

// Older reports whether tests also try older versions of clients, as "make clients" does.
func Older() bool { return os.Getenv("VOICEGW_CLIENTS") == "all" }

// Start starts a program with these variables ("NAME=value") besides the environment's, and ends it
// with tb.
func Start(tb testing.TB, script string, env ...string) *Program {
	tb.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		tb.Fatalf("npmtest: node is not installed: run make deps")
	}
	p := &Program{tb: tb, cmd: exec.Command(node, script), lines: make(chan Event, 1024)}
	p.cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(packages(tb), "node_modules")+":"+here(tb))
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = &p.stderr
	p.stdin, err = p.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.reader.Go(func() { p.read(out) })
	tb.Cleanup(p.kill)
	return p
}

// here is the folder of this package's sources, in the project whose test runs in one of its folders. A program that is
// built with -trimpath does not know it.
func here(tb testing.TB) string {
	tb.Helper()
	wd, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		sources := filepath.Join(dir, "internal", "npmtest")
		if _, err := os.Stat(filepath.Join(sources, "program.go")); err == nil {
			return sources
		}
		if dir == filepath.Dir(dir) {
			tb.Fatalf("npmtest: the test runs in %s, which is no folder of voicegw's sources", wd)
		}
	}
}

// packages is the folder where the npm packages are, installed if need be.
func packages(tb testing.TB) string {
	tb.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(filepath.Join(here(tb), "..", "..", "scripts", "npm.sh"))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("npmtest: install the npm packages: %v: run make deps\n%s", err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// read passes the program's lines on. What is no event is one of type "output".
func (p *Program) read(out io.Reader) {
	defer close(p.lines)
	s := bufio.NewScanner(out)
	s.Buffer(nil, lineBytesMax)
	for s.Scan() {
		e := Event{Raw: s.Text()}
		if json.Unmarshal(s.Bytes(), &e) != nil || e.Type == "" {
			e.Type = "output"
		}
		e.At = time.Duration(e.AtMS * float64(time.Millisecond))
		p.lines <- e
	}
}

// Command is a command to a program.
type Command map[string]any

// Say speaks a file of raw 16-bit little-endian PCM at 16 kHz into the microphone, which is silent
// before and after.
func Say(file string) Command { return Command{"do": "say", "file": file} }

// Bye ends the call in the client's own way.
func Bye() Command { return Command{"do": "bye"} }

// Do sends a command to the program.
func (p *Program) Do(c Command) {
	p.tb.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		p.tb.Fatal(err)
	}
	if _, err := p.stdin.Write(append(b, '\n')); err != nil {
		p.tb.Fatalf("npmtest: send %s to the program: %v\n%s", b, err, p.story())
	}
}

// Await waits for the next event that matches, of those no Await has returned or passed over.
func (p *Program) Await(what string, match func(Event) bool) Event {
	p.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		for p.next < len(p.events) {
			e := p.events[p.next]
			p.next++
			if match(e) {
				return e
			}
		}
		select {
		case e, ok := <-p.lines:
			if !ok {
				p.Wait()
				p.tb.Fatalf("npmtest: the program ended before %s\n%s", what, p.story())
			}
			p.events = append(p.events, e)
		case <-deadline.C:
			p.tb.Fatalf("npmtest: %s never came\n%s", what, p.story())
		}
	}
}

// AwaitType is Await for an event of one type.
func (p *Program) AwaitType(kind string) Event {
	p.tb.Helper()
	return p.Await(kind, func(e Event) bool { return e.Type == kind })
}

// Events are all so far.
func (p *Program) Events() []Event { return p.events }

// Wait reads to the program's end, and fails unless it ends well.
func (p *Program) Wait() {
	p.tb.Helper()
	p.drain()
	_ = p.stdin.Close()
	p.ended = true
	if err := p.cmd.Wait(); err != nil {
		p.tb.Errorf("npmtest: the program failed: %v\n%s", err, p.story())
	}
}

// drain reads what is left, and kills a program that does not end.
func (p *Program) drain() {
	t := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer t.Stop()
	for e := range p.lines {
		p.events = append(p.events, e)
	}
	p.reader.Wait()
}

// kill ends a program that the test did not wait for.
func (p *Program) kill() {
	if p.ended {
		return
	}
	_ = p.stdin.Close()
	t := time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() })
	defer t.Stop()
	p.drain()
	_ = p.cmd.Wait()
}

// story is what the program said, without its sound.
func (p *Program) story() string {
	var b strings.Builder
	for _, e := range p.events {
		if e.PCM == nil {
			b.WriteString(e.Raw[:min(len(e.Raw), 300)] + "\n")
		}
	}
	if p.ended {
		b.WriteString(p.stderr.String())
	}
	return b.String()
}
