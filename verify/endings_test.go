package verify

import (
	"context"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// atOnce is a transition that fires at once.
func atOnce(name string, in, out petri.Arcs) petri.Transition {
	t := classic(name, in, out)
	t.When = petri.Interval{}
	return t
}

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

func TestFallback(t *testing.T) {
	known := atOnce("known", petri.Arcs{hue.Is(shade(0)), unit("idle")}, arcs("idle"))
	dark := atOnce("dark", petri.Arcs{hue.Is(shade(1))}, nil)
	net := func(ts ...petri.Transition) *petri.Net {
		n := imported(append(tokens("idle"), hue.Token(0)), append(ts, classic("rest", arcs("idle"), arcs("idle")))...)
		return n
	}
	for _, c := range []struct {
		name string
		net  *petri.Net
		want string
	}{
		{"any", net(known, atOnce("drop", petri.Arcs{hue}, nil)), ""},
		{"all", net(known, atOnce("drop", petri.Arcs{hue.All()}, nil)), ""},
		{"each", net(atOnce("light", petri.Arcs{hue.Is(shade(0))}, nil), dark), ""},
		{"one is left", net(known, dark), "nothing takes hue[light] in every state"},
		{"inhibited", net(known, dark, inhibit(atOnce("drop", petri.Arcs{hue}, nil), "idle")), "nothing takes hue[light]"},
		{"two at a time", net(known, dark, atOnce("drop", petri.Arcs{hue.Exactly(2)}, nil)), "nothing takes hue[light]"},
		{"two or all", net(known, dark, atOnce("drop", petri.Arcs{hue.AtLeast(2)}, nil)), "nothing takes hue[light]"},
		{"later", net(known, dark, classic("drop", petri.Arcs{hue}, nil)), "nothing takes hue[light]"},
	} {
		structurally(t, c.name, c.net, Fallback("hue"), c.want)
	}
}

// structurally checks a property of the structure: proved, or refuted with a
// reason that says want.
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
