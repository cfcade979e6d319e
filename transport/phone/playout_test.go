package phone

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// script drives a Playout as a peer does, on a clock of its own.
type script struct {
	t   *testing.T
	p   Playout
	now time.Time
	set []string // names of the marks that were set
}

func newScript(t *testing.T) *script { return &script{t: t, now: time.Unix(1000, 0)} }

// send hands over frames at once, and sets the marks that are due.
func (s *script) send(frames int) {
	for range frames {
		if s.p.Sent(s.now) {
			s.mark("")
		}
	}
}

func (s *script) mark(id string) string {
	s.set = append(s.set, string(s.p.AppendMark(nil, id)))
	return s.set[len(s.set)-1]
}

func (s *script) after(d time.Duration) { s.now = s.now.Add(d) }

// back returns a mark and wants what it says.
func (s *script) back(name string, want ...Ack) {
	s.t.Helper()
	got, ok := s.p.Returned(nil, []byte(name), s.now)
	if ok != (len(want) > 0) || !slices.Equal(got, want) {
		s.t.Errorf("mark %s says %+v (%v), want %+v", name, got, ok, want)
	}
}

func (s *script) clear(generation uint64, want int64) {
	s.t.Helper()
	if got := s.p.Clear(generation, s.now); got != want {
		s.t.Errorf("at a clear %d ms were heard, want %d", got, want)
	}
}

func heard(generation uint64, ms int64) Ack { return Ack{Generation: generation, PlayedMS: ms} }

const ms = time.Millisecond

func TestPlayoutSetsMarks(t *testing.T) {
	s := newScript(t)
	s.p.Start(7)
	s.send(16)
	want := []string{"g7:20:1", "g7:120:2", "g7:220:3", "g7:320:4"}
	if !slices.Equal(s.set, want) {
		t.Errorf("marks are %q, want %q: one behind the first frame, then one each 100 ms", s.set, want)
	}
	if end := s.mark("7:end"); end != "g7:320:5" {
		t.Errorf("the mark at the end is %s", end)
	}
	s.back("g7:20:1", heard(7, 20))
	s.back("g7:320:5", Ack{7, 320, "7:end"}) // three on the way here were lost
	s.back("g7:220:3")
}

func TestPlayoutMarksOfGatewayAreNotLost(t *testing.T) {
	s := newScript(t)
	s.p.Start(1)
	s.send(3)
	s.mark("a")
	s.send(3)
	s.mark("b")
	s.send(1)
	last := s.mark("")
	s.back(last, Ack{1, 60, "a"}, Ack{1, 120, "b"}, heard(1, 140))
}

func TestPlayoutTwoGenerations(t *testing.T) {
	s := newScript(t)
	s.p.Start(1)
	s.send(6)
	s.p.Start(2)
	s.send(6)
	last := s.mark("")
	s.back(last, heard(1, 120), heard(2, 120))
	for g := uint64(3); g <= 6; g++ {
		s.p.Start(g)
	}
	if got := s.p.Clear(1, s.now); got != 0 {
		t.Errorf("of a forgotten generation %d ms were heard", got)
	}
}

// TestPlayoutClear: what was heard is what the last mark said and the time since, never more than
// was handed over.
func TestPlayoutClear(t *testing.T) {
	s := newScript(t)
	s.p.Start(3)
	s.send(20)
	s.after(150 * ms)
	s.back("g3:120:2", heard(3, 120))
	s.after(75 * ms)
	s.clear(3, 180) // 120 and 75, rounded down to a frame
	for _, name := range s.set {
		s.back(name) // the carrier returns all of them; they were dropped
		if !s.p.Dropped([]byte(name)) {
			t.Errorf("mark %s does not count as dropped", name)
		}
	}
	s.send(3)
	if last := s.set[len(s.set)-1]; last != "g3:200:5" {
		t.Errorf("the reply goes on with mark %s, want one behind 200 ms", last)
	}
	s.after(time.Minute)
	s.clear(3, 180) // no mark of what went on came back
	s.clear(9, 0)
}

