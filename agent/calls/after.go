package calls

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/managed"
)

const (
	textsMax   = 128 << 10              // bytes of texts that are kept of a call
	reportMax  = 200 << 10              // bytes of a report; a session takes 256 KiB
	followTime = 30 * time.Second       // for storing that the work begins
	followWait = 250 * time.Millisecond // between two tries
)

// note keeps what was said.
func (c *calls) note(call string, t voicegw.Turn) {
	if t.Text == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.visit(call)
	v.turns = append(v.turns, Turn{Who: t.Who, Text: t.Text, Interrupted: t.Interrupted()})
	for v.bytes += len(t.Text); v.bytes > textsMax; v.cut = true {
		v.bytes -= len(v.turns[0].Text)
		v.turns = slices.Delete(v.turns, 0, 1)
	}
}

// follow starts the work that follows a call. It returns when the journal has the start, so that whoever learns of
// the end of the call afterwards knows that the work is not lost. A start that is tried again is the same start.
func (c *calls) follow(r voicegw.Record, v *visit) {
	report := Report{Call: r}
	if v != nil {
		report.Turns, report.Cut, report.Sessions = v.turns, v.cut, v.sessions
	}
	if err := c.start(r, report.text()); err != nil {
		c.cfg.Logger.Error("the work after a call is lost", zap.String("call", r.Call),
			zap.String("agent", c.cfg.After.Agent), zap.Error(err))
	}
}

// text is the report as the agent gets it. Older turns are left out if it is too long.
func (r *Report) text() string {
	for {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(r); err != nil {
			panic(err) // a Record has nothing that is no JSON
		}
		if b.Len() <= reportMax || len(r.Turns) == 0 {
			return strings.TrimSuffix(b.String(), "\n")
		}
		r.Turns, r.Cut = r.Turns[(len(r.Turns)+1)/2:], true
	}
}

// passing reports whether another try may help.
func passing(err error) bool {
	return slices.Contains([]managed.Code{managed.Storage, managed.Overloaded}, managed.CodeOf(err))
}

// start stores the start of the work, and tries again while the journal does not answer.
func (c *calls) start(r voicegw.Record, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), followTime)
	defer cancel()
	rt, o := c.cfg.Runtime(), c.cfg.Owner(r.Labels)
	for {
		_, err := rt.StartSessionOnce(ctx, o, managed.Once{Key: "after " + r.Call}, managed.SessionRequest{
			Agent: agentID(c.cfg.After.Agent), Title: "After call " + r.Call,
			Metadata: map[string]string{CallKey: r.Call}, Initial: []managed.Event{managed.Text(text)}})
		if err == nil || !passing(err) {
			return err
		}
		c.cfg.Logger.Warn("the work after a call cannot be stored yet", zap.String("call", r.Call), zap.Error(err))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(followWait):
		}
	}
}
