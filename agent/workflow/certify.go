package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// reportVersion changes when a report of an earlier version must not be used any more.
const reportVersion = 3

// saved is a report in a file.
type saved struct {
	Version int     `json:"version"`
	Report  *Report `json:"report"`
}

// CertificateName is the name of a file for the report on a workflow, by the hash of the workflow's
// text.
func CertificateName(w *Workflow) string {
	return "workflow-" + strings.TrimPrefix(w.Hash, "sha256:") + ".json"
}

// Bytes renders the report with its certificates, for a file named CertificateName.
func (r *Report) Bytes() []byte {
	b, err := json.MarshalIndent(saved{reportVersion, r}, "", " ")
	if err != nil {
		panic(err) // it holds only texts and numbers
	}
	return append(b, '\n')
}

// ReadReport reads a report that Bytes rendered and checks it: it must be for this text and this net, and
// have a proof for each block. Certificates must hold, by code that shares nothing with exploration: no
// run of the block stops halfway, holds too many tokens, or leaves something behind. Everything else is worked
// out again: the structure of blocks that are not explored, keys and races, that every agent can run, that every run
// ends, and findings and warnings, which must be those of the report; only the runs that findings show are
// believed. This takes about as long as Verify. An error means that the workflow must be verified anew.
func ReadReport(ctx context.Context, data []byte, c *Compiled) (*Report, error) {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil || s.Report == nil {
		return nil, fmt.Errorf("workflow: read a report on %s: it is no report: %v", c.Workflow.File, err)
	}
	r := s.Report
	net := netmodel.New(c.prog, netmodel.RunToCompletion).Hash()
	if s.Version != reportVersion || r.Hash != c.Workflow.Hash || r.Net != net {
		return nil, fmt.Errorf("workflow: the report on %s is for another text, net or version", c.Workflow.File)
	}
	if len(r.Proofs) != len(c.blocks) {
		return nil, fmt.Errorf("workflow: the report on %s has %d proofs for %d blocks", c.Workflow.File, len(r.Proofs),
			len(c.blocks))
	}
	if r.Unverified != c.Workflow.Unverified {
		return nil, fmt.Errorf("workflow: the report on %s gives a reason that is not in the file", c.Workflow.File)
	}
	proofs := map[string]*Proof{}
	for i := range r.Proofs {
		proofs[r.Proofs[i].Path] = &r.Proofs[i]
	}
	byPath := map[string]*block{}
	for _, b := range c.blocks {
		byPath[b.path] = b
	}
	for i := range r.Proofs {
		p := &r.Proofs[i]
		b := byPath[p.Path]
		if b == nil {
			return nil, fmt.Errorf("workflow: the report on %s speaks of a block %q, which is not there", c.Workflow.File,
				p.Path)
		}
		delete(byPath, p.Path)
		err := p.check(ctx, b)
		if path, ok := strings.CutPrefix(p.Method, "like "); ok && err == nil {
			err = p.like(proofs[path], b, c.at(path))
		}
		if err == nil && !p.Proved && len(r.Findings) == 0 {
			err = errors.New("it is not proved, and no finding says why")
		}
		if err != nil {
			return nil, fmt.Errorf("workflow: the proof of %s in the report on %s: %w", p.Path, c.Workflow.File, err)
		}
	}
	if err := r.recheck(ctx, c); err != nil {
		return nil, err
	}
	return r, nil
}

// recheck works out what certificates do not show, and compares.
func (r *Report) recheck(ctx context.Context, c *Compiled) error {
	p := newProver(ctx, c)
	p.certify, p.terse = false, true
	fresh, err := p.verify()
	if err != nil {
		return err
	}
	same := slices.EqualFunc(r.Proofs, fresh.Proofs, func(a, b Proof) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Proved == b.Proved && a.Method == b.Method && a.States == b.States
	})
	if !same || !slices.EqualFunc(r.Findings, fresh.Findings, Finding.like) ||
		!slices.EqualFunc(r.Warnings, fresh.Warnings, Finding.like) {
		return fmt.Errorf("workflow: the report on %s does not have the proofs, findings and warnings of the file",
			c.Workflow.File)
	}
	return nil
}

// like reports whether two findings say the same, whatever runs they show.
func (f Finding) like(o Finding) bool {
	f.Trace, o.Trace = nil, nil
	f.File, o.File = "", ""
	return reflect.DeepEqual(f, o)
}

// like checks that a leaf may use the proof of another one, which has a proof of its own.
func (p *Proof) like(o *Proof, b, other *block) error {
	if o == nil || other == nil || b.shape() != other.shape() || strings.HasPrefix(o.Method, "like ") ||
		o.Proved != p.Proved {
		return fmt.Errorf("%q is no proof of a leaf of its shape", p.Method)
	}
	return nil
}

// check checks the proof of a block.
func (p *Proof) check(ctx context.Context, b *block) error {
	if !p.Proved || strings.HasPrefix(p.Method, "like ") && b.shape() != "" {
		return nil
	}
	prog, err := b.alone(countMax)
	if err != nil {
		return err
	}
	if p.Method != "explored" {
		_, err := b.structure(prog, conditionsMax) // recheck shows that nothing is wrong by it
		return err
	}
	if p.Certificate == nil {
		return fmt.Errorf("it has no certificate")
	}
	return p.Certificate.Check(ctx, netmodel.New(prog, netmodel.RunToCompletion), verify.Claims(properties(b, prog)...)...)
}
