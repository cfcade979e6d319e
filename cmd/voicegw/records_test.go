package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// recordsIn returns records that are written to a folder.
func recordsIn(dir string, s settings.Records) *records {
	s.Dir = dir
	if s.FileBytes == 0 {
		s.FileBytes, s.Files = 1<<20, 10
	}
	return newRecords(&settings.Settings{Records: s}, zap.NewNop())
}

// over has a call of two turns end.
func (r *records) over(id string) {
	var h voicegw.Hooks
	r.join(&h)
	r.turn(id, &voicegw.Turn{Who: transport.WhoCaller, Text: "my secret words"})
	r.turn(id, &voicegw.Turn{Who: transport.WhoModel, Text: "an answer", End: transport.TurnInterrupted, HeardMS: 1240,
		Latency: 600 * time.Millisecond})
	h.Ended(voicegw.Record{Call: id, CarrierCall: "CA17", Endpoint: "twilio", From: "+4930123456", Client: "=cmd|x",
		Began: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), Duration: 12300 * time.Millisecond, Reason: "caller_hung_up",
		Replies: 1, Interrupted: 1, HeardMS: 1240, Error: "a text of somebody"})
	r.write(<-r.queue)
}

// TestRecords writes a call in both formats: without what was said, unless the settings ask for it.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, transcripts := range []bool{false, true} {
		dir := t.TempDir()
		r := recordsIn(dir, settings.Records{JSON: true, CSV: true, Transcripts: transcripts})
		r.over("c-1")
		text, err := os.ReadFile(filepath.Join(dir, "calls.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var got callRecord
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.Call != "c-1" || got.CarrierCall != "CA17" || len(got.Turns) != 2 || got.Turns[1].HeardMS != 1240 ||
			got.Turns[1].LatencyMS != 600 || got.Turns[1].End != transport.TurnInterrupted {
			t.Errorf("the record is %s", text)
		}
		if said := bytes.Contains(text, []byte("secret")); said != transcripts {
			t.Errorf("with transcripts %v the record has what was said: %v", transcripts, said)
		}
		rows, err := csv.NewReader(bytes.NewReader(read(t, filepath.Join(dir, "calls.csv")))).ReadAll()
		if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
			t.Fatalf("the table is %q, %v", rows, err)
		}
		for column, want := range map[string]string{"from": "+4930123456", "client": "'=cmd|x", "seconds": "12.300",
			"heard_seconds": "1.240", "turns": "2", "carrier_call": "CA17"} {
			if got := rows[1][slices.Index(rows[0], column)]; got != want {
				t.Errorf("%s is %q, want %q", column, got, want)
			}
		}
		if len(r.running) != 0 {
			t.Error("turns of a call that has ended are kept")
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordsRotate keeps so many full files, each within its size.
func TestRecordsRotate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recordsIn(dir, settings.Records{JSON: true, FileBytes: 4096, Files: 2})
	for i := range 60 {
		r.over(fmt.Sprintf("c-%d", i))
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 3 || r.lost.Load() != 0 {
		t.Fatalf("%d files are kept, %d records lost, %v", len(names), r.lost.Load(), err)
	}
	for _, name := range names {
		if text := read(t, name); len(text) > 4096 || !bytes.HasSuffix(text, []byte("}\n")) {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

// TestRecordsWithoutADisk counts what the disk does not take, never blocks a call, and writes again
// when the disk is back.
func TestRecordsWithoutADisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	r := recordsIn(dir, settings.Records{JSON: true})
	r.over("c-1")
	if r.lost.Load() != 1 {
		t.Errorf("%d records are lost, want 1", r.lost.Load())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.over("c-2")
	if text := read(t, filepath.Join(dir, "calls.jsonl")); !bytes.Contains(text, []byte("c-2")) {
		t.Errorf("the file is %s", text)
	}
	for range recordQueueMax + 3 { // nobody writes
		r.ended(voicegw.Record{Call: "c-3"})
	}
	if r.lost.Load() != 4 {
		t.Errorf("%d records are lost, want those beyond the queue", r.lost.Load())
	}
}

// TestRecordsAreBounded leaves out turns beyond the limits and says how many.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	r := recordsIn(t.TempDir(), settings.Records{JSON: true, Transcripts: true})
	for range recordTurnsMax + 5 {
		r.turn("c-1", &voicegw.Turn{})
	}
	r.turn("c-2", &voicegw.Turn{Text: strings.Repeat("x", recordTextMax)})
	r.turn("c-2", &voicegw.Turn{Text: "y"})
	if one, two := r.running["c-1"], r.running["c-2"]; len(one.Turns) != recordTurnsMax || one.TurnsLeftOut != 5 ||
		len(two.Turns) != 1 || two.TurnsLeftOut != 1 {
		t.Errorf("%d turns and %d left out; %d and %d", len(one.Turns), one.TurnsLeftOut, len(two.Turns), two.TurnsLeftOut)
	}
}

// TestSurplus deletes the oldest beyond each limit, and nothing without one.
func TestSurplus(t *testing.T) {
	t.Parallel()
	now := time.Now()
	files := func() (list []keptFile) {
		for i := range 5 {
			list = append(list, keptFile{fmt.Sprint(i), 10, now.Add(time.Duration(i) * time.Hour)})
		}
		return list
	}
	for name, tt := range map[string]struct {
		bytes  int64
		files  int
		oldest time.Time
		want   []string
	}{
		"no limit": {},
		"bytes":    {bytes: 30, want: []string{"0", "1"}},
		"files":    {files: 1, want: []string{"0", "1", "2", "3"}},
		"age":      {oldest: now.Add(90 * time.Minute), want: []string{"0", "1"}},
		"within":   {bytes: 50, files: 5, oldest: now},
	} {
		if got := surplus(files(), tt.bytes, tt.files, tt.oldest); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q are deleted, want %q", name, got, tt.want)
		}
	}
}

// TestArchivesArePruned keeps the archives of running calls and the files of others.
func TestArchivesArePruned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"c-1.jsonl", "c-2.jsonl", "c-3.jsonl", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	a := &archives{dir: dir, limits: settings.ArchiveLimits{Files: 1}, log: zap.NewNop(),
		runs: func(call string) bool { return call == "c-1" }}
	if err := a.prune(time.Now()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 || a.removed.Load() != 1 || a.files.Load() != 2 || a.bytes.Load() != 20 {
		t.Errorf("%q are left, %d deleted, %d counted with %d bytes", left, a.removed.Load(), a.files.Load(),
			a.bytes.Load())
	}
	a.dir = filepath.Join(dir, "missing")
	if err := a.prune(time.Now()); err == nil {
		t.Error("a folder that cannot be read is no error")
	}
}

// TestListCalls filters records.
func TestListCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recordsIn(dir, settings.Records{JSON: true}).over("c-1")
	if err := os.WriteFile(filepath.Join(dir, "calls-0.jsonl"), []byte("no record\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Records: settings.Records{Dir: dir}}
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	for i, tt := range []struct {
		f    callFilter
		want bool
	}{
		{callFilter{}, true}, {callFilter{since: "2h"}, true}, {callFilter{since: "30m"}, false},
		{callFilter{until: "2026-11-28T08:00:00Z"}, false}, {callFilter{endpoint: "twilio"}, true},
		{callFilter{endpoint: "ws"}, false}, {callFilter{reason: "model_lost"}, false}, {callFilter{client: "x"}, false},
		{callFilter{from: "+4930"}, true}, {callFilter{from: "+4940"}, false}, {callFilter{to: "1"}, false},
		{callFilter{since: "2026-11-28 08:30"}, true}, {callFilter{since: "2026-11-28 09:30"}, false},
		{callFilter{since: "2026-11-28", until: "2026-11-29"}, true},
		{callFilter{shortest: 12 * time.Second}, true}, {callFilter{shortest: time.Minute}, false},
		{callFilter{asJSON: true}, true},
	} {
		var out, errs bytes.Buffer
		tt.f.most = 10
		if err := listCalls(s, &tt.f, now, &out, &errs); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "c-1"); got != tt.want {
			t.Errorf("filter %d: %q", i, out.String())
		}
		if !strings.Contains(errs.String(), "1 lines of") {
			t.Errorf("the damaged line is not noted: %q", errs.String())
		}
	}
	for _, f := range []callFilter{{since: "yesterday", most: 1}, {until: "x", most: 1}, {}} {
		if err := listCalls(s, &f, now, io.Discard, io.Discard); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	if err := listCalls(&settings.Settings{}, &callFilter{most: 1}, now, io.Discard, io.Discard); err == nil {
		t.Error("there is no folder of records")
	}
}

// TestUnreadableRecords lists the calls of the other files, and names the file that cannot be read.
func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "calls-0.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	recordsIn(dir, settings.Records{JSON: true}).over("c-1")
	var out bytes.Buffer
	err := listCalls(&settings.Settings{Records: settings.Records{Dir: dir}}, &callFilter{most: 10}, time.Now(), &out,
		io.Discard)
	if err == nil || !strings.Contains(err.Error(), "calls-0.jsonl") || !strings.Contains(out.String(), "c-1 ") {
		t.Errorf("it lists %q, %v", out.String(), err)
	}
}

// FuzzRecords reads any file: every line is a record or counted.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"call":"c-1","turns":[{"who":"model"}]}` + "\n" + `{"call":"c-2"`))
	f.Add([]byte("\n{}\nnull\n[]\n{\"call\":\"c-/../x\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := 0
		for range bytes.Lines(text) {
			lines++
		}
		records := 0
		damaged, err := readRecords(bytes.NewReader(text), func(r *callRecord) {
			records++
			tellRecord(io.Discard, r)
			if _, err := csvRecord(r); err != nil {
				t.Error(err)
			}
		})
		if err != nil || records+damaged != lines {
			t.Errorf("%d records and %d damaged lines of %d, %v", records, damaged, lines, err)
		}
	})
}

// TestDamagedArchives tells what an archive has, and says why it has no more.
func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	head := `{"format":"voicegw.events","version":1,"net":"session"}` + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"foreign":   {"PK\x03\x04 something else\n", "it is not an archive of events"},
		"empty":     {"", "it has no header"},
		"truncated": {head + `{"seq":1,"at":1000000000,"kind":"started"}` + "\n" + `{"seq":2,"at":`, "ends at 1.000 s"},
		"damaged":   {head + `{"seq":1,"at":1000000000,"kind":"started"}` + "\n{\n" + "{}\n", "after 1.000 s: "},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "c-1.jsonl"), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := findCall(&settings.Settings{Archive: dir}, "c-1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.story(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		var bundle bytes.Buffer
		if err := c.export(&bundle); name == "truncated" && (err != nil || bundle.Len() == 0) {
			t.Errorf("%s: it is not exported: %v", name, err)
		}
	}
}

