package verify

import "context"

// acts are the claims about moves that a checker judges. It shares with
// exploration which names mean what, and what a claim says of a move; the moves
// and the conditions are its own. A nil acts judges nothing.
type acts struct {
	claims []*MoveClaim
	texts  []string
	places []int // of the claims, among all that the checker judges
	index  *moveIndex
	from   []int32 // the marking before the move
	chain  []Step  // the firings since
}

// judgeMoves makes the checker judge a claim about moves.
func (k *checker) judgeMoves(p *Property) error {
	if len(k.m.given) > 0 || k.m.prog.Whole() != nil || k.cert.Method != "markings" {
		return refusal("%s is about moves: these are judged of whole nets, by lists of markings", p.Name)
	}
	claim, err := p.move.boundBy(k.m, k.condition)
	if err != nil {
		return err
	}
	if k.acts == nil {
		k.acts = &acts{}
	}
	k.acts.claims, k.acts.texts = append(k.acts.claims, claim), append(k.acts.texts, p.Claim)
	k.acts.places = append(k.acts.places, len(k.bad))
	return nil
}

// begin notes the marking before a move.
func (a *acts) begin(from []int32) {
	if a != nil {
		a.from, a.chain = append(a.from[:0], from...), a.chain[:0]
	}
}

// fire notes a firing, back takes it back.
func (a *acts) fire(s Step) {
	if a != nil {
		a.chain = append(a.chain, s)
	}
}

func (a *acts) back() {
	if a != nil {
		a.chain = a.chain[:len(a.chain)-1]
	}
}

// broken tells a claim that the move breaks which leads to a marking.
func (a *acts) broken(to []int32) (claim string, broken bool) {
	if a == nil {
		return "", false
	}
	a.index.broken(a.from, a.chain, to, func(i int) { claim, broken = a.texts[i], true })
	return claim, broken
}

// said notes which claims were about some move.
func (a *acts) said(says []bool) {
	if a == nil {
		return
	}
	for i, place := range a.places {
		says[place] = a.index.says[i]
	}
}

// through goes through the certificate, and notes which claims say anything.
func (k *checker) through(ctx context.Context) error {
	err := k.run(ctx)
	k.acts.said(k.says)
	return err
}
