package managed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal"
)

// takers is how many sessions a process takes over at a time.
const takers = 8

// Recover brings sessions into memory that were at work when their process stopped, so that they go on
// without a request. It returns how many. With a Cluster the runtime does so by itself, now and when
// another process is gone; without one it is for the start of a process.
func (r *Runtime) Recover(ctx context.Context) (int, error) {
	if _, err := r.self(ctx); err != nil {
		return 0, err
	}
	n, _, err := r.sweep(ctx)
	return n, err
}

// sweep takes over the active sessions that nobody has in memory: first those that are at work, which go on,
// and then those that rest, which become inactive. It returns how many go on. again says that some could
// not be taken now.
func (r *Runtime) sweep(ctx context.Context) (n int, again bool, err error) {
	orphans, err := r.orphans(ctx)
	if err != nil {
		return 0, false, err
	}
	n, again = r.takeOver(ctx, orphans)
	return n, again || ctx.Err() != nil, ctx.Err()
}

// takeOver is sweep for sessions whose documents are known.
func (r *Runtime) takeOver(ctx context.Context, orphans []journal.Doc) (n int, again bool) {
	var rest []journal.Doc
	take := func(d journal.Doc, f func(context.Context, journal.Doc) (taken, error)) {
		what, err := f(ctx, d)
		id := idOf(d.Key)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch code := CodeOf(err); {
		case what == rests:
			rest = append(rest, d)
		case what == goesOn:
			n++
		case err == nil, code == Elsewhere, code == NotFound: // it needs nobody, or has somebody
		case passing(err):
			again = true
			r.lost[id] = true // if it is this process that holds it now
		default:
			r.cfg.Logger.Warn("a session that was at work cannot go on", zap.String("session", id), zap.Error(err))
		}
	}
	parallel(ctx, orphans, func(d journal.Doc) { take(d, r.adopt) })
	parallel(ctx, slices.Clone(rest), func(d journal.Doc) { take(d, r.settle) })
	return n, again
}

// reopenEvery is how often a process without a Cluster looks for sessions that it has lost.
const reopenEvery = 2 * time.Second

// reopen opens the sessions again that this process has lost, until it stops. With a Cluster, its sweeps do.
func (r *Runtime) reopen() {
	ctx, cancel := r.beside()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(reopenEvery):
		}
		r.mu.Lock()
		lost := slices.Collect(maps.Keys(r.lost))
		r.mu.Unlock()
		var docs []journal.Doc
		for _, id := range lost {
			d, err := r.cfg.Journal.Get(ctx, activeDocs+id)
			if errors.Is(err, journal.ErrNotFound) {
				r.found(id)
			} else if err == nil {
				docs = append(docs, d)
			}
		}
		r.takeOver(ctx, docs)
	}
}

// taken is what became of a session whose process is gone.
type taken uint8

const (
	nothing taken = iota
	goesOn
	rests
)

// parallel calls f for every document, for takers of them at a time, until ctx ends.
func parallel(ctx context.Context, docs []journal.Doc, f func(journal.Doc)) {
	var running sync.WaitGroup
	next := make(chan journal.Doc)
	for range min(takers, len(docs)) {
		running.Go(func() {
			for d := range next {
				f(d)
			}
		})
	}
	for _, d := range docs {
		if ctx.Err() != nil {
			break
		}
		next <- d
	}
	close(next)
	running.Wait()
}

