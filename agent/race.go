package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Race takes the first response of several branches. The branches of the first tier begin at once,
// those of the next one when Patience has passed without a response, or when all branches before have
// failed. The first response cancels all other work. A branch that fails loses, and no more: the
// request fails when all branches have.
type Race struct {
	// Patience is how long a tier has before the next one begins. It must be positive if there are
	// several tiers.
	Patience time.Duration
	// Tiers are the branches, up to 16 in all.
	Tiers [][]Branch
}

func (r Race) branches() []Branch { return slices.Concat(r.Tiers...) }

func (r Race) cost() int { return len(r.branches()) }

func (r Race) check() error {
	if len(r.Tiers) == 0 || slices.ContainsFunc(r.Tiers, func(t []Branch) bool { return len(t) == 0 }) {
		return errors.New("Race.Tiers is empty, or has an empty tier; give each tier a branch")
	}
	if len(r.Tiers) > 1 && r.Patience <= 0 {
		return fmt.Errorf("Race.Patience is %v; with several tiers it must be positive", r.Patience)
	}
	return nil
}

func (r Race) plan(s *plan) {
	s.first(1, r.Patience, r.Tiers, func(list []*Attempt) *model.LLMResponse { return list[0].Out })
}

// Quorum asks all branches at once and merges the first K responses. When they are there, it cancels
// the rest. The request fails when K responses cannot come any more.
type Quorum struct {
	// K is how many responses it takes, 1 to the number of branches.
	K int
	// Branches are up to 16 branches.
	Branches []Branch
	// Merge makes one response of K, in the order in which they came. It must be quick and must not
	// panic: the net waits for it.
	Merge func([]*Attempt) *model.LLMResponse
}

func (q Quorum) branches() []Branch { return q.Branches }

func (q Quorum) cost() int { return len(q.Branches) }

func (q Quorum) check() error {
	if q.K < 1 || q.K > len(q.Branches) {
		return fmt.Errorf("Quorum.K is %d; it must be 1 to the number of branches, %d", q.K, len(q.Branches))
	}
	if q.Merge == nil {
		return errors.New("Quorum.Merge is nil; say how to make one response of several")
	}
	return nil
}

func (q Quorum) plan(s *plan) { s.first(q.K, 0, [][]Branch{q.Branches}, q.Merge) }

// first takes the first k responses of branches in tiers.
func (s *plan) first(k int, patience time.Duration, tiers [][]Branch, merge func([]*Attempt) *model.LLMResponse) {
	const (
		request petri.Place[*Request]   = "request"
		open    petri.Place[petri.Unit] = "open"
		votes   petri.Place[petri.Unit] = "votes"
	)
	var lanes [][]patterns.Lane[*Request, *Attempt]
	var all []int
	for t, tier := range tiers {
		var list []patterns.Lane[*Request, *Attempt]
		var own []int
		for _, b := range tier {
			own = append(own, len(all))
			list = append(list, s.lane(len(all), b))
			all = append(all, len(all))
		}
		lanes = append(lanes, list)
		if t > 0 { // while the tier before has time, this one does not work
			s.never(fmt.Sprint("tier ", t, " waits"), "a tier begins when the one before has had its time",
				s.at(waitingTier(t-1), "first")+" && "+s.working(own...))
		}
	}
	begun := 0
	for t := range len(tiers) - 1 {
		begun += len(tiers[t])
		s.counts(len(all)-begun, waitingTier(t), "first")
	}
	s.counts(len(all), request)
	s.within(patterns.FirstK("first", patterns.FirstKPorts[*Request, *Attempt]{
		Request: request, Abort: abort, Reached: reached, Failed: failed}, k, patience, lanes...))
	s.add(petri.Transition{Name: "begin", In: petri.Arcs{s.job},
		Out: petri.And(asked.Passing(s.job), request.Passing(s.job))})
	deliver(s, "win", reached, asked, merge)
	s.surrender()
	s.stopWith(asked)
	s.never("losers are cancelled", "no branch works once the race is decided",
		"!"+s.at(open, "first")+" && "+s.working(all...))
	s.never("the first "+fmt.Sprint(k)+" decide", "no race goes on with as many responses as it takes",
		fmt.Sprintf("%s >= %d", s.at(votes, "first"), k))
}

func waitingTier(t int) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprint("waiting", t))
}
