package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/internal/spelling"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// verdicts collects and prints the verdicts on claims about sessions.
type verdicts struct {
	*fileCheck
	w       io.Writer
	found   []finding
	open    []string // nets with a claim that is not proved
	outcome verify.Outcome
}

func newVerdicts(c *fileCheck, w io.Writer) *verdicts {
	return &verdicts{fileCheck: c, w: w, outcome: verify.Proved, found: []finding{}}
}

// add prints the verdicts on a net, or on those claims that --property names.
func (v *verdicts) add(n shippedNet, proof *claims.Proof) error {
	claims, err := v.pick(n.name, proof.Claims)
	if err != nil {
		return err
	}
	report := &verify.Report{Net: n.name, Hash: proof.Hash}
	for i := range claims {
		report.Results = append(report.Results, claims[i].Result)
	}
	these := findings(report)
	for i := range these {
		if err := v.describe(&these[i], &claims[i], proof); err != nil {
			return err
		}
	}
	v.found = append(v.found, these...)
	if !v.json {
		v.print(n, proof, claims, report.Outcome())
	}
	if err := v.kept.keepShipped(report, n); err != nil {
		return err
	}
	if o := report.Outcome(); o != verify.Proved {
		v.open = append(v.open, n.name)
		if v.outcome != verify.Refuted {
			v.outcome = o
		}
	}
	return nil
}

// pick is the claims that --property names, or all.
func (c *fileCheck) pick(net string, all []claims.Claim) ([]claims.Claim, error) {
	if len(c.properties) == 0 {
		return all, nil
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Property.Name)
	}
	var picked []claims.Claim
	for _, name := range c.properties {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, usagef("%s has no property %q; %s", net, name, suggest(name, names, fmt.Sprintf(
				"of its %d the closest are %s; without --property all are listed, and claims of your own go with net files",
				len(names), strings.Join(spelling.Closest(name, names, 3), ", "))))
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// describe adds to a finding what only claims about sessions have, and writes its certificate.
func (c *fileCheck) describe(f *finding, claim *claims.Claim, proof *claims.Proof) error {
	f.Slice, f.Source = claim.Slice, string(claim.Source)
	if claim.Timed {
		most := float64(claim.Most) / float64(time.Millisecond)
		f.MostMS = &most
	}
	if claim.File == "" {
		return nil
	}
	data := proof.Certificate(claim.File)
	cert, err := check.ReadCertificate(data)
	if err != nil {
		return err
	}
	f.Certificate = &certified{Method: cert.Method, NetHash: cert.Hash, Count: cert.Count, Digest: cert.Digest,
		File: claim.File}
	if c.certificates == "" {
		return nil
	}
	f.Certificate.File = filepath.Join(c.certificates, claim.File)
	if err := os.MkdirAll(c.certificates, 0o755); err != nil {
		return usagef("--certificates: %w", err)
	}
	if err := os.WriteFile(f.Certificate.File, data, 0o644); err != nil {
		return usagef("--certificates: %w", err)
	}
	return nil
}

// finish ends the list. It returns an error unless everything is proved.
func (v *verdicts) finish() error {
	if v.json {
		if err := printFindings(v.w, v.found); err != nil {
			return err
		}
	}
	if err := v.kept.finish(); err != nil {
		return err
	}
	switch names := strings.Join(v.open, ", "); {
	case v.outcome == verify.Refuted:
		return answerf(exitFailed, "not everything holds of %s", names)
	case len(v.open) > 0:
		return answerf(exitOpen, "not everything is proved of %s", names)
	}
	return nil
}

// print prints the verdicts on a net, how each was reached, and the slices they rest on.
func (v *verdicts) print(n shippedNet, proof *claims.Proof, claims []claims.Claim, outcome verify.Outcome) {
	fmt.Fprintf(v.w, "%s: %s\n", n.name, n.doc)
	v.printViews(claims)
	for i := range claims {
		c := &claims[i]
		if c.View && c.Outcome == verify.Proved && len(v.properties) == 0 {
			continue
		}
		fmt.Fprintf(v.w, "  %-8s %-16s %s\n           (%s)\n", c.Outcome, c.Property.Name, c.Property.Doc, how(c))
		if c.Outcome != verify.Proved {
			fmt.Fprintf(v.w, "           %s\n", c.Reason)
		}
		for _, line := range storyLines(c.Witness) {
			fmt.Fprintf(v.w, "             %s\n", line)
		}
	}
	if len(claims) == 0 {
		return
	}
	fmt.Fprintf(v.w, "  %s: %d claims\n", outcome, len(claims))
	if len(claims) < len(proof.Claims) {
		return
	}
	for _, s := range proof.Parts {
		name := s.Name
		if !strings.HasPrefix(name, "view ") {
			name = "slice " + name
		}
		fmt.Fprintf(v.w, "    %-30s %7d markings, %3d claims, %.2f s\n", name, s.Markings, len(s.Properties),
			float64(s.Seconds))
	}
}

// printViews prints how many claims on views are proved of each part of the session: there are hundreds. --json, and
// --property for one of them, print each.
func (v *verdicts) printViews(claims []claims.Claim) {
	if len(v.properties) > 0 {
		return
	}
	proved := map[string]int{}
	for i := range claims {
		if c := &claims[i]; c.View && c.Outcome == verify.Proved {
			proved[c.Part]++
		}
	}
	for _, part := range slices.Sorted(maps.Keys(proved)) {
		fmt.Fprintf(v.w, "  %-8s %-16s %d claims about what comes of each event (explicit, views)\n", verify.Proved, part,
			proved[part])
	}
}

// how describes a verdict: its method, slice, size and time.
func how(c *claims.Claim) string {
	parts := []string{c.Method}
	if c.Slice != "" {
		if c.View {
			parts = append(parts, c.Slice)
		} else {
			parts = append(parts, "slice "+c.Slice)
		}
	}
	if c.States > 0 {
		unit := "markings"
		if c.Timed {
			unit = "classes"
		}
		parts = append(parts, fmt.Sprintf("%d %s", c.States, unit))
	}
	if c.Timed && c.Outcome == verify.Proved {
		parts = append(parts, fmt.Sprintf("%v at most, and some run takes that long", c.Most))
	}
	parts = append(parts, fmt.Sprintf("%.2f s", float64(c.Seconds)))
	if c.File != "" {
		parts = append(parts, "certificate "+c.File)
	}
	return strings.Join(parts, ", ")
}
