package console

import (
	"context"
	"sync"
	"time"
)

// Limits of what the list says of archives besides their names.
const (
	factsMax    = 20 * archivesPage // archives whose facts are kept
	factsRead   = 2 * archivesPage  // records of one search: some calls of that time may have left no archive
	factsLate   = 10 * time.Second  // by which a record may say that the call ended after its archive was written
	factsMissed = time.Hour         // before a record that was missing is looked for again
)

// facts are what records say of the calls of archives.
type facts struct {
	mu    sync.Mutex
	known map[string]fact
}

// fact is what is known of one archive.
type fact struct {
	record *Found    // nil: none was found
	again  time.Time // when to look for it again
}

// describe adds to archives of a page what the records of their calls say. For those that it sees for the first time it
// searches once; if two searches run already, it leaves them for the next time.
func (s *server) describe(ctx context.Context, now time.Time, archives []Archived) {
	if s.cfg.Search == nil {
		return
	}
	wanted := s.facts.fill(now, archives)
	if len(wanted) == 0 {
		return
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	default:
		return
	}
	s.facts.learn(now, wanted, func(q Search) (Finding, error) { return s.cfg.Search(ctx, q) })
	s.facts.fill(now, archives)
}

// fill adds what is known, and returns the archives whose records are to be looked for.
func (f *facts) fill(now time.Time, archives []Archived) (wanted []Archived) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range archives {
		a := &archives[i]
		known, ok := f.known[a.Name]
		if a.Record = known.record; known.record == nil && (!ok || !now.Before(known.again)) {
			wanted = append(wanted, *a)
		}
	}
	return wanted
}

// learn looks for the records of archives. The newest archive comes first.
func (f *facts) learn(now time.Time, wanted []Archived, search func(Search) (Finding, error)) {
	f.keep(wanted, fact{again: now.Add(listEvery)}) // another list need not look for them meanwhile
	q := Search{Most: factsRead}
	if at := wanted[0].Written; !at.IsZero() { // a file system may have no times
		q.After.Ended = at.Add(factsLate)
	}
	finding, err := search(q)
	found := map[string]*Found{}
	for i := range finding.Calls {
		found[finding.Calls[i].Call] = &finding.Calls[i]
	}
	for _, a := range wanted {
		known := fact{record: found[a.Name], again: now.Add(listEvery)}
		switch {
		case err != nil:
			known.again = now.Add(settleTime)
		case a.settled:
			known.again = now.Add(factsMissed)
		}
		f.keep([]Archived{a}, known)
	}
}

// keep keeps a fact of archives.
func (f *facts) keep(of []Archived, known fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known)+len(of) > factsMax {
		f.known = map[string]fact{}
	}
	for _, a := range of {
		f.known[a.Name] = known
	}
}
