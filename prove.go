package voicegw

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/voicenets"
)

// Prove makes sure that every net calls may run keeps what voicenets.Prover
// proves: by certificates that are checked again, or by a proof that is made now,
// which takes a few seconds with the default budget and grows with its square.
// Call it before serving; an error says what is wrong and, for a claim that does
// not hold, how. cache may be nil; else it is used by several goroutines at a
// time.
func (g *Gateway) Prove(ctx context.Context, cache voicenets.Cache) ([]*voicenets.Proof, error) {
	list, err := g.Verify(ctx, voicenets.Prover{Cache: cache})
	for _, p := range list {
		if wrong := p.Err(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("voicegw: a net of calls (%s): %w", p.Name, wrong))
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Verify finds out what every net that calls may run keeps, as Prove does, and
// returns the verdicts, one proof for each kind of session: a hello may choose
// who detects speech, and half-duplex. Unless p says otherwise, it works on as
// many processors as there are.
func (g *Gateway) Verify(ctx context.Context, p voicenets.Prover) ([]*voicenets.Proof, error) {
	if p.Run == nil {
		p.Run = sideBySide
	}
	var nets []voicenets.Config
	for _, v := range variants() {
		nets = append(nets, g.cfg.netOf(v))
	}
	list, err := p.Prove(ctx, nets...)
	if err != nil {
		return nil, fmt.Errorf("voicegw: %w", err)
	}
	return list, nil
}

// sideBySide runs jobs, one on each processor, and waits for them.
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
