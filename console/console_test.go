package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/web"
)

// desk is a gateway with a model, and the console of its calls.
type desk struct {
	testing.TB
	gw   *voicegw.Gateway
	url  string
	drop func() // breaks the connections of pages
}

func newDesk(tb testing.TB, archives fstest.MapFS, net func(string) (*petri.Program, error)) *desk {
	tb.Helper()
	return newDeskIn(tb, archives, net, nil)
}

// newDeskIn is a desk whose gateway writes archives.
func newDeskIn(tb testing.TB, archives fs.FS, net func(string) (*petri.Program, error),
	archive func(string) (io.WriteCloser, error)) *desk {
	tb.Helper()
	model, err := sim.New(sim.Config{Greeting: make([]int16, 24000), GreetingText: "Hello."})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		tb.Fatal(err)
	}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Greeting: "Greet the caller.",
		Archive: archive})
	if err != nil {
		tb.Fatal(err)
	}
	share := &Sharer{Path: "/console/shared/", Key: func() []byte { return []byte("0123456789abcdef") },
		Page: web.ConsolePage(web.ConsolePageConfig{Shared: true})}
	h, err := New(Config{Gateway: gw, Archives: archives, Net: net, Names: sessionNames, Transcript: said, Search: finding,
		Sharer: share, Page: web.ConsolePage(web.ConsolePageConfig{})})
	if err != nil {
		tb.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/console/", http.StripPrefix("/console", h))
	mux.Handle("/console/shared/", share)
	mux.Handle("/", gw)
	server := httptest.NewServer(mux)
	tb.Cleanup(func() {
		_ = gw.Close()
		server.CloseClientConnections() // a page that watches never ends its request
		server.Close()
		_ = model.Close()
	})
	return &desk{TB: tb, gw: gw, url: server.URL, drop: server.CloseClientConnections}
}

// sessionNames returns the names of two kinds of session.
func sessionNames() (event.NameSet, error) {
	names := event.NameSet{}
	for _, halfDuplex := range []bool{false, true} {
		net, err := voicenets.Session(voicenets.Config{HalfDuplex: halfDuplex})
		if err != nil {
			return nil, err
		}
		prog, err := petri.Compile(net)
		if err != nil {
			return nil, err
		}
		names.Add(prog)
	}
	return names, nil
}

// said is what was said in all calls.
func said(_ context.Context, _ string, written time.Time) ([]Said, error) {
	if written.IsZero() {
		return []Said{{At: 1, Who: "model", Text: "Hello so far."}}, nil
	}
	return []Said{{At: 4000, Who: "caller", Text: "<b>Where</b> is my order?"},
		{At: 9000, Who: "caller", Text: "I mean order 17."},
		{At: 14200, Who: "model", Text: "It is on its way.", End: "interrupted"}}, nil
}

