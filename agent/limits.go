package agent

import (
	"fmt"
	"time"
)

// Limits bound what one turn may do. The zero value of each field means its default.
type Limits struct {
	// Reasks is how often a turn may ask models again after the first request, over all agents: 1 to
	// 1000. Default 8. A turn that needs more ends with GaveUpText.
	Reasks int
	// GaveUpText is the answer of such a turn.
	GaveUpText string
	// ToolSlots is how many tools of an agent run at a time, 1 to 16. Default 4.
	ToolSlots int
	// MaxCalls is how many calls of one response are run, 1 to 64. Default 16. The model gets an error
	// for each further one.
	MaxCalls int
	// MaxArgs is the largest size of the arguments of a call, as JSON, in bytes. Default 1 MiB. The
	// model gets an error for a call with more, and the session does not keep the arguments.
	MaxArgs int
	// ModelTimeout limits one request to a model, ToolTimeout one call of a tool, and HookTimeout one
	// hook and the building of one request. Defaults: 2 min, 1 min, 10 s.
	ModelTimeout, ToolTimeout, HookTimeout time.Duration
	// GuestTimeout limits how long a guest works on one event. Default 5 min.
	GuestTimeout time.Duration
	// Patience is how long work waits for a slot whose earlier work was stopped and has not returned.
	// Default 5 s. After that it fails.
	Patience time.Duration
}

func (l Limits) filled() (Limits, error) {
	fill(&l.Reasks, 8)
	fill(&l.GaveUpText, "I could not finish this. Please try again, or ask for less at a time.")
	fill(&l.ToolSlots, 4)
	fill(&l.MaxCalls, 16)
	fill(&l.MaxArgs, 1<<20)
	fill(&l.ModelTimeout, 2*time.Minute)
	fill(&l.ToolTimeout, time.Minute)
	fill(&l.HookTimeout, 10*time.Second)
	fill(&l.GuestTimeout, 5*time.Minute)
	fill(&l.Patience, 5*time.Second)
	for _, c := range []struct {
		name         string
		value, least int
		most         int
	}{
		{"Reasks", l.Reasks, 1, 1000}, {"ToolSlots", l.ToolSlots, 1, 16}, {"MaxCalls", l.MaxCalls, 1, 64},
		{"MaxArgs", l.MaxArgs, 1, 1 << 30},
	} {
		if c.value < c.least || c.value > c.most {
			return l, fmt.Errorf("agent: Limits.%s is %d; it must be %d to %d", c.name, c.value, c.least, c.most)
		}
	}
	for _, c := range []struct {
		name  string
		value time.Duration
	}{
		{"ModelTimeout", l.ModelTimeout}, {"ToolTimeout", l.ToolTimeout}, {"HookTimeout", l.HookTimeout},
		{"GuestTimeout", l.GuestTimeout}, {"Patience", l.Patience},
	} {
		if c.value < 0 {
			return l, fmt.Errorf("agent: Limits.%s is %v; it must be positive", c.name, c.value)
		}
	}
	return l, nil
}

func fill[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}
