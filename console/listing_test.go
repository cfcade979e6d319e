package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bigDir is a directory of many archives, made up. It counts how often it is asked about one.
type bigDir struct {
	files   int
	written time.Time
	asked   int
	next    int
}

func (d *bigDir) Open(name string) (fs.File, error) {
	if name != "." {
		return nil, fs.ErrNotExist
	}
	d.next = 0
	return d, nil
}
func (d *bigDir) Stat() (fs.FileInfo, error) { return bigEntry{d, -1}, nil }
func (d *bigDir) Read([]byte) (int, error)   { return 0, io.EOF }
func (d *bigDir) Close() error               { return nil }

func (d *bigDir) ReadDir(n int) (list []fs.DirEntry, err error) {
	for ; len(list) < n && d.next < d.files; d.next++ {
		list = append(list, bigEntry{d, d.next})
	}
	if len(list) == 0 {
		return nil, io.EOF
	}
	return list, nil
}

// bigEntry is an archive, or the directory if i is -1.
type bigEntry struct {
	d *bigDir
	i int
}

func (e bigEntry) Name() string               { return fmt.Sprintf("c-%06d.jsonl", e.i) }
func (e bigEntry) IsDir() bool                { return e.i < 0 }
func (e bigEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e bigEntry) Info() (fs.FileInfo, error) { e.d.asked++; return e, nil }
func (e bigEntry) Size() int64                { return int64(e.i) }
func (e bigEntry) Sys() any                   { return nil }

func (e bigEntry) Mode() fs.FileMode {
	if e.i < 0 {
		return fs.ModeDir
	}
	return 0o600
}

func (e bigEntry) ModTime() time.Time {
	if e.i < 0 {
		return e.d.written
	}
	return e.d.written.Add(-time.Duration(e.i/3) * time.Second) // three at one time
}

// TestManyArchives pages through many archives: each is listed once, the newest first, that of a running call is not,
// and the directory is asked about each only once, however often the list is wanted.
func TestManyArchives(t *testing.T) {
	t.Parallel()
	d := &bigDir{files: 20_000, written: time.Now().Add(-time.Hour)}
	l := &listing{dir: d, runs: func(call string) bool { return call == "c-000123" }}
	seen := map[string]bool{}
	last, after := Archived{Written: time.Now()}, ""
	for pages := 0; ; pages++ {
		p, err := l.page(after)
		if err != nil || p.Trouble != "" || p.All != d.files-1 || len(p.Archives) > archivesPage || pages > d.files {
			t.Fatalf("page %d: %+v, %v", pages, p, err)
		}
		for _, a := range p.Archives {
			if newestFirst(last, a) >= 0 || seen[a.Name] {
				t.Fatalf("%v comes after %v", a, last)
			}
			seen[a.Name], last = true, a
		}
		if after = p.Older; after == "" {
			break
		}
	}
	if len(seen) != d.files-1 || seen["c-000123"] || d.asked != d.files {
		t.Errorf("%d of %d are listed, after %d questions", len(seen), d.files, d.asked)
	}
	for i := range 3 { // one call runs, so one archive may grow
		before := d.asked
		l.refresh(time.Now().Add(time.Duration(i+1) * 2 * listEvery))
		if d.written = d.written.Add(time.Minute); d.asked > before+1 {
			t.Errorf("look %d asks %d times", i, d.asked-before)
		}
	}
	if _, err := l.page("tomorrow"); err == nil || err.(*problem).status != http.StatusBadRequest {
		t.Errorf("a place that is none: %v", err)
	}
}

// TestFacts adds to archives what records say: it searches for each archive once, for one without a record later again,
// after an error not at once, and never while two searches run. It keeps a limited number.
func TestFacts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var asked []Search
	var trouble error
	s := &server{searches: make(chan struct{}, searchesMax)}
	s.cfg.Search = func(_ context.Context, q Search) (Finding, error) {
		asked = append(asked, q)
		return Finding{Calls: []Found{{Call: "c-1", From: "+4930123456"}, {Call: "c-9"}}}, trouble
	}
	look := func(names string, searches int, want string) {
		t.Helper()
		var list []Archived
		for _, name := range strings.Fields(names) {
			list = append(list, Archived{Name: name, Written: now.Add(-time.Hour), settled: name != "c-fresh"})
		}
		asked = nil
		s.describe(t.Context(), now, list)
		got := ""
		for _, a := range list {
			if a.Record != nil {
				got += a.Name + " " + a.Record.From + ";"
			}
		}
		if got != want || len(asked) != searches {
			t.Errorf("of %s %q is said after %d searches, want %q after %d", names, got, len(asked), want, searches)
		}
	}
	s.searches <- struct{}{}
	s.searches <- struct{}{}
	look("c-1 c-2", 0, "")
	<-s.searches
	look("c-1 c-2", 1, "c-1 +4930123456;")
	if q := asked[0]; q.Most != factsRead || !q.After.Ended.Equal(now.Add(-time.Hour+factsLate)) {
		t.Errorf("the search is %+v", q)
	}
	look("c-1 c-2", 0, "c-1 +4930123456;")
	look("c-1 c-fresh", 1, "c-1 +4930123456;")
	now = now.Add(listEvery)
	look("c-1 c-2 c-fresh", 1, "c-1 +4930123456;")
	trouble = errors.New("a damaged disk")
	look("c-3", 1, "")
	now = now.Add(settleTime - 1)
	look("c-3", 0, "")
	now = now.Add(factsMissed)
	look("c-2 c-3", 1, "")
	for i := range factsMax {
		s.facts.keep([]Archived{{Name: fmt.Sprint(i)}}, fact{})
	}
	if n := len(s.facts.known); n > factsMax {
		t.Errorf("%d facts are kept", n)
	}
}

// TestTooManyArchives lists so many archives and says that there are more. Without the directory it says so.
func TestTooManyArchives(t *testing.T) {
	t.Parallel()
	d := &bigDir{files: archivesMax + 1, written: time.Now().Add(-time.Hour)}
	l := &listing{dir: d, runs: func(string) bool { return false }}
	if p, err := l.page(""); err != nil || p.All != archivesMax || !strings.Contains(p.Trouble, "more than 100000") {
		t.Errorf("%d archives, %q, %v", p.All, p.Trouble, err)
	}
	d.files, d.written = 2, time.Now()
	l.refresh(time.Now().Add(listEvery))
	if len(l.list) != 2 || l.isMore {
		t.Errorf("of two archives %d are listed, more %v", len(l.list), l.isMore)
	}
}

// TestListingComesBack: a directory that cannot be read for a while is listed again, although nothing in it changed.
func TestListingComesBack(t *testing.T) {
	t.Parallel()
	dir, away := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "away")
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "c-1.jsonl"), nil, 0o600),
		os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
	l := &listing{dir: os.DirFS(dir), runs: func(string) bool { return false }}
	look := func(all int, trouble bool) {
		t.Helper()
		l.looked = time.Now().Add(-listEvery)
		if p, err := l.page(""); err != nil || p.All != all || (p.Trouble != "") != trouble {
			t.Errorf("the list is %+v, %v; want %d archives", p, err, all)
		}
	}
	look(1, false)
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	look(0, true)
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	look(1, false)
}
