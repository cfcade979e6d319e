package rtc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// order runs sequence numbers through a reorder and says what came out: numbers, and "x3" for three
// lost.
func order(base uint16, numbers ...int) string {
	var out []string
	r := reorder{}
	r.emit = func(kind uint8, payload []byte) {
		out = append(out, fmt.Sprint(int(int16(uint16(payload[0])|uint16(payload[1])<<8-base))))
	}
	r.lost = func(n int) { out = append(out, fmt.Sprint("x", n)) }
	for _, n := range numbers {
		if n < -30000 {
			r.flush()
			continue
		}
		seq := base + uint16(n)
		r.push(seq, 1, []byte{byte(seq), byte(seq >> 8)})
	}
	return strings.Join(out, " ")
}

const flushes = -40000

// TestReorder puts packets in order, waits for three of them, and begins anew with a sender who
// does.
func TestReorder(t *testing.T) {
	many := func(from, n int) (out []int) {
		for i := range n {
			out = append(out, from+i)
		}
		return out
	}
	for _, test := range []struct {
		in   []int
		want string
	}{
		{[]int{0, 1, 2}, "0 1 2"},
		{[]int{0, 2, 1, 3}, "0 1 2 3"},
		{[]int{0, 3, 2, 1, 4}, "0 1 2 3 4"},
		{[]int{0, 2, 3, 4}, "0"},
		{[]int{0, 2, 3, 4, 5}, "0 x1 2 3 4 5"},
		{[]int{0, 2, 3, 4, 5, 1, 6}, "0 x1 2 3 4 5 6"},
		{[]int{0, 1, 1, 2, 4, 4, 3}, "0 1 2 3 4"},
		{[]int{0, 3, 5, flushes}, "0 x2 3 x1 5"},
		{[]int{0, 20, 21}, "0 x19 20 21"},
		{[]int{0, 2, 30}, "0 x1 2 x27 30"},
		{[]int{0, -5, 1}, "0 1"},
		{[]int{0, -2000, -1999}, "0 -2000 -1999"},
		{slices.Concat([]int{0, 1, 2}, many(-100, 10)), "0 1 2 -92 -91"},
	} {
		for _, base := range []uint16{100, 65530, 32760} {
			if got := order(base, test.in...); got != test.want {
				t.Errorf("%v from %d: %q, want %q", test.in, base, got, test.want)
			}
		}
	}
}

// FuzzReorder: whatever comes, no packet comes out twice in a row, and what waits is bounded.
func FuzzReorder(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 3, 0, 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		last, any := uint16(0), false
		r := reorder{}
		r.emit = func(_ uint8, p []byte) {
			seq := uint16(p[0]) | uint16(p[1])<<8
			if any && seq == last {
				t.Fatalf("packet %d came out twice", seq)
			}
			last, any = seq, true
		}
		r.lost = func(n int) {
			if n < 1 || n > 1<<16 {
				t.Fatalf("%d were lost", n)
			}
		}
		for ; len(b) >= 2; b = b[2:] {
			r.push(uint16(b[0])|uint16(b[1])<<8, 0, b[:2])
			if r.waiting < 0 || r.waiting > heldMax {
				t.Fatalf("%d wait", r.waiting)
			}
		}
		if r.flush(); r.waiting != 0 {
			t.Fatalf("%d wait", r.waiting)
		}
	})
}
