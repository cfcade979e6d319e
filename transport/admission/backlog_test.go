package admission

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBacklog(t *testing.T) {
	b := NewBacklog(5, 3)
	var out []string
	enter := func(address, name string) *Place {
		return b.Enter(address, func() { out = append(out, name) })
	}
	want := func(when string, names ...string) {
		t.Helper()
		if !slices.Equal(out, names) {
			t.Errorf("%s: pushed out %v, want %v", when, out, names)
		}
	}
	first := enter("a", "a1")
	for _, name := range []string{"a2", "a3", "a4"} {
		enter("a", name)
	}
	want("one too many of an address", "a1")
	if first.Leave() {
		t.Error("a place that was taken away is left")
	}
	b1 := enter("b", "b1")
	enter("c", "c1")
	want("all places are taken", "a1")
	enter("d", "d1")
	want("one too many", "a1", "a2")
	enter("e", "e1")
	want("one too many again", "a1", "a2", "a3")
	enter("f", "f1")
	want("all addresses have one", "a1", "a2", "a3", "a4")
	if !b1.Leave() || b1.Leave() || b.taken() != 4 {
		t.Errorf("%d are left", b.taken())
	}
	if !b.PushOut("c") || b.PushOut("c") || b.taken() != 3 {
		t.Errorf("%d are left when one was pushed out", b.taken())
	}
	want("pushed out by name", "a1", "a2", "a3", "a4", "c1")
}

// TestBacklogIsBounded: in whatever order they come and go, there are never more than may be, a
// newcomer is always in, and who is alone at an address is never pushed out while another has two.
func TestBacklogIsBounded(t *testing.T) {
	const most, each, addresses = 8, 3, 6
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBacklog(most, each)
	in := map[*Place]string{}
	lost := "" // the address of the place that was taken away last
	for range 20_000 {
		if len(in) > 0 && rng.IntN(3) == 0 {
			for p := range in {
				if !p.Leave() {
					t.Fatal("a place was taken away and nobody said so")
				}
				delete(in, p)
				break
			}
			continue
		}
		address := fmt.Sprint(rng.IntN(addresses))
		count := map[string]int{}
		for _, a := range in {
			count[a]++
		}
		var p *Place
		lost = ""
		p = b.Enter(address, func() { lost = in[p]; delete(in, p) })
		in[p] = address
		if lost != "" && lost != address && count[lost] < slices.Max([]int{count["0"], count["1"], count["2"], count["3"],
			count["4"], count["5"]}) {
			t.Fatalf("an address with %d lost one, of %v", count[lost], count)
		}
		count = map[string]int{}
		for _, a := range in {
			count[a]++
		}
		if b.taken() != len(in) || len(in) > most || count[address] > each {
			t.Fatalf("%d places, %d known; %v", b.taken(), len(in), count)
		}
	}
}

func BenchmarkBacklog(b *testing.B) {
	b.ReportAllocs()
	log := NewBacklog(256, 64)
	addresses := make([]string, 300)
	for i := range addresses {
		addresses[i] = fmt.Sprint(i)
	}
	for i := range b.N {
		log.Enter(addresses[i%len(addresses)], func() {})
	}
}

// taken returns the number of taken places.
func (b *Backlog) taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.in.Len()
}
