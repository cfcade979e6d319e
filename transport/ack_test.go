package transport

import "testing"

// ackStep hands over frames of a generation, or acknowledges one.
type ackStep struct {
	sent       int
	generation uint64
	ms         int64
	cleared    bool
	want       Acked
}

func TestAckCounter(t *testing.T) {
	tests := []struct {
		name  string
		steps []ackStep
	}{
		{"in all, not since the last", []ackStep{
			{generation: 1, sent: 10},
			{generation: 1, ms: 100, want: Acked{Played: 5}},
			{generation: 1, ms: 160, want: Acked{Played: 3}},
			{generation: 1, ms: 200, want: Acked{Played: 2}},
		}},
		{"a part of a frame is not heard yet", []ackStep{
			{generation: 1, sent: 2},
			{generation: 1, ms: 19, want: Acked{}},
			{generation: 1, ms: 39, want: Acked{Played: 1}},
		}},
		{"never goes down", []ackStep{
			{generation: 1, sent: 10},
			{generation: 1, ms: 100, want: Acked{Played: 5}},
			{generation: 1, ms: 20, want: Acked{}},
			{generation: 1, ms: -20, want: Acked{}},
			{generation: 1, ms: 120, want: Acked{Played: 1}},
		}},
		{"never more than was sent", []ackStep{
			{generation: 1, sent: 3},
			{generation: 1, ms: 1000, want: Acked{Played: 3, Excess: true}},
			{generation: 1, sent: 2},
			{generation: 1, ms: 1000, want: Acked{Played: 2, Excess: true}},
		}},
		{"a clear drops what is open, and it may come again", []ackStep{
			{generation: 1, sent: 10},
			{generation: 1, ms: 80, cleared: true, want: Acked{Played: 4, Dropped: 6}},
			{generation: 1, sent: 6},
			{generation: 1, ms: 200, want: Acked{Played: 6}},
		}},
		{"a second answer to one clear drops nothing", []ackStep{
			{generation: 1, sent: 10},
			{generation: 1, ms: 80, cleared: true, want: Acked{Played: 4, Dropped: 6}},
			{generation: 1, ms: 80, cleared: true, want: Acked{}},
		}},
		{"late acknowledgements of an earlier generation", []ackStep{
			{generation: 1, sent: 5},
			{generation: 2, sent: 5},
			{generation: 1, ms: 100, want: Acked{Played: 5, Stale: true}},
			{generation: 2, ms: 40, want: Acked{Played: 2}},
		}},
		{"a generation that was never sent", []ackStep{
			{generation: 7, ms: 100, want: Acked{Unknown: true}},
			{generation: 2, sent: 1},
			{generation: 7, ms: 100, want: Acked{Unknown: true}},
			{generation: 1, ms: 100, want: Acked{Unknown: true, Stale: true}},
		}},
		{"the fifth oldest is forgotten and does not come back", []ackStep{
			{generation: 1, sent: 1}, {generation: 2, sent: 1}, {generation: 3, sent: 1},
			{generation: 4, sent: 1}, {generation: 5, sent: 1},
			{generation: 1, sent: 9},
			{generation: 1, ms: 20, want: Acked{Unknown: true, Stale: true}},
			{generation: 2, ms: 20, want: Acked{Played: 1, Stale: true}},
		}},
		{"nothing handed over is nothing", []ackStep{
			{generation: 3, sent: -4},
			{generation: 3, ms: 20, want: Acked{Unknown: true}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c AckCounter
			for i, s := range tt.steps {
				if s.sent != 0 {
					c.Sent(s.generation, s.sent)
					continue
				}
				if got := c.Ack(s.generation, s.ms, s.cleared); got != s.want {
					t.Errorf("step %d: Ack(%d, %d ms, %v) = %+v, want %+v", i, s.generation, s.ms, s.cleared, got, s.want)
				}
			}
		})
	}
}

func TestAckCounterGivesUp(t *testing.T) {
	var c AckCounter
	c.Sent(1, 10)
	c.Ack(1, 60, false)
	if got := c.Open(1); got != 7 {
		t.Errorf("Open = %d, want 7", got)
	}
	if got := c.GiveUp(1); got != 7 {
		t.Errorf("GiveUp = %d, want 7", got)
	}
	if got := c.Ack(1, 200, false); got != (Acked{}) {
		t.Errorf("an acknowledgement after giving up counted again: %+v", got)
	}
	if c.GiveUp(1) != 0 || c.GiveUp(9) != 0 || c.Open(9) != 0 {
		t.Error("giving up twice, or on nothing, found frames")
	}
}

// FuzzAckCounter reads steps of four bytes and holds the counter to its promise: what was heard and
// dropped is never more than what was handed over, and nothing is negative.
func FuzzAckCounter(f *testing.F) {
	f.Add([]byte{0, 1, 10, 0, 1, 1, 5, 0, 2, 1, 4, 1})
	f.Add([]byte{0, 1, 1, 0, 0, 2, 1, 0, 0, 3, 1, 0, 0, 4, 1, 0, 0, 5, 1, 0, 1, 1, 9, 9})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var c AckCounter
		sent, back := map[uint64]int{}, map[uint64]int{}
		for ; len(steps) >= 4; steps = steps[4:] {
			g, n := uint64(steps[1]%8), int(int8(steps[2]))
			switch steps[0] % 4 {
			case 0:
				c.Sent(g, n)
				sent[g] += max(n, 0)
			case 3:
				back[g] += c.GiveUp(g)
			default:
				a := c.Ack(g, int64(n)*int64(steps[3]), steps[0]%4 == 2)
				if a.Played < 0 || a.Dropped < 0 {
					t.Fatalf("negative: %+v", a)
				}
				back[g] += a.Played + a.Dropped
			}
			if back[g] > sent[g] || c.Open(g) > sent[g]-back[g] || c.Open(g) < 0 {
				t.Fatalf("generation %d: %d back and %d open of %d sent", g, back[g], c.Open(g), sent[g])
			}
		}
	})
}

func TestAckCounterAllocatesNothing(t *testing.T) {
	var c AckCounter
	var ms int64
	if n := testing.AllocsPerRun(1000, func() {
		ms += 20
		c.Sent(1, 1)
		c.Ack(1, ms, false)
	}); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}

func BenchmarkAckCounter(b *testing.B) {
	var c AckCounter
	b.ReportAllocs()
	for i := range b.N {
		c.Sent(1, 1)
		c.Ack(1, int64(i)*FrameMS, false)
	}
}