// TestPlayoutKnowsNothingOfTimeBeforeAMark: a far end that returned no mark since its queue was
// empty may not have begun.
func TestPlayoutKnowsNothingOfTimeBeforeAMark(t *testing.T) {
	s := newScript(t)
	s.p.Start(1)
	s.send(6)
	s.after(time.Second)
	s.back("g1:120:2", heard(1, 120))
	s.after(time.Hour)
	s.send(20) // the queue had run dry
	s.after(300 * ms)
	s.clear(1, 120)
	s.clear(1, 120)
}

func TestPlayoutEstimateEndsAtWhatWasSent(t *testing.T) {
	s := newScript(t)
	s.p.Start(1)
	s.send(8)
	s.back("g1:120:2", heard(1, 120))
	s.after(time.Hour)
	s.clear(1, 160)
}

func TestPlayoutForeignMarks(t *testing.T) {
	s := newScript(t)
	s.back("g0:0:0")
	s.p.Start(1)
	s.send(6)
	for _, name := range []string{"", "g", "g1:20", "g1:20:", "g1:20:9", "g1:40:1", "g2:20:1", "x1:20:1", "g1:20:01",
		"g1:20:18446744073709551616", "g1:20:-1", "1", ":1"} {
		s.back(name)
		if s.p.Dropped([]byte(name)) {
			t.Errorf("mark %q counts as dropped", name)
		}
	}
	s.back("g1:20:1", heard(1, 20))
	s.back("g1:20:1")
}

func TestPlayoutIsBounded(t *testing.T) {
	s := newScript(t)
	s.p.Start(1)
	s.send(5 * 100)
	s.back(s.set[0]) // forgotten
	s.back(s.set[len(s.set)-1], heard(1, 9920))
}

// FuzzPlayout holds a Playout to what the gateway relies on: what was heard of a generation never
// goes down, never exceeds what was handed over, and a clear never claims more than a mark and the
// time since allow.
func FuzzPlayout(f *testing.F) {
	f.Add([]byte{0, 1, 5, 1, 9, 2, 0, 3, 1, 7, 4, 0})
	f.Add([]byte{1, 255, 5, 255, 4, 1, 1, 30, 3, 0, 5, 3, 2, 2})
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := newScript(t)
		gen := uint64(1)
		s.p.Start(gen)
		sent, played := map[uint64]int64{}, map[uint64]int64{}
		note := func(g uint64, frames int64) {
			if frames < played[g] || frames > sent[g] {
				t.Fatalf("generation %d: %d frames heard, after %d, of %d sent", g, frames, played[g], sent[g])
			}
			played[g] = frames
		}
		for ; len(steps) >= 2; steps = steps[2:] {
			n := int(steps[1])
			switch steps[0] % 6 {
			case 0:
				gen++
				s.p.Start(gen)
			case 1:
				s.send(n % 32)
				sent[gen] += int64(n % 32)
			case 2:
				s.mark("id")
			case 3:
				if ms := s.p.Clear(gen, s.now); sent[gen] > 0 {
					note(gen, ms/transport.FrameMS)
					sent[gen] = played[gen]
				}
				for g := range sent {
					sent[g] = played[g]
				}
			case 4:
				if len(s.set) > 0 {
					acks, _ := s.p.Returned(nil, []byte(s.set[len(s.set)-1-n%len(s.set)]), s.now)
					for _, a := range acks {
						note(a.Generation, max(a.PlayedMS/transport.FrameMS, played[a.Generation]))
					}
				}
			case 5:
				s.after(time.Duration(n) * 7 * ms)
			}
		}
	})
}

func TestPlayoutAllocatesNothing(t *testing.T) {
	var p Playout
	p.Start(1)
	now := time.Unix(0, 0)
	name, acks := make([]byte, 0, 64), make([]Ack, 0, 4)
	if n := testing.AllocsPerRun(1000, func() {
		if now = now.Add(20 * ms); p.Sent(now) {
			name = p.AppendMark(name[:0], "")
			acks, _ = p.Returned(acks[:0], name, now)
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
