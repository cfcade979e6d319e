package managed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/journal"
)

// SharedID is the id of a shared agent.
func SharedID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return agentPrefix + idAlphabet.EncodeToString(sum[:16])
}

// share checks the shared agents.
func (r *Runtime) share() error {
	for i, d := range r.cfg.Shared {
		a := &Agent{ID: SharedID(d.Name), Version: 1, Definition: d, CreatedAt: r.now(), UpdatedAt: r.now()}
		if err := r.checkAgent(context.Background(), a); err != nil {
			return fmt.Errorf("managed: Config.Shared[%d], %q: %w", i, d.Name, err)
		}
		if r.shared[a.ID] != nil {
			return fmt.Errorf("managed: Config.Shared[%d]: another agent is called %q, too", i, d.Name)
		}
		r.shared[a.ID] = a
	}
	return nil
}

// versionsMax is how many versions an agent may have.
const versionsMax = 10_000

// CreateAgent registers an agent. A model, a tool or a schema that cannot be used is refused now.
func (r *Runtime) CreateAgent(ctx context.Context, o Owner, d Definition) (*Agent, error) {
	return r.CreateAgentOnce(ctx, o, Once{}, d)
}

// CreateAgentOnce is CreateAgent, safe to repeat. A repetition returns the agent as it is by then, and NotFound
// if it was deleted meanwhile.
func (r *Runtime) CreateAgentOnce(ctx context.Context, o Owner, once Once, d Definition) (*Agent, error) {
	now := r.now()
	a := &Agent{Version: 1, Definition: d, CreatedAt: now, UpdatedAt: now}
	if err := r.checkAgent(ctx, a); err != nil {
		return nil, err
	}
	there := func(id string) error {
		_, _, err := r.agent(ctx, o, id)
		return err
	}
	id, err := r.once(ctx, o, once, agentPrefix, d, there, func(id string) error {
		a.ID = id
		return r.putAgent(ctx, o, a, 0)
	})
	if err != nil || !once.asked() {
		return a, err
	}
	return r.Agent(ctx, o, id, 0)
}

func (r *Runtime) checkAgent(ctx context.Context, a *Agent) error {
	if err := a.Definition.check(); err != nil {
		return err
	}
	p, err := r.program(ctx, a)
	if err != nil {
		return err
	}
	if err := r.readable(a); err != nil {
		return err
	}
	return r.affords("budget", a.Budget, p.models)
}

// putAgent stores a version and then makes it the newest.
func (r *Runtime) putAgent(ctx context.Context, o Owner, a *Agent, revision uint64) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if len(b) > journal.DocMax {
		return invalid("", "the agent has %d bytes; at most %d are allowed", len(b), journal.DocMax)
	}
	// A version that is there already is the remains of an attempt that failed.
	version := docKey(o, "agentversion", versionID(a.ID, a.Version))
	if err := r.cfg.Journal.Remove(ctx, version, 0); err != nil {
		return storage("write agent "+a.ID, err)
	}
	if _, err := r.cfg.Journal.Put(ctx, version, b, 0); err != nil {
		return storage("write agent "+a.ID, err)
	}
	if _, err = r.cfg.Journal.Put(ctx, docKey(o, "agent", a.ID), b, revision); errors.Is(err, journal.ErrConflict) {
		return conflict("agent %q has changed meanwhile", a.ID)
	} else if err != nil {
		return storage("write agent "+a.ID, err)
	}
	return nil
}

func versionID(id string, version int) string { return fmt.Sprintf("%s_%05d", id, version) }

// Agent returns a version of an agent; 0 means the newest.
func (r *Runtime) Agent(ctx context.Context, o Owner, id string, version int) (*Agent, error) {
	a, _, err := r.agent(ctx, o, id)
	if err != nil || version == 0 || version == a.Version {
		return a, err
	}
	if version < 0 || version > a.Version {
		return nil, notFound("version", fmt.Sprintf("%d of agent %s", version, id))
	}
	d, err := r.cfg.Journal.Get(ctx, docKey(o, "agentversion", versionID(id, version)))
	if err != nil {
		return nil, storage("read agent "+id, err)
	}
	old := &Agent{}
	if err := json.Unmarshal(d.Value, old); err != nil {
		return nil, storage("read agent "+id, err)
	}
	old.ArchivedAt = a.ArchivedAt
	return old, nil
}

// agent returns the newest version of an agent and the revision of its document.
func (r *Runtime) agent(ctx context.Context, o Owner, id string) (*Agent, uint64, error) {
	if a := r.shared[id]; a != nil {
		own := *a
		return &own, 0, nil
	}
	if !wellFormed(agentPrefix, id) {
		return nil, 0, notFound("agent", id)
	}
	d, err := r.cfg.Journal.Get(ctx, docKey(o, "agent", id))
	if errors.Is(err, journal.ErrNotFound) {
		return nil, 0, notFound("agent", id)
	}
	if err != nil {
		return nil, 0, storage("read agent "+id, err)
	}
	a := &Agent{}
	if err := json.Unmarshal(d.Value, a); err != nil {
		return nil, 0, storage("read agent "+id, err)
	}
	return a, d.Revision, nil
}

