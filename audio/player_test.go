package audio

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// loud is n samples of value v.
func loud(n int, v int16) []int16 { return slices.Repeat([]int16{v}, n) }

// shape writes what was heard as runs in milliseconds at 8 kHz: "60:0 100:1" is 60 ms of silence,
// then 100 ms of ones.
func shape(heard []int16) string {
	var out []string
	for len(heard) > 0 {
		n := slices.IndexFunc(heard, func(s int16) bool { return s != heard[0] })
		if n < 0 {
			n = len(heard)
		}
		out = append(out, fmt.Sprintf("%v:%d", float64(n)/8, heard[0]))
		heard = heard[n:]
	}
	return strings.Join(out, " ")
}

func TestPlayerClock(t *testing.T) {
	frame := func(v int16) []int16 { return loud(160, v) }
	for _, c := range []struct {
		name  string
		drive func(p *Player)
		want  string // of the first second
		under int
	}{
		{"nothing", func(*Player) {}, "1000:0", 0},
		{"a full prebuffer plays at once", func(p *Player) { p.Push(100*ms, 1, loud(320, 7)) }, "100:0 40:7 860:0", 1},
		{"one frame waits for the prebuffer's length", func(p *Player) { p.Push(100*ms, 1, frame(7)) },
			"140:0 20:7 840:0", 1},
		{"the second frame fills it", func(p *Player) {
			p.Push(100*ms, 1, frame(7))
			p.Push(115*ms, 1, frame(7))
		}, "115:0 40:7 845:0", 1},
		{"no prebuffer", func(p *Player) {
			p.prebuffer = 0
			p.Push(100*ms, 1, frame(7))
		}, "100:0 20:7 880:0", 1},
		{"in real time without a gap", func(p *Player) {
			for n := range 10 {
				p.Push(time.Duration(n)*20*ms, 1, frame(int16(n+1)))
			}
		}, "20:0 20:1 20:2 20:3 20:4 20:5 20:6 20:7 20:8 20:9 20:10 780:0", 1},
		{"a frame that comes just in time leaves no gap", func(p *Player) {
			p.Push(0, 1, loud(320, 1))
			p.Push(40*ms, 1, frame(2))
		}, "40:1 20:2 940:0", 1},
		{"an underrun fills the prebuffer again", func(p *Player) {
			p.Push(0, 1, loud(320, 1))
			p.Push(50*ms, 1, frame(2))
			p.Push(60*ms, 1, frame(3))
		}, "40:1 20:0 20:2 20:3 900:0", 2},
		{"clear stops within a sample", func(p *Player) {
			p.Push(0, 1, loud(1600, 1))
			p.Clear(30*ms+125*time.Microsecond, 1)
			p.Push(100*ms, 2, loud(320, 2))
		}, "30.125:1 69.875:0 40:2 860:0", 1},
		{"time never goes back", func(p *Player) {
			p.Advance(200 * ms)
			p.Push(100*ms, 1, loud(320, 1))
			p.Advance(0)
		}, "200:0 40:1 760:0", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPlayer(8000)
			c.drive(p)
			p.Advance(time.Second)
			if got := shape(p.Heard()); got != c.want || p.underruns != c.under {
				t.Errorf("heard %s with %d underruns, want %s with %d", got, p.underruns, c.want, c.under)
			}
			if p.Playing() || p.Queued() != 0 || len(p.Heard()) != 8000 {
				t.Errorf("playing %v, %d queued, %d heard", p.Playing(), p.Queued(), len(p.Heard()))
			}
		})
	}
}

