package check

import (
	"context"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// acts holds the claims about moves that a checker judges. It shares with exploration what names
// mean and what a claim says about a move; it computes the moves and the conditions itself. A nil
// acts judges nothing.
type acts struct {
	claims []*claim.BoundMove
	texts  []string
	places []int // indices of these claims among all that the checker judges
	index  *claim.MoveIndex
	from   []int32         // the marking before the move
	chain  []netmodel.Step // the firings since
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
		k.acts = &acts{}
	}
	k.acts.claims, k.acts.texts = append(k.acts.claims, claim), append(k.acts.texts, c.Text())
	k.acts.places = append(k.acts.places, len(k.bad))
	return nil
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
	a.index.Broken(a.from, a.chain, to, func(i int) { claim, broken = a.texts[i], true })
	return claim, broken
}

// markApplied records which claims applied to some move.
func (a *acts) markApplied(applied []bool) {
	if a == nil {
		return
	}
	for i, place := range a.places {
		applied[place] = a.index.Applied[i]
	}
}

// through verifies the certificate and records which claims apply to something.
func (k *checker) through(ctx context.Context) error {
	err := k.run(ctx)
	k.acts.markApplied(k.applied)
	return err
}
