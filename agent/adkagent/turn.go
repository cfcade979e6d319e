package adkagent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// run is one turn: one invocation of the agent by ADK.
type run struct {
	core    *core
	ic      adk.InvocationContext
	parts   adk.InvocationContext // for the ids and times of partial events
	yield   func(*session.Event, error) bool
	stopped bool // yield has returned false or panicked
	began   time.Time
	last    string // id of the last event that is stored
	// active is the member that has spoken last, or was handed over to.
	active string

	confirmed map[string]*toolconfirmation.ToolConfirmation // by call

	mu      sync.Mutex
	tools   map[*member]map[string]any // of the latest request of each agent
	eventID string                     // of the next event of a response; spans name it
	actions *session.EventActions      // of the callbacks of the model; they go into that event
	guests  map[*guest]*visit
	entered map[*member]bool // whose callbacks before the agent have run
}

// ticket is how work of a turn finds the turn. The net may keep the ticket for longer than the turn lasts, and so
// may a tool that has not returned; they then keep nothing else.
type ticket struct {
	mu  sync.Mutex
	run *run // nil after the turn
}

// errOver means that work begins after its turn has ended.
var errOver = errors.New("adkagent: the turn is over")

// runOf is the run of a turn, or nil after the turn and for turns of others.
func runOf(t *agent.Turn) *run {
	k, ok := t.Host.(*ticket)
	if !ok {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.run
}

func (k *ticket) tear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.run = nil
}

// history is the session for agents of a wrapped program.
func (k *ticket) history() []*genai.Content {
	if r := runOf(&agent.Turn{Host: k}); r != nil {
		return r.history()
	}
	return nil
}

// errStopped means that ADK takes no more events: it could not store one, or its caller has stopped.
var errStopped = errors.New("adkagent: the runner takes no more events")

// turn runs one turn of the session of an invocation.
func (c *core) turn(ic adk.InvocationContext, yield func(*session.Event, error) bool) {
	k := keyOf(ic)
	r := &run{core: c, yield: yield}
	r.ic, r.parts, r.began = c.source.invocation(ic, c.name)
	s, err := c.nets.take(ic, k)
	if err != nil {
		r.fail(err)
		return
	}
	whole := false
	defer func() { // a panic of the caller, or its runtime.Goexit, leaves the net in the middle of the turn
		if !whole {
			c.nets.replace(s, nil)
		}
		c.nets.release(s)
	}()
	if err := r.play(s); err != nil && !r.stopped {
		r.fail(err)
	}
	whole = true
}

// play runs the turn on the net of the session.
func (r *run) play(s *net) error {
	if h, ok := r.ic.Session().(refresher); ok && s.last != "" && !hasEvent(r.ic.Session(), s.last) {
		if err := h.refresh(r.ic); err != nil { // it was read before the turn before had ended
			return unstored(err)
		}
	}
	begins, resume, err := r.opening()
	if err != nil {
		return err
	}
	running, err := r.core.nets.open(s, begins, &r.core.programs)
	if err != nil {
		return err
	}
	k := &ticket{run: r}
	defer k.tear()
	t := &agent.Turn{ID: r.ic.InvocationID(), Message: r.ic.UserContent(), Resume: resume, Host: k, Emit: r.emit,
		History: k.history}
	if rc := r.ic.RunConfig(); rc != nil {
		t.Stream = rc.StreamingMode == adk.StreamingModeSSE
	}
	defer r.dismiss()
	end, err := running.Run(r.ic, t)
	t.Emit = nil // Run alone calls it
	if r.active != "" && r.core.guests[s.active] == nil {
		s.active = r.active
	}
	if r.last != "" {
		s.last = r.last
	}
	switch {
	case r.stopped, end != nil && end.How != agent.Stopped:
		return nil // an event has told it
	case err != nil && !errors.Is(err, agent.ErrClosed) && end == nil && r.ic.Err() == nil:
		r.core.nets.replace(s, nil)
		return &agent.Fault{Code: NetFailed, Text: err.Error()}
	}
	return err
}

// fail tells the user why there is no turn: a fault is an event, anything else an error.
func (r *run) fail(err error) {
	var f *agent.Fault
	if !errors.As(err, &f) {
		r.say(nil, err)
		return
	}
	ev := session.NewEvent(r.ic, r.ic.InvocationID())
	ev.Author, ev.Branch = r.core.name, r.ic.Branch()
	ev.ErrorCode, ev.ErrorMessage = string(f.Code), f.Error()
	agent.AddFaults(ev, f)
	r.say(ev, nil)
}

// say hands an event to ADK, which has stored it when say returns nil.
func (r *run) say(ev *session.Event, err error) error {
	if r.stopped {
		return errStopped
	}
	r.stopped = true // also if yield panics
	r.stopped = !r.yield(ev, err)
	if r.stopped {
		return errStopped
	}
	if ev != nil && !ev.Partial {
		r.last = ev.ID
		if name := r.core.speaker(ev); name != "" {
			r.active = name
		}
	}
	return nil
}

// hasEvent reports whether a session has an event. It looks at the latest first.
func hasEvent(s session.Session, id string) bool {
	all := s.Events()
	for i := all.Len() - 1; i >= 0; i-- {
		if all.At(i).ID == id {
			return true
		}
	}
	return false
}

