package audio

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// trace feeds frames written as runs ("+12 -40" is 12 positive frames, then 40 others; "~8" is 8
// frames between the thresholds; "!" aborts) and returns the edges with the number of their frame,
// counted from 1. Heartbeats are left out unless more is set.
func trace(t *testing.T, cfg ActivityConfig, raised bool, input string, more bool) string {
	t.Helper()
	a, err := NewActivity(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	frame := 0
	for _, word := range strings.Fields(input) {
		if word == "!" {
			a.Abort()
			continue
		}
		var n int
		if _, err := fmt.Sscanf(word[1:], "%d", &n); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		score := map[byte]float64{'+': 5, '-': 0, '~': 0.7}[word[0]]
		for range n {
			frame++
			if e := a.Frame(score, raised); e != None && (more || e != More) {
				out = append(out, fmt.Sprintf("%v@%d", e, frame))
			}
		}
	}
	return strings.Join(out, " ")
}

func TestActivity(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    ActivityConfig
		raised bool
		input  string
		want   string
	}{
		{"silence", ActivityConfig{}, false, "-500", ""},
		{"two frames are a click", ActivityConfig{}, false, "+2 -500", ""},
		{"a click now and then", ActivityConfig{}, false, "+2 -3 +2 -3 +2 -3 +2 -3 +1 -1 +1 -1 +1", ""},
		{"a cough of 120 ms and its tail", ActivityConfig{}, false, "-50 +6 ~4 -100", "start@53 stop@85"},
		{"a cough of 120 ms while the model speaks", ActivityConfig{}, true, "-50 +6 ~4 -100", "start@53 stop@81"},
		{"three of four", ActivityConfig{}, false, "-10 +2 -1 +1 -100", "start@14 stop@39"},
		{"300 ms of speech", ActivityConfig{}, false, "-10 +15 -100", "start@13 confirm@25 stop@50"},
		{"280 ms of speech", ActivityConfig{}, false, "-10 +14 -100", "start@13 stop@49"},
		{"300 ms within 600 ms", ActivityConfig{}, false, "+8 -15 +7 -100", "start@3 confirm@30 stop@55"},
		{"300 ms within 620 ms", ActivityConfig{}, false, "+8 -16 +7 -100", "start@3 stop@56"},
		{"weak at first, confirmed later", ActivityConfig{}, false, "+3 -20 +2 -20 +20 -100", "start@3 confirm@60 stop@90"},
		{"a pause of 480 ms", ActivityConfig{}, false, "+20 -24 +20 -100", "start@3 confirm@15 stop@89"},
		{"a pause of 500 ms", ActivityConfig{}, false, "+20 -25 +20 -100",
			"start@3 confirm@15 stop@45 start@48 confirm@60 stop@90"},
		{"one positive frame does not hold a segment", ActivityConfig{}, false, "+20 -20 +1 -100",
			"start@3 confirm@15 stop@45"},
		{"two positive frames do", ActivityConfig{}, false, "+20 -20 +2 -100", "start@3 confirm@15 stop@67"},
		{"two positive frames from the last on", ActivityConfig{}, false, "+20 -24 +2 -100", "start@3 confirm@15 stop@71"},
		{"one positive frame at the last", ActivityConfig{}, false, "+20 -24 +1 -100", "start@3 confirm@15 stop@46"},
		{"no frame of the last segment starts the next", ActivityConfig{}, false, "+20 -24 +1 -1 +2 -1 +1",
			"start@3 confirm@15 stop@46 start@50"},
		{"weak sound in quiet", ActivityConfig{}, false, "~30 -100", "start@3 confirm@15 stop@55"},
		{"weak sound while the model speaks", ActivityConfig{}, true, "~30 -100", ""},
		{"sustained while the model speaks", ActivityConfig{RaisedStartFrames: 8}, true, "+7 -9 +7 -1 +1 -100",
			"start@25 stop@50"},
		{"the same in quiet", ActivityConfig{RaisedStartFrames: 8}, false, "+7 -60", "start@3 stop@32"},
		{"confirmation with the start", ActivityConfig{ConfirmFrames: 3}, false, "+3 -100", "start@3 confirm@4 stop@28"},
		{"confirmation with the start, in a narrow window", ActivityConfig{ConfirmFrames: 3, ConfirmWindow: 3}, false,
			"+3 -100", "start@3 confirm@4 stop@28"},
		{"stop and confirmation on one frame", ActivityConfig{StopFrames: 1, ConfirmFrames: 3}, false, "+3 -9",
			"start@3 confirm@4 stop@5"},
		{"a postponed stop outlives new speech", ActivityConfig{StopFrames: 1, ConfirmFrames: 3}, false, "+3 -1 +9",
			"start@3 confirm@4 stop@5 start@7 confirm@8"},
		{"abort", ActivityConfig{}, false, "+2 ! +2 ! +20 ! -60 +3", "start@7 confirm@19 start@87"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := trace(t, c.cfg, c.raised, c.input, false); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.input, got, c.want)
			}
		})
	}
}

func TestActivityHeartbeat(t *testing.T) {
	for _, c := range []struct {
		cfg   ActivityConfig
		input string
		want  string
	}{
		{ActivityConfig{}, "+3 -40", "start@3 more@8 more@13 more@18 more@23 stop@28"},
		{ActivityConfig{}, "+20 -30",
			"start@3 more@8 more@13 confirm@15 more@18 more@23 more@28 more@33 more@38 more@43 stop@45"},
		{ActivityConfig{ConfirmFrames: 8}, "+8 -30", "start@3 confirm@8 more@9 more@13 more@18 more@23 more@28 stop@33"},
		{ActivityConfig{MoreEvery: 1, StopFrames: 3}, "+4 -9", "start@3 more@4 more@5 more@6 stop@7"},
	} {
		if got := trace(t, c.cfg, false, c.input, true); got != c.want {
			t.Errorf("%+v %s\n got %s\nwant %s", c.cfg, c.input, got, c.want)
		}
	}
}

