package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/smt"
	"github.com/voicegw/voicegw/verify/stateclass"
	"github.com/voicegw/voicegw/verify/witness"
)

// fileCheck are the flags of verify.
type fileCheck struct {
	properties   []string
	json         bool
	certificates string // a directory, or ""
	mutate       bool
	mutants      string // with mutate: those whose names begin so
	kept         keeping
}

// finding is a verdict as JSON.
type finding struct {
	Net         string         `json:"net"`
	Property    string         `json:"property"`
	Verdict     verify.Outcome `json:"verdict"`
	Method      string         `json:"method"`
	Reason      string         `json:"reason"`
	States      int            `json:"states"`
	Seconds     float64        `json:"seconds"`
	Certificate *certified     `json:"certificate"` // null: there is none
	Witness     *witnessJSON   `json:"witness"`     // null: there is none

	// Only of a net that calls run on.
	Slice  string   `json:"slice,omitempty"`   // that decides it
	Source string   `json:"source,omitempty"`  // of the certificate
	MostMS *float64 `json:"most_ms,omitempty"` // the worst case of a claim about time
}

// certified says what proof was checked again, by code that did not make it.
type certified struct {
	Method  string `json:"method"` // markings, classes or invariant
	NetHash string `json:"netHash"`
	Count   int    `json:"count"` // of markings or classes; an invariant has none
	Digest  string `json:"digest"`
	File    string `json:"file,omitempty"` // where it was written
}

// witnessJSON is a run that shows what a verdict says.
type witnessJSON struct {
	Timed    bool         `json:"timed"`    // the times are exact
	Replayed bool         `json:"replayed"` // the machine took this very run
	Ends     string       `json:"ends"`     // what the last marking shows
	Firings  []firingJSON `json:"firings"`
	Story    string       `json:"story"` // the same for people
}

type firingJSON struct {
	Transition string  `json:"transition"`
	AtMS       float64 `json:"at_ms"`
}

// run checks the properties of a file and prints what was found.
func (c *fileCheck) run(ctx context.Context, name string, stdout, stderr io.Writer) error {
	if len(c.properties) == 0 {
		return usagef("what to check of %s? --property with one of: %s", name, strings.Join(claim.Forms(), "; "))
	}
	n, err := readNet(name)
	if err != nil {
		return err
	}
	solvers := newUnbounded()
	props, err := n.properties(c.properties, solvers)
	if err != nil {
		return err
	}
	idle := idleTransitions{timed: n.file.Timed}
	report, err := n.check(ctx, props, &idle, stderr)
	if err != nil {
		return err
	}
	warn(stderr, name, "place", "is in no arc", "are in no arc", n.unused())
	warn(stderr, name, "transition", "never fires", "never fire", idle.names)
	if c.certificates != "" && len(n.file.Higher) > 0 {
		fmt.Fprintf(stderr, "warning: %s has priorities, and no certificate is made of a net with priorities\n", name)
	}
	found := findings(report)
	for i, p := range props {
		if found[i].Certificate == nil && report.Results[i].Outcome != verify.Unknown {
			found[i].Certificate = solvers.certified(p)
		}
	}
	if err := c.write(report, found, solvers.proofs); err != nil {
		return err
	}
	if c.json {
		err = printFindings(stdout, found)
	} else {
		err = printReport(stdout, report)
	}
	if err != nil {
		return err
	}
	c.kept.keep(report, nil)
	if err := c.kept.finish(); err != nil {
		return err
	}
	switch report.Outcome() {
	case verify.Refuted:
		return answerf(exitFailed, "not everything holds of %s", name)
	case verify.Unknown:
		return answerf(exitOpen, "not everything was decided of %s", name)
	}
	return nil
}

// properties reads property texts, all mistakes at once.
func (n *fieldNet) properties(texts []string, u *unbounded) ([]*verify.Property, error) {
	m, err := n.model()
	if err != nil {
		return nil, err
	}
	var props []*verify.Property
	var wrong []error
	for _, text := range texts {
		p, err := n.property(strings.TrimSpace(text), m, u)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--property %q: %w", text, err))
			continue
		}
		p.Name = strings.TrimSpace(text)
		props = append(props, p)
	}
	switch len(wrong) {
	case 0:
		return props, nil
	case 1:
		return nil, &usageError{wrong[0]}
	}
	return nil, usagef("%d properties are wrong\n%w", len(wrong), joinLines(wrong))
}

// property reads one property. What has to do with time is decided with time.
func (n *fieldNet) property(text string, m *netmodel.Model, u *unbounded) (*verify.Property, error) {
	c, err := claim.Parse(text)
	if err == nil {
		err = claim.Resolve(c, m)
	}
	if err != nil {
		return nil, err
	}
	ask := verify.Ask
	if _, timed := c.(claim.Watch); timed || n.file.Timed {
		ask = func(c claim.Claim) (*verify.Property, error) { return stateclass.Ask(c, stateclass.Options{}) }
	}
	p, err := ask(c)
	if err != nil {
		return nil, err
	}
	switch c := c.(type) {
	case claim.DeadlockFree:
		return u.never(p, "dead()"), nil // a net of a file has no sinks
	case claim.Never:
		return u.never(p, c.Expr), nil
	case claim.Reach:
		return u.reach(p, c.Expr), nil
	}
	return p, nil
}