// orphans are the documents of active sessions whose process is gone, or which this process has lost.
// Their order is another one on every process, so that several take different ones first.
func (r *Runtime) orphans(ctx context.Context) ([]journal.Doc, error) {
	self, err := r.self(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	lost := maps.Clone(r.lost)
	r.mu.Unlock()
	gone := map[holder]bool{self: false}
	var list []journal.Doc
	err = r.list(ctx, activeDocs, Page{Limit: listMax}, func(d journal.Doc) (bool, error) {
		h := decodeDoc[holder](d)
		if _, known := gone[h]; !known && r.cfg.Cluster != nil {
			n, err := r.alive(ctx, h)
			if err != nil {
				return false, err
			}
			gone[h] = n == nil
		}
		if gone[h] || r.cfg.Cluster == nil || h == self && lost[idOf(d.Key)] {
			list = append(list, d)
		}
		if h == self {
			delete(lost, idOf(d.Key))
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	for id := range lost { // it is with another process by now
		r.found(id)
	}
	order := func(d journal.Doc) []byte {
		sum := sha256.Sum256([]byte(self.Incarnation + d.Key))
		return sum[:]
	}
	slices.SortFunc(list, func(a, b journal.Doc) int { return bytes.Compare(order(a), order(b)) })
	return list, nil
}

// adopt lets a session go on that was at work.
func (r *Runtime) adopt(ctx context.Context, d journal.Doc) (taken, error) {
	id := idOf(d.Key)
	last, err := r.head(ctx, id)
	if CodeOf(err) == NotFound { // it was being made, or deleted
		return nothing, r.delist(ctx, id, d.Revision)
	}
	if err == nil && last.rests() {
		return rests, nil
	}
	r.found(id) // before it may be lost again
	if err := r.with(ctx, id, func(o *owned) error { return o.complete(ctx) }); err != nil {
		return nothing, err
	}
	return goesOn, nil
}

// rests reports whether a session needs nobody, as far as its last record tells.
func (h *head) rests() bool {
	return h.Archived != nil || h.Status == Idle && !h.Waits || h.Status == Terminated
}

// complete stores the entry of a session in the list of its tenant, if its process stopped before that. A session
// that another process deletes meanwhile has no log any more before it has no entry.
func (o *owned) complete(ctx context.Context) error {
	o.mu.Lock()
	info, began, bytes := o.st.info, o.st.began, o.st.bytes()
	o.mu.Unlock()
	revision, err := o.rt.putEntry(ctx, &info, began, bytes)
	if err != nil || revision == 0 {
		return err
	}
	_, err = o.rt.head(ctx, o.id)
	if CodeOf(err) == NotFound {
		err = errors.Join(err, o.rt.cfg.Journal.Remove(ctx, docKey(info.Owner, "session", o.id), revision))
	}
	return err
}

// settle makes a session inactive. Its process may not be dead but slow: it must not write any more.
func (r *Runtime) settle(ctx context.Context, d journal.Doc) (taken, error) {
	id := idOf(d.Key)
	s, self, fresh, err := r.place(ctx, id, math.MaxInt)
	if err != nil {
		return nothing, err
	}
	if !fresh { // it is here, or on its way
		if err = s.wait(ctx); err == nil && s.err == nil {
			r.found(id)
		}
		return nothing, err
	}
	d.Revision, err = r.fence(ctx, self, id)
	r.fill(id, s, nil, errApart)
	if err != nil {
		return nothing, err
	}
	if what, err := r.adopt(ctx, d); what != rests || err != nil {
		return what, err
	}
	return nothing, r.delist(ctx, id, d.Revision)
}

// fence makes this process, self, the owner of a session's log. It returns the revision of the session's document.
func (r *Runtime) fence(ctx context.Context, self holder, id string) (uint64, error) {
	revision, _, err := r.enlist(ctx, self, id)
	if err != nil {
		return 0, err
	}
	w, err := r.cfg.Journal.Open(ctx, logKey(id), r.cfg.Node)
	if err != nil {
		return 0, storage("open session "+id, err)
	}
	_ = w.Close(ctx)
	return revision, nil
}

const (
	readPatience = 30 * time.Second // how long a live reader waits for a journal that does not answer
	readEvery    = 250 * time.Millisecond
)

// records reads the log of a session from a record on. A live reader outlasts a while in which the journal
// does not answer, such as that of an election among its servers.
func (r *Runtime) records(ctx context.Context, id string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for silent := time.Duration(0); ; silent += readEvery {
			var failed error
			for rec, err := range r.cfg.Journal.Read(ctx, logKey(id), from, live) {
				if failed = err; err != nil {
					break
				}
				if silent, from = 0, rec.Seq+1; !yield(rec, nil) {
					return
				}
			}
			if failed == nil {
				return
			}
			if !live || !errors.Is(failed, journal.ErrStore) || ctx.Err() != nil || silent >= readPatience {
				yield(journal.Record{}, failed)
				return
			}
			select {
			case <-time.After(readEvery):
			case <-ctx.Done():
			}
		}
	}
}
