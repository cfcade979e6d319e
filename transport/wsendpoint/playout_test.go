package wsendpoint

import (
	"testing"
	"time"
)

// clock is a time of tests.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1000, 0)} }

func (c *clock) pass(ms int) { c.now = c.now.Add(time.Duration(ms) * time.Millisecond) }

// acks are all that are due.
func acks(p *playout, now time.Time) []ack {
	var out []ack
	for {
		a, ok := p.Next(now)
		if !ok {
			return out
		}
		out = append(out, a)
	}
}

// step lets time pass, sends, marks, clears or hears, and then wants acknowledgements.
type step struct {
	pass    int
	send    int
	gen     uint64
	mark    string
	clear   bool
	wait    int
	hear    int64 // -1: none
	wantAck []ack
}

func TestPlayout(t *testing.T) {
	tests := []struct {
		name  string
		delay int
		keeps bool
		steps []step
	}{
		{"every 100 ms, and the rest", 0, false, []step{
			{send: 12, gen: 1},
			{pass: 99},
			{pass: 1, wantAck: []ack{{Generation: 1, PlayedMS: 100}}},
			{pass: 100, wantAck: []ack{{Generation: 1, PlayedMS: 200}}},
			{pass: 39},
			{pass: 1, wantAck: []ack{{Generation: 1, PlayedMS: 240}}},
			{pass: 1000},
		}},
		{"begins after the delay, once", 60, false, []step{
			{send: 5, gen: 1},
			{pass: 159},
			{pass: 1, wantAck: []ack{{Generation: 1, PlayedMS: 100}}},
			{pass: 100, send: 5, gen: 1},
			{pass: 100, wantAck: []ack{{Generation: 1, PlayedMS: 200}}},
		}},
		{"a mark is reached behind its frames", 0, false, []step{
			{send: 3, gen: 1}, {mark: "1:end", gen: 1},
			{pass: 59},
			{pass: 1, wantAck: []ack{{Generation: 1, PlayedMS: 60, Mark: "1:end"}}},
		}},
		{"a mark of nothing is reached at once", 0, false, []step{
			{mark: "2:end", gen: 2, wantAck: []ack{{Generation: 2, Mark: "2:end"}}},
		}},
		{"a clear counts whole frames, and on from there", 0, false, []step{
			{send: 10, gen: 1}, {mark: "1:end", gen: 1},
			{pass: 75, clear: true, gen: 1, wantAck: []ack{{Generation: 1, PlayedMS: 60, Cleared: true}}},
			{pass: 500},
			{send: 2, gen: 1}, {mark: "1:end", gen: 1},
			{pass: 40, wantAck: []ack{{Generation: 1, PlayedMS: 100, Mark: "1:end"}}},
		}},
		{"a far end that keeps what it got hears it all", 0, true, []step{
			{send: 5, gen: 1},
			{pass: 20, clear: true, gen: 1, wantAck: []ack{{Generation: 1, PlayedMS: 100, Cleared: true}}},
		}},
		{"a clear of nothing is answered", 0, false, []step{
			{clear: true, gen: 7, wantAck: []ack{{Generation: 7, Cleared: true}}},
		}},
		{"a clear waits for the far end's own account", 0, false, []step{
			{send: 20, gen: 1},
			{pass: 200, wantAck: []ack{{Generation: 1, PlayedMS: 200}}},
			{pass: 80, clear: true, wait: 100, gen: 1},
			{pass: 50, gen: 1, hear: 255, wantAck: []ack{{Generation: 1, PlayedMS: 240, Cleared: true}}},
		}},
		{"what was acknowledged stays so", 0, false, []step{
			{send: 20, gen: 1},
			{pass: 200, wantAck: []ack{{Generation: 1, PlayedMS: 200}}},
			{pass: 80, clear: true, wait: 100, gen: 1},
			{gen: 1, hear: 20, wantAck: []ack{{Generation: 1, PlayedMS: 200, Cleared: true}}},
		}},
		{"nor more than was sent", 0, false, []step{
			{send: 5, gen: 1},
			{pass: 20, clear: true, wait: 100, gen: 1},
			{gen: 1, hear: 90000, wantAck: []ack{{Generation: 1, PlayedMS: 100, Cleared: true}}},
		}},
		{"without an account the clock counts, when the wait is over", 0, false, []step{
			{send: 5, gen: 1},
			{pass: 40, clear: true, wait: 100, gen: 1},
			{pass: 99},
			{pass: 1, wantAck: []ack{{Generation: 1, PlayedMS: 40, Cleared: true}}},
		}},
		{"or when the reply goes on", 0, false, []step{
			{send: 5, gen: 1},
			{pass: 40, clear: true, wait: 100, gen: 1},
			{send: 1, gen: 1, wantAck: []ack{{Generation: 1, PlayedMS: 40, Cleared: true}}},
			{gen: 1, hear: 100}, // too late
			{pass: 20, wantAck: []ack{{Generation: 1, PlayedMS: 60}}},
		}},
		{"an account that nobody asked for is nothing", 0, false, []step{
			{send: 5, gen: 1},
			{pass: 40, gen: 1, hear: 20},
			{pass: 60, wantAck: []ack{{Generation: 1, PlayedMS: 100}}},
		}},
		{"one generation behind the other", 0, false, []step{
			{send: 2, gen: 1}, {send: 2, gen: 2},
			{pass: 40, wantAck: []ack{{Generation: 1, PlayedMS: 40}}},
			{pass: 40, wantAck: []ack{{Generation: 2, PlayedMS: 40}}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &playout{Delay: time.Duration(tt.delay) * time.Millisecond, Keeps: tt.keeps}
			c := newClock()
			for i, s := range tt.steps {
				c.pass(s.pass)
				act(p, c.now, s)
				got := acks(p, c.now)
				if len(got) != len(s.wantAck) {
					t.Fatalf("step %d: acknowledged %+v, want %+v", i, got, s.wantAck)
				}
				for j := range got {
					if got[j] != s.wantAck[j] {
						t.Errorf("step %d: acknowledged %+v, want %+v", i, got[j], s.wantAck[j])
					}
				}
			}
		})
	}
}

func act(p *playout, now time.Time, s step) {
	for range s.send {
		p.Sent(now, s.gen)
	}
	if s.mark != "" {
		p.Mark(now, s.gen, s.mark, 0)
	}
	if s.clear {
		p.Clear(now, s.gen, time.Duration(s.wait)*time.Millisecond)
	}
	if s.hear > 0 {
		p.Heard(now, s.gen, s.hear)
	}
}

// TestPlayoutWaits never too long: whoever looks when Wait says so misses nothing, and finds
// something within a frame.
func TestPlayoutWaits(t *testing.T) {
	p, c := &playout{Delay: 60 * time.Millisecond}, newClock()
	for range 23 {
		p.Sent(c.now, 1)
	}
	p.Mark(c.now, 1, "1:end", 0)
	looks, heard := 0, int64(0)
	for {
		d, ok := p.Wait(c.now)
		if !ok {
			break
		}
		c.now = c.now.Add(d)
		looks++
		for _, a := range acks(p, c.now) {
			heard = a.PlayedMS
		}
		if looks > 100 {
			t.Fatal("it never ends")
		}
	}
	if want := time.Unix(1000, 0).Add((60 + 23*20) * time.Millisecond); heard != 460 || !c.now.Equal(want) || looks > 8 {
		t.Errorf("heard %d ms at %v after %d looks, want 460 ms at %v", heard, c.now, looks, want)
	}
	if p.Ahead(c.now) != 0 {
		t.Errorf("ahead by %v of nothing", p.Ahead(c.now))
	}
}

// FuzzPlayout reads steps of three bytes: whatever happens, what is acknowledged never goes down,
// never exceeds what was sent, and every clear is answered.
func FuzzPlayout(f *testing.F) {
	f.Add([]byte{0, 1, 9, 1, 0, 50, 3, 1, 0, 1, 0, 50})
	f.Add([]byte{0, 1, 9, 4, 1, 0, 1, 0, 10, 3, 1, 20, 5, 1, 3, 0, 1, 5, 1, 0, 255})
	f.Add([]byte{0, 1, 2, 0, 2, 2, 0, 3, 2, 0, 4, 2, 0, 5, 2, 3, 5, 0, 1, 0, 99})
	f.Fuzz(func(t *testing.T, steps []byte) {
		p, c := &playout{Delay: 40 * time.Millisecond, Keeps: len(steps)%2 == 1}, newClock()
		sent, acked := map[uint64]int64{}, map[uint64]int64{}
		clears := 0
		check := func() {
			for _, a := range acks(p, c.now) {
				if a.Cleared {
					clears--
				}
				if a.PlayedMS < acked[a.Generation] && a.PlayedMS != 0 || a.PlayedMS > sent[a.Generation] {
					t.Fatalf("%+v: %d ms were sent and %d acknowledged", a, sent[a.Generation], acked[a.Generation])
				}
				acked[a.Generation] = a.PlayedMS
			}
		}
		for ; len(steps) >= 3 && len(sent) < 4; steps = steps[3:] {
			g, n := uint64(steps[1]%8), int(steps[2])
			switch steps[0] % 6 {
			case 0:
				for range n % 32 {
					p.Sent(c.now, g)
					sent[g] += 20
				}
			case 1, 2:
				c.pass(n)
			case 3:
				if clears < playoutClears {
					p.Clear(c.now, g, time.Duration(n)*time.Millisecond)
					clears++
				}
			case 4:
				p.Mark(c.now, g, "m", 0)
			case 5:
				p.Heard(c.now, g, int64(n)*10)
			}
			check()
		}
		c.pass(100000000)
		check()
		if _, ok := p.Wait(c.now); ok || clears != 0 {
			t.Fatalf("%d clears were not answered, and waiting is %v", clears, ok)
		}
	})
}

func TestPlayoutAllocatesNothing(t *testing.T) {
	p, c := &playout{}, newClock()
	if n := testing.AllocsPerRun(1000, func() {
		p.Sent(c.now, 1)
		c.pass(20)
		p.Next(c.now)
		p.Wait(c.now)
	}); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}

func BenchmarkPlayout(b *testing.B) {
	p, c := &playout{}, newClock()
	b.ReportAllocs()
	for range b.N {
		p.Sent(c.now, 1)
		c.pass(20)
		p.Next(c.now)
	}
}