// TestCallsOfServe takes a call, lists it, tells it, exports it without a word of it, and steps
// through it.
func TestCallsOfServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	records, archive := filepath.Join(dir, "records"), filepath.Join(dir, "archive")
	s := startServe(t, []string{"VOICEGW_GREETING="}, "--records-dir", records, "--archive", archive,
		"--records-transcripts", "--records-format", "both", "--admin-listen", "127.0.0.1:0")
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "question"), "--out",
		filepath.Join(dir, "heard.wav")).want(t, 0)
	_, admin, _ := strings.Cut(s.stderr.String(), "the admin listener is at ")
	admin, _, _ = strings.Cut(admin, "\n")
	found := ""
	if !waitFor(func() bool {
		_, found = get(t, http.DefaultClient, admin+"console/api/search?text=Caller_Hung&since=2026-01-01T00:00:00Z")
		return strings.Contains(found, `"reason":"caller_hung_up"`) && strings.Contains(found, `"archived":true`)
	}, patience) {
		t.Errorf("the console finds %s", found)
	}
	if !waitFor(func() bool {
		_, found = get(t, http.DefaultClient, admin+"console/api/archives")
		return strings.Contains(found, `"record":{"call":"c-`) && strings.Contains(found, `"reason":"caller_hung_up"`)
	}, patience) {
		t.Errorf("the console lists %s", found)
	}
	s.end()
	list := command(t, nil, "calls", "list", "--records-dir", records, "-o", "json")
	list.want(t, 0)
	var rec callRecord
	if err := json.Unmarshal([]byte(list.stdout), &rec); err != nil || len(rec.Turns) != 2 || rec.Turns[0].Text == "" {
		t.Fatalf("the list is %q, %v", list.stdout, err)
	}
	if said := s.stderr.String(); !strings.Contains(said, "call began") || !strings.Contains(said, "call ended") {
		t.Errorf("the log does not say that the call began and ended:\n%s", said)
	}
	both := []string{"--records-dir", records, "--archive", archive}
	command(t, nil, append([]string{"calls", "show", rec.Call}, both...)...).want(t, 0, "ended: caller_hung_up",
		rec.Turns[0].Text, "the caller speaks", "the caller's turn ends", "the reply begins", "the reply was played",
		"s of audio went to the caller", "the call is over")
	command(t, nil, append([]string{"calls", "show", "c-000000000000"}, both...)...).want(t, 1, "nothing is kept")
	command(t, nil, append([]string{"calls", "show", "../x"}, both...)...).want(t, 2, "is not the id of a call")
	out := filepath.Join(dir, "bug.zip")
	export := append([]string{"calls", "export", rec.Call, "--out", out}, both...)
	command(t, nil, export...).want(t, 0)
	command(t, nil, export...).want(t, 2, "--out")
	clean(t, out, append(strings.Fields(rec.Turns[0].Text), rec.Client, "voicegw call"))
	file := filepath.Join(archive, rec.Call+".jsonl")
	command(t, nil, "replay", file, "--at", "1s").want(t, 0, "event ", " online")
	command(t, nil, "replay", file, "--at", "-1s").want(t, 2, "--at")
}

