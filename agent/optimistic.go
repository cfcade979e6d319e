package agent

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Optimistic shows the response of Draft at once, as a partial one, and checks it. If the check
// succeeds, the draft is the response. If the draft or its check fails, or the check takes longer than
// Patience, the response is that of Fallback.
type Optimistic struct {
	// Draft is quick.
	Draft Branch
	// Check gets the request with the draft as its last content. An error rejects the draft; what it
	// returns besides is ignored.
	Check Branch
	// Fallback answers in place of the draft.
	Fallback Branch
	// Patience is positive.
	Patience time.Duration
}

func (o Optimistic) branches() []Branch { return []Branch{o.Draft, o.Check, o.Fallback} }

func (o Optimistic) cost() int { return 3 }

func (o Optimistic) check() error {
	if o.Patience <= 0 {
		return fmt.Errorf("Optimistic.Patience is %v; it must be positive", o.Patience)
	}
	return nil
}

func (o Optimistic) plan(s *plan) {
	const (
		draft, check, fallback = 0, 1, 2
	)
	const (
		draftJob, fallbackJob petri.Place[*Request] = "draft_job", "fallback_job"
		drafted               petri.Place[*Attempt] = "drafted"
		checking              petri.Place[*Request] = "checking" // the request, while its draft is being checked
		proposal, tentative   petri.Place[*Request] = "proposal", "tentative"
		confirmed, rolledBack petri.Place[*Request] = "confirmed", "rolled_back"
		pending               petri.Place[*Request] = "pending"
	)
	s.outside = append(s.outside, EventOut)
	for _, w := range []worker[*Request, *model.LLMResponse]{
		s.worker(draft, "draft", draftJob, drafted), s.worker(fallback, "fallback", fallbackJob, answered),
	} {
		s.net.Nets = append(s.net.Nets, w.own().net())
		s.add(w.refuse(s.l.Patience, ModelFailed, petri.Arcs{w.task.InFlight}))
	}
	s.within(patterns.Optimistic("optimistic", patterns.OptimisticPorts[*Request]{Propose: proposal, Abort: abort,
		Tentative: tentative, Confirmed: confirmed, RolledBack: rolledBack}, o.Patience, s.patientLane(check)))
	s.add(
		petri.Transition{Name: "begin", In: petri.Arcs{s.job}, Out: petri.And(asked.Passing(s.job), draftJob.Passing(s.job))},
		petri.Transition{Name: "propose", In: petri.Arcs{asked, drafted.Is(okKey)},
			Out:    petri.And(proposal, checking.Passing(asked)),
			Action: func(f *petri.Firing) { proposal.Put(f, proposalOf(drafted.Get(f))) }},
		petri.Transition{Name: "fall_back_at_once", In: petri.Arcs{asked, drafted.Is(failedKey)},
			Out: petri.And(fallbackJob.Passing(asked))},
		petri.Transition{Name: "show_draft", In: petri.Arcs{tentative}, Out: petri.And(EventOut.Is(Partial)),
			Action: func(f *petri.Firing) {
				r := tentative.Get(f)
				showPartial(f, r.Turn, s.p.Agent, r.draft)
			}},
		petri.Transition{Name: "fall_back", In: petri.Arcs{checking, rolledBack},
			Out: petri.And(fallbackJob.Passing(checking))},
	)
	deliver(s, "commit", confirmed, checking, func(r *Request) *model.LLMResponse { return r.draft })
	s.add(atEnd(asked)...)
	s.stopWith(checking)
	for p, n := range map[petri.Place[*Request]]int{draftJob: 1, asked: 2, proposal: 1, checking: 1,
		rolledBack: 0, fallbackJob: 1} {
		s.counts(n, p)
	}
	s.never("checked once", "the check works only while the draft is tentative",
		"!"+s.at(pending, "optimistic")+" && "+s.working(check))
	s.never("draft or fallback", "the fallback works only when the draft is out",
		"("+s.at(asked)+" || "+s.at(checking)+") && "+s.working(fallback))
}

// patientLane adds a worker without a time-out: the pattern around it has one.
func (s *plan) patientLane(i int) patterns.Lane[*Request, *Attempt] {
	l := patterns.Lane[*Request, *Attempt]{Job: "check_job", Result: "check_result", InFlight: s.tasks[i].InFlight}
	w := s.worker(i, "check", l.Job, l.Result)
	w.limit = 0
	s.net.Nets = append(s.net.Nets, w.net())
	s.counts(1, l.Job)
	return l
}

// proposalOf is the request to check a draft.
func proposalOf(d *Attempt) *Request {
	if d.Out == nil || d.Out.Content == nil {
		return &Request{Turn: d.In.Turn, Request: d.In.Request, draft: d.Out}
	}
	with := *d.In.Request
	with.Contents = append(slices.Clone(with.Contents), d.Out.Content)
	return &Request{Turn: d.In.Turn, Request: &with, draft: d.Out}
}
