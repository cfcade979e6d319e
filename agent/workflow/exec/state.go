package exec

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// Prefixes of state keys that are not of one session.
const (
	appPrefix  = "app:"
	userPrefix = "user:"
)

// appPlace is where the Store has the state of all sessions of a workflow.
func (p *program) appPlace() string { return "app/" + p.f.w.Name }

// userPlace is where the Store has the state of a user's sessions of a workflow. The names of users may be
// anything, and keys of journals not.
func (p *program) userPlace(o managed.Owner) string {
	return fmt.Sprintf("user/%s/%x", p.f.w.Name, sha256.Sum256([]byte(o.Tenant+"\x00"+o.User)))
}

// seed is the tool that a run begins with: the time, and the state that sessions share.
func (e *Engine) seed(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	now := e.cfg.Now().In(e.cfg.Zone)
	seeds := map[string]any{"current_date": now.Format(time.DateOnly), "current_datetime": now.Format(time.RFC3339),
		"timezone": e.cfg.Zone.String()}
	for name, prefix := range map[string]string{"app": appPrefix, "user": userPrefix} {
		place, ok := c.Args[name].(string)
		if !ok {
			continue
		}
		values, err := e.cfg.Store.Load(ctx, place)
		if err != nil {
			return nil, err
		}
		for k, v := range values {
			seeds[prefix+k] = v
		}
	}
	return seeds, nil
}

// stateMax is how many bytes of JSON the session keeps of one run: they are in one record of the journal, beside the
// answer.
const stateMax = 512 << 10

// keeps counts an output that the session keeps.
func (r *run) keeps(a *workflow.Agent, value any) error {
	if a.OutputKey == "" || strings.Contains(a.OutputKey, ":") {
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := len(b)
	for key, n := range r.sizes {
		if key != a.OutputKey {
			sum += n
		}
	}
	if sum > stateMax {
		return fmt.Errorf("the outputs of the run have %d bytes with that of `%s` for the key %q; at most %d are allowed: "+
			"write less, or write temp:%s", sum, a.Name, a.OutputKey, stateMax, a.OutputKey)
	}
	r.sizes[a.OutputKey] = len(b)
	return nil
}

// share stores the output of a leaf whose key has the prefix app: or user:.
func (r *run) share(ctx context.Context, k *worker, value any) error {
	place, key := "", k.Agent.OutputKey
	if name, ok := strings.CutPrefix(key, appPrefix); ok {
		place, key = r.p.appPlace(), name
	} else if name, ok := strings.CutPrefix(key, userPrefix); ok {
		place, key = r.p.userPlace(r.ctx.Owner), name
	} else {
		return nil
	}
	_, err := effect(ctx, k.own, r.turn, "set", setTool, map[string]any{"place": place, "key": key, "value": value})
	return err
}

// set is the tool that share calls.
func (e *Engine) set(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	place, _ := c.Args["place"].(string)
	key, _ := c.Args["key"].(string)
	return map[string]any{}, e.cfg.Store.Set(ctx, place, key, c.Args["value"])
}
