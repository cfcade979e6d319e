package exec

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// remember gives the memory what was said in the session so far, on all paths, up to what an agent says now. The
// memory has each session once.
func (r *run) remember(ctx context.Context, j *workflow.Job, res *workflow.Result) error {
	if !r.p.f.remembers || j.Visit.Flow.Args != nil {
		return nil
	}
	p := &past{r: r}
	for i, c := range r.ctx.Earlier(j.Author, managed.View{Without: []string{r.p.f.w.Name}}) {
		ev := r.turn.NewEvent(map[bool]string{true: j.Author, false: "user"}[c.Role == "model"])
		ev.ID, ev.Content = fmt.Sprint("earlier", i), c
		p.events = append(p.events, ev)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if res.Event != nil && res.Event.Content != nil {
		ev := *res.Event
		ev.ID, ev.Author = fmt.Sprint("said", len(r.said)), j.Author
		r.said = append(r.said, &ev)
	}
	p.events = append(p.events, r.said...)
	return r.p.e.cfg.Memory.AddSessionToMemory(ctx, p)
}

// past is what was said in a session, for the memory. Its state is empty.
type past struct {
	r      *run
	events []*session.Event
}

func (p *past) ID() string                { return p.r.ctx.Session }
func (p *past) AppName() string           { return p.r.p.f.w.Name }
func (p *past) UserID() string            { return userID(p.r.ctx.Owner) }
func (p *past) State() session.State      { return noState{} }
func (p *past) Events() session.Events    { return p }
func (p *past) LastUpdateTime() time.Time { return time.Time{} }
func (p *past) Len() int                  { return len(p.events) }
func (p *past) At(i int) *session.Event   { return p.events[i] }

func (p *past) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, ev := range p.events {
			if !yield(ev) {
				return
			}
		}
	}
}

type noState struct{}

func (noState) Get(string) (any, error)     { return nil, session.ErrStateKeyNotExist }
func (noState) Set(string, any) error       { return fmt.Errorf("exec: the memory writes no state") }
func (noState) All() iter.Seq2[string, any] { return maps.All(map[string]any{}) }