// TestCallWithATool names the function in the record and in the story, and not in a bug report.
func TestCallWithATool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := scripted(t, "about A model with a tool.\non turn 1: call find_order {\"number\":\"secret17\"}")
	crm := newCRM(t, map[string]string{"/order": `{"result":{"state":"secret42"}}`})
	tools := writeFile(t, "tools.json", fmt.Appendf(nil,
		`[{"name":"find_order","description":"finds an order","url":%q}]`, crm.URL+"/order"))
	secret := writeFile(t, "secret", []byte(hookSecret))
	records, archive := filepath.Join(dir, "records"), filepath.Join(dir, "archive")
	s := startServe(t, []string{"VOICEGW_GREETING=", "GEMINI_API_KEY=k"}, "--model-base-url", model.URL(), "--records-dir",
		records, "--archive", archive, "--session-tools-file", tools, "--webhooks-secret-file", secret,
		"--webhooks-allow", "127.0.0.1")
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "question"), "--out",
		filepath.Join(dir, "heard.wav")).want(t, 0)
	s.end()
	text := read(t, filepath.Join(records, "calls.jsonl"))
	var rec callRecord
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(`"tools":[{"name":"find_order","result":"answered","began_ms":`)) ||
		bytes.Contains(text, []byte("secret")) {
		t.Errorf("the record is %s", text)
	}
	both := []string{"--records-dir", records, "--archive", archive}
	show := command(t, nil, append([]string{"calls", "show", rec.Call}, both...)...)
	show.want(t, 0, "the model calls find_order", "find_order: answered after")
	if strings.Contains(show.stdout, "start_call") {
		t.Errorf("the story has the tool call twice:\n%s", show.stdout)
	}
	command(t, nil, "calls", "show", rec.Call, "--archive", archive).want(t, 0, "the model calls a function",
		"the function has answered")
	out := filepath.Join(dir, "bug.zip")
	command(t, nil, append([]string{"calls", "export", rec.Call, "--out", out}, both...)...).want(t, 0)
	clean(t, out, []string{"find_order", "secret17", "secret42"})
}

