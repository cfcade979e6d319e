package event

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// archive returns the archive of a random call.
func archive(t testing.TB, p *petri.Program, seed uint64, n int) []byte {
	var b bytes.Buffer
	a := NewArchive(&b, p, ArchiveConfig{Run: "call 17"})
	call(t, p, seed, n, a)
	if a.Err() != nil {
		t.Fatal(a.Err())
	}
	return b.Bytes()
}

func TestReplay(t *testing.T) {
	p := line(t)
	seen := map[string]int{}
	for seed := range uint64(300) {
		log := archive(t, p, seed, 120)
		n, err := Replay(p, bytes.NewReader(log))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if lines := bytes.Count(log, []byte("\n")) - 1; n != uint64(lines) {
			t.Fatalf("seed %d: %d of %d events replayed", seed, n, lines)
		}
		for _, s := range []string{`"refused"`, `"dropped"`, `"ended"`, `"branch":1`, `"open"`, `"drop"`, `"play"`,
			`"close_late"`} {
			seen[s] += bytes.Count(log, []byte(s))
		}
	}
	for s, n := range seen {
		if n == 0 {
			t.Errorf("no call had %s", s)
		}
	}
}

// TestReplayFindsTheDifference changes one line of an archive at a time. If a payload chose another
// branch, only the following events show it.
func TestReplayFindsTheDifference(t *testing.T) {
	p := line(t)
	lines := strings.SplitAfter(string(archive(t, p, 3, 60)), "\n")
	changed := 0
	for i := 1; i < len(lines)-1; i++ {
		for _, c := range [][2]string{{`,"mode":1`, ""}, {`"at":1`, `"at":3`}, {`"kind":"fired"`, `"kind":"injected"`},
			{`"slot":1`, `"slot":0`}, {`"index":2`, `"index":1`}, {`"kind":"dropped"`, `"kind":"refused"`},
			{`"name":"`, `"name":"x`}, {`"name":`, `"was":`}, {`"kind":"ended"`, `"kind":"ended","name":"x"`}} {
			bad := strings.Replace(lines[i], c[0], c[1], 1)
			if bad == lines[i] {
				continue
			}
			changed++
			log := strings.Join(lines[:i], "") + bad + strings.Join(lines[i+1:], "")
			n, err := Replay(p, strings.NewReader(log))
			if err == nil {
				t.Errorf("line %d, %s: %d events replayed without a difference", i+1, bad, n)
			}
		}
	}
	if changed < 50 {
		t.Errorf("only %d changes tried", changed)
	}
}

func TestReplayNamesTheDifference(t *testing.T) {
	p := line(t)
	var b bytes.Buffer
	a := NewArchive(&b, p, ArchiveConfig{})
	m := p.Start()
	if err := m.Inject(10*time.Millisecond, edges.Token(edge(0))); err != nil {
		t.Fatal(err)
	}
	a.Append(m.Advance(300 * time.Millisecond).Events)
	log := strings.Replace(b.String(), `"at":80000000`, `"at":90000000`, 1)
	_, err := Replay(p, strings.NewReader(log))
	want := `event: replay: event 4: the archive says "90ms fired forget (marked[stop])", ` +
		`the net does "80ms fired forget (marked[stop])"`
	var d *Difference
	if !errors.As(err, &d) || d.Seq != 4 || err.Error() != want {
		t.Errorf("got %v, want %s\n%s", err, want, log)
	}
	log = strings.Replace(b.String(), `"kind":"fired","index":4`, `"kind":"dropped","index":1`, 1)
	_, err = Replay(p, strings.NewReader(log))
	if !errors.As(err, &d) || d.Seq != 5 {
		t.Errorf("got %v", err)
	}
}