// call calls the gateway and reads what it hears until the test is over.
func (d *desk) call() *voicegw.Session {
	d.Helper()
	c, err := ws.Dial(d.Context(), d.url+"/v1/voice", transport.Hello{InputRateHz: 8000, OutputRateHz: 8000},
		ws.DialConfig{})
	if err != nil {
		d.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for m := (transport.Message{}); c.Recv(ctx, &m) == nil; m = (transport.Message{}) {
		}
	}()
	d.Cleanup(func() {
		cancel()
		_ = c.Close()
		<-over
	})
	for {
		if list := d.gw.Sessions(); len(list) > 0 {
			return list[0]
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *desk) get(path string) (int, string) {
	d.Helper()
	r, err := http.Get(d.url + "/console/api/" + path)
	if err != nil {
		d.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		d.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// shown is what a feed tells.
type shown struct {
	head    Head
	batches []Batch
	over    string
}

// readFeed reads a feed to its end. each is called for each batch.
func readFeed(tb testing.TB, from io.Reader, each func(*Batch)) (s shown) {
	tb.Helper()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	name := ""
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = n
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var err error
		switch name {
		case "head":
			err = json.Unmarshal([]byte(data), &s.head)
		case "batch":
			var b Batch
			err = json.Unmarshal([]byte(data), &b)
			s.batches = append(s.batches, b)
			each(&b)
		case "over":
			var over map[string]string
			err = json.Unmarshal([]byte(data), &over)
			s.over = over["why"]
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// marking moves the tokens of a head as the batches say.
func (s *shown) marking(p *petri.Program) []int32 {
	m := append([]int32(nil), s.head.Marking...)
	var kinds []Kind
	for _, b := range s.batches {
		kinds = append(kinds, b.Kinds...)
		for i := 1; i < len(b.Events); i += 2 {
			k := kinds[b.Events[i]]
			for _, take := range k.Take {
				m[take[0]] -= take[1]
			}
			for _, slot := range k.Zero {
				m[slot] = 0
			}
			if k.Ages {
				age(p, m)
			}
			for _, put := range k.Put {
				m[put[0]] += put[1]
			}
			if k.Kind == "started" {
				m = p.Initial()
			}
		}
	}
	return m
}

func age(p *petri.Program, m []int32) {
	for _, pl := range p.Places() {
		for s := pl.Slot; pl.Gen && s < pl.Slot+pl.Slots; s += 2 {
			m[s+1] += m[s]
			m[s] = 0
		}
	}
}

// TestRunning shows a running call from its middle to its end. The tokens move as in the net.
func TestRunning(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil, nil)
	session := d.call()
	r, err := http.Get(d.url + "/console/api/calls/" + session.ID() + "/feed")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	watch, err := session.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	spoke := false
	s := readFeed(t, r.Body, func(b *Batch) {
		for _, span := range b.Spans {
			if span.Lane == "sent" && !spoke {
				spoke = true
				if err := session.HangUp(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if code, body := d.get("calls/c-none/transcript"); code != http.StatusNotFound {
		t.Errorf("the transcript of no call: %d %s", code, body)
	}
	if s.over != "" || !s.head.Running || s.head.Call.ID != session.ID() || s.head.Call.State.Phase == "" || !spoke {
		t.Errorf("the feed begins with %+v and ends with %q", s.head, s.over)
	}
	end := watch.Tracker()
	for {
		events, err := watch.Next(t.Context(), nil)
		if errors.Is(err, voicegw.ErrOver) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := end.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := fmt.Sprint(s.marking(session.Program())), fmt.Sprint(end.Marking()); got != want {
		t.Errorf("the feed ends in the marking %s, the net in %s", got, want)
	}
	code, body := d.get("nets/" + s.head.Net)
	if code != http.StatusOK || !strings.Contains(body, `"asks the model again"`) || !strings.Contains(body, "svg") {
		t.Errorf("the net: %d %.300s", code, body)
	}
	if code, body := d.get("calls/" + session.ID() + "/feed"); code != http.StatusNotFound {
		t.Errorf("the call after its end: %d %s", code, body)
	}
}

// TestIdleClient: a client that stops reading harms no call, and the call ends as ever.
func TestIdleClient(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil, nil)
	session := d.call()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/console/api/calls/"+session.ID()+"/feed", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r) // nobody reads its body
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for range 200 {
		if err := session.Mute(true); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.HangUp(); err != nil {
		t.Fatal(err)
	}
	<-session.Done()
	cancel()
}

// TestArchives opens archives, whole and broken ones.
func TestArchives(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.reply(3*second, second, false)
	p.at(6*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(7 * second)
	whole := p.file()
	lines := bytes.SplitAfter(whole, []byte("\n"))
	moved := bytes.ReplaceAll(lines[2], []byte(`"index":`), []byte(`"index":1`))
	swapped := bytes.Join([][]byte{lines[0], lines[1], moved}, nil)
	early := bytes.Join(lines[:40], nil)
	other := newTape(t, voicenets.Config{HalfDuplex: true})
	other.run(second)
	file := func(b []byte) *fstest.MapFile { return &fstest.MapFile{Data: b, Mode: 0o600} }
	d := newDesk(t, fstest.MapFS{
		"whole.jsonl": file(whole), "cut.jsonl": file(whole[:len(whole)/2]), "early.jsonl": file(early),
		"swapped.jsonl": file(swapped), "text.jsonl": file([]byte("hello\n")), "other.jsonl": file(other.file()),
		"renamed.jsonl": file(bytes.ReplaceAll(other.file(), []byte("link/dial_first"), []byte("line/call_first"))),
		"empty.jsonl":   file(lines[0]),
		"lost.jsonl":    file(append(early[:len(early):len(early)], `{"note":"incomplete"}`+"\n"...)),
		"notes.txt":     file(nil),
	}, func(hash string) (*petri.Program, error) {
		if hash != event.Hash(p.prog) {
			return nil, errors.New("start voicegw with the settings that it had then")
		}
		return p.prog, nil
	})
	for name, want := range map[string]string{
		"whole": "", "cut": "The last line of the archive is cut off", "early": "before the call does.",
		"swapped": "damaged, or is another net's", "empty": "The archive has no events.",
		"lost": "The archive is incomplete: events after",
	} {
		code, body := d.get("archives/" + name + "/feed")
		s := readFeed(t, strings.NewReader(body), func(*Batch) {})
		if code != http.StatusOK || !strings.Contains(s.over, want) || (want == "") != (s.over == "") {
			t.Errorf("%s: %d, over %q, want %q", name, code, s.over, want)
		}
		if name == "whole" && (len(s.batches[0].Turns) != 1 || !slices.Equal(s.marking(p.prog), p.m.Marking(nil))) {
			t.Errorf("the whole archive shows %s", text(t, s.batches[0].Turns))
		}
	}
	for path, want := range map[string]string{
		"archives/none/transcript": `404 there is no archive "none"`, "archives/notes.txt/transcript": "404 there is no",
		"archives/text/feed": "422 text.jsonl cannot be read", "archives/none/feed": `404 there is no archive "none"`,
		"archives/..%2fwhole/feed": "404 there is no archive", "archives/notes.txt/feed": "404 there is no archive",
		"archives/renamed/feed": "409 renamed.jsonl was written by a version of voicegw with other names: no net of this " +
			"version has \"line/call_first\". No setting helps",
		"archives/other/feed": "409 other.jsonl was written by net \"session\" with other settings, or by another " +
			"version of it: start voicegw with", "calls/c-1/feed": `404 no call "c-1" is up`,
		"nets/x":   "404 no call that is shown",
		"nonsense": "404 there is no GET /api/nonsense",
	} {
		code, body := d.get(path)
		var answer struct{ Error struct{ Message string } }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Errorf("%s: %d %s", path, code, body)
		}
		if got := fmt.Sprint(code, " ", answer.Error.Message); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, body := d.get("calls"); strings.Count(body, `"name"`) != 9 || strings.Contains(body, "notes") {
		t.Errorf("the list is %s", body)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("an empty Config is accepted")
	}
}

// TestTurns finds the turns of a call with their latencies, an interruption among them.
func TestTurns(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.reply(2*second+600*time.Millisecond, 3*second, false)
	p.speak(3*second+600*time.Millisecond, 5*second)
	p.reply(5*second+400*time.Millisecond, 400*time.Millisecond, false)
	p.at(8*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(9 * second)
	_, b := whole(t, p.prog, p.file())
	want := []Turn{
		{N: 0, SpeechBegan: 1000, SpeechEnded: 2000, TurnEnded: 2000, ModelFirst: 2600, SentFirst: 2600, PlayedFirst: 2620,
			Ended: 3900, End: "interrupted", SentMS: 1380, HeardMS: 980, Stages: []Stage{{"end of turn", 2000, 0},
				{"model", 2000, 600}, {"gateway", 2600, 0}, {"caller's side", 2600, 20}}},
		{N: 1, SpeechBegan: 3600, SpeechEnded: 5000, TurnEnded: 5000, ModelFirst: 5400, SentFirst: 5400, PlayedFirst: 5420,
			Ended: 5800, End: "complete", SentMS: 400, HeardMS: 400, Stages: []Stage{{"end of turn", 5000, 0},
				{"model", 5000, 400}, {"gateway", 5400, 0}, {"caller's side", 5400, 20}}},
	}
	if fmt.Sprint(b.Turns) != fmt.Sprint(want) {
		t.Errorf("the turns are %s", text(t, b.Turns))
	}
	if !slices.ContainsFunc(b.Kinds, func(k Kind) bool { return strings.HasPrefix(k.Of, "turns/barge_in") && k.Ages }) {
		t.Errorf("no kind of event ages the tokens of the reply that was interrupted: %s", text(t, b.Kinds))
	}
	phases := ""
	for _, s := range b.Spans {
		if s.Lane == "phase" && s.To-s.From > 0 {
			phases += fmt.Sprintf("%s %.0f, ", s.Note, s.From)
		}
	}
	if phases != "connecting 0, listening 50, caller 1000, thinking 2000, speaking 2600, paused 3600, caller 3900, "+
		"thinking 5000, speaking 5400, listening 5800, " {
		t.Errorf("the phases are %s", phases)
	}
}

// FuzzArchive: no archive harms the console.
func FuzzArchive(f *testing.F) {
	p := newTape(f, voicenets.Config{})
	p.speak(second/10, second/5)
	p.run(second)
	lines := bytes.SplitAfter(p.file(), []byte("\n"))
	for i := range 12 {
		f.Add(bytes.Join(lines[1:2+i], nil))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := event.NewReader(io.MultiReader(bytes.NewReader(lines[0]), bytes.NewReader(body)))
		if err != nil {
			return
		}
		rec := newRecorder(p.prog.Track())
		_, err = rec.read(r, eventsMax)
		rec.flush(rec.t.Now())
		_ = trouble(r, rec, err)
	})
}

// BenchmarkRecorder is what an event costs the console.
func BenchmarkRecorder(b *testing.B) {
	p := newTape(b, voicenets.Config{})
	for i := range time.Duration(20) {
		p.speak(i*5*second+second, i*5*second+2*second)
		p.reply(i*5*second+2600*time.Millisecond, 2*second, false)
	}
	p.run(101 * second)
	_, all := whole(b, p.prog, p.file())
	n := len(all.Events) / 2
	b.ReportAllocs()
	for b.Loop() {
		whole(b, p.prog, p.file())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}