// TestPlayerAcknowledges goes through a false interruption as the protocol describes it: clear, an
// acknowledgement in whole frames, the rest of the generation again.
func TestPlayerAcknowledges(t *testing.T) {
	for _, rateHz := range []int{8000, 11025, 24000, 44100} {
		p := NewPlayer(rateHz)
		reply := ramp(rateHz / 2)
		p.Push(0, 7, reply)
		p.Advance(100 * ms)
		if got := p.PlayedMS(7); got < 99 || got > 100 || !p.Playing() {
			t.Errorf("%d Hz: %d ms played at 100 ms", rateHz, got)
		}
		played := p.Clear(133*ms, 7)
		if got := p.PlayedMS(7); got != 120 || played != p.Played(7) || p.Queued() != 0 || p.Playing() {
			t.Errorf("%d Hz: %d ms (%d samples) acknowledged at 133 ms, want 120", rateHz, got, played)
		}
		p.Push(200*ms, 7, reply[played:])
		p.Advance(time.Second)
		if p.Played(7) != len(reply) || p.PlayedMS(7) != int64(len(reply)*1000/rateHz) {
			t.Errorf("%d Hz: %d samples played in the end, want %d", rateHz, p.Played(7), len(reply))
		}
		spans := p.Spans()
		if len(spans) != 2 || !slices.Equal(p.Heard()[spans[1].From:spans[1].To], reply[played:]) {
			t.Errorf("%d Hz: spans %v", rateHz, spans)
		}
		if p.Played(8) != 0 || p.Clear(2*time.Second, 8) != 0 {
			t.Errorf("%d Hz: a generation that never came was played", rateHz)
		}
	}
}

func TestPlayerGenerations(t *testing.T) {
	p := NewPlayer(8000)
	p.Push(0, 1, loud(800, 1))
	p.Push(0, 2, loud(800, 2))
	p.Advance(150 * ms)
	if p.Played(1) != 800 || p.Played(2) != 400 || p.Queued() != 400 {
		t.Errorf("played %d and %d, queued %d", p.Played(1), p.Played(2), p.Queued())
	}
	if got, want := fmt.Sprint(p.Spans()), "[{1 0 800} {2 800 1200}]"; got != want {
		t.Errorf("spans %s, want %s", got, want)
	}
	for g := uint64(3); g < 100; g++ {
		p.Push(time.Second, g, loud(160, 3))
	}
	p.Advance(time.Minute)
	if p.Played(35) != 0 || p.Played(36) != 160 || p.Played(99) != 160 {
		t.Errorf("generations 35, 36, 99 of 99: %d, %d, %d", p.Played(35), p.Played(36), p.Played(99))
	}
}

func TestPlayerMarks(t *testing.T) {
	p := NewPlayer(8000)
	ids := func() string {
		var out []string
		for _, m := range p.Reached() {
			out = append(out, fmt.Sprintf("%s/%d@%v", m.ID, m.Generation, m.at))
		}
		return strings.Join(out, " ")
	}
	step := func(what, want string) {
		t.Helper()
		if got := ids(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	p.PushMark(10*ms, 1, "idle")
	step("a mark with nothing queued", "idle/1@10ms")
	p.Push(20*ms, 1, loud(800, 1))
	p.PushMark(20*ms, 1, "a")
	p.Push(20*ms, 1, loud(80, 1))
	p.PushMark(20*ms, 1, "b")
	p.PushMark(20*ms, 1, "c")
	p.Advance(119 * ms)
	step("before", "")
	p.Advance(120 * ms)
	step("at the mark", "a/1@120ms")
	p.Advance(time.Second)
	step("two at one place", "b/1@130ms c/1@130ms")
	p.Push(1500*ms, 1, loud(400, 1))
	p.PushMark(1500*ms, 1, "d")
	p.Push(1500*ms, 1, loud(400, 1))
	p.Advance(2 * time.Second)
	step("long after", "d/1@1.55s")
	p.Push(2*time.Second, 2, loud(800, 1))
	p.PushMark(2*time.Second, 2, "cleared")
	p.Clear(2010*ms, 2)
	p.Advance(3 * time.Second)
	step("after a clear", "")
	p.PushMark(3*time.Second, 2, "end")
	step("behind a clear", "end/2@3s")
}

func TestPlayerLimits(t *testing.T) {
	p := NewPlayer(8000)
	minute := make([]int16, 60*8000)
	for range 11 {
		p.Push(0, 1, minute)
	}
	if p.Queued() != 10*len(minute) || p.dropped != len(minute) {
		t.Errorf("11 minutes pushed: %d queued, %d dropped", p.Queued(), p.dropped)
	}
	p.Advance(90 * time.Minute)
	if len(p.Heard()) != 3600*8000 {
		t.Errorf("90 minutes: %d samples recorded, want an hour", len(p.Heard()))
	}
	if p.Push(90*time.Minute, 2, loud(800, 1)); len(p.Heard()) != 3600*8000 || p.Queued() != 800 {
		t.Errorf("behind the end of the record: %d recorded, %d queued", len(p.Heard()), p.Queued())
	}
	for range 30001 {
		p.PushMark(90*time.Minute, 2, "x")
	}
	if p.dropped != len(minute)+1 {
		t.Errorf("30,001 marks: %d dropped, want 1", p.dropped-len(minute))
	}
}

func TestNewPlayerRefusesRates(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewPlayer took 0 Hz")
		}
	}()
	NewPlayer(0)
}