// TestReplayPrefix replays an archive that a crash cut off anywhere.
func TestReplayPrefix(t *testing.T) {
	p := line(t)
	log := archive(t, p, 8, 60)
	header := bytes.IndexByte(log, '\n') + 1
	for cut := header; cut < len(log); cut += 7 {
		n, err := Replay(p, bytes.NewReader(log[:cut]))
		if err != nil || n != uint64(bytes.Count(log[:cut], []byte("\n"))-1) {
			t.Fatalf("cut at %d: %d events, %v", cut, n, err)
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	p := line(t)
	log := string(archive(t, p, 3, 20))
	other, err := petri.Compile(&petri.Net{Name: "line", Env: []petri.Env{{Place: edges}},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{edges}}}})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(log, "\n")
	for _, c := range []struct {
		name, log string
		prog      *petri.Program
		is        error
		want      string
	}{
		{"other net", log, other, ErrOtherNet, "event: the archive is of another net"},
		{"incomplete", strings.Replace(log, `"complete":true`, `"complete":false`, 1), p, ErrIncomplete,
			"its header says so"},
		{"other version", strings.Replace(log, `"version":1`, `"version":2`, 1), p, nil,
			"event: read archive: line 1: its version is 2; this program reads 1"},
		{"other format", strings.Replace(log, archiveFormat, "pcap", 1), p, nil,
			`line 1: it is not an archive of events (format "voicegw.events")`},
		{"empty", "", p, nil, "line 1: it has no header"},
		{"a line missing", lines[0] + lines[1] + strings.Join(lines[3:], ""), p, nil, "line 3: event 3 instead of event 2"},
		{"not JSON", lines[0] + lines[1] + "fired open\n", p, nil, "line 3: invalid character"},
		{"unknown kind", lines[0] + strings.Replace(lines[1], "started", "stopped", 1), p, nil,
			`line 2: unknown kind of event "stopped"`},
		{"long line", lines[0] + strings.Repeat(" ", maxLine+1) + "\n", p, nil, "line 2: bufio.Scanner: token too long"},
		{"no such transition", lines[0] + lines[1] + `{"seq":2,"kind":"fired","index":99}` + "\n", p, nil,
			`event: replay: event 2 is damaged: net "line" has no such place or transition`},
		{"no such slot", lines[0] + lines[1] + `{"seq":2,"kind":"injected","index":1,"slot":-1}` + "\n", p, nil,
			"is damaged"},
		{"before the start", lines[0] + lines[1] + `{"seq":2,"kind":"injected","index":1,"at":-5}` + "\n", p, nil,
			"is damaged"},
		{"after the end", lines[0] + lines[1] +
			`{"seq":2,"kind":"injected","index":0,"name":"edges[start]","at":9000000000000000000}` + "\n" +
			`{"seq":3,"kind":"ended","index":-1,"at":9000000000000000000}` + "\n", p, nil, "event 3: the archive says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Replay(c.prog, strings.NewReader(c.log))
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestReplayOfAFault replays runs that broke: in an action, which a replay does not run, and by a
// rule of the net, which breaks again.
func TestReplayOfAFault(t *testing.T) {
	const in, pile, side = petri.Place[int]("in"), petri.Place[int]("pile"), petri.Place[int]("side")
	p, err := petri.Compile(&petri.Net{Name: "heap", Env: []petri.Env{{Place: in, Capacity: 4}},
		Caps: []petri.Cap{{Place: pile, Max: 2}}, Sinks: []petri.AnyPlace{pile, side},
		Transitions: []petri.Transition{{
			Name: "copy", In: petri.Arcs{in}, Out: petri.And(side, pile),
			Action: func(f *petri.Firing) {
				if in.Get(f) < 0 {
					panic("negative")
				}
				side.Put(f, 1)
				pile.Put(f, 1)
			}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values []int
		events uint64
	}{{[]int{1, 1, 1}, 7}, {[]int{1, -1}, 5}} {
		t.Run(fmt.Sprint(c.values), func(t *testing.T) {
			var b bytes.Buffer
			a := NewArchive(&b, p, ArchiveConfig{})
			m := p.Start()
			for i, v := range c.values {
				func() {
					defer func() {
						if recover() != nil {
							a.Append(m.Fault().Events)
						}
					}()
					_ = m.Inject(time.Duration(i+1)*time.Second, in.Token(v))
					a.Append(m.Advance(m.Now()).Events)
				}()
			}
			if !strings.Contains(b.String(), "faulted") {
				t.Fatal("the run did not fault")
			}
			if n, err := Replay(p, &b); err != nil || n != c.events {
				t.Errorf("%d events, %v; want %d", n, err, c.events)
			}
		})
	}
	// A fault that the archive does not have.
	var b bytes.Buffer
	a := NewArchive(&b, p, ArchiveConfig{})
	a.Append([]petri.Event{{Seq: 1, Kind: petri.Started},
		{Seq: 2, Kind: petri.Injected}, {Seq: 3, Kind: petri.Fired}, {Seq: 4, Kind: petri.Injected},
		{Seq: 5, Kind: petri.Fired}, {Seq: 6, Kind: petri.Injected}, {Seq: 7, Kind: petri.Fired}})
	_, err = Replay(p, &b)
	var d *Difference
	if !errors.As(err, &d) || d.Seq != 7 || !strings.Contains(d.Replayed, "its capacity is 2") {
		t.Errorf("got %v", err)
	}
}

// TestReplayOfAFarTime checks that a time far in the future, as only a damaged archive has, does
// not make the replay fire all timers before it.
func TestReplayOfAFarTime(t *testing.T) {
	const in, beat = petri.Place[unit]("in"), petri.Place[unit]("beat")
	p, err := petri.Compile(&petri.Net{
		Name: "metronome", Env: []petri.Env{{Place: in}}, Init: []petri.Token{beat.Token(unit{})},
		Transitions: []petri.Transition{
			{Name: "tick", In: petri.Arcs{beat}, Out: petri.And(beat), When: petri.After(time.Millisecond)},
			{Name: "take", In: petri.Arcs{in}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	a := NewArchive(&b, p, ArchiveConfig{})
	a.Append([]petri.Event{{Seq: 1, Kind: petri.Started}, {Seq: 2, Kind: petri.Injected, At: 1 << 62}})
	_, err = Replay(p, &b)
	if err == nil || !strings.Contains(err.Error(), `the net does "1ms fired tick"`) {
		t.Errorf("got %v", err)
	}
}
