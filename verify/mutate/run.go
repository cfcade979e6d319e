package mutate

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// Run checks the properties of every mutant. A mutant is killed when a property is refuted by a
// witness that the machine takes; an unknown verdict does not kill it. The net itself must keep all
// properties, otherwise the error names those that it does not keep.
func Run(ctx context.Context, n *petri.Net, c Config) (*Score, error) {
	all := Mutants(n)
	if c.Pick != nil {
		all = slices.DeleteFunc(all, func(m Mutant) bool { return !c.Pick(m) })
		if c.narrow(all); len(all) == 0 {
			return &Score{}, nil
		}
	}
	if err := c.check(ctx, n); err != nil {
		return nil, err
	}
	fates := make([]*fate, len(all))
	errs := make([]error, max(c.Workers, 1))
	var wait sync.WaitGroup
	var mu sync.Mutex
	done, killed := 0, 0
	progress := func(f *fate) {
		mu.Lock()
		defer mu.Unlock()
		if done++; len(f.by) > 0 && !f.refused && !f.equal {
			killed++
		}
		if c.Progress != nil {
			c.Progress(done, killed, len(all))
		}
	}
	for i := range errs {
		wait.Go(func() {
			errs[i] = c.work(ctx, n, func(w *worker) error {
				for k := i; k < len(all); k += len(errs) {
					var err error
					if fates[k], err = w.mutant(ctx, all[k]); err != nil {
						return err
					}
					progress(fates[k])
				}
				return nil
			})
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	s := &Score{KilledBy: map[string][]string{}, Why: map[string]string{}, Alive: map[string][]string{}}
	for i, f := range fates {
		s.add(all[i].Name, f, c.Basic)
	}
	return s, nil
}

// check makes sure that the net keeps its properties.
func (c *Config) check(ctx context.Context, n *petri.Net) error {
	var open []string
	for _, cl := range c.closures() {
		k, err := cl.compile(n, c.Semantics)
		if err != nil {
			return fmt.Errorf("verify/mutate: closure %s of net %s: %w", cl.Name, n.Name, err)
		}
		about := func(p *verify.Property) bool { return claim.AboutMoves(p.Claim) }
		moves := slices.DeleteFunc(slices.Clone(cl.Properties), func(p *verify.Property) bool { return !about(p) })
		rest := slices.DeleteFunc(slices.Clone(cl.Properties), about)
		props := append(stateclass.Sharpen(stateclass.Options{}, rest...), cl.Timed...)
		r, err := verify.Run(ctx, k.closed, verify.Config{Max: cl.Max, Semantics: c.Semantics, Open: k.open}, props...)
		if err == nil {
			err = c.addMoves(ctx, k, cl.Max, moves, r)
		}
		if err != nil {
			return err
		}
		for i := range r.Results {
			v := &r.Results[i]
			if v.Outcome != verify.Proved && !(c.Hunt && v.Cause == verify.Capped) {
				open = append(open, fmt.Sprintf("%s (%s: %s)", v.Property.Name, v.Outcome, v.Reason))
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("verify/mutate: net %s does not keep %v", n.Name, open)
	}
	return nil
}

// addMoves adds the verdicts on claims about moves to a report.
func (c *Config) addMoves(ctx context.Context, k *compiled, max int, moves []*verify.Property, r *verify.Report) error {
	pass, err := verify.NewPass(k.closed, verify.Config{Max: max, Semantics: c.Semantics, Open: k.open})
	if err != nil {
		return err
	}
	list, err := verify.CheckMoves(ctx, pass, moves...)
	for i, v := range list {
		r.Results = append(r.Results, verify.Result{Property: moves[i], Verdict: v})
	}
	return err
}

// fate is the result for one mutant.
type fate struct {
	refused, equal bool
	by             []string // properties that killed it
	idle           bool     // a transition no longer fires
	why            string
	alive          []string // closures in which it behaves differently
}

// worker tries mutants, one after another.
type worker struct {
	config *Config
	ways   []*way
	sig    signatures
}

// way is one closure, with the behaviour of the net itself in it.
type way struct {
	Closure
	net      *petri.Net
	hash     string
	steps    []uint64 // signatures of its steps
	original *compiled
	trace    []byte // without time
	timed    []byte // with time; nil if Max cut
	timely   bool   // timed was computed
	fires    map[string]bool
	slow     []*verify.Property // properties that a hunt does not decide
	known    []prey
	sites    *sites // nil if Max cut
	sharp    bool   // some property holds only because of the waits
}

// work makes a worker and runs fn with it.
func (c *Config) work(ctx context.Context, n *petri.Net, fn func(*worker) error) error {
	w := &worker{config: c, sig: signatures{}}
	for _, cl := range c.closures() {
		w.ways = append(w.ways, &way{Closure: cl, net: n})
	}
	return fn(w)
}

// prepare explores the net itself in a closure, on first use.
func (w *worker) prepare(ctx context.Context, v *way) error {
	if v.original != nil {
		return nil
	}
	k, err := v.compile(v.net, w.config.Semantics)
	if err != nil {
		return err
	}
	v.hash, v.original, v.steps = k.model.Hash(), k, w.sig.of(k)
	for _, p := range v.Properties {
		if !watched(p) {
			v.slow = append(v.slow, p)
		}
	}
	watches, err := watching(k.model, v.Properties, nil, false)
	if err != nil {
		return err
	}
	t := &trace{}
	h := newHunter(k, v.Max, watches, t, v.steps)
	if err := h.hunt(ctx, nil); err != nil {
		return err
	}
	for _, x := range watches {
		v.sharp = v.sharp || x.spurious > 0
	}
	if h.complete {
		v.trace, v.sites = t.want, sitesOf(k.model)
	}
	v.fires = h.names()
	return nil
}

// inTime is the trace of the net itself with time; nil if Max cut the exploration.
func (w *worker) inTime(ctx context.Context, v *way) ([]byte, error) {
	if v.timely {
		return v.timed, nil
	}
	var err error
	v.timed, _, err = w.timedTrace(ctx, v.original, v.Max, nil)
	v.timely = err == nil
	return v.timed, err
}

// mutant tries a mutant, or the nets that machines can run in its place.
func (w *worker) mutant(ctx context.Context, m Mutant) (*fate, error) {
	if w.config.Refuses != nil {
		return w.judged(ctx, m)
	}
	f, err := w.net(ctx, m, m.Net)
	for _, n := range m.Runs {
		if err != nil || f.refused || f.equal {
			break
		}
		var one *fate
		if one, err = w.net(ctx, m, n); err == nil && f.kill(one, w.config.Basic) {
			break
		}
	}
	return f, err
}

// judged lets Config.Refuses decide a mutant.
func (w *worker) judged(ctx context.Context, m Mutant) (*fate, error) {
	if _, err := petri.Compile(m.Net); err != nil {
		return &fate{refused: true}, nil
	}
	by, absurd, err := w.config.Refuses(ctx, m.Net)
	switch {
	case err != nil:
		return nil, fmt.Errorf("verify/mutate: %s: %w", m.Name, err)
	case absurd:
		return &fate{refused: true}, nil
	case len(by) > 0:
		return &fate{by: by}, nil
	}
	return w.net(ctx, m, m.Net)
}

// kill adds what killed a net with fewer runs, and reports whether that includes a property that is
// not basic.
func (f *fate) kill(one *fate, basic []string) bool {
	f.by = append(f.by, one.by...)
	return slices.ContainsFunc(one.by, func(p string) bool { return !slices.Contains(basic, p) })
}

// net tries a net in every closure until a property that is not basic kills it.
func (w *worker) net(ctx context.Context, m Mutant, n *petri.Net) (*fate, error) {
	f := &fate{equal: true}
	fires := map[string]bool{}
	unseen := false
	for _, v := range w.ways {
		if v.Has != nil && !v.Has(m.Transition) {
			add(fires, v.fires)
			continue
		}
		if err := w.prepare(ctx, v); err != nil {
			return nil, err
		}
		k, err := v.compile(n, w.config.Semantics)
		switch {
		case err != nil && v.Close != nil:
			unseen = true
			add(fires, v.fires)
			continue
		case err != nil:
			return &fate{refused: true}, nil
		case k.model.Hash() == v.hash || !m.Time && v.same(k, m.Transition, w.sig):
			add(fires, v.fires)
			continue
		}
		t := &try{worker: w, way: v, compiled: k, fate: f, mutant: m}
		if err := t.run(ctx); err != nil {
			return nil, err
		}
		if unseen = unseen || t.unseen; t.unseen {
			add(fires, v.fires)
		}
		add(fires, t.fires)
		if t.alive {
			f.alive = append(f.alive, v.Name)
		}
		if f.refused || t.strong {
			f.equal = false
			return f, nil
		}
	}
	if unseen && f.equal {
		_, err := petri.Compile(n)
		f.refused, f.equal, f.why = err != nil, false, "no closure shows it"
	}
	f.idle = w.idle(fires)
	return f, nil
}

func add(to, names map[string]bool) {
	for n := range names {
		to[n] = true
	}
}

// idle reports whether some transition of the net no longer fires in any closure.
func (w *worker) idle(fires map[string]bool) bool {
	return slices.ContainsFunc(w.ways, func(v *way) bool {
		for n := range v.fires {
			if !fires[n] {
				return true
			}
		}
		return false
	})
}
