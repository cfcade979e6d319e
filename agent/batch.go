package agent

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Collected is what a Batch has collected so far.
type Collected = patterns.Collection[*Attempt]

// Batch splits a request into jobs, has workers do them side by side, and merges what they answered.
// What is collected can be read meanwhile: Show makes partial responses of it. A job that fails is
// one more result, which Merge sees. Split, Merge and Show must be quick and must not panic: the net
// waits for them.
type Batch struct {
	// Split makes the jobs of a request, up to Max.
	Split func(*Request) []*model.LLMRequest
	// Do does one job. Its name stands for all workers.
	Do Branch
	// Workers is how many jobs are done at a time, 1 to 16.
	Workers int
	// Max is how many jobs a request may have, 1 to 16. A request with more fails.
	Max int
	// Merge makes the response.
	Merge func(*Collected) *model.LLMResponse
	// Show makes a partial response of what is collected, after each result. nil shows nothing.
	Show func(*Collected) *model.LLMResponse
}

func (b Batch) branches() []Branch {
	list := make([]Branch, 0, b.Workers)
	for i := range b.Workers {
		w := b.Do
		w.Name += fmt.Sprint(i)
		list = append(list, w)
	}
	return list
}

func (b Batch) cost() int { return b.Max }

func (b Batch) check() error {
	switch {
	case b.Split == nil || b.Merge == nil:
		return errors.New("Batch.Split or Batch.Merge is nil; say how to make jobs, and one response of what they bring")
	case b.Workers < 1 || b.Workers > branchesMax || b.Max < 1 || b.Max > branchesMax:
		return fmt.Errorf("Batch.Workers is %d and Batch.Max is %d; they must be 1 to %d", b.Workers, b.Max, branchesMax)
	}
	return nil
}

func (b Batch) plan(s *plan) {
	const (
		requests  petri.Place[[]*Request] = "requests"
		tooMany   petri.Place[[]*Request] = "too_many"
		jobs      petri.Place[*Request]   = "jobs"
		results   petri.Place[*Attempt]   = "results"
		collector petri.Place[*Collected] = "collector"
		complete  petri.Place[*Collected] = "complete"
		pending   petri.Place[petri.Unit] = "pending"
	)
	brought := results // where workers bring their results
	if b.Show != nil {
		brought = s.showCollected(b, results, collector)
	}
	var inFlight []petri.Place[petri.Unit]
	var flying petri.Arcs
	var all []int
	for i := range b.Workers {
		w := s.worker(i, fmt.Sprint("worker", i), jobs, brought)
		s.net.Nets = append(s.net.Nets, w.net())
		inFlight, flying, all = append(inFlight, w.task.InFlight), append(flying, w.task.InFlight), append(all, i)
	}
	any := s.worker(0, "job", jobs, brought)
	s.within(patterns.Gather("gather", patterns.GatherPorts[*Request, *Attempt]{Request: requests, Abort: abort,
		Collector: collector, Complete: complete, Refused: tooMany}, b.Max, jobs, results, inFlight...))
	s.add(
		petri.Transition{Name: "split", In: petri.Arcs{s.job}, Out: petri.And(asked.Passing(s.job), requests),
			Action: func(f *petri.Firing) { requests.Put(f, b.split(s.job.Get(f))) }},
		petri.Transition{Name: "refuse_batch", In: petri.Arcs{asked, tooMany}, Out: petri.And(answered.Is(failedKey)),
			Action: func(f *petri.Firing) {
				answered.Put(f, &Attempt{In: asked.Get(f), Fault: &Fault{Code: PromptFailed,
					Text: fmt.Sprintf("the request has %d jobs; it may have %d", len(tooMany.Get(f)), b.Max)}})
			}},
		any.refuse(s.l.Patience, ModelFailed, flying),
	)
	deliver(s, "merge", complete, asked, b.Merge)
	s.stopWith(asked)
	s.counts(b.Max, requests)
	s.counts(1, jobs)
	s.never("collector is readable", "while results are missing, there is one collector to read",
		s.at(pending, "gather")+" && "+s.at(collector)+" != 1")
	s.never("no job without a collector", "no branch works once the batch is complete",
		"!"+s.at(collector)+" && "+s.working(all...))
}

// showCollected reads the collector after each result. It returns the place where results are brought.
func (s *plan) showCollected(b Batch, results petri.Place[*Attempt], collector petri.Place[*Collected],
) petri.Place[*Attempt] {
	const brought, news petri.Place[*Attempt] = "brought", "news"
	s.outside = append(s.outside, EventOut)
	s.add(
		petri.Transition{Name: "bring", In: petri.Arcs{brought}, Priority: 1,
			Out: petri.And(results.Passing(brought), news.Passing(brought))},
		petri.Transition{Name: "show_collected", In: petri.Arcs{news}, Read: petri.Arcs{asked, collector}, Priority: 1,
			Out: petri.And(EventOut.Is(Partial)), Action: func(f *petri.Firing) {
				showPartial(f, asked.Get(f).Turn, s.p.Agent, b.Show(collector.Get(f)))
			}},
	)
	return brought
}

// split makes the jobs of a request.
func (b Batch) split(r *Request) []*Request {
	var list []*Request
	for _, one := range b.Split(r) {
		list = append(list, &Request{Turn: r.Turn, Request: one})
	}
	return slices.Clip(list)
}
