package check

import (
	"context"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// acts holds the claims about moves that a checker judges. It shares with exploration what names
// mean and what a claim says about a move; it computes the moves and the conditions, and finds the
// claims that a move concerns, itself. A nil acts judges nothing.
type acts struct {
	m       *netmodel.Model
	claims  []*claim.BoundMove
	texts   []string
	places  []int           // indices of these claims among all that the checker judges
	always  []int           // claims about every move
	by      [][]int         // by step: claims about moves with that step
	from    []int32         // the marking before the move
	chain   []netmodel.Step // the firings since
	applied []bool          // by claim: it applied to some move
}

// judgeMoves makes the checker judge a claim about moves.
func (k *checker) judgeMoves(c claim.Move) error {
	if len(k.m.Given) > 0 || k.m.Program().Whole() != nil || k.cert.Method != "markings" {
		return refusal("%s is about moves: these are judged of whole nets, by lists of markings", c.Name)
	}
	claim, err := c.BoundBy(k.m, k.when)
	if err != nil {
		return err
	}
	if k.acts == nil {
		k.acts = &acts{m: k.m, by: make([][]int, k.m.StepCount())}
	}
	k.acts.add(claim, c.Text(), len(k.bad))
	return nil
}

// add adds a claim that is at a place among all that the checker judges.
func (a *acts) add(claim *claim.BoundMove, text string, place int) {
	i := len(a.claims)
	a.claims, a.texts, a.places = append(a.claims, claim), append(a.texts, text), append(a.places, place)
	a.applied = append(a.applied, false)
	if claim.Triggers() == nil {
		a.always = append(a.always, i)
	}
	for step, triggers := range claim.Triggers() {
		if triggers {
			a.by[step] = append(a.by[step], i)
		}
	}
}

// begin notes the marking before a move.
func (a *acts) begin(from []int32) {
	if a != nil {
		a.from, a.chain = append(a.from[:0], from...), a.chain[:0]
	}
}

// fire records a firing; back removes it.
func (a *acts) fire(s netmodel.Step) {
	if a != nil {
		a.chain = append(a.chain, s)
	}
}

func (a *acts) back() {
	if a != nil {
		a.chain = a.chain[:len(a.chain)-1]
	}
}

// broken returns a claim that the move to a marking violates.
func (a *acts) broken(to []int32) (claim string, broken bool) {
	if a == nil {
		return "", false
	}
	if text := a.breach(a.always, to); text != "" {
		return text, true
	}
	for _, s := range a.chain {
		if text := a.breach(a.by[a.m.StepIndex(s)], to); text != "" {
			return text, true
		}
	}
	return "", false
}

// breach returns the text of one of these claims that the move to a marking violates; "" if none.
func (a *acts) breach(claims []int, to []int32) string {
	for _, i := range claims {
		if !a.claims[i].Applies(a.from, a.chain, to) {
			continue
		}
		a.applied[i] = true
		if a.claims[i].Breaks(a.from, a.chain, to) {
			return a.texts[i]
		}
	}
	return ""
}

// markApplied records which claims applied to some move.
func (a *acts) markApplied(applied []bool) {
	if a == nil {
		return
	}
	for i, place := range a.places {
		applied[place] = a.applied[i]
	}
}

// through verifies the certificate and records which claims apply to something.
func (k *checker) through(ctx context.Context) error {
	err := k.run(ctx)
	k.acts.markApplied(k.applied)
	return err
}
