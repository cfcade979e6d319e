package runner

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// sinks maps outputs to their destinations and holds those that wait for the store.
type sinks struct {
	of      []sink // by place
	dests   []*dest
	tasks   []*task
	durable bool // some output is durable
	pending int
}

// sink is an output place, or the in-flight place of a task.
type sink struct {
	dest    *dest
	task    *task // nil: the output goes to Config.Out
	durable bool
}

// dest is a destination. It keeps the order of its outputs.
type dest struct{ pending []held }

// held is an output that waits.
type held struct {
	token petri.Token
	sink  *sink
	at    time.Duration
	since time.Duration // when it began to wait
}

// unstored reports whether h itself waits for the store, and not only for an output before it.
func (h *held) unstored(stored uint64) bool { return h.sink.durable && h.token.Seq() > stored }

func newSinks(prog *petri.Program, cfg *Config) (sinks, error) {
	s := sinks{of: make([]sink, len(prog.Places()))}
	byName := map[string]*dest{}
	for i, p := range prog.Places() {
		if !p.Out {
			continue
		}
		name := cfg.Destinations[p.Name]
		if byName[name] == nil {
			byName[name] = s.addDest()
		}
		s.of[i] = sink{dest: byName[name], durable: p.Durable}
		s.durable = s.durable || p.Durable
	}
	return s, s.addTasks(prog, cfg)
}

func (s *sinks) addDest() *dest {
	d := &dest{}
	s.dests = append(s.dests, d)
	return d
}

// addTasks gives every task of the net its handler.
func (s *sinks) addTasks(prog *petri.Program, cfg *Config) error {
	used := make([]bool, len(cfg.Tasks))
	for _, info := range prog.Tasks() {
		t, err := newTask(prog, info, cfg, used)
		if err != nil {
			return err
		}
		s.tasks = append(s.tasks, t)
		d := s.addDest()
		s.of[info.Start] = sink{dest: d, task: t, durable: prog.Places()[info.Start].Durable}
		s.of[info.InFlight] = sink{dest: d, task: t}
	}
	for i, ok := range used {
		if !ok {
			return fmt.Errorf("runner: start %s: there is a handler for task %q, which net %q does not have",
				cfg.Name, cfg.Tasks[i].start, prog.Name())
		}
	}
	return nil
}

// hand hands over the outputs of a step, or holds them.
func (r *Runner) hand(ready petri.Ready) error {
	l := &r.loop
	stored := r.stored()
	first := ready.Events[0].Seq
	oldest, n := petri.Forever, 0
	for _, t := range ready.Out {
		s := &l.sinks.of[r.prog.Place(t.Place())]
		at := ready.Events[t.Seq()-first].At
		if len(s.dest.pending) > 0 || s.durable && t.Seq() > stored {
			if err := r.hold(held{token: t, sink: s, at: at}); err != nil {
				return err
			}
			continue
		}
		r.deliver(s, t)
		oldest = min(oldest, at)
		n++
	}
	r.handed(n)
	r.late(oldest, n, ready.Events[len(ready.Events)-1].Seq)
	if l.broken != nil && l.sinks.pending > 0 {
		r.releaseStored()
	}
	return nil
}

// stored returns the number of the last stored event. If no output is durable, it returns the
// largest number.
func (r *Runner) stored() uint64 {
	if !r.loop.sinks.durable || r.cfg.Store == nil {
		return ^uint64(0)
	}
	return r.cfg.Store.Stored()
}

// hold appends an output to those that wait at its destination.
func (r *Runner) hold(h held) error {
	s := &r.loop.sinks
	if s.pending >= r.cfg.Pending {
		return fmt.Errorf("%w: %d, the last at %q", ErrPending, s.pending, h.token.Place())
	}
	h.since = r.in.elapsed()
	s.pending++
	h.sink.dest.pending = append(h.sink.dest.pending, h)
	return nil
}

// release hands over the outputs that need not wait any longer. If the store fails, or an output
// has waited for StoreWait, it discards the others.
func (r *Runner) release(now time.Duration) error {
	s := &r.loop.sinks
	if err := r.checkStore(); err != nil || s.pending == 0 {
		return err
	}
	r.releaseStored()
	if now < s.deadline(r.cfg.StoreWait) {
		return nil
	}
	err := r.storeFailed(fmt.Errorf("an output was not stored within %v", r.cfg.StoreWait))
	r.releaseStored()
	return err
}

// releaseStored hands over the outputs whose events are stored, and those that wait only behind
// them. If the store has failed, it discards the others.
func (r *Runner) releaseStored() {
	s := &r.loop.sinks
	stored, oldest, last, handed := r.stored(), petri.Forever, uint64(0), 0
	for _, d := range s.dests {
		n := 0
		for n < len(d.pending) && (r.loop.broken != nil || !d.pending[n].unstored(stored)) {
			h := &d.pending[n]
			s.pending--
			n++
			if h.unstored(stored) {
				r.stat.discard()
				continue
			}
			r.deliver(h.sink, h.token)
			oldest, last = min(oldest, h.at), max(last, h.token.Seq())
			handed++
		}
		rest := copy(d.pending, d.pending[n:])
		clear(d.pending[rest:])
		d.pending = d.pending[:rest]
	}
	r.handed(handed)
	r.late(oldest, handed, last)
}

// handed tells that n outputs were handed over in a row.
func (r *Runner) handed(n int) {
	if n > 0 && r.cfg.Handed != nil {
		r.cfg.Handed()
	}
}

// deadline returns when the oldest waiting output will have waited for most.
func (s *sinks) deadline(most time.Duration) time.Duration {
	at := petri.Forever
	for _, d := range s.dests {
		if len(d.pending) > 0 {
			at = min(at, d.pending[0].since+most)
		}
	}
	return at
}

// deliver acts on one output.
func (r *Runner) deliver(s *sink, t petri.Token) {
	switch {
	case s.task == nil:
		r.cfg.Out(t)
	case t.Cancel():
		s.task.stop()
	default:
		r.startTask(s.task, t)
	}
}
