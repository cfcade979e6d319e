package claims

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/voicenets"
)

// The methods that decide claims.
const (
	methodMarkings = "explicit"
	methodClasses  = "state classes"
	methodRun      = "run"
)

// markingsMax is the most markings that one slice may have.
const markingsMax = 1 << 19

// viewMax is the most markings that a view may have. A larger view, such as one of a session with
// many tools or with every feature, is left out; claims that no other view decides are not listed.
const viewMax = 25_000

// Prover proves sessions. It checks the certificates that ship, or that its cache has, for exactly
// these slices with these claims. It explores the slices that have no certificate. What needs no
// certificate it computes each time: the properties of the structure, the state classes for time,
// and runs of the machine. The zero value is usable. Several goroutines may use a Prover.
type Prover struct {
	// Cache, if not nil, keeps the certificates that do not ship. The goroutines that Run starts
	// use it concurrently.
	Cache Cache
	// Anew ignores existing certificates: it explores every slice.
	Anew bool
	// Run, if not nil, runs jobs, possibly in parallel, and returns when all are done. Nil runs
	// them one after another.
	Run func(jobs []func())
	// Step, if not nil, is called before the first slice with 0 and "", and then when each slice or view
	// has been proved, with its name: done of all are. One goroutine calls it at a time, and it must not block.
	Step func(slice string, done, all int)
	// Now, if not nil, is a monotonic clock that measures the times in a Proof.
	Now verify.Clock

	// certified leaves out the views, which have no certificates.
	certified bool
}

// Prove proves sessions. It proves a slice that several sessions share once. The proofs report
// which claims hold. An error means that there is no result: a configuration or certificate is
// invalid, a claim names something that the session lacks, or ctx has ended.
func (p Prover) Prove(ctx context.Context, configs ...voicenets.Config) ([]*Proof, error) {
	var nets []*petri.Net
	for _, c := range configs {
		n, err := voicenets.Session(c)
		if err != nil {
			return nil, err
		}
		nets = append(nets, n)
	}
	return p.prove(ctx, nets, configs)
}

// prove proves sessions, or mutants of them.
func (p Prover) prove(ctx context.Context, nets []*petri.Net, configs []voicenets.Config) ([]*Proof, error) {
	cases := make([]*proving, len(configs))
	errs := make([]error, len(configs))
	var jobs []func()
	for i, c := range configs {
		jobs = append(jobs, func() { cases[i], errs[i] = p.prepare(ctx, nets[i], c) })
	}
	p.run(jobs)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slicesOf := map[string]*sliceProof{}
	var todo []*sliceProof
	for _, k := range cases {
		for _, list := range [][]*sliceProof{k.slices, k.views} {
			for i, s := range list {
				if same := slicesOf[s.name()]; same != nil {
					list[i] = same
					continue
				}
				slicesOf[s.name()], todo = s, append(todo, s)
			}
		}
	}
	// The largest take longest, so they come first.
	slices.SortStableFunc(todo, func(a, b *sliceProof) int { return b.model.Slots() - a.model.Slots() })
	jobs = nil
	step := p.stepper(len(todo))
	step("")
	for _, s := range todo {
		jobs = append(jobs, func() {
			s.err = s.prove(ctx, p)
			step(s.part.Name)
		})
	}
	p.run(jobs)
	for _, s := range todo {
		if s.err != nil {
			return nil, s.err
		}
	}
	var list []*Proof
	for _, k := range cases {
		list = append(list, k.proof())
	}
	return list, nil
}

// stepper returns what counts the slices of all that have been proved, for Step. The first call counts none.
func (p Prover) stepper(all int) func(slice string) {
	if p.Step == nil {
		return func(string) {}
	}
	var mu sync.Mutex
	done := -1
	return func(slice string) {
		mu.Lock()
		defer mu.Unlock()
		done++
		p.Step(slice, done, all)
	}
}

func (p Prover) run(jobs []func()) {
	if p.Run != nil {
		p.Run(jobs)
		return
	}
	for _, job := range jobs {
		job()
	}
}

func (p Prover) now() verify.Seconds {
	if p.Now == nil {
		return 0
	}
	return p.Now()
}

