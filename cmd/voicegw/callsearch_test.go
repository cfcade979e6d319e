package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/console"
	"github.com/voicegw/voicegw/settings"
)

// searched is a directory of records, and the calls in it.
type searched struct {
	*records
	calls []voicegw.Record
}

// newSearched writes records of calls of two days in several files. Calls that end close to each other are in any
// order.
func newSearched(t *testing.T, calls int) *searched {
	t.Helper()
	s := &searched{records: recordsIn(t.TempDir(), settings.Records{JSON: true})}
	chance := rand.New(rand.NewPCG(17, 17))
	at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	type ended struct {
		record voicegw.Record
		at     time.Time
	}
	var all []ended
	for i := range calls {
		at = at.Add(time.Duration(chance.IntN(int(2 * 48 * time.Hour / time.Duration(calls)))))
		length := time.Duration(chance.IntN(int(time.Minute)))
		if i%50 == 0 {
			length = time.Duration(chance.IntN(int(24 * time.Hour)))
		}
		r := voicegw.Record{Call: fmt.Sprintf("c-%06d", i), From: fmt.Sprintf("+49%d", chance.IntN(20)),
			Endpoint: []string{"twilio", "webrtc"}[chance.IntN(2)], Began: at.Add(-length), Duration: length, Reason: "timeout"}
		all = append(all, ended{r, at.Add(time.Duration(chance.IntN(int(5 * time.Second))))})
		s.calls = append(s.calls, r)
	}
	slices.SortFunc(all, func(a, b ended) int { return a.at.Compare(b.at) })
	f := rotatedFile{dir: s.dir, name: recordsName, ending: recordsJSON}
	for part := range slices.Chunk(all, calls/4+1) {
		var b bytes.Buffer
		for i, e := range part {
			line, err := jsonRecord(&callRecord{Record: e.record, Turns: make([]turnRecord, i%7)})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
		}
		name := f.renamedAt(part[len(part)-1].at.Add(time.Second))
		if part[len(part)-1].record.Call == all[len(all)-1].record.Call {
			name = f.name + f.ending
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// all pages through everything that a search finds, within so many bytes for each page.
func (s *searched) all(t *testing.T, q console.Search, bytesMax int64) (ids []string, pages int) {
	t.Helper()
	for ; ; pages++ {
		f, err := s.searchWithin(t.Context(), q, bytesMax)
		if err != nil || f.Unread > 0 || len(f.Calls) > q.Most || pages > 10*len(s.calls) {
			t.Fatalf("page %d of %+v: %+v, %v", pages, q, f, err)
		}
		for _, c := range f.Calls {
			ids = append(ids, c.Call)
		}
		if q.After = f.More; f.More == (console.Place{}) {
			return ids, pages + 1
		}
	}
}

// TestSearchCalls finds the calls that a look at every record finds, the one that ended last first, whatever the pages.
func TestSearchCalls(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 1500)
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, q := range []console.Search{{}, {Words: []string{"+497"}}, {Words: []string{"+491", "twilio"}},
		{Since: noon}, {Until: noon}, {Since: noon, Until: noon.Add(time.Hour)}, {Words: []string{"c-000123"}},
		{Since: noon, Until: noon.Add(3 * time.Hour), Words: []string{"+491", "webrtc"}}, {Since: noon.AddDate(0, 0, 3)},
		{Until: noon.AddDate(0, 0, -3)}, {Words: []string{"timeout", "nobody"}}} {
		var want []console.Found
		for _, r := range s.calls {
			if q.Takes(r.Began, r.Call, r.From, r.Endpoint, r.Reason) {
				want = append(want, console.Found{Call: r.Call, Began: r.Began, DurationMS: r.Duration.Milliseconds()})
			}
		}
		slices.SortFunc(want, func(a, b console.Found) int { return a.Place().Compare(b.Place()) })
		for _, c := range []struct {
			most  int
			bytes int64
		}{{10_000, searchBytesMax}, {50, searchBytesMax}, {50, 20_000}, {7, 300_000}} {
			q.Most = c.most
			got, pages := s.all(t, q, c.bytes)
			if !slices.EqualFunc(got, want, func(id string, c console.Found) bool { return id == c.Call }) {
				t.Errorf("%+v, %d bytes: %d calls on %d pages, want %d", q, c.bytes, len(got), pages, len(want))
			}
		}
	}
	q := console.Search{Since: noon.Add(-time.Hour), Until: noon, Most: 50, Words: []string{"nobody"}}
	if _, pages := s.all(t, q, 1<<20); pages > 2 {
		t.Errorf("to look for nobody takes %d pages", pages)
	}
}

// TestSearchReadsNoMore: a search stops at its limit, and says so if it cannot go on behind it.
func TestSearchReadsNoMore(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 3000)
	f, err := s.searchWithin(t.Context(), console.Search{Most: 50, Words: []string{"nobody"}}, 100_000)
	if last := s.calls[len(s.calls)-1]; err != nil || f.More.Ended.IsZero() ||
		last.Began.Add(last.Duration).Sub(f.More.Ended) > 24*time.Hour {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := s.searchWithin(t.Context(), console.Search{Most: 50}, 10); err == nil {
		t.Errorf("ten bytes give %+v", f)
	}
	if _, err := (*records)(nil).search(t.Context(), console.Search{}); err == nil ||
		!strings.Contains(err.Error(), "records.dir") {
		t.Errorf("without records: %v", err)
	}
	table := recordsIn(t.TempDir(), settings.Records{CSV: true})
	if _, err := table.search(t.Context(), console.Search{}); err == nil {
		t.Error("a table has been searched")
	}
	none := recordsIn(t.TempDir(), settings.Records{JSON: true})
	if f, err := none.search(t.Context(), console.Search{Most: 1}); err != nil || len(f.Calls) > 0 {
		t.Errorf("no call yet: %+v, %v", f, err)
	}
}

// FuzzSearchCalls searches any file: it finds each call that a look at every line finds, and counts the other lines.
func FuzzSearchCalls(f *testing.F) {
	f.Add([]byte(`{"call":"c-1","from":"+49"}`+"\n"+`{"call":"c-2"`), int64(30))
	f.Add([]byte("\n{}\nnull\n{\"call\":\"c-3\"}\n\n"), int64(1))
	r := recordsIn(f.TempDir(), settings.Records{JSON: true})
	f.Fuzz(func(t *testing.T, text []byte, at int64) {
		if err := os.WriteFile(filepath.Join(r.dir, "calls.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, torn := 0, 0
		damaged, err := readRecords(bytes.NewReader(text), func(*callRecord) { want++ })
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Split(text, []byte("\n")); len(lines[len(lines)-1]) > 0 {
			torn = 1
		}
		got, err := r.search(t.Context(), console.Search{Most: 1 << 20})
		if err != nil || len(got.Calls) != want || got.Unread > damaged || got.Unread+torn < damaged {
			t.Errorf("%q: %+v, %v; want %d, and %d damaged lines", text, got, err, want, damaged)
		}
		_ = firstAfter(bytes.NewReader(text), int64(len(text)), time.Unix(at, 0))
	})
}
