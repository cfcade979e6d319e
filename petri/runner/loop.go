package runner

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
)

// stepMax is the largest number of injections that the machine takes before its outputs are handed
// over.
const stepMax = 64

// Errors that end a run.
var (
	// ErrPending means that more than Config.Pending outputs wait for the store.
	ErrPending = errors.New("too many outputs wait for the store")
	// ErrResult means that the net refused the result of a task.
	ErrResult = errors.New("the net refused the result of a task")
)

// loop is the state of the loop. It belongs to the goroutine of the run while that is awake. While it waits, the
// goroutine that delivers the result of a task borrows the loop, so that no other goroutine need be woken for it:
// see inbox.deliver.
type loop struct {
	sinks    sinks
	batch    []entry
	answers  []error // by entry of the step
	answered int     // entries of batch that have been answered
	refused  error   // of the row whose entries enter; nil: none was refused
	entered  int     // tokens of the row whose entries are answered
	timer    *time.Timer
	armed    time.Duration // what timer is set to; petri.Forever: stopped
	worker   *worker       // has the loop; nil: another goroutine has it
	over     bool          // there are no more steps
	fault    error         // why it is over; nil after a proper end
	broken   error         // why the store failed; nil while it works
}

// Limits of the loop.
const (
	guestMax  = 16          // steps of a guest in a row
	earlyWake = time.Second // a timer that is further away stays armed although nothing is due then
)

// unanswered returns the entries that the loop took from the inbox and did not answer.
func (l *loop) unanswered() []entry { return l.batch[l.answered:] }

// work runs the loop until the run ends. An error is a fault.
func (r *Runner) work() error {
	l := &r.loop
	defer l.timer.Stop()
	for !r.cycle() {
		r.wait()
	}
	if l.fault != nil {
		return l.fault
	}
	return r.protect(r.flush)
}

// cycle processes what is queued, and arms the timer. It returns true when the loop is over.
func (r *Runner) cycle() bool {
	l := &r.loop
	if l.over {
		return true
	}
	b := r.in.take(l.batch)
	l.batch, l.answered = b.items, 0
	var ready petri.Ready
	l.fault = r.protect(func() (err error) { ready, err = r.turn(b); return err })
	l.over = l.fault != nil || ready.Ended || b.stopping
	if l.over {
		r.in.end()
	} else {
		r.arm(min(ready.Wake, l.sinks.deadline(r.cfg.StoreWait)), b.now)
	}
	return l.over
}

// turn processes a batch of the inbox, and the timers that are due.
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

// step gives injections to the machine, stores the events, hands over the outputs and answers the
// senders.
func (r *Runner) step(items []entry, now time.Duration) (petri.Ready, error) {
	l := &r.loop
	ready, err := r.advance(items, now)
	if err != nil {
		return ready, err
	}
	if r.cfg.Store != nil && len(ready.Events) > 0 {
		r.cfg.Store.Append(ready.Events)
		if err := r.checkStore(); err != nil {
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
		l.answer(&items[i], l.answers[i])
	}
	return ready, nil
}

// answer answers the sender of a row at its last entry.
func (l *loop) answer(e *entry, err error) {
	if e.ack == nil {
		return
	}
	if err == nil {
		l.entered++
	}
	if !e.more {
		e.ack <- answer{l.entered, err}
		l.entered = 0
	}
}

// advance is the only part of the loop that uses the machine.
func (r *Runner) advance(items []entry, now time.Duration) (petri.Ready, error) {
	l := &r.loop
	l.answers = l.answers[:0]
	r.own.Lock()
	defer r.own.Unlock()
	for i := range items {
		e := &items[i]
		err := l.refused
		if err == nil {
			err = r.machine.Inject(e.at, e.token)
		}
		l.answers = append(l.answers, err)
		l.refused = nil
		if e.ack != nil && e.more {
			l.refused = err // the rest of the row does not enter, so it keeps its order
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
	ready := r.machine.Advance(now)
	r.rooms.review(r.machine)
	return ready, nil
}

// arm sets the timer for when the loop has to work next.
func (r *Runner) arm(wake, now time.Duration) {
	l := &r.loop
	switch {
	case l.armed > now && l.armed == wake, l.armed-now >= earlyWake && l.armed < wake:
		return
	case wake == petri.Forever:
		l.timer.Stop()
	default:
		l.timer.Reset(wake - r.in.elapsed())
	}
	l.armed = wake
}

// wait sleeps until the timer is due or the inbox wakes the loop.
func (r *Runner) wait() {
	if !r.in.park() {
		return
	}
	for {
		due := false
		select {
		case <-r.in.wake:
		case <-r.loop.timer.C:
			due = true
		}
		if r.in.unpark() {
			if due {
				r.loop.armed = petri.Forever
			}
			return
		}
	}
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

// answerClosed answers the entries that came too late to enter.
func (r *Runner) answerClosed() {
	for _, e := range r.loop.unanswered() {
		r.loop.answered++
		r.loop.answer(&e, ErrClosed)
	}
}
