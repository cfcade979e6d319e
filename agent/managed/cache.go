package managed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/petri"
)

const (
	// programsMax and netsMax limit what a Runtime keeps for the sessions to come. Beyond, it begins anew.
	programsMax = 256
	netsMax     = 64
	// programLife is how long a program is given to further sessions. A key or an address of a model that has
	// changed counts from then on.
	programLife = 5 * time.Minute
)

// compiled are programs and nets that sessions share, because to compile them takes milliseconds. Runtime.mu.
type compiled struct {
	programs map[[sha256.Size]byte]agedProgram // by definition and skills
	nets     map[lifeKind]*petri.Program       // of a session's life, by the time-out of calls
}

type agedProgram struct {
	*program
	made time.Time
}

// program returns the program of an agent, which other sessions may use, too.
func (r *Runtime) program(ctx context.Context, a *Agent) (*program, error) {
	b, err := json.Marshal(a.Definition)
	if err != nil {
		return nil, fmt.Errorf("managed: %w", err)
	}
	instructions, err := r.skills(a.Skills)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(append(append(b, 0), instructions...))
	r.mu.Lock()
	known, ok := r.compiled.programs[key]
	r.mu.Unlock()
	if ok && time.Since(known.made) < programLife {
		return known.program, nil
	}
	p, err := r.newProgram(ctx, a)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.compiled.programs) >= programsMax || r.compiled.programs == nil {
		r.compiled.programs = map[[sha256.Size]byte]agedProgram{}
	}
	r.compiled.programs[key] = agedProgram{program: p, made: time.Now()}
	return p, nil
}

// lifeKind is what the net of a session's life depends on, besides the limits.
type lifeKind struct {
	parkTimeout time.Duration
	eager       bool
}

// life returns the net of a session's life.
func (r *Runtime) life(k lifeKind) (*petri.Program, error) {
	r.mu.Lock()
	known := r.compiled.nets[k]
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	n, err := life.Net(life.Config{Backoff: r.cfg.Limits.Backoff, ParkTimeout: k.parkTimeout,
		Eager: k.eager})
	if err != nil {
		return nil, err
	}
	p, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("managed: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.compiled.nets) >= netsMax || r.compiled.nets == nil {
		r.compiled.nets = map[lifeKind]*petri.Program{}
	}
	r.compiled.nets[k] = p
	return p, nil
}
