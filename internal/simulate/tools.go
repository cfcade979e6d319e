package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
)

// toolSet is the functions of a world, and the violations that they saw.
type toolSet struct {
	timeout time.Duration   // how long the gateway waits for one
	quick   map[string]bool // those that are sure to return before

	mu         sync.Mutex
	violations []string
}

// toolSlack is by how much a quick function returns before its timeout, and by how much a
// function's context may end late.
const toolSlack = 50 * time.Millisecond

// toolNames are the functions that a world may have, and that models call.
func toolNames() []string { return []string{"weather", "get_time", "book", "search"} }

// newToolSet makes some functions, of any kind.
func newToolSet(c chance, timeout time.Duration) (*toolSet, []voicegw.Tool) {
	set := &toolSet{timeout: timeout, quick: map[string]bool{}}
	var tools []voicegw.Tool
	for _, name := range toolNames() {
		if c.oneIn(4) {
			continue
		}
		t := voicegw.Tool{Name: name, Description: "does something", NonBlocking: c.oneIn(3), Call: set.tool(c, name)}
		if t.NonBlocking {
			t.Scheduling = pick(c, live.ScheduleUnset, live.ScheduleInterrupt, live.ScheduleWhenIdle, live.ScheduleSilent)
		}
		tools = append(tools, t)
	}
	return set, tools
}

// toolFunc is the function of a tool. Nil lets the peer answer.
type toolFunc func(context.Context, json.RawMessage) (json.RawMessage, error)

// A toolKind is a way in which a function works, or fails.
type toolKind struct {
	name  string
	lasts time.Duration // at most
	call  toolFunc
}

// toolKinds is the table of them; each is as likely. A good one works for a while. A new entry
// changes the functions of the known seeds.
func (b *toolSet) toolKinds(works time.Duration) []toolKind {
	const forever = time.Hour
	returns := func(output string, err error) toolFunc {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(output), err }
	}
	good := toolKind{"good", works, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"ok":true}`), b.work(ctx, time.After(works))
	}}
	return []toolKind{
		{"the peer answers", forever, nil},
		{"panics", 0, func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("a tool that panics") }},
		{"works until its context ends", forever, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return nil, b.work(ctx, nil)
		}},
		{"ignores its context", toolOvertime, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(toolOvertime)
			return json.RawMessage(`{"ok":true}`), nil
		}},
		{"returns 10 MB", 0, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"` + strings.Repeat("x", 10<<20) + `"`), nil
		}},
		{"returns no JSON", 0, returns("{", nil)},
		{"fails", 0, returns("", errors.New("no"))},
		good, good,
	}
}

// toolOvertime is how long a function works that ignores its context.
const toolOvertime = 17 * time.Second

// tool draws the kind of a function.
func (b *toolSet) tool(c chance, name string) toolFunc {
	works := c.between(0, 3*time.Second)
	kind := pick(c, b.toolKinds(works)...)
	b.quick[name] = kind.lasts+toolSlack < b.timeout
	return kind.call
}

// work works until done, or until its context ends, which must be in time.
func (b *toolSet) work(ctx context.Context, done <-chan time.Time) error {
	began := time.Now()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if worked := time.Since(began); worked > b.timeout+toolSlack {
		b.violation("a function worked for %v, and its context did not end after %v", worked, b.timeout)
	}
	return err
}

func (b *toolSet) violation(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.violations = append(b.violations, fmt.Sprintf(format, args...))
}