// check runs the checks and finds the transitions that never fire. Nets with priorities are not certified.
func (n *fieldNet) check(ctx context.Context, props []*verify.Property, idle *idleTransitions,
	stderr io.Writer) (*verify.Report, error) {
	p := newProgress(stderr, "states")
	defer p.end()
	start := time.Now()
	counted := verify.WithinCapacity()
	if n.file.Timed {
		counted = stateclass.WithinCapacity(stateclass.Options{})
	}
	report, err := verify.Run(ctx, n.prog, verify.Config{
		Semantics: netmodel.Interleave,
		Prefer:    n.file.Higher,
		Progress:  p.step,
		Certify:   len(n.file.Higher) == 0,
		Now:       func() verify.Seconds { return verify.Seconds(time.Since(start).Seconds()) },
	}, append(slices.Clip(props), counted, idle.property())...)
	if err != nil {
		return nil, stopped(err)
	}
	last := len(props)
	limit := report.Results[last]
	report.Results = report.Results[:last]
	if limit.Outcome != verify.Proved {
		for i := range report.Results {
			doubt(&report.Results[i], limit.Reason)
		}
	}
	return report, nil
}

// doubt turns a verdict that speaks of every marking into unknown: beyond a place with more tokens than can be counted
// nothing was visited. What a witness shows stands, and so does an invariant, which counts any number.
func doubt(r *verify.Result, reason string) {
	if r.Outcome != verify.Unknown && r.Witness == nil && r.Method != smt.Method {
		r.Verdict = verify.Unsupported.By(r.Method, r.States, "not everything was visited: %s", reason)
	}
}

// write writes certificates to files of their own, and notes their names.
func (c *fileCheck) write(r *verify.Report, found []finding, invariants map[*verify.Property]*smt.Certificate) error {
	if c.certificates == "" {
		return nil
	}
	if err := os.MkdirAll(c.certificates, 0o755); err != nil {
		return usagef("--certificates: %w", err)
	}
	for i := range found {
		if found[i].Certificate == nil {
			continue
		}
		data, err := certificateFile(&r.Results[i], invariants)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		name := filepath.Join(c.certificates, hex.EncodeToString(sum[:12])+".json")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return usagef("--certificates: %w", err)
		}
		found[i].Certificate.File = name
	}
	return nil
}

// certificateFile is what is written of a proof: what verify.ReadCertificate or smt.ReadCertificate reads.
func certificateFile(r *verify.Result, invariants map[*verify.Property]*smt.Certificate) ([]byte, error) {
	if r.Certificate != nil {
		return r.Certificate.Bytes(), nil
	}
	return invariants[r.Property].Marshal()
}

// findings are the verdicts of a report.
func findings(r *verify.Report) []finding {
	out := []finding{}
	for i := range r.Results {
		v := &r.Results[i]
		f := finding{Net: r.Net, Property: v.Property.Name, Verdict: v.Outcome, Method: v.Method, Reason: v.Reason,
			States: v.States, Seconds: float64(v.Seconds), Witness: asJSON(v.Witness)}
		if c := v.Certificate; c != nil {
			f.Certificate = &certified{Method: c.Method, NetHash: c.Hash, Count: c.Count, Digest: c.Digest}
		}
		out = append(out, f)
	}
	return out
}

func printFindings(w io.Writer, list []finding) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func asJSON(w *witness.Witness) *witnessJSON {
	if w == nil {
		return nil
	}
	out := &witnessJSON{Timed: w.Timed, Replayed: w.Replayed, Ends: w.Ends, Story: w.Story, Firings: []firingJSON{}}
	for _, f := range w.Firings {
		out.Firings = append(out.Firings, firingJSON{f.Name, float64(f.At) / float64(time.Millisecond)})
	}
	return out
}

func printReport(w io.Writer, r *verify.Report) error {
	for i := range r.Results {
		v := &r.Results[i]
		fmt.Fprintf(w, "%-8s %s  (%s, %d states, %.3f s)\n", v.Outcome, v.Property.Name, v.Method, v.States, v.Seconds)
		fmt.Fprintf(w, "         %s\n", v.Reason)
		for _, line := range storyLines(v.Witness) {
			fmt.Fprintf(w, "           %s\n", line)
		}
	}
	return nil
}

// storyLines are the lines of a witness's story, each firing with its time if the times are exact.
func storyLines(w *witness.Witness) []string {
	if w == nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(w.Story, "\n"), "\n")
	if w.Timed && len(lines) == len(w.Firings)+1 { // the first line is the start
		for i, f := range w.Firings {
			lines[i+1] = fmt.Sprintf("%10v %s", f.At, lines[i+1])
		}
	}
	return lines
}

// joinLines is one mistake a line.
func joinLines(list []error) error {
	var lines []string
	for _, err := range list {
		lines = append(lines, "  "+err.Error())
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}
