// Package prove proves the sessions of a gateway on all processors. Call it before the gateway
// serves calls:
//
//	gw, err := voicegw.New(config)
//	...
//	proofs, err := prove.Sessions(ctx, cache, gw.Nets()...)
//
// Package prove links the search for proofs; package voicegw does not.
package prove

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// Sessions proves that each session keeps every claim of claims.Prover. It checks certificates that
// ship or that the cache has, and proves the rest now. That takes a few seconds with the default
// budget, and grows with its square. The error names each session that fails and its first claim
// that is not proved, with a run that breaks it if there is one. cache may be nil; otherwise
// several goroutines use it concurrently.
func Sessions(ctx context.Context, cache claims.Cache, configs ...voicenets.Config) ([]*claims.Proof, error) {
	return Watched(ctx, cache, nil, configs...)
}

// Watched is Sessions, and tells step how far it is, as claims.Prover does. step may be nil.
func Watched(ctx context.Context, cache claims.Cache, step func(slice string, done, all int),
	configs ...voicenets.Config) ([]*claims.Proof, error) {
	list, err := Verdicts(ctx, claims.Prover{Cache: cache, Step: step}, configs...)
	for _, p := range list {
		if wrong := p.Err(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("prove: a net of calls (%s): %w", p.Name, wrong))
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Verdicts returns the result of p for each session, including claims that do not hold. Unless p
// has a Run of its own, it works on all processors.
func Verdicts(ctx context.Context, p claims.Prover, configs ...voicenets.Config) ([]*claims.Proof, error) {
	if p.Run == nil {
		p.Run = sideBySide
	}
	return p.Prove(ctx, configs...)
}

// sideBySide runs jobs on all processors at the same time and waits for them.
func sideBySide(jobs []func()) {
	var running sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				jobs[i]()
			}
		})
	}
	running.Wait()
}