func TestActivityThresholdsFollowTheModel(t *testing.T) {
	a, _ := NewActivity(ActivityConfig{})
	for n := range 50 {
		if e := a.Frame(0.7, true); e != None {
			t.Fatalf("frame %d under the raised threshold: %v", n, e)
		}
	}
	a.Frame(0.7, false)
	a.Frame(0.7, false)
	if e := a.Frame(0.7, false); e != Start || !a.open {
		t.Errorf("third frame over the threshold: %v, open %v", e, a.open)
	}
	a.Abort()
	if a.open {
		t.Error("open after Abort")
	}
}

func TestActivityNotANumber(t *testing.T) {
	a, _ := NewActivity(ActivityConfig{})
	for range 100 {
		if e := a.Frame(math.NaN(), false); e != None {
			t.Fatalf("NaN caused %v", e)
		}
	}
}

func TestNewActivityRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  ActivityConfig
		want string
	}{
		{ActivityConfig{Threshold: -1}, "Threshold is -1"},
		{ActivityConfig{RaisedThreshold: math.NaN()}, "RaisedThreshold is NaN"},
		{ActivityConfig{RaisedThreshold: math.Inf(1)}, "RaisedThreshold is +Inf"},
		{ActivityConfig{StartFrames: 5}, "StartFrames is 5, want 1 to 4"},
		{ActivityConfig{StartFrames: -1}, "StartFrames is -1"},
		{ActivityConfig{StartWindow: 65}, "StartWindow is 65, want 1 to 64"},
		{ActivityConfig{RaisedStartFrames: 64}, "RaisedStartFrames is 64, want 1 to 63"},
		{ActivityConfig{RaisedStartFrames: -2}, "RaisedStartFrames is -2"},
		{ActivityConfig{ConfirmFrames: 31}, "ConfirmFrames is 31, want 1 to 30"},
		{ActivityConfig{ConfirmWindow: 100}, "ConfirmWindow is 100, want 1 to 64"},
		{ActivityConfig{StopFrames: 501}, "StopFrames is 501, want 1 to 500"},
		{ActivityConfig{MoreEvery: -5}, "MoreEvery is -5"},
	} {
		if _, err := NewActivity(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewActivity(%+v): %v, want %q", c.cfg, err, c.want)
		}
	}
	largest := ActivityConfig{StartWindow: 64, ConfirmWindow: 64, StopFrames: 500, MoreEvery: 500}
	if _, err := NewActivity(largest); err != nil {
		t.Error(err)
	}
}

func TestEdgeString(t *testing.T) {
	got := fmt.Sprint(None, Start, More, Confirm, Stop, Edge(9))
	if want := "none start more confirm stop edge(9)"; got != want {
		t.Errorf("edges print as %q, want %q", got, want)
	}
}

// FuzzActivity holds every sequence of frames under every configuration to the grammar (Start
// (More|Confirm)* Stop)*, at most one Confirm a segment, and to a Stop at most StopFrames+1 frames
// after the last positive one.
func FuzzActivity(f *testing.F) {
	f.Add(uint8(3), uint8(4), uint8(15), uint8(30), uint8(25), uint8(5),
		[]byte{255, 255, 0, 0, 15, 240, 0, 0, 0, 0, 0, 255})
	f.Add(uint8(3), uint8(4), uint8(4), uint8(30), uint8(4), uint8(1), []byte("\xe2\x00\xe2\xff"))
	f.Add(uint8(1), uint8(1), uint8(1), uint8(1), uint8(1), uint8(1), []byte{0xaa, 0xcc, 0xf0})
	f.Fuzz(func(t *testing.T, start, window, confirm, confirmWindow, stop, beat uint8, input []byte) {
		cfg := ActivityConfig{StartFrames: int(start), StartWindow: int(window), ConfirmFrames: int(confirm),
			ConfirmWindow: int(confirmWindow), StopFrames: int(stop), MoreEvery: int(beat)}
		a, err := NewActivity(cfg)
		if err != nil {
			return // TestNewActivityRefuses holds the refusals
		}
		input = append(input[:min(len(input), 4096)], make([]byte, 66)...) // ends with more silence than any hangover
		open, confirms, edges := false, 0, 0
		for i := range 8 * len(input) {
			positive := input[i/8]>>(7-i%8)&1 == 1
			score := 0.0
			if positive {
				score = 2
			}
			edge := a.Frame(score, i%16 > 11)
			switch {
			case edge == Start && open, (edge == More || edge == Confirm || edge == Stop) && !open:
				t.Fatalf("frame %d: %v while open is %v", i, edge, open)
			case edge == Start:
				open, confirms = true, 0
			case edge == Stop:
				open = false
			case edge == Confirm:
				confirms++
			}
			if edge != None {
				edges++
			}
			if confirms > 1 || open != a.open {
				t.Fatalf("frame %d: %d confirms, open %v, Open %v", i, confirms, open, a.open)
			}
		}
		if open {
			t.Fatalf("still open after %d frames of silence", 8*66)
		}
	})
}

func BenchmarkActivity(b *testing.B) {
	a, _ := NewActivity(ActivityConfig{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a.Frame(float64(i/64%3), false)
	}
}

func TestActivityAllocatesNothing(t *testing.T) {
	a, _ := NewActivity(ActivityConfig{})
	i := 0
	if n := testing.AllocsPerRun(1000, func() { a.Frame(float64(i/64%3), false); i++ }); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}