// clean wants none of these words of four letters or more in a bundle.
func clean(t *testing.T, name string, words []string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != 4 {
		t.Errorf("the bundle has %d files", len(z.File))
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || len(text) == 0 {
			t.Fatalf("%s is empty: %v", f.Name, err)
		}
		for _, w := range words {
			if w = strings.Trim(w, ".,?!"); len(w) > 4 && w != "voicegw" && bytes.Contains(text, []byte(w)) {
				t.Errorf("%s has the word %q", f.Name, w)
			}
		}
	}
}

// TestCleanArchive leaves nothing in an archive but its own fields.
func TestCleanArchive(t *testing.T) {
	t.Parallel()
	line := `{"seq":1,"at":0,"kind":"started","text":"my secret words"}`
	name := writeFile(t, "c-1.jsonl", []byte(`{"format":"voicegw.events","version":1,"said":"secret"}`+"\n"+line+"\n"))
	b, err := cleanArchive(name)
	if err != nil || bytes.Contains(b, []byte("secret")) || bytes.Count(b, []byte("\n")) != 2 {
		t.Errorf("%s, %v", b, err)
	}
	named := writeFile(t, "c-2.jsonl", []byte("{}\n"+`{"seq":1,"at":0,"kind":"fired","name":"what? my secret"}`+"\n"))
	if b, err := cleanArchive(named); err == nil {
		t.Errorf("a name that no net has is exported: %s", b)
	}
}

// TestStoryWords wants each word of stories to be about a transition that there is.
func TestStoryWords(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, n := range shippedNets() {
		for _, consent := range []bool{false, true} {
			c := n.config
			c.Consent, c.Hints, c.ToolSlots, c.RepromptAfter = consent, true, 2, 5*time.Second
			c.Prompts = defaultPrompts()
			n.config = c
			p, err := n.program()
			if err != nil {
				t.Fatal(err)
			}
			for _, tr := range p.Transitions() {
				names[tr.Name] = true
			}
		}
	}
	for word, text := range storyWords() {
		found := false
		for name := range names {
			found = found || wordsOf(map[string]string{word: text}, name) != ""
		}
		if !found {
			t.Errorf("no net has a transition %s", word)
		}
	}
}

