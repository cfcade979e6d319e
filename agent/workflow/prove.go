package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// statesMax limits the markings of one block. A block that needs more is not proved.
const statesMax = 1 << 17

// Report is what Verify found out about a workflow.
type Report struct {
	Workflow string `json:"workflow"`
	File     string `json:"file"`
	Hash     string `json:"hash"` // of the file
	Net      string `json:"net"`  // hash of the whole net
	// Unverified is the reason that the file gives to run without a proof; "" if it must be proved.
	Unverified string    `json:"unverified,omitempty"`
	Findings   []Finding `json:"findings"`
	Warnings   []Finding `json:"warnings"`
	Proofs     []Proof   `json:"proofs"` // one for each block
}

// Proof is how one block was proved.
type Proof struct {
	Path   string `json:"path"` // of the block in the workflow
	Line   int    `json:"line"` // where the file uses it
	Proved bool   `json:"proved"`
	// Method is "structure" for a block that chooses nothing; "choices" for a dag with when or join: any, proved by its
	// structure for all outcomes of its choices at once; "explored" by its markings; or "like PATH" for a leaf whose net
	// differs only in names.
	Method      string             `json:"method"`
	States      int                `json:"states,omitempty"` // markings that were explored
	Certificate *check.Certificate `json:"certificate,omitempty"`
}

// Proved reports whether everything is proved.
func (r *Report) Proved() bool { return len(r.Findings) == 0 }

// Accepted reports whether the workflow may run: it is proved, or its file gives a reason to run it
// without a proof.
func (r *Report) Accepted() bool { return r.Proved() || r.Unverified != "" }

// Verify proves a workflow, block by block, from the leaves up:
//
//   - each block, with the blocks in it as tasks, lets each run that enters leave once, or fail, in
//     finitely many steps, and leaves nothing behind, whoever stops it when;
//   - each transition of its net fires in some run, so each agent can run;
//   - no two leaves that may work at once use one state key, if one of them writes it;
//   - no leaf reads a state key that may not be written yet.
//
// Since a block that keeps the first claim behaves like a task, the block around it may be proved with a
// task in its place: the claims hold for the whole net. A block in which nothing comes again is proved by the
// structure of its net, with all outcomes of its choices; the others are explored. The error is that of ctx, or
// says that the proof cannot be made at all.
//
// Of more than a hundred findings the first hundred that were found are returned, and how many more there
// are.
func Verify(ctx context.Context, c *Compiled) (*Report, error) { return newProver(ctx, c).verify() }

// newProver makes a prover of a workflow.
func newProver(ctx context.Context, c *Compiled) *prover {
	w := c.Workflow
	return &prover{ctx: ctx, c: c, found: &findings{file: w.File, max: findingsMax},
		warned: &findings{file: w.File, max: findingsMax}, leaves: map[string]*Proof{}, racing: map[string]bool{},
		apart: map[[2]*block]bool{}, max: statesMax, conditions: conditionsMax, counts: countMax,
		certify: true, plays: playsMax,
		report: &Report{Workflow: w.Name, File: w.File, Hash: w.Hash, Unverified: w.Unverified,
			Net: netmodel.New(c.prog, netmodel.RunToCompletion).Hash()}}
}

func (p *prover) verify() (*Report, error) {
	s, err := p.block(p.c.root)
	if err != nil {
		return nil, err
	}
	p.missing(s)
	p.overwrites(s)
	p.report.Findings, p.report.Warnings = p.found.sorted(), p.warned.sorted()
	return p.report, nil
}

// prover proves one workflow.
type prover struct {
	ctx           context.Context
	c             *Compiled
	found, warned *findings
	leaves        map[string]*Proof  // by shape
	racing        map[string]bool    // keys with a race
	apart         map[[2]*block]bool // blocks of one block of which a run starts only one
	certify       bool
	terse         bool // findings get no run
	plays         int  // answers that may still be played for runs of findings
	max           int  // markings of one block
	conditions    int  // results on conditions of one block
	counts        int  // how far counters count
	report        *Report
}

