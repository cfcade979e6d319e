package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// try is one mutant in one closure.
type try struct {
	*worker
	*way
	*compiled
	*fate
	mutant Mutant
	unseen bool // the properties cannot be checked on it
	alive  bool // it behaves differently from the net
	strong bool // a property that is not basic killed it
	fires  map[string]bool
	pass   *verify.Pass
	moves  [2]*hunter // hunters that explored all moves, in two orders; nil until first used
}

// run looks for a property that the mutant breaks: in every marking without time, then with time,
// then the properties about time. Last it checks whether the mutant differs at all.
func (t *try) run(ctx context.Context) error {
	watches, err := watching(t.model, t.Properties, t.config.Basic, t.Close != nil)
	if err != nil { // a property names something absent
		t.unseen, t.refused = t.Close != nil, t.Close == nil
		return nil
	}
	if t.pass, err = verify.NewPass(t.closed, verify.Config{Max: t.Max, Semantics: t.config.Semantics,
		Open: t.open}); err != nil {
		return err
	}
	h := newHunter(t.compiled, t.Max, watches, &trace{want: t.way.trace, compare: true}, t.sig.of(t.compiled))
	// Intervals alone change no marking that is reachable without time.
	same := t.mutant.Time && !t.sharp && slices.Equal(t.model.Timed(), t.original.model.Timed())
	if same {
		if t.fires = t.way.fires; t.way.trace == nil {
			t.because("more than %d markings in closure %s", t.Max, t.Name)
		}
	} else if err := t.hunt(ctx, h); err != nil || t.strong {
		return err
	}
	for _, p := range t.second(watches, same) {
		if err := t.ask(ctx, p); err != nil || t.strong || t.refused {
			return err
		}
	}
	if len(t.by) > 0 {
		t.equal = false
		return nil
	}
	return t.differs(ctx, h, same)
}

// hunt explores without time.
func (t *try) hunt(ctx context.Context, h *hunter) error {
	if err := h.hunt(ctx, t.known); err != nil {
		return err
	}
	t.fires = h.names()
	for _, w := range h.watches {
		if w.killed {
			t.killed(w.prop.Name)
		}
	}
	if h.prey != nil && t.strong {
		t.remember(*h.prey)
	}
	if !h.complete && !t.strong {
		t.because("more than %d markings in closure %s", t.Max, t.Name)
	}
	return nil
}

// remember keeps a path that killed a mutant, for the next mutant.
func (t *try) remember(p prey) {
	if slices.ContainsFunc(t.known, func(o prey) bool { return slices.Equal(o.moves, p.moves) }) {
		return
	}
	if len(t.known) == knownMax {
		t.known = slices.Delete(t.known, 0, 1)
	}
	t.known = append(t.known, p)
}

func (t *try) killed(by string) {
	if !slices.Contains(t.by, by) {
		t.by = append(t.by, by)
	}
	t.strong = t.strong || !slices.Contains(t.config.Basic, by)
}

func (t *try) because(format string, args ...any) {
	if t.why == "" {
		t.why = fmt.Sprintf(format, args...)
	}
}

// second lists what a hunt did not decide: properties with bad ends that the machine did not reach,
// those about frames in passing, those not about markings, and those about time.
func (t *try) second(watches []*watch, same bool) []*verify.Property {
	var again []*verify.Property
	for _, w := range watches {
		if !same && !w.killed && (w.spurious > 0 || t.passes(w.prop)) {
			again = append(again, w.prop)
		}
	}
	again = append(again, t.Structure...)
	again = append(stateclass.Sharpen(stateclass.Options{}, again...), t.slow...)
	return append(again, slices.DeleteFunc(slices.Clone(t.Timed), t.indifferent)...)
}

// indifferent reports whether a property does not depend on the wait that the mutant changed.
func (t *try) indifferent(p *verify.Property) bool {
	return t.mutant.Time && len(p.Waits) > 0 && !slices.ContainsFunc(p.Waits, func(name string) bool {
		return strings.HasSuffix("/"+t.mutant.Transition, "/"+name)
	})
}

// passes reports whether a property is about frames that move in passing.
func (t *try) passes(p *verify.Property) bool {
	if !t.model.HasFrames() {
		return false
	}
	bad, err := claim.BadPassing(p.Claim, t.model, func(int32) bool { return true })
	return err != nil || bad != nil
}

// ask checks one property.
func (t *try) ask(ctx context.Context, p *verify.Property) error {
	if claim.AboutMoves(p.Claim) {
		return t.seek(ctx, p)
	}
	v, err := p.Check(ctx, t.pass)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("verify/mutate: %w", ctx.Err())
	case err != nil && t.Close != nil: // it names something absent
		t.because("%s: %v", p.Name, err)
	case err != nil:
		t.refused = true
	case v.Outcome == verify.Refuted && v.Witness == nil && slices.Contains(t.Structure, p):
		t.killed(p.Name)
	case t.takes(v):
		t.killed(p.Name)
	case v.Outcome != verify.Proved:
		t.because("%s is %s: %s", p.Name, v.Outcome, v.Reason)
	}
	return nil
}

// differs finds out whether a mutant that nothing killed behaves differently from the net.
func (t *try) differs(ctx context.Context, h *hunter, same bool) error {
	if !t.mutant.Time && !same && t.way.trace != nil && h.complete && h.trace.equal() {
		return nil
	}
	want, err := t.inTime(ctx, t.way)
	if err != nil || want == nil {
		t.equal, t.alive = false, true
		return err
	}
	_, equal, err := t.timedTrace(ctx, t.compiled, t.Max, want)
	t.equal, t.alive = t.equal && equal, !equal
	return err
}

// timedTrace explores with time. It returns the trace, nil if Max cut the exploration, and whether
// the trace equals want.
func (w *worker) timedTrace(ctx context.Context, c *compiled, max int, want []byte) ([]byte, bool, error) {
	t := &trace{want: want, compare: want != nil}
	sig := w.sig.of(c)
	last := -1
	g, err := stateclass.Explore(ctx, c.model, stateclass.Options{Max: max, Visit: func(v stateclass.Way) bool {
		t.numbers(uint64(v.From + 1))
		t.chain(c.model, sig, v.Chain, v.Kept, v.To)
		if v.To > last {
			last = v.To
			t.marking(v.Marking)
			t.zone(v.Zone)
		}
		return !t.differs
	}})
	if err != nil {
		return nil, false, err
	}
	if !g.Complete {
		return nil, false, nil
	}
	g.Each(func(class int, marking []int32) bool {
		t.numbers(uint64(class))
		c.model.EachFrame(marking, func(s netmodel.Step) { t.numbers(sig[c.model.StepIndex(s)]) })
		return !t.differs
	})
	g.EachPassing(func(marking []int32, rank int32) bool {
		t.passing(c.model, sig, marking, rank)
		return !t.differs
	})
	for _, f := range g.Faults {
		t.numbers(uint64(f.From+1), uint64(f.Kind), sig[c.model.StepIndex(f.Step)])
	}
	for _, r := range g.Refusals {
		t.numbers(uint64(r.From+1), uint64(r.Place), sig[c.model.StepIndex(r.Step)])
	}
	return t.want, t.equal(), nil
}
