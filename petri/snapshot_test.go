package petri

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestSnapshot stops random runs at some point, encodes and restores them, and continues both.
// Events, outputs and marking must be the same.
func TestSnapshot(t *testing.T) {
	restored, tokens, clocks := 0, 0, 0
	for seed := range 1500 {
		d := draw(rand.New(rand.NewPCG(uint64(seed), 6)).IntN)
		p, err := startPair(d.net(), 1)
		if err != nil {
			continue
		}
		if faults(func() { p.m = p.prog.Start() }) != nil {
			continue
		}
		steps(p.m, p.g, d, 1+d(12))
		if p.m.busy {
			continue
		}
		s, again := reborn(t, p.prog, p.m)
		restored, tokens, clocks = restored+1, tokens+len(s.tokens), clocks+len(s.clocks)
		after := uint64(seed)
		a := steps(p.m, p.g, rand.New(rand.NewPCG(after, 7)).IntN, 20)
		b := steps(again, p.g, rand.New(rand.NewPCG(after, 7)).IntN, 20)
		if a != b {
			t.Fatalf("seed %d: it went on with\n%s\nrestored with\n%s\n%s", seed, a, b, p.g)
		}
	}
	if restored < 800 || tokens < 2000 || clocks < 250 {
		t.Errorf("too little was restored: %d machines, %d tokens, %d clocks", restored, tokens, clocks)
	}
}

// reborn restores a machine from an encoded snapshot of another.
func reborn(t *testing.T, p *Program, m *Machine) (*Snapshot, *Machine) {
	t.Helper()
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read Snapshot
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	again, err := p.Restore(&read)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	second, err := again.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if data2, err := second.MarshalBinary(); err != nil || !bytes.Equal(data, data2) {
		t.Fatalf("a snapshot of the restored machine differs: %v\n%s\n%s", err, data, data2)
	}
	return s, again
}

// steps plays n random injections and returns what came out.
func steps(m *Machine, g *drawing, d draw, n int) string {
	var log strings.Builder
	f := faults(func() {
		for range n {
			at := m.Now() + time.Duration(d(5))
			tok := drawnToken{place: d(len(g.places)), key: d(3), gen: max(int(m.Gen())-d(2), 0), id: d(100)}.cut(g)
			if g.places[tok.place].env {
				fmt.Fprintln(&log, m.Inject(at, colouredPlace(g.places[tok.place]).token(tok)))
			}
			r := m.Advance(at)
			fmt.Fprintln(&log, r.Events, r.Wake, r.Ended)
			for _, o := range r.Out {
				fmt.Fprintf(&log, "%s %d %+v\n", o.place, o.seq, reflect.Indirect(reflect.ValueOf(o.value)))
			}
		}
	})
	return log.String() + fmt.Sprintln(f, m.Marking(nil))
}

// at5 is a machine of tick in the middle of a wait.
func at5(t *testing.T) (*Program, *Machine) {
	w := play(t, tick())
	w.inject(5*ms, pText.Token("x"))
	w.until(5 * ms)
	return w.p, w.m
}

func TestSnapshotGoesOn(t *testing.T) {
	p, m := at5(t)
	s, again := reborn(t, p, m)
	same(t, "snapshot", fmt.Sprint(s.Net, s.At, s.Seq), "tick5ms 3")
	w := &world{T: t, p: p, m: again}
	same(t, "now", again.Now(), 5*ms)
	same(t, "wake", again.Wake(), 10*ms)
	same(t, "trace", w.until(20*ms), "10ms tick, 20ms tick")
	same(t, "numbers go on", w.events[0].Seq, 4)
}

func TestSnapshotText(t *testing.T) {
	p, m := at5(t)
	_ = p
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/snapshot.golden", string(data)+"\n")
}

func TestSnapshotRefused(t *testing.T) {
	p, m := at5(t)
	if _, err := play(t, tick()).m.Snapshot(); fmt.Sprint(err) !=
		"petri: snapshot of net tick: 1 events and 0 outputs were not taken by Advance" {
		t.Errorf("before Advance: %v", err)
	}
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	other := tick()
	other.Transitions[0].When = After(11 * ms)
	if _, err := compiled(t, other).Restore(s); !errors.Is(err, ErrOtherNet) {
		t.Errorf("another wait: %v", err)
	}
	if _, err := p.Restore(nil); !errors.Is(err, ErrOtherNet) {
		t.Errorf("nil: %v", err)
	}
	other.Transitions[0].When = Between(1, 2)
	if _, err := compiled(t, other).Restore(s); err == nil {
		t.Error("a net that cannot run was restored")
	}
	m.busy = true
	if _, err := m.Snapshot(); !errors.Is(err, ErrFaulted) {
		t.Errorf("after a fault: %v", err)
	}
	data, _ := os.ReadFile("testdata/snapshot.golden")
	data = bytes.TrimSpace(data)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 4
		if err := new(Snapshot).UnmarshalBinary(bad); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherVersion) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if err := new(Snapshot).UnmarshalBinary(data[:i]); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherVersion) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	future := bytes.Replace(data, []byte("snapshot 1 "), []byte("snapshot 2 "), 1)
	if err := new(Snapshot).UnmarshalBinary(future); fmt.Sprint(err) !=
		`petri: decode snapshot: the snapshot has another format: version "2", not "1"` {
		t.Errorf("version 2: %v", err)
	}
}

