//go:build !race

package voicegw_test

import (
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// TestProveNow: with a budget for which no certificates ship the nets are proved now. It takes what
// many calls take, most of it in the machine of petri, which the race detector slows down;
// TestProve has the same goroutines under it.
func TestProveNow(t *testing.T) {
	proved(t, 4, claims.FromNow, voicegw.Config{Net: voicenets.Config{BudgetFrames: 4}})
}
