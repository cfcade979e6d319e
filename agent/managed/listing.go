package managed

import (
	"context"
	"iter"
	"slices"
)

// Listing says which events ListEvents returns.
type Listing struct {
	After  uint64 // only events behind this number, in the order of the list; 0 begins
	Limit  int    // 1 to 1000
	Newest bool   // the newest first
	// Keep tells which events to list; nil means all.
	Keep func(*Event) bool
}

// scanMax is how many events ListEvents looks at for one page.
const scanMax = 10_000

// ListEvents lists events of a session. The stream has an event of the user twice, when it is accepted and
// when it is taken up. The list has it once: in the first place, with the time of the second. next is the After
// of the following page, or 0. A page has fewer events than its limit if Keep keeps none of many; it may be
// empty, and still have a next.
//
// The list costs what the page has, not what the session has. Only a message that waits makes it read on: up
// to where the message is taken up, at most a queue of turns away.
func (r *Runtime) ListEvents(ctx context.Context, o Owner, id string, l Listing) (list []*Event, next uint64,
	err error) {
	if l.Limit < 1 || l.Limit > listMax {
		return nil, 0, invalid("limit", "it is %d; give 1 to %d", l.Limit, listMax)
	}
	if l.Keep == nil {
		l.Keep = func(*Event) bool { return true }
	}
	if l.Newest {
		return r.listNewest(ctx, o, id, l)
	}
	seen := 0
	for ev, err := range r.settled(ctx, o, id, l.After+1, 0) {
		if err != nil {
			return nil, 0, err
		}
		if seen == scanMax {
			return list, ev.Seq - 1, nil
		}
		seen++
		if !l.Keep(ev) {
			continue
		}
		if len(list) == l.Limit {
			return list, list[l.Limit-1].Seq, nil
		}
		list = append(list, ev)
	}
	return list, 0, nil
}

// listMax is the most that one page of a list has.
const listMax = 1000

// listNewest is ListEvents from the newest on. It reads window by window, each before the other.
func (r *Runtime) listNewest(ctx context.Context, o Owner, id string, l Listing) (list []*Event, next uint64,
	err error) {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return nil, 0, err
	}
	last, err := r.head(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	high := last.Seq + 1
	if l.After > 0 {
		high = min(high, l.After)
	}
	size := uint64(l.Limit) + uint64(l.Limit)/2 + 1
	for seen := uint64(0); high > 1; size *= 2 {
		size = min(size, high-1, scanMax-seen)
		low := high - size
		var window []*Event
		for ev, err := range r.settled(ctx, o, id, low, high) {
			if err != nil {
				return nil, 0, err
			}
			window = append(window, ev)
		}
		for _, ev := range slices.Backward(window) {
			if !l.Keep(ev) {
				continue
			}
			if len(list) == l.Limit {
				return list, list[l.Limit-1].Seq, nil
			}
			list = append(list, ev)
		}
		high = low
		if seen += size; seen >= scanMax && high > 1 {
			return list, high, nil
		}
	}
	return list, 0, nil
}

// settled yields the events of a session from number from on and before until, 0 meaning all. An event that
// the stream has twice comes once, in the first place, with the time of the second.
func (r *Runtime) settled(ctx context.Context, o Owner, id string, from, until uint64) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		var held []*Event // behind an event that waits
		open := map[string]*Event{}
		flush := func(all bool) bool {
			for len(held) > 0 && (all || open[held[0].ID] == nil) {
				if !yield(held[0], nil) {
					return false
				}
				held = held[1:]
			}
			return true
		}
		for ev, err := range r.Events(ctx, o, id, from, false) {
			if err != nil {
				yield(nil, err)
				return
			}
			switch {
			case waits(ev) && ev.ProcessedAt != nil:
				if first := open[ev.ID]; first != nil {
					first.ProcessedAt = ev.ProcessedAt
					delete(open, ev.ID)
				}
			case until == 0 || ev.Seq < until:
				held = append(held, ev)
				if waits(ev) {
					open[ev.ID] = ev
				}
			}
			if !flush(false) || until > 0 && ev.Seq+1 >= until && len(held) == 0 {
				return
			}
		}
		flush(true)
	}
}