// TestStepper goes to a time, on and back, by a script.
func TestStepper(t *testing.T) {
	t.Parallel()
	n := shippedNets()[0]
	prog, err := n.program()
	if err != nil {
		t.Fatal(err)
	}
	s := &stepper{prog: prog, now: prog.Track()}
	s.kept = append(s.kept, s.now.Clone())
	m := prog.Start()
	s.events = append(s.events, m.Advance(0).Events...)
	for i := range 3 {
		now := time.Duration(i) * time.Second
		if err := m.Inject(now, voicenets.Hold.Token(voicenets.Switch(i%2))); err != nil {
			t.Fatal(err)
		}
		s.events = append(s.events, m.Advance(now).Events...)
	}
	var out bytes.Buffer
	if err := s.interact(strings.NewReader("n\n2\nb\n-1\nx\n0s\nq\nn\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"event 0 of", "event 1 of", "event 3 of", "event 2 of", `"x" is none of these`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}

// TestRecordInDocs reads the record of docs/records.md.
func TestRecordInDocs(t *testing.T) {
	t.Parallel()
	text := string(read(t, filepath.Join("..", "..", "docs", "records.md")))
	_, text, _ = strings.Cut(text, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var r callRecord
	if err := d.Decode(&r); err != nil || r.CarrierCall != "CA17" || len(r.Turns) != 2 || r.Turns[1].Tokens != 31 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRecordsAfterACrash: a crash in the middle of a line costs the record of that line alone, in both formats.
func TestRecordsAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	torn := map[string]string{"calls.jsonl": `{"call":"c-0","endpo`, "calls.csv": "call,client\nc-0,\"a na"}
	for name, text := range torn {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := recordsIn(dir, settings.Records{JSON: true, CSV: true})
	r.over("c-1")
	r.over("c-2")
	s := &settings.Settings{Records: settings.Records{Dir: dir}}
	var got []string
	damaged, err := eachRecord(s, func(r *callRecord) { got = append(got, r.Call) })
	if err != nil || damaged != 1 || !slices.Equal(got, []string{"c-1", "c-2"}) {
		t.Errorf("%q are read, %d lines are damaged, %v", got, damaged, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, filepath.Join(dir, "calls.csv")))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Errorf("the table is %q, %v", rows, err)
	}
}

// TestRecordsOfTwoProcesses: two that write to one directory lose nothing, whoever renames the file.
func TestRecordsOfTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var both sync.WaitGroup
	var list [2]*records
	for i := range list {
		list[i] = recordsIn(dir, settings.Records{JSON: true, FileBytes: 4096, Files: 1000})
		both.Go(func() {
			for n := range 300 {
				list[i].over(fmt.Sprintf("c-%d-%d", i, n))
			}
		})
	}
	both.Wait()
	seen := map[string]bool{}
	damaged, err := eachRecord(&settings.Settings{Records: settings.Records{Dir: dir}},
		func(r *callRecord) { seen[r.Call] = true })
	if err != nil || damaged > 0 || len(seen) != 600 || list[0].lost.Load()+list[1].lost.Load() > 0 {
		t.Errorf("%d records are read, %d lines damaged, %d and %d lost, %v", len(seen), damaged, list[0].lost.Load(),
			list[1].lost.Load(), err)
	}
}

// TestRecordsThatStay: an old file that cannot be deleted costs no record.
func TestRecordsThatStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recordsIn(dir, settings.Records{JSON: true, FileBytes: 1, Files: 1})
	r.files[0].remove = func(string) error { return fs.ErrPermission }
	for i := range 3 {
		r.over(fmt.Sprintf("c-%d", i))
	}
	if r.lost.Load() > 0 {
		t.Errorf("%d records are lost", r.lost.Load())
	}
}

// TestDamagedRecords: lines of any length that are no records are counted, in a directory of any name.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[calls] of *")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	long := append(make([]byte, recordLineMax+1), '\n') // as a file system leaves it that lost power
	if err := os.WriteFile(filepath.Join(dir, "calls-1.jsonl"), long, 0o600); err != nil {
		t.Fatal(err)
	}
	recordsIn(dir, settings.Records{JSON: true}).over("c-1")
	var got []string
	damaged, err := eachRecord(&settings.Settings{Records: settings.Records{Dir: dir}},
		func(r *callRecord) { got = append(got, r.Call) })
	if err != nil || damaged != 1 || !slices.Equal(got, []string{"c-1"}) {
		t.Errorf("%q are read, %d lines are damaged, %v", got, damaged, err)
	}
}
