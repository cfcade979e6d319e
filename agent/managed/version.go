package managed

import (
	"context"
	"strings"
)

// A turn keeps the version of the program with which it began (agent.Program.Version): what the journal has of it is
// worth nothing to another program. A turn that begins takes the program that there is.

// fits is the error of a session whose turn began with another version of its program, and would go on with this one.
// Journals of earlier versions do not tell.
func (s *state) fits(p *program) error {
	if s.turn == nil || s.turn.info.Version == "" || s.turn.info.Version == p.prog.Version {
		return nil
	}
	return conflict("%q has changed since the run of session %s began: it was version %s, and now it is %s. Put the old "+
		"one back (of a workflow: its file), or archive the session and start a new one", s.info.Agent.Program, s.info.ID,
		shortVersion(s.turn.info.Version), shortVersion(p.prog.Version))
}

// shortVersion is a version for people: the first digits of a hash.
func shortVersion(v string) string {
	if _, hash, ok := strings.Cut(v, ":"); ok {
		v = hash
	}
	if v == "" {
		return "unknown"
	}
	return v[:min(len(v), 12)]
}

// GoOn brings a session into memory, and resumes its run if a process stopped in the middle of it. It does nothing for
// a session that has ended. The error says why the session cannot go on.
func (r *Runtime) GoOn(ctx context.Context, o Owner, id string) error {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return err
	}
	last, err := r.head(ctx, id)
	if err != nil || last.Archived != nil || last.Status == Terminated {
		return err
	}
	return r.with(ctx, id, func(*owned) error { return nil })
}