// FuzzPlayer accounts for every sample: it is queued, played, cleared or dropped. Samples play in
// order and at most once. The player puts out as much audio as time has passed.
func FuzzPlayer(f *testing.F) {
	f.Add([]byte{0, 200, 1, 20, 0, 200, 2, 5, 1, 90, 3, 0, 0, 255, 1, 255})
	f.Add([]byte{0, 10, 3, 0, 1, 10, 3, 0, 1, 100, 2, 0, 0, 3})
	f.Fuzz(func(t *testing.T, script []byte) {
		p := NewPlayer(8000)
		now, next, cleared := time.Duration(0), 1, 0
		marks, reached := 0, 0
		for ; len(script) >= 2 && next < 30000; script = script[2:] {
			n := int(script[1])
			switch script[0] % 4 {
			case 0:
				pcm := make([]int16, n)
				for i := range pcm {
					pcm[i] = int16(next + i)
				}
				next += n
				p.Push(now, uint64(script[0]/4), pcm)
			case 1:
				now += time.Duration(n) * 300 * time.Microsecond
				p.Advance(now)
			case 2:
				p.Advance(now)
				cleared += p.Queued()
				p.Clear(now, uint64(n))
				marks = reached + len(p.Reached())
				reached = marks
			case 3:
				p.PushMark(now, 0, "m")
				marks++
			}
		}
		now += 10 * time.Second
		p.Advance(now)
		if reached += len(p.Reached()); reached != marks {
			t.Errorf("%d marks reached of %d", reached, marks)
		}
		last, spans, played := int16(0), 0, 0
		for _, s := range p.Spans() {
			spans += s.To - s.From
		}
		for _, s := range p.Heard() {
			if s != 0 {
				played++
				if s <= last {
					t.Fatalf("sample %d heard after %d", s, last)
				}
				last = s
			}
		}
		if played != spans || next-1 != played+cleared || p.Queued() != 0 || p.dropped != 0 {
			t.Errorf("%d pushed, %d cleared, %d played, %d in spans, %d queued", next-1, cleared, played, spans, p.Queued())
		}
		if want := int(now.Seconds()*8000 + 0.5); len(p.Heard()) > want || len(p.Heard()) < want-1 {
			t.Errorf("%d samples heard in %v", len(p.Heard()), now)
		}
	})
}

func TestPlayerAllocatesNothing(t *testing.T) {
	p, frame, n := NewPlayer(24000), make([]int16, 480), 0
	a := testing.AllocsPerRun(5000, func() {
		p.Push(time.Duration(n)*FrameDuration, 1, frame)
		n++
	})
	if cap(p.queue) > 10*480 {
		t.Errorf("the queue of at most two frames has room for %d samples", cap(p.queue))
	}
	if a != 0 { // but for the record of what was heard, which doubles now and then
		t.Errorf("%v allocations per frame, want 0", a)
	}
}

func BenchmarkPlayer(b *testing.B) {
	p, frame, n := NewPlayer(24000), make([]int16, 480), 0
	b.ReportAllocs()
	for b.Loop() {
		if n++; n%100000 == 0 { // keeps the record under its limit
			p, n = NewPlayer(24000), 0
		}
		p.Push(time.Duration(n)*FrameDuration, 1, frame)
	}
}
