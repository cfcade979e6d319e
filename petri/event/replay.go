package event

import (
	"errors"
	"fmt"
	"io"

	"github.com/voicegw/voicegw/petri"
)

// Errors of Replay and Reader.Next.
var (
	// ErrIncomplete means that events are missing from an archive.
	ErrIncomplete = errors.New("event: the archive is incomplete")
	// ErrOtherNet means that an archive was written by another net, or by another version of the
	// net.
	ErrOtherNet = errors.New("event: the archive is of another net")
)

// Difference is the first event at which a replay differs from its archive.
type Difference struct {
	Archived, Replayed string // what happened, as text; "nothing" if nothing did
	Seq                uint64
}

// Error returns the number of the event and both texts.
func (d *Difference) Error() string {
	return fmt.Sprintf("event: replay: event %d: the archive says %q, the net does %q", d.Seq, d.Archived, d.Replayed)
}

// Replay injects the tokens of an archive again, at the same net times, into a new machine of prog,
// and compares every event and its name with the archive. It needs no payloads, because payloads
// decide nothing; where a payload chose a branch, the archive contains the branch.
//
// Replay returns the number of events that agree. The error is a *Difference, wraps ErrOtherNet or
// ErrIncomplete, or names the line at which the archive is damaged.
func Replay(prog *petri.Program, archive io.Reader) (events uint64, err error) {
	r, err := NewReader(archive)
	if err != nil {
		return 0, err
	}
	if want := Hash(prog); r.Header.Hash != want {
		return 0, fmt.Errorf("%w: it was written by net %q, %s; this is net %q, %s",
			ErrOtherNet, r.Header.Net, r.Header.Hash, prog.Name(), want)
	}
	if !r.Header.Complete {
		return 0, fmt.Errorf("%w: its header says so", ErrIncomplete)
	}
	p := &replayer{prog: prog, names: names{}, log: &window{r: r, first: 1}}
	err = p.run()
	return p.matched, err
}

// replayer replays an archive.
type replayer struct {
	prog    *petri.Program
	names   names
	log     *window
	m       *petri.Machine
	matched uint64 // events that agree
}

func (p *replayer) run() error {
	shadow := p.prog.Shadow(p.choice)
	if err := p.guarded(func() { p.m = shadow.Start() }); err != nil {
		return err
	}
	for {
		e, err := p.log.at(p.matched + 1)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.follow(shadow, e); err != nil {
			return err
		}
	}
}

// follow replays until event e, which is the next one to match, is matched.
func (p *replayer) follow(shadow *petri.Program, e petri.Event) error {
	if err := p.check(e); err != nil {
		return err
	}
	before := p.matched
	if err := p.until(e); err != nil || p.matched > before {
		return err
	}
	cause := e
	switch e.Kind {
	case petri.Injected, petri.Refused:
	case petri.Dropped: // made room for the token that the next event injects
		var err error
		if cause, err = p.log.at(e.Seq + 1); err != nil || cause.Kind != petri.Injected {
			return p.unlessCut(e, err)
		}
		if err := p.check(cause); err != nil {
			return err
		}
	case petri.Faulted:
		p.matched++ // the cause of a fault is not part of the net
		return nil
	default:
		return p.differ(e, "nothing")
	}
	tok := shadow.ShadowToken(cause, p.m.Gen())
	if err := p.guarded(func() { _ = p.m.Inject(e.At, tok) }); err != nil {
		return err
	}
	if err := p.until(e); err != nil || p.matched > before {
		return err
	}
	return p.differ(e, "nothing")
}

// unlessCut accepts an archive that was cut off between a dropped token and the injection that it
// made room for.
func (p *replayer) unlessCut(e petri.Event, err error) error {
	if errors.Is(err, io.EOF) {
		p.matched++
		return nil
	}
	if err != nil {
		return err
	}
	return p.differ(e, "nothing")
}

// until advances the machine to the time of e, one timer at a time, and matches the events.
func (p *replayer) until(e petri.Event) error {
	for {
		var ready petri.Ready
		at := min(e.At, p.m.Wake())
		if err := p.guarded(func() { ready = p.m.Advance(at) }); err != nil {
			return err
		}
		if over, err := p.match(ready.Events); err != nil || over || at == e.At {
			return err
		}
	}
}