// proving is the proof of one session in progress.
type proving struct {
	*obligations
	slices []*sliceProof // by index of its part
	views  []*sliceProof
	viewOf []*viewed          // by index of its view
	asked  []*verify.Property // the claims to decide in views
	others []Claim            // claims decided by neither
}

// prepare lays out the slices of a session and decides the claims that need none.
func (p Prover) prepare(ctx context.Context, net *petri.Net, c voicenets.Config) (*proving, error) {
	o, err := obligationsOf(net, c)
	if err != nil {
		return nil, err
	}
	k := &proving{obligations: o}
	if err := k.layOut(); err != nil {
		return nil, err
	}
	if !p.certified {
		if err := k.layOutViews(net); err != nil {
			return nil, err
		}
	}
	for _, decide := range []func(context.Context, Prover) ([]Claim, error){o.structural, o.timed, o.rehearsed} {
		claims, err := decide(ctx, p)
		if err != nil {
			return nil, err
		}
		k.others = append(k.others, claims...)
	}
	return k, nil
}

// layOut makes the slices. It checks that every part rests only on parts before it, and that some
// part covers every capacity.
func (k *proving) layOut() error {
	models, err := verify.Models(k.relaxed, k.each, k.parts...)
	if err != nil {
		return fmt.Errorf("claims: prove: %w", err)
	}
	k.leaveNothing(models)
	more, err := verify.Models(k.relaxed, k.each, k.parts[len(models):]...)
	if err != nil {
		return fmt.Errorf("claims: prove: %w", err)
	}
	models = append(models, more...)
	var proved []*verify.Property
	var programs []*petri.Program
	for i, part := range k.parts {
		for _, g := range part.Given {
			if !slices.Contains(proved, g) {
				return fmt.Errorf("claims: prove %s: %s is not proved before", part.Name, g.Name)
			}
		}
		proved = append(proved, part.Props...)
		k.slices = append(k.slices, newSliceProof(models[i], part, k.each))
		programs = append(programs, models[i].Program())
	}
	if overflow := slice.MayOverflow(k.relaxed, programs...); len(overflow) > 0 {
		return &overflowError{overflow}
	}
	return nil
}

// overflowError reports places whose capacity no slice decides.
type overflowError struct{ list []string }

// Error names the places.
func (e *overflowError) Error() string {
	return "claims: prove: it is open whether " + strings.Join(e.list, ", ") + " is within capacity"
}

// structural decides the claims of the structure.
func (o *obligations) structural(ctx context.Context, p Prover) ([]Claim, error) {
	r, err := verify.Run(ctx, o.closed, verify.Config{Now: p.Now}, o.structure...)
	if err != nil {
		return nil, fmt.Errorf("claims: prove the session: %w", err)
	}
	var list []Claim
	for _, res := range r.Results {
		list = append(list, Claim{Result: res})
	}
	return list, nil
}

// timed decides the claims about time.
func (o *obligations) timed(ctx context.Context, p Prover) ([]Claim, error) {
	var parts []verify.Part
	for _, d := range o.deadlines {
		parts = append(parts, d.part())
	}
	models, err := verify.Models(o.closed, nil, parts...)
	if err != nil {
		return nil, fmt.Errorf("claims: figures: %w", err)
	}
	var list []Claim
	for i, d := range o.deadlines {
		start := p.now()
		f, err := d.measure(ctx, models[i])
		if ctx.Err() != nil {
			return nil, err
		}
		v := verify.Verdict{Outcome: verify.Proved, Method: methodClasses, States: f.Classes,
			Reason: fmt.Sprintf("%v at most, in %d state classes; some run takes that long", f.Most, f.Classes)}
		if err != nil {
			v.Outcome, v.Reason = verify.Unknown, err.Error()
		}
		list = append(list, Claim{Slice: parts[i].Name, Timed: true, Most: f.Most, Limit: f.Limit, Result: verify.Result{
			Property: &verify.Property{Name: parts[i].Name, Doc: fmt.Sprintf("%s: %v at most", d.doc, d.limit)},
			Verdict:  v, Seconds: p.now() - start}})
	}
	return list, nil
}

