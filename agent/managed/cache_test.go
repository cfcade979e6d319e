package managed

import (
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestSharedPrograms: sessions of the same definition share a program for a while; others do not. The number of
// programs has a limit.
func TestSharedPrograms(t *testing.T) {
	in(t, func(t *testing.T) {
		h := chat(t, journaltest.NewMemory())
		defer h.close()
		get := func(system string) *program {
			t.Helper()
			p, err := h.rt.program(t.Context(), &Agent{Definition: Definition{Name: "desk", System: system,
				Model: ModelRef{ID: "script"}}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a, b := get("a"), get("b")
		if a == b || a != get("a") {
			t.Error("a program is shared by two definitions, or not by two sessions")
		}
		time.Sleep(programLife)
		if a == get("a") {
			t.Error("a program is shared for ever")
		}
		for i := range programsMax + 8 {
			get(fmt.Sprint(i))
		}
		for i := range netsMax + 8 {
			if _, err := h.rt.life(lifeKind{parkTimeout: time.Duration(i+1) * time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		if p, n := len(h.rt.compiled.programs), len(h.rt.compiled.nets); p > programsMax || n > netsMax {
			t.Errorf("%d programs and %d nets are kept", p, n)
		}
	})
}
