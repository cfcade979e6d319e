package patterns

import "github.com/voicegw/voicegw/petri"

// Collection holds the results of a batch so far. A Collection never changes after it is made, so
// readers may keep it.
type Collection[R any] struct {
	Expected int // number of jobs of the batch
	Results  []R // in the order in which they came
}

// GatherPorts are the ports of a Gather.
type GatherPorts[J, R any] struct {
	Request   petri.Place[[]J]            // consumed while no batch runs
	Abort     petri.Place[petri.Unit]     // ends the batch that runs, if there is one
	Collector petri.Place[*Collection[R]] // marked while a batch runs; other nets may read it
	Complete  petri.Place[*Collection[R]] // produced when every job has a result
	Refused   petri.Place[[]J]            // produced for a request of too many jobs
}

// Gather distributes a batch among workers, which are nets beside it. It puts the jobs of a request, at
// most most of them, at jobs, and collects what comes at results, one result for each job. The collector
// is one token, so a read arc sees the results of one moment. A reader of priority 1 sees each result
// before the batch completes.
// One firing of abort removes the collector, the waiting jobs, the waiting results and the work in
// flight.
func Gather[J, R any](name string, p GatherPorts[J, R], most int, jobs petri.Place[J], results petri.Place[R],
	inFlight ...petri.Place[petri.Unit]) *petri.Net {
	const pending = petri.Place[petri.Unit]("pending") // one for each result that is missing
	ports := []petri.AnyPlace{p.Request, p.Abort, p.Collector, p.Complete, p.Refused, jobs, results}
	emptied := petri.Arcs{p.Collector, pending, jobs, results}
	for _, at := range inFlight {
		ports, emptied = append(ports, at), append(emptied, at)
	}
	return &petri.Net{
		Name:  name,
		Ports: ports,
		Transitions: []petri.Transition{
			{Name: "abort", In: petri.Arcs{p.Abort}, Priority: 3, Reset: emptied},
			{Name: "spawn", In: petri.Arcs{p.Request}, Inhibit: petri.Arcs{p.Collector},
				Out:    spread(p, most, jobs, pending),
				Action: func(f *petri.Firing) { spawn(f, p, most, jobs) }},
			{Name: "collect", In: petri.Arcs{results, pending, p.Collector}, Out: petri.And(p.Collector), Priority: 2,
				Action: func(f *petri.Firing) { p.Collector.Put(f, p.Collector.Get(f).with(results.Get(f))) }},
			{Name: "complete", In: petri.Arcs{p.Collector}, Inhibit: petri.Arcs{pending}, Out: petri.And(p.Complete)},
		},
	}
}

// spread returns one branch for each number of jobs, from 0 to most, and one that refuses.
func spread[J, R any](p GatherPorts[J, R], most int, jobs petri.Place[J], pending petri.Place[petri.Unit]) petri.Split {
	branches := []petri.Arcs{{p.Collector}}
	for n := 1; n <= most; n++ {
		branches = append(branches, petri.Arcs{jobs.Exactly(n), pending.Exactly(n), p.Collector})
	}
	return petri.Free(append(branches, petri.Arcs{p.Refused})...)
}

func spawn[J, R any](f *petri.Firing, p GatherPorts[J, R], most int, jobs petri.Place[J]) {
	list := p.Request.Get(f)
	if len(list) > most {
		f.Choose(most + 1)
		p.Refused.Put(f, list)
		return
	}
	f.Choose(len(list))
	for _, j := range list {
		jobs.Put(f, j)
	}
	p.Collector.Put(f, &Collection[R]{Expected: len(list)})
}

// with returns the collection with one more result.
func (c *Collection[R]) with(r R) *Collection[R] {
	results := make([]R, 0, len(c.Results)+1)
	return &Collection[R]{Expected: c.Expected, Results: append(append(results, c.Results...), r)}
}
