package netmodel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Observer measures how long a net takes from one event to another. It has a place that the first
// Start event marks and each Stop event empties, and a transition that moves the token to a second
// place after Limit. With Latest, each Start event restarts the wait. It changes nothing in the
// net.
//
// An event is the name of a transition; +P for any firing that produces at place P; -P for any
// firing that takes from P; or "start" for the start of the net.
type Observer struct {
	Name        string // of the first place; the second is Name + "_overdue"
	Start, Stop []string
	Limit       time.Duration // above 0
	Latest      bool          // time counts from the latest Start event, not from the first
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
		if err := c.onEvent(e, func(b *Branch) {
			b.mark(c, waits)
			if o.Latest {
				b.Clears = append(b.Clears, waits)
			}
		}); err != nil {
			return nil, err
		}
	}
	for _, e := range o.Stop {
		if err := c.onEvent(e, func(b *Branch) { b.Clears, b.Stop = append(b.Clears, waits), true }); err != nil {
			return nil, err
		}
	}
	c.addDeadline(o, waits, late)
	c.link()
	c.countSteps()
	return c, nil
}

// Starts reports whether a step is a start event of the observer, which has the last two slots.
func (m *Model) Starts(s Step) bool {
	return slices.ContainsFunc(m.branchOf(s).Put, func(p Put) bool { return p.Slot == int32(m.slots-2) })
}

// Stops reports whether a step is a stop event of the observer.
func (m *Model) Stops(s Step) bool { return m.branchOf(s).Stop }

func (m *Model) branchOf(s Step) *Branch {
	return &m.Modes[m.First[s.Transition]+s.Mode].Branches[s.Branch]
}

// clone copies what an observer changes.
func (m *Model) clone() *Model {
	c := *m
	c.Places = slices.Clone(m.Places)
	c.Transitions = slices.Clone(m.Transitions)
	c.SlotName, c.SlotPlace = slices.Clone(m.SlotName), slices.Clone(m.SlotPlace)
	c.initial = slices.Clone(m.initial)
	c.Modes = slices.Clone(m.Modes)
	for i := range c.Modes {
		c.Modes[i].Branches = slices.Clone(c.Modes[i].Branches)
		for j := range c.Modes[i].Branches {
			b := &c.Modes[i].Branches[j]
			b.Put, b.Clears = slices.Clone(b.Put), slices.Clone(b.Clears)
		}
	}
	c.First, c.Ranks = slices.Clone(m.First), slices.Clone(m.Ranks)
	c.timed, c.Clocks = slices.Clone(m.timed), slices.Clone(m.Clocks)
	return &c
}

func (m *Model) addPlace(name string, capacity int) int32 {
	slot := int32(m.slots)
	m.SlotPlace = append(m.SlotPlace, int32(len(m.Places)))
	m.Places = append(m.Places, petri.PlaceInfo{Name: name, Type: "unit", Slot: m.slots, Slots: 1, Max: capacity,
		Sink: true})
	m.SlotName = append(m.SlotName, name)
	m.initial = append(m.initial, 0)
	m.slots++
	return slot
}

// mark puts a token where there is none yet.
func (b *Branch) mark(m *Model, slot int32) {
	b.Put = append(b.Put, Put{Slot: slot, N: 1, Place: m.SlotPlace[slot], First: slot, Last: slot + 1, Max: 1,
		Quiet: true})
}

func (m *Model) addDeadline(o Observer, waits, late int32) {
	t := int32(len(m.Transitions))
	name := o.Name + "_deadline"
	m.Transitions = append(m.Transitions, petri.TransitionInfo{
		Name: name, When: petri.After(o.Limit), Modes: []petri.Mode{{Branches: []petri.Branch{{}}}},
	})
	m.Ranks, m.Clocks = append(m.Ranks, -1), append(m.Clocks, int32(len(m.timed)))
	m.timed = append(m.timed, t)
	b := Branch{}
	b.mark(m, late)
	m.Modes = append(m.Modes, Mode{Transition: t, Take: []petri.Count{{Slot: waits, N: 1}}, Branches: []Branch{b},
		Needs: petri.Needs{Bounds: []petri.Bound{{Slot: waits, Min: 1, Max: petri.MaxTokens + 1}}}})
	m.First = append(m.First, int32(len(m.Modes)))
}

// onEvent calls fn for every branch of a firing that is the event. Frames move without a trace in
// the state space, so their moves are not events.
func (m *Model) onEvent(event string, fn func(*Branch)) error {
	frames := false
	err := m.eachEvent(event, func(md *Mode, b *Branch) {
		frames = frames || m.Transitions[md.Transition].Frame
		fn(b)
	})
	if err == nil && frames {
		err = fmt.Errorf("verify: observe %s: a frame that moves is no event: nothing in the net tells that it did", event)
	}
	return err
}

func (m *Model) eachEvent(event string, fn func(*Mode, *Branch)) error {
	b := &Names{Model: m}
	if name := strings.TrimLeft(event, "+-"); name != event {
		slots := b.Slots(name)
		if b.Err != nil {
			return b.Err
		}
		for i := range m.Modes {
			m.onTouch(&m.Modes[i], slots, event[0] == '+', fn)
		}
		return nil
	}
	ts, err := m.Named(event)
	if err != nil {
		return err
	}
	for i := m.First[ts[0]]; i < m.First[ts[0]+1]; i++ {
		for j := range m.Modes[i].Branches {
			fn(&m.Modes[i], &m.Modes[i].Branches[j])
		}
	}
	return nil
}

// onTouch calls fn for the branches of a mode that produce at some slots, or take from them.
func (m *Model) onTouch(md *Mode, slots []int, produce bool, fn func(*Mode, *Branch)) {
	takes := false
	for _, k := range md.Take {
		takes = takes || slices.Contains(slots, int(k.Slot))
	}
	for _, s := range md.Empty {
		takes = takes || slices.Contains(slots, int(s))
	}
	for j := range md.Branches {
		b := &md.Branches[j]
		puts := slices.ContainsFunc(b.Put, func(p Put) bool { return slices.Contains(slots, int(p.Slot)) })
		if produce && puts || !produce && takes {
			fn(md, b)
		}
	}
}
