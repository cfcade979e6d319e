package verify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
)

// plays records a refuted property's witness and plays the script.
func plays(t *testing.T, n *petri.Net, c Config, prop *Property, words ...string) {
	t.Helper()
	v := checkNet(t, n, c, prop).Results[0]
	if v.Outcome != Refuted {
		t.Fatalf("%s: %s", v.Outcome, v.Reason)
	}
	text, prog, err := v.Witness.Script(c.Open)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	petritest.Run(t, file, prog)
}

// TestRecordedScripts: scripts of witnesses pass as tests, of open nets, of nets that only time
// moves, and of those that wait for intervals.
func TestRecordedScripts(t *testing.T) {
	chain := func(wait petri.Interval) *petri.Net {
		return imported(tokens("A", "B"), petri.Transition{Name: "a", In: arcs("A"), Out: outs("C"), When: wait},
			petri.Transition{Name: "b b", In: arcs("B"), Read: arcs("C"), Out: outs("D"), When: petri.After(time.Second)},
			petri.Transition{Name: "d", In: arcs("D"), Out: outs("E")})
	}
	t.Run("open", func(t *testing.T) {
		n, err := petri.Close("closed", keyed(), talker())
		if err != nil {
			t.Fatal(err)
		}
		plays(t, n, Config{Open: compile(t, keyed())}, Never("right && idle == 0"),
			"# talker/say_no\ninject in no @1s\n----\n", "1s fired no", "marking\n----\n")
	})
	t.Run("point", func(t *testing.T) {
		plays(t, chain(petri.After(time.Second)), Config{}, Never("E"), "advance 2s\n----\n0s started\n1s fired a\n",
			"2s fired d\n", "E 1\n")
	})
	for name, sem := range map[string]netmodel.Semantics{"interval": netmodel.RunToCompletion,
		"interleaved": netmodel.Interleave} {
		t.Run(name, func(t *testing.T) {
			plays(t, chain(petri.Between(2*time.Second, 3*time.Second)), Config{Semantics: sem}, Never("E"),
				"inject fire_a @2s\n", "inject fire_1 @3s\n", "E 1\n")
		})
	}
}

// TestRecordedFault: a script may end in the fault that a property rules out.
func TestRecordedFault(t *testing.T) {
	for name, wait := range map[string]petri.Interval{"point": petri.After(time.Second),
		"interval": petri.Between(time.Second, 2*time.Second)} {
		t.Run(name, func(t *testing.T) {
			n := imported(tokens("A", "B"), petri.Transition{Name: "a", In: arcs("A"), Out: outs("B"), When: wait})
			n.Caps = []petri.Cap{{Place: unit("B"), Max: 1}}
			plays(t, n, Config{}, WithinCapacity(), "1s faulted", "fault: ")
		})
	}
}

// seat is a colour with key and generation that is read from an object.
type seat struct {
	Row  word
	Turn petri.Gen
}

func (s seat) Key() petri.Key { return s.Row.Key() }

func (s seat) KeyNames() []string { return s.Row.KeyNames() }

func (s seat) Generation() petri.Gen { return s.Turn }

// TestRecordedTokens: tokens of every kind are found a text, in the generation of their time.
func TestRecordedTokens(t *testing.T) {
	const in = petri.Place[seat]("in")
	open := func() *petri.Net {
		return &petri.Net{Name: "core", Ports: []petri.AnyPlace{in}, Imported: true,
			Env: []petri.Env{{Place: in, Capacity: 4}}, Init: tokens("idle"), Transitions: []petri.Transition{
				{Name: "bump", In: arcs("idle"), Out: outs("busy"), When: petri.After(time.Second), Bump: true},
				{Name: "fresh", In: petri.Arcs{in.Is(word(1)).Fresh()}, Read: arcs("busy"), Out: outs("good")},
				{Name: "stale", In: petri.Arcs{in.Is(word(1)).Stale()}, Read: arcs("busy"), Out: outs("bad")},
			}}
	}
	const held = petri.Place[seat]("held")
	sitter := &petri.Net{Name: "sitter", Ports: []petri.AnyPlace{in}, Init: append(tokens("credit"),
		held.Token(seat{Row: 1})), Transitions: []petri.Transition{
		{Name: "now", In: arcs("credit"), Out: petri.And(in.Is(word(1)).Fresh()), When: petri.After(3 * time.Second)},
		{Name: "late", In: petri.Arcs{held.Stale()}, Out: petri.And(in.Passing(held)),
			When: petri.Between(time.Second, 9*time.Second)},
	}}
	n, err := petri.Close("closed", open(), sitter)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Open: compile(t, open())}
	plays(t, n, c, Never("bad >= 1"), "advance 2s", "inject in @2s\n{\"Row\":1}\n", "fired stale")
	plays(t, n, c, Never("good >= 1"), "inject in @3s\n{\"Row\":1,\"Turn\":1}\n", "fired fresh")
}

// TestScriptsRefused: what no machine has replayed is not written down.
func TestScriptsRefused(t *testing.T) {
	n := imported(tokens("A"), petri.Transition{Name: "a", In: arcs("A"), Out: outs("C"), When: petri.After(time.Second)})
	w := *checkNet(t, n, Config{}, Never("C")).Results[0].Witness
	for name, change := range map[string]func(*witness.Witness){
		"not replayed": func(w *witness.Witness) { w.Replayed = false },
		"no times":     func(w *witness.Witness) { w.Timed = false },
		"from JSON": func(w *witness.Witness) {
			data, _ := json.Marshal(w)
			*w = witness.Witness{}
			if err := json.Unmarshal(data, w); err != nil {
				t.Fatal(err)
			}
		},
	} {
		bad := w
		change(&bad)
		if text, _, err := bad.Script(nil); err == nil || text != "" {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	bad := w
	bad.Firings = nil
	if _, _, err := bad.Script(nil); err != nil {
		t.Errorf("no firings: %v", err)
	}
	bad.Firings = append(append([]witness.Firing(nil), w.Firings...), w.Firings...)
	if _, _, err := bad.Script(nil); err == nil || !strings.Contains(err.Error(), "script of net") {
		t.Errorf("a firing too many: %v", err)
	}
}

// TestWitnessMarkings: one marking before the first firing and one after each.
func TestWitnessMarkings(t *testing.T) {
	n := imported(tokens("A"), petri.Transition{Name: "a", In: arcs("A"), Out: outs("C"), When: petri.After(time.Second)})
	w := checkNet(t, n, Config{}, Never("C")).Results[0].Witness
	got, p := w.Markings(), w.Program()
	if len(got) != 2 || got[0][p.Places()[p.Place("A")].Slot] != 1 || got[1][p.Places()[p.Place("C")].Slot] != 1 {
		t.Errorf("%v", got)
	}
}