// emit completes an event of the net and hands it to ADK. The session has it when emit returns nil.
func (r *run) emit(ev *session.Event, kind agent.EventKind) error {
	in := r.ic
	if !kind.Stored() {
		in, ev.Partial = r.parts, true // ADK does not store partial events
	}
	m := r.core.members[ev.Author]
	if ev.ID == "" {
		ev.ID, ev.Timestamp = platform.NewUUID(in), platform.Now(in)
		ev.Branch = r.ic.Branch()
		if ev.IsolationScope == "" {
			ev.IsolationScope = r.ic.IsolationScope()
		}
		if ev.Author == "" {
			ev.Author = r.core.name
		}
	}
	if m != nil {
		r.complete(ev, m, kind)
	}
	if err := r.say(ev, nil); err != nil {
		return err
	}
	if ask := r.confirmation(ev); ask != nil {
		if err := r.say(ask, nil); err != nil {
			return err
		}
	}
	if m == nil || kind != agent.Answer && ev.Actions.TransferToAgent == "" {
		return nil
	}
	after, err := m.afterAgent(r)
	if err != nil || after == nil {
		return err
	}
	return r.say(after, nil)
}

// complete adds to an event what ADK's agents add.
func (r *run) complete(ev *session.Event, m *member, kind agent.EventKind) {
	if ev.Content == nil && ev.ErrorCode == "" {
		return
	}
	if ev.Actions.StateDelta == nil { // a guest may speak in the name of a member
		ev.Actions.StateDelta = map[string]any{}
	}
	if ev.Actions.ArtifactDelta == nil {
		ev.Actions.ArtifactDelta = map[string]int64{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ev.LongRunningToolIDs = longRunning(r.tools[m], ev.Content)
	if !kind.Stored() || ev.Content != nil && hasResults(ev.Content) {
		return
	}
	if r.eventID != "" {
		ev.ID, r.eventID = r.eventID, ""
	}
	if r.actions != nil {
		agent.MergeActions(&ev.Actions, r.actions)
		r.actions = nil
	}
	if key := m.cfg.OutputKey; key != "" && ev.Content != nil {
		var text strings.Builder
		for _, p := range partsOf(ev) {
			if !p.Thought {
				text.WriteString(p.Text)
			}
		}
		if m.cfg.OutputSchema == nil || strings.TrimSpace(text.String()) != "" {
			ev.Actions.StateDelta[key] = text.String()
		}
	}
}

// as returns the invocation for work of a member. It ends with the context of the work.
func (r *run) as(ctx context.Context, m *member) adk.InvocationContext {
	ic := r.ic
	if m.self != nil {
		ic = ic.WithICDelta(&adk.InvocationContextDelta{Agent: &m.self})
	}
	return during(ctx, ic)
}

// history is the session for agents of a wrapped program.
func (r *run) history() []*genai.Content {
	own := func(author string) bool {
		_, ok := r.core.members[author]
		return ok || author == r.core.name
	}
	v := view{own: own, branch: r.ic.Branch(), scope: r.ic.IsolationScope()}
	list, err := v.contents(eventsOf(r.ic.Session()))
	if err != nil { // an answer to a call that nobody made
		return []*genai.Content{r.ic.UserContent()}
	}
	return list
}

// setTools remembers the tools of the latest request of a member.
func (r *run) setTools(m *member, tools map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tools == nil {
		r.tools = map[*member]map[string]any{}
	}
	r.tools[m] = tools
}

// newEventID makes the id of the next event of a response.
func (r *run) newEventID(ctx context.Context, actions *session.EventActions) string {
	id := platform.NewUUID(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eventID, r.actions = id, actions
	return id
}

// opening tells with which agent the turn begins, and which calls it resumes.
func (r *run) opening() (begins string, resume []*genai.FunctionCall, err error) {
	events := eventsOf(r.ic.Session())
	if author := answeredAuthor(events, r.ic.UserContent()); author != "" {
		begins = r.core.home(author)
	}
	if begins == "" {
		begins = r.core.lastSpeaker(events, r.ic.Branch())
	}
	if r.core.members[begins] == nil { // a guest resumes calls itself; so does a wrapped program
		return begins, nil, nil
	}
	resume, r.confirmed, err = confirmedCalls(events)
	return begins, resume, err
}

// home is the agent of the net to which an author belongs: a member, or a guest that has the author below
// it. It is "" for anybody else.
func (c *core) home(author string) string {
	if _, ok := c.members[author]; ok {
		return author
	}
	for name, g := range c.guests {
		if g.FindAgent(author) != nil {
			return name
		}
	}
	return ""
}

// lastSpeaker is the member that spoke last in the session, or that was handed over to.
func (c *core) lastSpeaker(events []*session.Event, branch string) string {
	v := view{branch: branch}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e == nil || e.Author == userAuthor || !v.sees(e.Branch) {
			continue
		}
		if name := c.speaker(e); name != "" {
			return name
		}
	}
	return c.first
}

// speaker is the member that goes on after an event: the one that was handed over to, or the author.
func (c *core) speaker(e *session.Event) string {
	for _, name := range [...]string{e.Actions.TransferToAgent, e.Author} {
		if c.members[name] != nil {
			return name
		}
	}
	return ""
}