// TestRestoreDamaged restores snapshots of impossible states.
func TestRestoreDamaged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Snapshot)
		want   string
	}{
		{"time", func(s *Snapshot) { s.At = -1 }, "time -1ns, event 3"},
		{"number", func(s *Snapshot) { s.Seq = 0 }, "time 5ms, event 0"},
		{"place", func(s *Snapshot) { s.tokens[0].place = "nowhere" }, `place "nowhere" never holds tokens`},
		{"output", func(s *Snapshot) { s.tokens[0].place = "out" }, `place "out" never holds tokens`},
		{"slot", func(s *Snapshot) { s.tokens[0].slot = 1 }, `1 tokens at slot 1 of place "a" do not fit`},
		{"count", func(s *Snapshot) { s.tokens[0].n = MaxTokens + 1 }, `65537 tokens at slot 0 of place "a" do not fit`},
		{"nothing", func(s *Snapshot) { s.tokens[0].n = 0 }, `0 tokens at slot 0 of place "a" do not fit`},
		{"colour", func(s *Snapshot) { s.tokens = append(s.tokens, heldToken{place: "text", n: 1, value: 7}) },
			`a token at place "text" is int, not string`},
		{"payload", func(s *Snapshot) { s.tokens = append(s.tokens, heldToken{place: "text", n: 1, raw: []byte("7")}) },
			`a token at place "text": petri: decode 7 as string: json: cannot unmarshal number into Go value of type string`},
		{"enabled", func(s *Snapshot) { s.tokens = append(s.tokens, heldToken{place: "text", n: 1, value: "x"}) },
			`transition "say": enabled true, clock runs false`},
		{"no clock", func(s *Snapshot) { s.clocks = nil }, `transition "tick": enabled true, clock runs false`},
		{"clock of none", func(s *Snapshot) { s.clocks[0].transition = "say" },
			`transition "say" has no clock that is due at 10ms`},
		{"clock in the past", func(s *Snapshot) { s.clocks[0].due = 5 * ms },
			`transition "tick" has no clock that is due at 5ms`},
		{"two clocks", func(s *Snapshot) { s.clocks = append(s.clocks, s.clocks[0]) },
			`transition "tick" has no clock that is due at 10ms`},
		{"end", func(s *Snapshot) { s.ended = true }, "ended true, but its final place is marked false"},
		{"work", func(s *Snapshot) { s.Working = []string{"b"} }, `no task has the in-flight place "b"`},
	} {
		p, m := at5(t)
		s, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		c.change(s)
		_, err = p.Restore(s)
		same(t, c.name, fmt.Sprint(err), `petri: restore net "tick": the snapshot is damaged: `+c.want)
		same(t, c.name, errors.Is(err, ErrDamaged), true)
	}
}

func TestSnapshotKinds(t *testing.T) {
	n := &Net{Name: "n", Env: env(pKept, pA), Sinks: []AnyPlace{pKept},
		Transitions: []Transition{{Name: "bump", In: Arcs{pA}, Bump: true}}}
	w := play(t, n)
	w.inject(0, pKept.Token(&chunk{n: 7}))
	w.until(0)
	s, err := w.m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.MarshalBinary()
	same(t, "payload that JSON forgets", fmt.Sprint(err), "petri: encode snapshot of net n: place kept: "+
		"*petri.chunk does not survive JSON; implement json.Marshaler and json.Unmarshaler")
	s.tokens[0].slot = 1
	_, err = w.p.Restore(s)
	same(t, "another age", fmt.Sprint(err), `petri: restore net "n": the snapshot is damaged: `+
		`a token at place "kept" was saved as kept[stale] and decodes as kept[fresh] `)
	hidden := Place[secret]("card")
	w = play(t, &Net{Name: "n", Env: env(hidden), Sinks: []AnyPlace{hidden}})
	w.inject(0, hidden.Token("4111"))
	w.until(0)
	if s, err = w.m.Snapshot(); err != nil {
		t.Fatal(err)
	}
	_, err = s.MarshalBinary()
	same(t, "secret", fmt.Sprint(err),
		"petri: encode snapshot of net n: place card: petri.secret is Secret and must not be stored")
}

// TestSnapshotWorking checks that tasks at work are known after a restore, including cancelled ones
// that have not ended.
func TestSnapshotWorking(t *testing.T) {
	const draining = Place[Unit]("draining")
	n := worker(func(n *Net) {
		n.Transitions = append(n.Transitions,
			Transition{Name: "time_out", In: Arcs{pB}, Out: And(draining), When: After(50 * ms)},
			Transition{Name: "drained", In: Arcs{pDone, draining}, Out: And(pC)})
		n.Sinks = []AnyPlace{pC}
	})
	w := play(t, n)
	for _, at := range []time.Duration{0, 60 * ms} {
		w.until(at)
		s, again := reborn(t, w.p, w.m)
		same(t, "working", fmt.Sprint(s.Working), "[b]")
		list := again.Working()
		same(t, "tasks", len(list), 1)
		done := w.p.Places()[list[0].Done].Name
		if err := again.Inject(at, Place[Result[string]](done).Token(Result[string]{Outcome: Failed})); err != nil {
			t.Fatal(err)
		}
	}
	w.inject(60*ms, pDone.Token(Result[string]{}))
	w.until(60 * ms)
	same(t, "none", len(w.m.Working()), 0)
}

// FuzzSnapshot decodes and restores arbitrary bytes.
func FuzzSnapshot(f *testing.F) {
	data, err := os.ReadFile("testdata/snapshot.golden")
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	f.Add(body)
	p, err := Compile(tick())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var s Snapshot
		head := snapshotFormat + snapshotVersion + checksum(body) + "\n"
		if s.UnmarshalBinary(append([]byte(head), body...)) != nil {
			return
		}
		m, err := p.Restore(&s)
		if err != nil {
			return
		}
		if err := m.Inject(m.Now(), pText.Token("x")); err != nil {
			t.Fatal(err)
		}
		m.Advance(m.Wake())
	})
}