// match compares events with the archive. over is true if the archive ends before them.
func (p *replayer) match(events []petri.Event) (over bool, err error) {
	for _, have := range events {
		want, err := p.log.at(have.Seq)
		if errors.Is(err, io.EOF) || err == nil && want.Kind == petri.Faulted {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if err := p.check(want); err != nil {
			return false, err
		}
		if err := p.same(want, have, ""); err != nil {
			return false, err
		}
		p.matched = have.Seq
		p.log.forget(have.Seq)
	}
	return false, nil
}

// same compares an archived event and its name with what happened. more is added to the text of a
// Difference.
func (p *replayer) same(want, have petri.Event, more string) error {
	if want != have {
		return p.differ(want, p.prog.Describe(have)+more)
	}
	if name := p.log.name(have.Seq); name != p.names.of(p.prog, &have) {
		return &Difference{Seq: have.Seq, Archived: fmt.Sprintf("%v %s %s", want.At, want.Kind, name),
			Replayed: p.prog.Describe(have) + more}
	}
	return nil
}

// guarded calls fn and reports a fault of the net, unless the archive has one at the same event.
func (p *replayer) guarded(fn func()) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		err = p.afterFault(fmt.Sprint(v))
	}()
	fn()
	return nil
}

// afterFault matches the events before a fault.
func (p *replayer) afterFault(fault string) error {
	if p.m == nil {
		return &Difference{Seq: 1, Archived: "a start", Replayed: fault}
	}
	for _, have := range p.m.Fault().Events {
		want, err := p.log.at(have.Seq)
		if err != nil {
			return &Difference{Seq: have.Seq, Archived: "nothing", Replayed: fault}
		}
		if err := p.same(want, have, ": "+fault); err != nil {
			return err
		}
		p.matched = have.Seq
	}
	return nil
}

func (p *replayer) differ(want petri.Event, have string) error {
	return &Difference{Seq: want.Seq, Archived: p.prog.Describe(want), Replayed: have}
}

// check refuses events that the program cannot have. Only a damaged archive contains them.
func (p *replayer) check(e petri.Event) error {
	ok := true
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
	case petri.Fired:
		ok = e.Index >= 0 && int(e.Index) < len(p.prog.Transitions())
		if ok {
			t := &p.prog.Transitions()[e.Index]
			ok = int(e.Mode) < len(t.Modes) && int(e.Branch) < len(t.Modes[e.Mode].Branches)
		}
	default:
		ok = e.Index >= 0 && int(e.Index) < len(p.prog.Places())
		if ok {
			pl := &p.prog.Places()[e.Index]
			ok = e.Slot >= 0 && int(e.Slot) < pl.Slots
		}
	}
	if !ok || e.At < 0 {
		return fmt.Errorf("event: replay: event %d is damaged: net %q has no such place or transition", e.Seq, p.prog.Name())
	}
	return nil
}

// choice returns the archived branch of a firing with a Free output.
func (p *replayer) choice(seq uint64) int {
	e, err := p.log.at(seq)
	if err != nil || e.Kind != petri.Fired {
		return 0 // the comparison finds the difference later
	}
	return int(e.Branch)
}

// window holds the archived events from the first one not matched to the last one read.
type window struct {
	r     *Reader
	first uint64 // number of buf[0]
	buf   []archived
	err   error
}

// archived is an event with its name in the archive.
type archived struct {
	petri.Event
	name string
}

// at returns the event with a number. It reads on as far as needed.
func (w *window) at(seq uint64) (petri.Event, error) {
	for seq >= w.first+uint64(len(w.buf)) {
		if w.err == nil {
			var e petri.Event
			if e, w.err = w.r.Next(); w.err == nil {
				w.buf = append(w.buf, archived{e, w.r.name})
				continue
			}
		}
		return petri.Event{}, w.err
	}
	return w.buf[seq-w.first].Event, nil
}

// name returns the archived name of an event that at has returned.
func (w *window) name(seq uint64) string { return w.buf[seq-w.first].name }

// forget drops events up to a number.
func (w *window) forget(seq uint64) {
	if n := seq + 1 - w.first; n > 64 {
		w.buf = append(w.buf[:0], w.buf[n:]...)
		w.first = seq + 1
	}
}
