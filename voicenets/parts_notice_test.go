package voicenets

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
)

// noticed is how many of the changes of parts their scripts notice at least. Most of the others
// change nothing that shows: an inhibitor where another transition comes first, a reset of a place
// that is empty.
const noticed = 0.75

// TestPartsNotice takes each arc from each part, and each wait, and counts the scripts that fail.
func TestPartsNotice(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scripts() {
		base := s.net(t)
		stories := s.stories(t)
		if !stories.hold(base) {
			t.Errorf("%s: its scripts do not hold", s.file)
			continue
		}
		for i := range base.Transitions {
			for what, changed := range changes(&base.Transitions[i]) {
				n := *base
				n.Transitions = slices.Clone(base.Transitions)
				n.Transitions[i] = changed
				name := string(s.part) + "/" + changed.Name + " without " + what
				seen[name] = seen[name] || !stories.hold(&n)
			}
		}
	}
	missed := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(name string) bool { return seen[name] })
	rate := 1 - float64(len(missed))/float64(len(seen))
	t.Logf("of %d changes %.1f %% are noticed, not:\n%s", len(seen), 100*rate, strings.Join(missed, "\n"))
	if len(seen) < 1000 || rate < noticed {
		t.Errorf("of %d changes %.1f %% are noticed, want %.0f %%", len(seen), 100*rate, 100*noticed)
	}
}

// changes are a transition without one of its arcs, or without its wait.
func changes(t *petri.Transition) map[string]petri.Transition {
	all := map[string]petri.Transition{}
	add := func(what string, change func(*petri.Transition)) {
		changed := *t
		change(&changed)
		all[what] = changed
	}
	for kind, pick := range map[string]func(*petri.Transition) *petri.Arcs{
		"input":     func(t *petri.Transition) *petri.Arcs { return &t.In },
		"read":      func(t *petri.Transition) *petri.Arcs { return &t.Read },
		"inhibitor": func(t *petri.Transition) *petri.Arcs { return &t.Inhibit },
		"reset":     func(t *petri.Transition) *petri.Arcs { return &t.Reset },
	} {
		for i, a := range *pick(t) {
			add(kind+" "+petri.ArcPlace(a).String(), func(t *petri.Transition) {
				arcs := pick(t)
				*arcs = slices.Delete(slices.Clone(*arcs), i, i+1)
			})
		}
	}
	for i, a := range t.Out.Arcs() {
		add("output "+petri.ArcPlace(a).String(), func(t *petri.Transition) { t.Out = t.Out.Without(0, i) })
	}
	if !t.When.AtOnce() {
		add("its wait", func(t *petri.Transition) { t.When = petri.After(1) })
	}
	return all
}

// story is what comes, and what must happen.
type story struct{ in, want string }

type stories []story

// stories are those of a file of scripts.
func (s scripted) stories(t *testing.T) stories {
	data, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	var list stories
	for _, block := range strings.Split(string(data), "\n\n") {
		if head, want, ok := strings.Cut(block, "\n----\n"); ok {
			_, in, _ := strings.Cut("\n"+head, "\nplay\n")
			list = append(list, story{in, strings.TrimSpace(want)})
		}
	}
	return list
}

// hold reports whether a part does what all stories say.
func (list stories) hold(n *petri.Net) bool {
	prog, err := petri.Compile(petritest.Surrounded(n))
	return err == nil && !slices.ContainsFunc(list, func(s story) bool { return traceOf(prog, s.in) != s.want })
}

// traceOf is the trace of a story; a machine that breaks has none.
func traceOf(prog *petri.Program, in string) (trace string) {
	defer func() {
		if recover() != nil {
			trace = "broken"
		}
	}()
	return strings.TrimSpace(petritest.NewPlayer(prog).Do("play", nil, in))
}
