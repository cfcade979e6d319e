package runner

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
)

// stepMax is the most injections the machine takes before its outputs are
// handed over.
const stepMax = 64

// Errors that end a run.
var (
	// ErrPending says that more outputs than Config.Pending wait for the store.
	ErrPending = errors.New("too many outputs wait for a durable one to be stored")
	// ErrResult says that the place for a task's result had no room for it.
	ErrResult = errors.New("the net did not take the result of a task")
)

// loop is the state of the goroutine that owns the machine.
type loop struct {
	sinks    sinks
	batch    []entry
	answers  []error // by entry of the step
	answered int     // entries of batch whose sender knows
	timer    *time.Timer
	armed    time.Duration // what timer is set to; petri.Forever: stopped
	running  int           // tasks whose result has not come
	broken   error         // why the store failed; nil: it works
}

// unanswered is what the loop took from the inbox and did not finish.
func (l *loop) unanswered() []entry { return l.batch[l.answered:] }

// work runs until the run ends; an error is a fault.
func (r *Runner) work() error {
	l := &r.loop
	l.timer = time.NewTimer(time.Hour)
	l.timer.Stop()
	defer l.timer.Stop()
	l.armed = petri.Forever
	for {
		b := r.in.take(l.batch)
		l.batch, l.answered = b.items, 0
		ready, err := r.turn(b)
		if err != nil {
			return err
		}
		if ready.Ended || b.stopping {
			return r.flush()
		}
		if b.draining && ready.Wake == petri.Forever && l.running == 0 && l.sinks.pending == 0 && r.idle() {
			return nil
		}
		r.wait(min(ready.Wake, l.sinks.deadline(r.cfg.StoreWait)), b.now)
	}
}

// idle reports whether nothing is queued.
func (r *Runner) idle() bool {
	if !r.in.park() {
		return false
	}
	r.in.unpark()
	return true
}

// turn works off what was taken from the inbox, and what is due.
func (r *Runner) turn(b batch) (petri.Ready, error) {
	if err := r.release(b.now); err != nil {
		return petri.Ready{}, err
	}
	for {
		items := b.items[:min(len(b.items), stepMax)]
		b.items = b.items[len(items):]
		now := b.now
		if len(b.items) > 0 {
			now = items[len(items)-1].at
		}
		ready, err := r.step(items, now)
		if err != nil || len(b.items) == 0 {
			return ready, err
		}
	}
}

// step gives injections to the machine, appends what happened, acts on it, and
// answers.
func (r *Runner) step(items []entry, now time.Duration) (petri.Ready, error) {
	l := &r.loop
	ready, err := r.advance(items, now)
	if err != nil {
		return ready, err
	}
	if r.cfg.Store != nil && len(ready.Events) > 0 {
		r.cfg.Store.Append(ready.Events)
		if err := r.judgeStore(); err != nil {
			return ready, err
		}
	}
	r.stat.count(ready.Events)
	if len(ready.Out) > 0 {
		if err := r.hand(ready); err != nil {
			return ready, err
		}
	}
	for i := range items {
		l.answered++
		if items[i].ack != nil {
			items[i].ack <- l.answers[i]
		}
	}
	return ready, nil
}

// advance is all that touches the machine.
func (r *Runner) advance(items []entry, now time.Duration) (petri.Ready, error) {
	l := &r.loop
	l.answers = l.answers[:0]
	r.own.Lock()
	defer r.own.Unlock()
	for i := range items {
		e := &items[i]
		err := r.machine.Inject(e.at, e.token)
		l.answers = append(l.answers, err)
		if e.result {
			l.running--
		}
		if err == nil {
			continue
		}
		if e.result && !errors.Is(err, petri.ErrEnded) {
			return petri.Ready{}, fmt.Errorf("%w: %w", ErrResult, err)
		}
		if errors.Is(err, petri.ErrColour) {
			r.cfg.Logger.Error("token has the wrong colour", zap.String("run", r.cfg.Name), zap.Error(err))
		}
	}
	return r.machine.Advance(now), nil
}

// wait sleeps until the next timer of the net is due or somebody calls.
func (r *Runner) wait(wake, now time.Duration) {
	l := &r.loop
	switch {
	case wake <= now:
		return
	case wake == l.armed:
	case wake == petri.Forever:
		l.timer.Stop()
	default:
		l.timer.Reset(wake - r.in.elapsed())
	}
	l.armed = wake
	if !r.in.park() {
		return
	}
	select {
	case <-r.in.wake:
		return
	case <-l.timer.C:
		l.armed = petri.Forever
	}
	r.in.unpark()
}

// flush waits, at the end of a run, for outputs that wait to be stored.
func (r *Runner) flush() error {
	l := &r.loop
	if l.sinks.pending == 0 {
		return nil
	}
	l.timer.Reset(r.cfg.Grace)
	for {
		if err := r.release(r.in.elapsed()); err != nil || l.sinks.pending == 0 {
			return err
		}
		if !r.in.park() {
			l.batch, l.answered = r.in.take(l.batch).items, 0
			r.answerClosed()
			continue
		}
		select {
		case <-r.in.wake:
		case <-l.timer.C:
			return fmt.Errorf("%w: %d outputs were not stored within %v of the end", ErrStuck, l.sinks.pending, r.cfg.Grace)
		}
	}
}

// answerClosed answers what came too late to enter.
func (r *Runner) answerClosed() {
	for _, e := range r.loop.unanswered() {
		r.loop.answered++
		if e.ack != nil {
			e.ack <- ErrClosed
		}
	}
}
