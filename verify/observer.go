package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Observer watches how long a net takes from one event to another. It is a
// place that the first Start event marks and each Stop event empties, and a
// transition that moves the token to a second place after Limit. With Latest each
// Start event begins the wait anew. It changes nothing in the net.
//
// An event is the name of a transition; +P for any firing that produces at
// place P, -P for any that takes from it; or "start" for the start of the net.
type Observer struct {
	Name        string // of the first place; the second is Name + "_overdue"
	Start, Stop []string
	Limit       time.Duration // above 0
	Latest      bool          // time counts from the latest Start event, not the first
}

// Observe returns a copy of the model with an observer.
func (m *Model) Observe(o Observer) (*Model, error) {
	if o.Name == "" || o.Limit <= 0 || len(o.Start) == 0 || len(o.Stop) == 0 {
		return nil, fmt.Errorf("verify: observe %s: an observer needs a name, a limit above 0, start and stop events",
			m.prog.Name())
	}
	c := m.clone()
	waits := c.addPlace(o.Name, petri.MaxTokens)
	late := c.addPlace(o.Name+"_overdue", petri.MaxTokens)
	for _, e := range o.Start {
		if e == "start" {
			c.initial[waits] = 1
			continue
		}
		if err := c.onEvent(e, func(b *branch) {
			b.mark(c, waits)
			if o.Latest {
				b.clears = append(b.clears, waits)
			}
		}); err != nil {
			return nil, err
		}
	}
	for _, e := range o.Stop {
		if err := c.onEvent(e, func(b *branch) { b.clears, b.stop = append(b.clears, waits), true }); err != nil {
			return nil, err
		}
	}
	c.addDeadline(o, waits, late)
	c.link()
	c.countSteps()
	return c, nil
}

// Starts reports whether a step is a start event of the observer, which has the
// last two slots.
func (m *Model) Starts(s Step) bool {
	return slices.ContainsFunc(m.branchOf(s).put, func(p put) bool { return p.slot == int32(m.slots-2) })
}

// Stops reports whether a step is a stop event of the observer.
func (m *Model) Stops(s Step) bool { return m.branchOf(s).stop }

func (m *Model) branchOf(s Step) *branch {
	return &m.modes[m.first[s.Transition]+s.Mode].branches[s.Branch]
}

// clone copies what an observer changes.
func (m *Model) clone() *Model {
	c := *m
	c.places = slices.Clone(m.places)
	c.transitions = slices.Clone(m.transitions)
	c.slotName, c.slotPlace = slices.Clone(m.slotName), slices.Clone(m.slotPlace)
	c.initial = slices.Clone(m.initial)
	c.modes = slices.Clone(m.modes)
	for i := range c.modes {
		c.modes[i].branches = slices.Clone(c.modes[i].branches)
		for j := range c.modes[i].branches {
			b := &c.modes[i].branches[j]
			b.put, b.clears = slices.Clone(b.put), slices.Clone(b.clears)
		}
	}
	c.first, c.rank = slices.Clone(m.first), slices.Clone(m.rank)
	c.timed, c.clock = slices.Clone(m.timed), slices.Clone(m.clock)
	return &c
}

func (m *Model) addPlace(name string, capacity int) int32 {
	slot := int32(m.slots)
	m.slotPlace = append(m.slotPlace, int32(len(m.places)))
	m.places = append(m.places, petri.PlaceInfo{Name: name, Type: "unit", Slot: m.slots, Slots: 1, Max: capacity,
		Sink: true})
	m.slotName = append(m.slotName, name)
	m.initial = append(m.initial, 0)
	m.slots++
	return slot
}

// mark puts a token where there is none yet.
func (b *branch) mark(m *Model, slot int32) {
	b.put = append(b.put, put{slot: slot, n: 1, place: m.slotPlace[slot], first: slot, last: slot + 1, max: 1,
		quiet: true})
}

func (m *Model) addDeadline(o Observer, waits, late int32) {
	t := int32(len(m.transitions))
	name := o.Name + "_deadline"
	m.transitions = append(m.transitions, petri.TransitionInfo{
		Name: name, When: petri.After(o.Limit), Modes: []petri.Mode{{Branches: []petri.Branch{{}}}},
	})
	m.rank, m.clock = append(m.rank, -1), append(m.clock, int32(len(m.timed)))
	m.timed = append(m.timed, t)
	b := branch{}
	b.mark(m, late)
	m.modes = append(m.modes, mode{t: t, take: []petri.Count{{Slot: waits, N: 1}}, branches: []branch{b},
		needs: petri.Needs{Bounds: []petri.Bound{{Slot: waits, Min: 1, Max: petri.MaxTokens + 1}}}})
	m.first = append(m.first, int32(len(m.modes)))
}

// onEvent calls fn for every branch of a firing that is the event. Frames move
// without a trace in the state space, so their moves are no events.
func (m *Model) onEvent(event string, fn func(*branch)) error {
	frames := false
	err := m.eachEvent(event, func(md *mode, b *branch) {
		frames = frames || m.transitions[md.t].Frame
		fn(b)
	})
	if err == nil && frames {
		err = fmt.Errorf("verify: observe %s: a frame that moves is no event: nothing in the net tells that it did", event)
	}
	return err
}

func (m *Model) eachEvent(event string, fn func(*mode, *branch)) error {
	b := &binder{m: m}
	if name := strings.TrimLeft(event, "+-"); name != event {
		slots := b.slots(name)
		if b.err != nil {
			return b.err
		}
		for i := range m.modes {
			m.onTouch(&m.modes[i], slots, event[0] == '+', fn)
		}
		return nil
	}
	ts, err := m.named([]string{event})
	if err != nil {
		return err
	}
	for i := m.first[ts[0]]; i < m.first[ts[0]+1]; i++ {
		for j := range m.modes[i].branches {
			fn(&m.modes[i], &m.modes[i].branches[j])
		}
	}
	return nil
}

// onTouch calls fn for the branches of a mode that produce at some slots, or
// take from them.
func (m *Model) onTouch(md *mode, slots []int, produce bool, fn func(*mode, *branch)) {
	takes := false
	for _, k := range md.take {
		takes = takes || slices.Contains(slots, int(k.Slot))
	}
	for _, s := range md.empty {
		takes = takes || slices.Contains(slots, int(s))
	}
	for j := range md.branches {
		b := &md.branches[j]
		puts := slices.ContainsFunc(b.put, func(p put) bool { return slices.Contains(slots, int(p.slot)) })
		if produce && puts || !produce && takes {
			fn(md, b)
		}
	}
}
