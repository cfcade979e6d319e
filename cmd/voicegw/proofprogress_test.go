package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// TestProofProgress: the log shows the progress of a long proof, soon after its start and then at intervals. It shows
// nothing of a short one.
func TestProofProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		p := newProofProgress(io.Discard, zap.New(core))
		p.step("", 0, 16)
		time.Sleep(proofProgressFirst - time.Millisecond)
		p.end()
		if logs.Len() > 0 {
			t.Errorf("a short proof is told: %+v", logs.All())
		}
		p = newProofProgress(io.Discard, zap.New(core))
		time.Sleep(proofProgressFirst + time.Millisecond)
		p.step("", 0, 16)
		p.step("turns", 3, 16)
		time.Sleep(2 * proofProgressLog)
		p.end()
		p.end()
		told := logs.All()
		if len(told) != 3 {
			t.Fatalf("it is told %d times: %+v", len(told), told)
		}
		for i, want := range []map[string]any{
			{"done": nil, "of": nil, "seconds": int64(2), "slice": nil},
			{"done": int64(3), "of": int64(16), "seconds": int64(7), "slice": "turns"},
			{"done": int64(3), "of": int64(16), "seconds": int64(12), "slice": "turns"}} {
			for name, value := range want {
				if got := told[i].ContextMap()[name]; got != value || told[i].Message != "proving the nets of calls" {
					t.Errorf("line %d: %s is %v, want %v", i, name, got, value)
				}
			}
		}
	})
}

// TestProofProgressOnATerminal: the line of a terminal is overwritten, and cleared at the end. The log has nothing.
func TestProofProgressOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		core, logs := observer.New(zap.InfoLevel)
		p := &proofProgress{line: &progress{w: &out, terminal: true}, log: zap.New(core), began: time.Now(),
			ended: make(chan struct{}), idle: make(chan struct{})}
		go p.run(progressTerminal, progressTerminal)
		p.step("uplink", 5, 16)
		time.Sleep(time.Second + time.Millisecond)
		p.end()
		if said := out.String(); !strings.Contains(said, "\r\x1b[Kproving the nets of calls: 5 of 16 slices, 1 s uplink") ||
			!strings.HasSuffix(said, "\r\x1b[K") || strings.Contains(said, "\n") || logs.Len() > 0 {
			t.Errorf("the terminal shows %q, the log %+v", said, logs.All())
		}
	})
}

// TestProgressFindsTheTerminal: progress finds the terminal behind the log's writer, and writes to it directly.
// Without a terminal, it goes through the log's writer as before.
func TestProgressFindsTheTerminal(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	for name, c := range map[string]struct {
		w    io.Writer
		want bool
	}{"a terminal": {terminal, true}, "made visible": {&visible{w: terminal}, true}, "no terminal": {io.Discard, false}} {
		l := newLogWriter(c.w)
		p := newProgress(l, "")
		if p.terminal != c.want || (p.w == io.Writer(terminal)) != c.want || !c.want && p.w != io.Writer(l) {
			t.Errorf("%s: %+v", name, p)
		}
		l.close()
	}
}