// rehearsed decides whether the timings leave time for each stage of recovery.
func (o *obligations) rehearsed(_ context.Context, p Prover) ([]Claim, error) {
	start := p.now()
	prog, err := stageOf(o.config)
	if err != nil {
		return nil, err
	}
	var list []Claim
	for _, r := range o.rehearsals {
		v := verify.Verdict{Outcome: verify.Proved, Method: methodRun, Reason: "the only run of the machine shows it"}
		if err := r.play(prog); err != nil {
			v.Outcome, v.Reason = verify.Refuted, err.Error()
		}
		list = append(list, Claim{Result: verify.Result{Property: &verify.Property{Name: "rehearsal of a " + r.name,
			Doc: r.doc}, Verdict: v, Seconds: p.now() - start}})
		start = p.now()
	}
	return list, nil
}

// proof collects the results for the session.
func (k *proving) proof() *Proof {
	all := &Proof{Name: k.config.Kind(), Config: k.config, Hash: netmodel.New(k.closed, netmodel.RunToCompletion).Hash(),
		Source: FromShipped}
	for i := range k.each {
		all.Claims = append(all.Claims, k.joint(i))
	}
	holds := map[*verify.Property]bool{}
	for i, part := range k.parts {
		s := k.slices[i]
		for j, prop := range part.Props {
			c := s.claim(len(k.each)+j, prop)
			if g := slices.IndexFunc(part.Given, func(g *verify.Property) bool { return !holds[g] }); g >= 0 {
				c.Verdict = verify.Unproved.By(c.Method, c.States, "it rests on %s, which is not proved",
					part.Given[g].Name)
			}
			holds[prop] = c.Outcome == verify.Proved
			all.Claims = append(all.Claims, c)
		}
		all.Parts = append(all.Parts, PartProof{Name: part.Name, Markings: s.states, Properties: part.Props,
			Source: s.source, Certificate: s.file(), Seconds: s.seconds, data: s.cert})
		all.Markings += s.states
		all.Source = later(all.Source, s.source)
	}
	all.Claims = append(append(all.Claims, k.viewed(all)...), k.others...)
	return all
}

// viewed collects the verdicts on the claims that views decide. Each claim must hold in every view
// that has what the claim names. A claim that never applies in any view is not listed.
func (k *proving) viewed(all *Proof) []Claim {
	list, more := make([]Claim, len(k.asked)), make([]int, len(k.asked))
	for n, s := range k.views {
		for j, i := range k.viewOf[n].asks {
			c := s.claim(j, k.asked[i])
			c.View = true
			c.Part, _, _ = strings.Cut(c.Property.Name, "/")
			switch known := &list[i]; {
			case s.failed == nil && !s.applied[j]:
			case known.Property == nil, c.Outcome != verify.Proved && known.Outcome == verify.Proved:
				list[i] = c
			default:
				known.States += c.States
				known.Seconds += c.Seconds
				more[i]++
			}
		}
		all.Parts = append(all.Parts, PartProof{Name: k.viewOf[n].name, Markings: s.states, Properties: s.props,
			Source: s.source, Seconds: s.seconds})
	}
	for i, n := range more {
		if n > 0 {
			list[i].Slice += fmt.Sprintf(" and %d more", n)
		}
	}
	return slices.DeleteFunc(list, func(c Claim) bool { return c.Property == nil })
}

// joint is the verdict on a claim that every slice must keep.
func (k *proving) joint(i int) Claim {
	all := Claim{Source: FromShipped, Result: verify.Result{Property: k.each[i], Verdict: verify.Verdict{
		Outcome: verify.Proved, Method: methodMarkings, Reason: fmt.Sprintf("by %d slices", len(k.slices))}}}
	for n, s := range k.slices {
		c := s.claim(i, k.each[i])
		if c.Outcome != verify.Proved && all.Outcome == verify.Proved {
			all.Verdict, all.Reason = c.Verdict, k.parts[n].Name+": "+c.Reason
		}
		all.States += s.states
		all.Seconds += s.seconds
		all.Source = later(all.Source, s.source)
	}
	return all
}

// later is the later of two sources.
func later(a, b Source) Source {
	order := []Source{FromShipped, FromCache, FromNow}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// isNone reports that a cache lacks a certificate.
func isNone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
