package managed

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/voicegw/voicegw/journal"
)

// The prefixes of the documents that say which process has what.
const (
	activeDocs = "active/" // by session
	nodeDocs   = "node/"   // by process
)

// holder is the value of the document of an active session: the process that has the session in memory,
// or had it when it stopped. A session without such a document rests.
type holder struct {
	Node string `json:"node"`
	// Incarnation is different for each start of a process, and for each time that it joins the others.
	Incarnation string `json:"incarnation"`
}

// nodeDoc is the value of the document of a process.
type nodeDoc struct {
	Incarnation string `json:"incarnation"`
	Address     string `json:"address"`
}

// decodeDoc reads the value of a document. A value that is not one is as good as none.
func decodeDoc[T any](d journal.Doc) (v T) {
	if json.Unmarshal(d.Value, &v) != nil {
		var none T
		return none
	}
	return v
}

// enlistMax is how often enlist tries again when others change the document, too.
const enlistMax = 8

// enlist stores that this process, self, holds a session; the log of the session must not be opened before.
// fresh says that nobody held it. Every call makes a new revision, so that a delist of before has no
// effect any more. The error has the code Elsewhere while another process holds the session.
func (r *Runtime) enlist(ctx context.Context, self holder, id string) (revision uint64, fresh bool, err error) {
	value, err := json.Marshal(self)
	if err != nil {
		return 0, false, err
	}
	for attempt := range enlistMax {
		var d journal.Doc
		if attempt > 0 || r.cfg.Cluster != nil { // alone, the session mostly rests
			d, err = r.cfg.Journal.Get(ctx, activeDocs+id)
			if err != nil && !errors.Is(err, journal.ErrNotFound) {
				return 0, false, storage("open session "+id, err)
			}
		}
		if h := decodeDoc[holder](d); d.Revision != 0 && r.cfg.Cluster != nil && h != self {
			n, err := r.alive(ctx, h)
			if err != nil {
				return 0, false, err
			}
			if n != nil {
				return 0, false, &Error{Code: Elsewhere, Node: h.Node, Address: n.Address,
					Message: "another node has the session"}
			}
		}
		revision, err = r.cfg.Journal.Put(ctx, activeDocs+id, value, d.Revision)
		if errors.Is(err, journal.ErrConflict) {
			continue
		}
		if err != nil {
			return 0, false, storage("open session "+id, err)
		}
		return revision, d.Revision == 0, nil
	}
	return 0, false, &Error{Code: Overloaded, Message: "others open the session, too; try again"}
}

// delist stores that a session rests, unless another process holds it by now.
func (r *Runtime) delist(ctx context.Context, id string, revision uint64) error {
	r.found(id)
	err := r.cfg.Journal.Remove(ctx, activeDocs+id, revision)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return storage("close session "+id, err)
	}
	return nil
}

// lose notes that a session which may be at work is not in memory because of an error. If that may be gone at the next
// attempt, a sweep opens the session, unless another process holds it by then.
func (r *Runtime) lose(id string, err error) {
	if !passing(err) {
		r.found(id)
		return
	}
	r.miss(id)
}

// passing reports whether an error that kept a session out of memory may be gone at the next attempt: the journal did
// not answer, there was no place, or somebody else has opened the log, maybe this process itself.
func passing(err error) bool {
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, errBehind) {
		return false
	}
	code := CodeOf(err)
	return code == Storage || code == Overloaded || errors.Is(err, journal.ErrStore) ||
		errors.Is(err, journal.ErrFenced) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// miss lets a sweep open a session.
func (r *Runtime) miss(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[id] = true
}

// found notes that a session is in memory again, or need not be.
func (r *Runtime) found(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lost, id)
}

// alive returns the document of the process that holds a session; nil if it is gone. A process stores its
// document before it holds anything, and nobody restores a document that was removed.
func (r *Runtime) alive(ctx context.Context, h holder) (*nodeDoc, error) {
	if journal.CheckKey(nodeDocs+h.Node) != nil {
		return nil, nil
	}
	d, err := r.cfg.Journal.Get(ctx, nodeDocs+h.Node)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, storage("read node "+h.Node, err)
	}
	if n := decodeDoc[nodeDoc](d); n.Incarnation == h.Incarnation {
		return &n, nil
	}
	return nil, nil
}
