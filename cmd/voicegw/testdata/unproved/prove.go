// Package prove stands in for voicenets/prove in a binary of the tests: it proves nothing. The go
// command puts it in the other's place (-overlay), see TestMain. No other build has it.
package prove

import (
	"context"
	"errors"

	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// Sessions returns no proofs, and an error if ctx has ended.
func Sessions(ctx context.Context, _ claims.Cache, _ ...voicenets.Config) ([]*claims.Proof, error) {
	return nil, ctx.Err()
}

// Verdicts returns an error: a verdict needs a proof.
func Verdicts(context.Context, claims.Prover, ...voicenets.Config) ([]*claims.Proof, error) {
	return nil, errors.New("this binary proves nothing")
}
