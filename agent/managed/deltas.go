package managed

import "context"

// listener receives the parts of messages that are coming.
type listener struct {
	hear func(*Event)
	seen map[string]bool // messages whose start it has heard
}

// Deltas calls hear for every event_start and event_delta of a session until ctx ends, while the session
// runs on this node. hear must be quick; calls of it do not overlap. It gets no part of a message that began
// before Deltas was called.
func (r *Runtime) Deltas(ctx context.Context, o Owner, id string, hear func(*Event)) error {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return err
	}
	l := &listener{hear: hear, seen: map[string]bool{}}
	r.mu.Lock()
	if r.listeners[id] == nil {
		r.listeners[id] = map[*listener]bool{}
	}
	r.listeners[id][l] = true
	r.mu.Unlock()
	<-ctx.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.listeners[id], l); len(r.listeners[id]) == 0 {
		delete(r.listeners, id)
	}
	return nil
}

// show gives parts of a message to those who listen. first means that the message begins.
func (r *Runtime) show(id string, parts []*Event, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.listeners[id] {
		for _, ev := range parts {
			if first && !l.seen[ev.EventID] {
				l.seen[ev.EventID] = true
				l.hear(&Event{Type: EventStart, Event: &EventRef{Type: AgentMessage, ID: ev.EventID}})
			}
			if l.seen[ev.EventID] {
				l.hear(ev)
			}
		}
	}
}
