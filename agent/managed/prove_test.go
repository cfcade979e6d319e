//go:build !race

package managed

import "testing"

func TestProveSessions(t *testing.T) {
	claims, err := Prove(t.Context(), Limits{})
	if err != nil || claims < 40 {
		t.Errorf("%d claims, %v", claims, err)
	}
	t.Log(claims, "claims")
}