// wellFormed reports whether an id may be one of a kind.
func wellFormed(prefix, id string) bool {
	return strings.HasPrefix(id, prefix) && len(id) == len(prefix)+26 && strings.Trim(id, alphanumeric) == ""
}

// UpdateAgent makes a new version of an agent. change gets the newest version and changes it. version is
// the one that the caller has seen; 0 means any. Without a change there is no new version.
func (r *Runtime) UpdateAgent(ctx context.Context, o Owner, id string, version int, change func(*Definition) error,
) (*Agent, error) {
	a, revision, err := r.agent(ctx, o, id)
	switch {
	case err != nil:
		return nil, err
	case r.shared[id] != nil:
		return nil, invalid("", "agent %q is shared; change its file", a.Name)
	case a.ArchivedAt != nil:
		return nil, invalid("", "agent %q is archived and does not change any more", id)
	case version != 0 && version != a.Version:
		return nil, conflict("agent %q has version %d, not %d", id, a.Version, version)
	case a.Version == versionsMax:
		return nil, invalid("", "agent %q has %d versions, the most there may be", id, versionsMax)
	}
	before, err := json.Marshal(a.Definition)
	if err != nil {
		return nil, err
	}
	if err := change(&a.Definition); err != nil {
		return nil, err
	}
	after, err := json.Marshal(a.Definition)
	if err != nil {
		return nil, err
	}
	if string(before) == string(after) {
		return a, nil
	}
	a.Version, a.UpdatedAt = a.Version+1, r.now()
	if err := r.checkAgent(ctx, a); err != nil {
		return nil, err
	}
	return a, r.putAgent(ctx, o, a, revision)
}

// ArchiveAgent ends an agent: no session begins with it any more. It is idempotent.
func (r *Runtime) ArchiveAgent(ctx context.Context, o Owner, id string) (*Agent, error) {
	a, revision, err := r.agent(ctx, o, id)
	if err != nil || a.ArchivedAt != nil {
		return a, err
	}
	if r.shared[id] != nil {
		return nil, invalid("", "agent %q is shared; remove its file", a.Name)
	}
	now := r.now()
	a.ArchivedAt = &now
	return a, r.putAgent(ctx, o, a, revision)
}

// Agents lists the newest versions of agents, the newest agent first. next is the After of the following
// page, or "". The shared agents come first, on the first page.
func (r *Runtime) Agents(ctx context.Context, o Owner, archived bool, p Page) (list []*Agent, next string, err error) {
	if p.After == "" {
		for _, id := range slices.Sorted(maps.Keys(r.shared)) {
			list = append(list, r.shared[id])
		}
		p.Limit = max(p.Limit, len(list))
	}
	err = r.list(ctx, docKey(o, "agent", ""), p, func(d journal.Doc) (bool, error) {
		a := &Agent{}
		if err := json.Unmarshal(d.Value, a); err != nil {
			return false, err
		}
		if a.ArchivedAt != nil && !archived {
			return true, nil
		}
		if len(list) == p.Limit {
			if next = list[p.Limit-1].ID; r.shared[next] == nil {
				return false, nil
			}
			if next = "zz"; p.Reverse { // before all agents that are not shared
				next = "0"
			}
			return false, nil
		}
		list = append(list, a)
		return true, nil
	})
	return list, next, err
}

// AgentVersions lists the versions of an agent, the newest first.
func (r *Runtime) AgentVersions(ctx context.Context, o Owner, id string, p Page) (list []*Agent, next string,
	err error) {
	newest, _, err := r.agent(ctx, o, id)
	if err != nil {
		return nil, "", err
	}
	if r.shared[id] != nil {
		return []*Agent{newest}, "", nil
	}
	err = r.list(ctx, docKey(o, "agentversion", id+"_"), p, func(d journal.Doc) (bool, error) {
		a := &Agent{}
		if err := json.Unmarshal(d.Value, a); err != nil {
			return false, err
		}
		if len(list) == p.Limit {
			next = fmt.Sprintf("%05d", list[p.Limit-1].Version)
			return false, nil
		}
		if a.Version <= newest.Version {
			list = append(list, a)
		}
		return true, nil
	})
	return list, next, err
}

// list reads documents page by page until take returns false.
func (r *Runtime) list(ctx context.Context, prefix string, p Page, take func(journal.Doc) (bool, error)) error {
	if p.Limit < 1 || p.Limit > journal.ListMax {
		return invalid("limit", "it is %d; give 1 to %d", p.Limit, journal.ListMax)
	}
	if p.Before != "" {
		return invalid("page", "this list has no pages in front of another")
	}
	q := journal.Query{Prefix: prefix, Reverse: !p.Reverse}
	if p.After != "" {
		q.After = prefix + p.After
	}
	for {
		docs, err := r.cfg.Journal.List(ctx, q)
		if err != nil {
			return storage("list", err)
		}
		for _, d := range docs {
			q.After = d.Key
			if more, err := take(d); err != nil || !more {
				return err
			}
		}
		if len(docs) < journal.ListMax {
			return nil
		}
	}
}
