// Package mutants measures how many faults the claims of a session detect. Its closures are what
// package mutate needs to change a session of package voicenets in one place at a time and to check
// the claims on each changed session.
//
//	closures, err := mutants.Closures(mutants.Small(config))
//	score, err := mutate.Run(ctx, session, mutate.Config{Closures: closures})
package mutants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// Small is c with counts so small that whole views of its session can be explored for each of many
// mutants.
func Small(c voicenets.Config) voicenets.Config {
	c.BudgetFrames, c.ReplyFramesMax, c.PreRollFrames, c.DialsMax = 1, 2, 1, 1
	return c
}

// Basic names the properties of V1 and V2 in views, which every net should keep: no place exceeds
// its capacity, and no outside event is left unhandled.
func Basic(views []mutate.Closure) []string {
	names := []string{"capacity"}
	for _, cl := range views {
		for _, p := range cl.Properties {
			basic := strings.HasPrefix(p.Name, "answered/") || strings.HasPrefix(p.Name, "V1-")
			if basic && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// Closures returns views of a session with small counts, each closed with hostile automata. Every
// view is small enough to explore in full and runs on the real machine. Together the views have
// every transition. Their properties are those of claims.Proofs, claims.Structure and
// claims.Claims.
func Closures(c voicenets.Config) ([]mutate.Closure, error) {
	list := claims.Views(c)
	for i, v := range list {
		list[i] = v.Whole()
	}
	return closures(c, list)
}

// closures makes a closure of each view of a session, for mutants of it.
func closures(c voicenets.Config, list []claims.View) ([]mutate.Closure, error) {
	session, err := voicenets.Session(c)
	if err != nil {
		return nil, err
	}
	hostile, err := claims.CloseHostile(session, c)
	if err != nil {
		return nil, err
	}
	closed, err := petri.Compile(hostile)
	if err != nil {
		return nil, fmt.Errorf("mutants: views: %w", err)
	}
	var out []mutate.Closure
	for _, v := range list {
		cl, err := closure(v, session, closed, c)
		if err != nil {
			return nil, fmt.Errorf("mutants: view %s: %w", v.Name, err)
		}
		out = append(out, cl)
	}
	return out, nil
}

// closure makes a closure of one view of a session, for mutants of it.
func closure(v claims.View, session *petri.Net, closed *petri.Program, c voicenets.Config) (mutate.Closure, error) {
	cl := mutate.Closure{Name: v.Name}
	s, err := v.Shape(session)
	if err != nil {
		return cl, err
	}
	n, err := s.Close(session, c)
	if err != nil {
		return cl, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return cl, err
	}
	cl.Properties = []*verify.Property{claims.Capacity()}
	m := netmodel.New(prog, netmodel.RunToCompletion)
	for _, part := range claims.Proofs(c, closed) {
		for _, p := range part.Props {
			if _, err := claim.BadMarkings(p.Claim, m); err == nil {
				cl.Properties = append(cl.Properties, p)
			}
		}
	}
	for _, p := range claims.Claims(c) {
		if ok, err := claim.Fits(p.Claim, m); err != nil {
			return cl, err
		} else if ok {
			cl.Properties = append(cl.Properties, p)
		}
	}
	timed := append(claims.Waits(c), windows(c)[v.Name]...)
	for _, p := range timed {
		if _, err := m.Named(p.Waits...); err == nil {
			cl.Timed = append(cl.Timed, p)
		}
	}
	for _, p := range s.Structure(c) {
		if holds, err := structural(prog, p); err != nil {
			return cl, err
		} else if holds {
			cl.Structure = append(cl.Structure, p)
		}
	}
	cl.Has = s.Has
	cl.Open = func(n *petri.Net) (*petri.Net, error) { return s.Of(n).Open(n) }
	cl.Close = func(n *petri.Net) (*petri.Net, error) { return s.Of(n).Close(n, c) }
	return cl, nil
}

// structural reports whether the structure of a view proves a property and the view has what the
// property names.
func structural(p *petri.Program, prop *verify.Property) (bool, error) {
	pass, err := verify.NewPass(p, verify.Config{})
	if err != nil {
		return false, err
	}
	v, err := prop.Check(context.Background(), pass)
	var absent *netmodel.NameError
	if errors.As(err, &absent) {
		return false, nil
	}
	return v.Outcome == verify.Proved, err
}
