package managed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal"
)

// Once makes a request safe to repeat. The zero value means that every request is a new one.
type Once struct {
	// Key is the same for a request and its repetitions, up to 128 bytes. A session remembers the last 1000 of
	// its inputs; those of agents, environments and sessions are remembered for a day, 1000 of each for an owner.
	Key string
	// Repeated says that this may be a repetition: if the same was accepted within the last minute, the answer is
	// that of then. A request for a session without a Key makes another one all the same: two clients may ask for
	// the same, and must not share a session.
	Repeated bool
	// Repeatable says that a repetition may follow. It is for requests that make something: without it, and
	// without a Key, nothing is remembered of them.
	Repeatable bool
}

// asked reports whether the request may be, or may have, a repetition.
func (o Once) asked() bool { return o.Key != "" || o.Repeated || o.Repeatable }

const (
	ownKey       = "auto_" // begins the keys of inputs that came without
	keyMax       = 128
	repeatWithin = time.Minute
	keyWithin    = 24 * time.Hour
	claimsMax    = 1000 // with keys, of a tenant; more are forgotten, the oldest first
	claimsSweep  = 64   // how many claims a process adds before it looks for some to forget
)

// claim says that a request makes the thing with an id. It is stored before the thing is.
type claim struct {
	ID    string    `json:"id"`
	Hash  string    `json:"hash"` // of the request
	Keyed bool      `json:"keyed,omitempty"`
	Made  bool      `json:"made,omitempty"` // the thing has been there
	At    time.Time `json:"at"`

	revision uint64 // of its document
}

// over reports whether nobody asks for a claim any more.
func (c *claim) over(now time.Time) bool {
	if c.Keyed {
		return now.Sub(c.At) > keyWithin
	}
	return now.Sub(c.At) > repeatWithin
}

// claims is the prefix of the documents with the claims of a tenant.
func claims(o Owner) string { return docKey(o, "claim", "") }

// once makes a thing that a request describes, and returns its id. A repetition of the request finds the same thing, or
// makes it if that was not done. One that was made and deleted since is not made again. there returns NotFound if the
// thing with an id is not there.
func (r *Runtime) once(ctx context.Context, o Owner, once Once, prefix string, request any,
	there, create func(id string) error) (string, error) {
	if !once.asked() || prefix == sessionPrefix && once.Key == "" {
		id := r.newID(prefix)
		return id, create(id)
	}
	if len(once.Key) > keyMax {
		return "", invalid("Idempotency-Key", "it has %d bytes; at most %d are allowed", len(once.Key), keyMax)
	}
	b, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	hash := sum(string(b))
	name := "request " + hash
	if once.Key != "" {
		name = "key " + once.Key
	}
	at := claims(o) + sum(prefix, o.User, name)
	done, err := r.alone(ctx, at)
	if err != nil {
		return "", err
	}
	defer done()
	c, err := r.claim(ctx, o, at, once, claim{ID: r.newID(prefix), Hash: hash, Keyed: once.Key != ""})
	if err != nil {
		return "", err
	}
	if err = there(c.ID); CodeOf(err) == NotFound {
		if c.Made {
			return "", &Error{Code: NotFound, Message: "what this request made before, " + c.ID +
				", was deleted; with another Idempotency-Key it is made anew"}
		}
		if err = create(c.ID); CodeOf(err) == Conflict { // another process may have been faster
			err = there(c.ID)
		}
	}
	if err == nil && !c.Made {
		err = r.claimMade(ctx, at, c)
	}
	return c.ID, err
}

// claimMade stores that the thing of a claim has been there. Another process may have stored the same.
func (r *Runtime) claimMade(ctx context.Context, at string, c *claim) error {
	c.Made = true
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = r.cfg.Journal.Put(ctx, at, b, c.revision)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return storage("write a claim", err)
	}
	return nil
}

func sum(parts ...string) string {
	b, _ := json.Marshal(parts) // texts always have JSON
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:20])
}

// claim stores a claim, or finds the one of the request that this one repeats.
func (r *Runtime) claim(ctx context.Context, o Owner, at string, once Once, c claim) (*claim, error) {
	for range 3 { // another process may claim the same at the same time
		c.At = r.now()
		doc, err := r.cfg.Journal.Get(ctx, at)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return nil, storage("read a claim", err)
		}
		var known claim
		if err == nil && json.Unmarshal(doc.Value, &known) == nil && !known.over(c.At) && (c.Keyed || once.Repeated) {
			if known.Hash != c.Hash {
				return nil, invalid("Idempotency-Key", "the key %q was used for another request", once.Key)
			}
			known.revision = doc.Revision
			return &known, nil
		}
		b, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		if c.revision, err = r.cfg.Journal.Put(ctx, at, b, doc.Revision); errors.Is(err, journal.ErrConflict) {
			once.Repeated = true
			continue
		}
		if err != nil {
			return nil, storage("write a claim", err)
		}
		if err := r.forget(ctx, o); err != nil { // others look for old ones later
			r.cfg.Logger.Warn("old claims are not forgotten", zap.Error(err))
		}
		return &c, nil
	}
	return nil, &Error{Code: TooMany, Message: "the same request is answered elsewhere; try again"}
}

// alone waits until no other request of this process has the same claim, and then keeps others waiting until done
// is called.
func (r *Runtime) alone(ctx context.Context, at string) (done func(), err error) {
	for {
		r.mu.Lock()
		other := r.making[at]
		if other == nil {
			mine := make(chan struct{})
			r.making[at] = mine
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				delete(r.making, at)
				r.mu.Unlock()
				close(mine)
			}, nil
		}
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// forget removes the claims of a tenant that are over, and the oldest of too many. It looks for them when a
// process has added some.
func (r *Runtime) forget(ctx context.Context, o Owner) error {
	if !r.accounts.account(o.Tenant).adds() {
		return nil
	}
	var kept []aged
	now := r.now()
	err := r.list(ctx, claims(o), Page{Limit: listMax}, func(d journal.Doc) (bool, error) {
		var c claim
		if json.Unmarshal(d.Value, &c) == nil && !c.over(now) {
			if c.Keyed {
				kept = append(kept, aged{d.Key, c.At})
			}
			return true, nil
		}
		return true, r.cfg.Journal.Remove(ctx, d.Key, d.Revision)
	})
	slices.SortFunc(kept, func(a, b aged) int { return a.at.Compare(b.at) })
	for len(kept) > claimsMax && err == nil {
		err = r.cfg.Journal.Remove(ctx, kept[0].key, 0)
		kept = kept[1:]
	}
	if err != nil && !errors.Is(err, journal.ErrConflict) { // in a conflict, somebody claims it anew
		return storage("forget claims", err)
	}
	return nil
}

// aged is the key of a claim and when it was made.
type aged struct {
	key string
	at  time.Time
}
