package verify

import (
	"context"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

func TestEndStops(t *testing.T) {
	work := func(ts ...petri.Transition) *petri.Net {
		return imported(tokens("idle"), append(ts, classic("end", arcs("idle"), arcs("over")))...)
	}
	final := work(classic("go", arcs("idle"), arcs("idle")))
	final.Final = unit("over")
	for _, c := range []struct {
		name   string
		net    *petri.Net
		except []string
		want   string
	}{
		{"final", final, nil, ""},
		{"inhibited", work(inhibit(classic("go", arcs("idle"), arcs("idle")), "over")), []string{"end"}, ""},
		{"forgotten", work(classic("go", arcs("idle"), arcs("idle"))), []string{"end"},
			"go fires although over is marked"},
		{"at two", work(func() petri.Transition {
			tr := classic("go", arcs("idle"), arcs("idle"))
			tr.Inhibit = petri.Arcs{unit("over").AtLeast(2)}
			return tr
		}()), []string{"end"}, "go fires although over is marked"},
	} {
		structurally(t, c.name, c.net, EndStops("over", c.except...), c.want)
	}
}

// structurally checks a property of the structure: proved, or refuted with a reason that says want.
func structurally(t *testing.T, name string, n *petri.Net, p *Property, want string) {
	t.Helper()
	r, err := Run(context.Background(), compile(t, n), Config{}, p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	v := r.Results[0]
	if (want == "") != (v.Outcome == Proved) || want != "" && !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %s, %s; want %q", name, v.Outcome, v.Reason, want)
	}
}