// block proves a block and all blocks in it.
func (p *prover) block(b *block) (*summary, error) {
	var kids []*summary
	for _, k := range b.kids {
		s, err := p.block(k)
		if err != nil {
			return nil, err
		}
		kids = append(kids, s)
	}
	proof := Proof{Path: b.path, Line: b.at.Line}
	var s *summary
	var err error
	switch same := p.leaves[b.shape()]; {
	case same != nil && b.shape() != "":
		proof.Method, proof.Proved = "like "+same.Path, same.Proved
		s = leafKeys(b)
	default:
		var prog *petri.Program
		if prog, err = b.alone(p.counts); err == nil {
			s, err = p.decide(b, kids, prog, &proof)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("workflow: prove %s: %w", b.path, err)
	}
	if shape := b.shape(); shape != "" && p.leaves[shape] == nil {
		p.leaves[shape] = &proof
	}
	p.report.Proofs = append(p.report.Proofs, proof)
	return s, nil
}

// shape is what the net of a leaf without kids depends on, besides names and times; "" for other blocks.
// Exploration ignores time, so leaves of one shape have the same proof.
func (b *block) shape() string {
	if !b.agent.leaf() || len(b.kids) > 0 {
		return ""
	}
	max := 0
	if b.tooled() {
		max = min(b.agent.MaxSteps, countMax)
	}
	return fmt.Sprint(max, " ", min(b.agent.Attempts, countMax), b.exits(), len(b.targets()), b.own() != "", b.router)
}

// decide proves a block by its net alone.
func (p *prover) decide(b *block, kids []*summary, prog *petri.Program, proof *Proof) (*summary, error) {
	if !b.forward() {
		return p.explored(b, kids, prog, proof)
	}
	c, err := b.structure(prog, p.conditions)
	if err == nil && c.wrong.found() && !b.chooses() {
		err = errors.New("some of its steps do not fire exactly once")
	}
	if err == nil {
		if s, ok := p.ordered(c, kids, proof); ok {
			return s, nil
		}
		err = errManyConditions
	}
	if errors.Is(err, errManyConditions) {
		return p.explored(b, kids, prog, proof)
	}
	proof.Method = "structure"
	p.flawed(b, "%v", err)
	s := &summary{writes: map[string][]*block{}}
	s.gather(kids)
	for range b.outlets() {
		s.must = append(s.must, keySet{})
	}
	return s, nil
}

// flawed reports a net that is not as this package makes it.
func (p *prover) flawed(b *block, format string, args ...any) {
	p.found.add(Unproved, b.at, "the net of %s is not as it must be, which is a fault of voicegw and not of the file: %s",
		b.label(), fmt.Sprintf(format, args...))
}

// ordered follows the state keys through a block that is proved by its structure. It is not ok if there are too many
// conditions.
func (p *prover) ordered(c *course, kids []*summary, proof *Proof) (s *summary, ok bool) {
	s = forwardKeys(c, kids)
	behind := make([][]condition, len(kids))
	for i := range kids {
		behind[i] = c.behind(i)
	}
	var atOnce [][2]int
	for i, x := range c.kids {
		for j, y := range c.kids[i+1:] {
			j += i + 1
			both := c.and(x.fires, y.fires)
			if both == never {
				one, two := c.b.kids[i], c.b.kids[j]
				p.apart[[2]*block{one, two}], p.apart[[2]*block{two, one}] = true, true
			} else if c.without(c.without(both, behind[i][j]), behind[j][i]) != never {
				atOnce = append(atOnce, [2]int{i, j})
			}
		}
	}
	if c.over {
		return nil, false
	}
	before := p.found.count()
	(&view{p: p, b: c.b, prog: c.prog, kids: kids}).refute(c)
	for _, pair := range atOnce {
		i, j := pair[0], pair[1]
		p.races(c.b, i, j, kids[i], kids[j])
	}
	proof.Method, proof.Proved = "structure", p.found.count() == before
	if c.b.chooses() {
		proof.Method = "choices"
	}
	return s, true
}

// explored proves a block by its markings.
func (p *prover) explored(b *block, kids []*summary, prog *petri.Program, proof *Proof) (*summary, error) {
	report, err := verify.Run(p.ctx, prog, verify.Config{Max: p.max, Certify: p.certify},
		append(append(properties(b, prog), leafMoves(b)...), verify.Fires(), endStops(b, prog))...)
	if err != nil {
		return nil, err
	}
	proof.Method, proof.States, proof.Certificate = "explored", report.Graph.States(), report.Certificate
	before := p.found.count()
	if err := b.countsDown(prog); err != nil {
		p.flawed(b, "%v", err)
	}
	v := &view{p: p, b: b, prog: prog, g: report.Graph, kids: kids}
	v.separate()
	v.judge(report)
	if !v.g.Complete {
		p.found.add(Unproved, b.at, "%s has more than %d states, too many to prove; move parts of it into blocks of "+
			"their own: each block is proved alone", b.label(), p.max)
	}
	v.ends()
	v.concurrent()
	proof.Proved = p.found.count() == before
	return v.keys(), nil
}

// properties are what exploration proves of a block, with a certificate.
func properties(b *block, prog *petri.Program) []*verify.Property {
	list := []*verify.Property{verify.DeadlockFree(), verify.WithinCapacity(), leavesNothing(b, prog)}
	if b.agent.leaf() {
		list = append(list, worksTold(b))
	}
	return list
}

// leavesNothing claims that between two runs nothing of the block is left, except work that was stopped
// and has not returned.
func leavesNothing(b *block, prog *petri.Program) *verify.Property {
	lasting := []string{".around/" + ready.String(), agent.WriterIdle.String(), ".writer/" + lent.String()}
	for _, t := range b.tasks() {
		lasting = append(lasting, ".work."+t.Start.String()+"/"+working.String())
	}
	for _, worker := range []string{".work", ".tools"} {
		lasting = append(lasting, b.name+"/"+worker+"/idle", b.name+"/"+worker+"/busy")
	}
	var list []string
	for _, pl := range prog.Places() {
		if !pl.Out && !slices.Contains(lasting, pl.Name) && !strings.HasPrefix(pl.Name, keyPlace("").String()) {
			list = append(list, fmt.Sprintf("%q", pl.Name))
		}
	}
	v := verify.Never(fmt.Sprintf("%q && (%s)", ".around/"+ready.String(), strings.Join(list, " || ")))
	v.Name, v.Doc = "nothing is left", "when a run has left the block, nothing of it is left"
	return v
}

// endStops claims that nothing of the block fires once the run is to end, except what serves the end.
func endStops(b *block, prog *petri.Program) *verify.Property {
	return verify.EndStops(agent.EndInvocation.String(), excusedOf(b, prog)...)
}

// excusedOf lists the transitions that may fire once the run is to end: those outside the block, those that discard
// something, and those that take the result of work that was cancelled.
func excusedOf(b *block, prog *petri.Program) (excused []string) {
	for _, t := range prog.Transitions() {
		inner := t.Group == b.name || strings.HasPrefix(t.Group, b.name+"/")
		if !inner || discards(prog, &t) || agent.TakesCancelled(prog, &t) {
			excused = append(excused, t.Name)
		}
	}
	return excused
}

// races reports each state key that two kids of a block use at once, if one of them writes it.
func (p *prover) races(b *block, i, j int, x, y *summary) {
	one, two := b.kids[i], b.kids[j]
	done := map[string]bool{}
	for _, key := range slices.Sorted(keysOf(x.writes, y.writes)) {
		for _, w := range x.writes[key] {
			for _, o := range y.writes[key] {
				p.race(b, one, two, w, o, key, o.agent.posOf("output_key"), "both write", done)
			}
		}
	}
	for _, side := range []struct {
		from, to *block
		w, r     *summary
	}{{one, two, x, y}, {two, one, y, x}} {
		for _, u := range side.r.reads {
			for _, w := range side.w.writes[u.read.key] {
				p.race(b, side.from, side.to, w, u.leaf, u.read.key, u.read.at, "", done)
			}
		}
	}
}

// race reports one race, once for each pair of agents and key.
func (p *prover) race(b, one, two, w, o *block, key string, at Pos, both string,
	done map[string]bool) {
	id := w.path + " " + o.path + " " + key + both
	if done[id] {
		return
	}
	done[id] = true
	p.racing[key] = true
	left, right := w.label(), o.label()
	if left == right { // one agent in both
		left, right = left+" in "+one.label(), right+" in "+two.label()
	}
	what := fmt.Sprintf("%s and %s both write `%s`", left, right, key)
	ends := fmt.Sprintf("%s and %s both work: whichever is done last decides what `%s` is", left, right, key)
	if both == "" {
		what = fmt.Sprintf("%s writes `%s` while %s reads it", left, key, right)
		ends = fmt.Sprintf("%s and %s both work: nothing says whether %[2]s sees the `%[3]s` of %[1]s", left, right, key)
	}
	f := p.found.add(Race, at, "%s, and nothing in %s makes one wait for the other; write another key, or run them one "+
		"after the other", what, b.label())
	if f != nil && !p.terse {
		f.Trace = append(p.showBusy(w, o), ends)
	}
}

// missing reports the keys that a run may read before anything has written them.
func (p *prover) missing(s *summary) {
	for _, u := range s.needs {
		if p.raced(u) {
			continue // said already, with more
		}
		var writers []string
		for _, w := range s.writes[u.read.key] {
			writers = append(writers, fmt.Sprintf("%s (line %d)", w.label(), w.agent.At.Line))
		}
		slices.Sort(writers)
		words := fmt.Sprintf("it is written by %s, and not in every run before %s starts; run it before",
			strings.Join(slices.Compact(writers), ", "), u.leaf.label())
		if lasting(u.read.key) {
			words = "an earlier run may have written it, and the first run finds none; write it before"
		}
		f := p.found.add(ReadBeforeWrite, u.read.at, "%s reads `%s`, which may not be written yet: %s, or read it with %s",
			u.leaf.label(), u.read.key, words, u.read.maybe())
		if f != nil && !p.terse {
			f.Trace = append(p.showUnwritten(u.leaf, u.read.key), fmt.Sprintf("nothing has written `%s`", u.read.key))
		}
	}
}

// raced reports whether a read has a finding because a writer may work at the same time.
func (p *prover) raced(u use) bool {
	return slices.ContainsFunc(p.found.list, func(f Finding) bool {
		return f.Rule == Race && Pos{f.Line, f.Column} == u.read.at
	})
}

// overwrites warns of keys that several agents write, one after the other in one run.
func (p *prover) overwrites(s *summary) {
	for _, key := range slices.Sorted(keysOf(s.writes, nil)) {
		if p.racing[key] {
			continue
		}
		warned := map[*Agent]bool{}
		for i, w := range s.writes[key] {
			before := slices.IndexFunc(s.writes[key][:i], func(o *block) bool { return o.agent != w.agent && !p.exclude(o, w) })
			if before >= 0 && !warned[w.agent] {
				warned[w.agent] = true
				p.warned.add(Overwrites, w.agent.posOf("output_key"), "%s and `%s` both write `%s`; what is written later stays",
					w.label(), s.writes[key][before].agent.Name, key)
			}
		}
	}
}

// exclude reports whether two leaves never follow each other: a run takes only one of the ways that they are
// on, or a router hands over to one of them, and later perhaps to the other, as a loop begins again.
func (p *prover) exclude(x, y *block) bool {
	for x.level() > y.level() {
		x = x.parent
	}
	for y.level() > x.level() {
		y = y.parent
	}
	if x == y {
		return false // one calls the other
	}
	for x.parent != y.parent {
		x, y = x.parent, y.parent
	}
	routed := x.parent.agent.Type == routedType && !x.router && !y.router
	return routed || p.apart[[2]*block{x, y}]
}

// level is how deep the block is in others.
func (b *block) level() (n int) {
	for ; b.parent != nil; b = b.parent {
		n++
	}
	return n
}

// keysOf yields the keys of two maps.
func keysOf(a, b map[string][]*block) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range a {
			if !yield(k) {
				return
			}
		}
		for k := range b {
			if _, both := a[k]; !both && !yield(k) {
				return
			}
		}
	}
}
