package managed

import (
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/voicegw/voicegw/journal"
)

// CreateEnvironment registers an environment.
func (r *Runtime) CreateEnvironment(ctx context.Context, o Owner, e Environment) (*Environment, error) {
	return r.CreateEnvironmentOnce(ctx, o, Once{}, e)
}

// CreateEnvironmentOnce is CreateEnvironment, safe to repeat: see CreateAgentOnce.
func (r *Runtime) CreateEnvironmentOnce(ctx context.Context, o Owner, once Once, e Environment) (*Environment, error) {
	e.ID, e.CreatedAt, e.UpdatedAt, e.ArchivedAt = "", time.Time{}, time.Time{}, nil
	if err := e.check(); err != nil {
		return nil, err
	}
	there := func(id string) error {
		_, _, err := r.environment(ctx, o, id)
		return err
	}
	id, err := r.once(ctx, o, once, environmentPrefix, e, there, func(id string) error {
		now := r.now()
		e.ID, e.CreatedAt, e.UpdatedAt = id, now, now
		return r.putEnvironment(ctx, o, &e, 0)
	})
	if err != nil || !once.asked() {
		return &e, err
	}
	return r.Environment(ctx, o, id)
}

// check finds what is wrong with an environment.
func (e *Environment) check() error {
	if n := utf8.RuneCountInString(e.Name); n < 1 || n > nameMax {
		return invalid("name", "it must have 1 to %d characters", nameMax)
	}
	if utf8.RuneCountInString(e.Description) > descriptionMax {
		return invalid("description", "it has more than %d characters", descriptionMax)
	}
	return checkMetadata("", e.Metadata)
}

func (r *Runtime) putEnvironment(ctx context.Context, o Owner, e *Environment, revision uint64) error {
	if err := e.check(); err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(b) > journal.DocMax {
		return invalid("", "the environment has %d bytes; at most %d are allowed", len(b), journal.DocMax)
	}
	_, err = r.cfg.Journal.Put(ctx, docKey(o, "environment", e.ID), b, revision)
	if errors.Is(err, journal.ErrConflict) {
		return conflict("environment %q has changed meanwhile", e.ID)
	}
	if err != nil {
		return storage("write environment "+e.ID, err)
	}
	return nil
}

// Environment returns an environment.
func (r *Runtime) Environment(ctx context.Context, o Owner, id string) (*Environment, error) {
	e, _, err := r.environment(ctx, o, id)
	return e, err
}

// LocalEnvironment is the id of the environment of a session that names none. Everybody has it, and nobody can
// change it.
const LocalEnvironment = environmentPrefix + "local"

func (r *Runtime) environment(ctx context.Context, o Owner, id string) (*Environment, uint64, error) {
	if id == LocalEnvironment {
		began := r.began
		return &Environment{ID: id, Name: "local", Config: json.RawMessage(`{"type":"self_hosted"}`), CreatedAt: began,
			UpdatedAt: began}, 0, nil
	}
	if !wellFormed(environmentPrefix, id) {
		return nil, 0, notFound("environment", id)
	}
	d, err := r.cfg.Journal.Get(ctx, docKey(o, "environment", id))
	if errors.Is(err, journal.ErrNotFound) {
		return nil, 0, notFound("environment", id)
	}
	e := &Environment{}
	if err == nil {
		err = json.Unmarshal(d.Value, e)
	}
	if err != nil {
		return nil, 0, storage("read environment "+id, err)
	}
	return e, d.Revision, nil
}

// UpdateEnvironment changes an environment.
func (r *Runtime) UpdateEnvironment(ctx context.Context, o Owner, id string, change func(*Environment) error,
) (*Environment, error) {
	e, revision, err := r.environment(ctx, o, id)
	if err == nil && id == LocalEnvironment {
		err = invalid("", "the environment %q is everybody's; make another", id)
	}
	if err != nil {
		return nil, err
	}
	if err := change(e); err != nil {
		return nil, err
	}
	e.UpdatedAt = r.now()
	return e, r.putEnvironment(ctx, o, e, revision)
}

// ArchiveEnvironment ends an environment. It is idempotent.
func (r *Runtime) ArchiveEnvironment(ctx context.Context, o Owner, id string) (*Environment, error) {
	return r.UpdateEnvironment(ctx, o, id, func(e *Environment) error {
		if e.ArchivedAt == nil {
			now := r.now()
			e.ArchivedAt = &now
		}
		return nil
	})
}

// DeleteEnvironment removes an environment. Sessions that name it go on.
func (r *Runtime) DeleteEnvironment(ctx context.Context, o Owner, id string) error {
	if _, _, err := r.environment(ctx, o, id); err != nil {
		return err
	}
	if id == LocalEnvironment {
		return invalid("", "the environment %q is everybody's", id)
	}
	if err := r.cfg.Journal.Remove(ctx, docKey(o, "environment", id), 0); err != nil {
		return storage("delete environment "+id, err)
	}
	return nil
}

// Environments lists environments, the newest first. next is the After of the following page, or "".
func (r *Runtime) Environments(ctx context.Context, o Owner, archived bool, p Page) (list []*Environment, next string,
	err error) {
	err = r.list(ctx, docKey(o, "environment", ""), p, func(d journal.Doc) (bool, error) {
		e := &Environment{}
		if err := json.Unmarshal(d.Value, e); err != nil {
			return false, err
		}
		if e.ArchivedAt != nil && !archived {
			return true, nil
		}
		if len(list) == p.Limit {
			next = list[p.Limit-1].ID
			return false, nil
		}
		list = append(list, e)
		return true, nil
	})
	return list, next, err
}
