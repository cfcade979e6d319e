package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// flowProgress shows which agents of a run work and are done. On a terminal, a last line names those that work. It
// is safe for concurrent use.
type flowProgress struct {
	mu    sync.Mutex
	w     io.Writer
	line  *progress // nil: not a terminal
	began time.Time
	works map[string]time.Time // agents at work, since when
	ran   map[string]bool      // agents that were at work in this process
}

func newFlowProgress(w io.Writer) *flowProgress {
	p := &flowProgress{w: w, began: time.Now(), works: map[string]time.Time{}, ran: map[string]bool{}}
	if line := newProgress(w, ""); line.terminal {
		line.next = time.Time{}
		p.line = line
	}
	return p
}

// hooks learn when agents begin and end.
func (p *flowProgress) hooks() exec.Hooks {
	return exec.Hooks{BeforeAgent: func(_ context.Context, s *exec.Scope) (any, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, ok := p.works[s.Agent.Name]; !ok {
			p.works[s.Agent.Name], p.ran[s.Agent.Name] = time.Now(), true
			p.say("%s runs", s.Agent.Name)
		}
		p.status()
		return nil, nil
	}, AfterAgent: func(_ context.Context, s *exec.Scope, output any) (any, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if since, ok := p.works[s.Agent.Name]; ok {
			delete(p.works, s.Agent.Name)
			p.say("%s is done in %s: %s", s.Agent.Name, seconds(time.Since(since)), gist(workflow.TextOf(output)))
		}
		p.status()
		return nil, nil
	}}
}

// logger returns the logger of the plugins logging and debug_logging: its lines are lines of the progress.
func (p *flowProgress) logger() *zap.Logger {
	cfg := zap.NewProductionEncoderConfig()
	cfg.TimeKey, cfg.ConsoleSeparator = "", "  " // each line of the progress begins with its time
	cfg.EncodeLevel = zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(cfg), zapcore.AddSync(flowLog{p}), zap.DebugLevel))
}

// flowLog writes a line of the log between the lines of a progress.
type flowLog struct{ p *flowProgress }

// Write writes one line.
func (l flowLog) Write(line []byte) (int, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.say("%s", bytes.TrimSuffix(line, []byte("\n")))
	l.p.status()
	return len(line), nil
}

// event shows an event of the session of a workflow.
func (p *flowProgress) event(flow string, ev *managed.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	switch ev.Type {
	case managed.AgentMessage:
		if ev.Agent != flow && !p.ran[ev.Agent] { // done in an earlier process
			text := ""
			for _, b := range ev.Content {
				text += b.Text
			}
			p.say("%s is done: %s", ev.Agent, gist(text))
		}
	case managed.AgentToolUse, managed.AgentMCPToolUse, managed.AgentCustomToolUse:
		p.say("%s calls %s", ev.Agent, ev.Name)
	case managed.SessionError:
		p.say("error: %s", ev.Error.Message)
	case managed.StatusIdle:
		if ev.StopReason != nil && ev.StopReason.Type == managed.RequiresAction {
			p.say("the run waits for an answer")
		}
		clear(p.works)
	}
	p.status()
}

// say prints a line; mu is held.
func (p *flowProgress) say(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.w, "%7s  %s\n", seconds(time.Since(p.began)), fmt.Sprintf(format, args...))
}

// status shows who works, on a terminal; mu is held.
func (p *flowProgress) status() {
	if p.line == nil || len(p.works) == 0 {
		return
	}
	p.line.say("%d at work: %s", len(p.works), p.longest(time.Now()))
}

// longest names those that have worked longest, and says how many more there are; mu is held.
func (p *flowProgress) longest(now time.Time) string {
	const most = 4 // what a line of a terminal has room for
	names := slices.SortedFunc(maps.Keys(p.works), func(a, b string) int {
		return cmp.Or(p.works[a].Compare(p.works[b]), strings.Compare(a, b))
	})
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, name+" "+seconds(now.Sub(p.works[name])))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// clear clears the last line; mu is held.
func (p *flowProgress) clear() {
	if p.line != nil {
		p.line.end()
	}
}

// end clears what is shown of those that work.
func (p *flowProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// gist is the beginning of what an agent has said.
func gist(text string) string {
	const most = 60
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
