package console

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of the list of archives.
const (
	archivesPage = 50              // in one answer
	archivesMax  = 100_000         // that are listed
	listEvery    = 2 * time.Second // between two looks at the directory, however many ask
	settleTime   = time.Minute     // after which an archive of no running call grows no more
	dirChunk     = 1000            // entries that are read at one time
)

// Archived is an archive in the list.
type Archived struct {
	Name    string    `json:"name"` // without its ending; usually the id of the call
	Written time.Time `json:"written"`
	Bytes   int64     `json:"bytes"`
	Record  *Found    `json:"record,omitempty"` // what the record of the call says, in answers

	settled bool
}

// listing is the list of archives, which all clients share. It reads no archive, and asks the file system about a file
// only as long as it may grow.
type listing struct {
	dir  fs.FS
	runs func(call string) bool

	mu     sync.Mutex
	known  map[string]Archived
	list   []Archived // the newest first
	looked time.Time
	dirMod time.Time // of the directory when it was read
	isMore bool      // there are more than archivesMax
	err    error
}

// archivesList is the answer with a page of the list.
type archivesList struct {
	Archives []Archived `json:"archives"`
	All      int        `json:"all"`             // archives of calls that have ended
	Older    string     `json:"older,omitempty"` // where the next page begins; "" on the last page
	Trouble  string     `json:"trouble,omitempty"`
}

// page returns the archives that come after a place in the list, "" being its beginning. Those of running calls are
// left out.
func (l *listing) page(after string) (p archivesList, err error) {
	p.Archives = []Archived{}
	from, err := cursorOf(after)
	if err != nil || l.dir == nil {
		return p, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(time.Now())
	switch {
	case l.err != nil:
		p.Trouble = "The archives cannot be listed: " + l.err.Error()
	case l.isMore:
		p.Trouble = fmt.Sprintf("There are more than %d archives, and only so many are listed. The setting "+
			"archive_max_files limits them.", archivesMax)
	}
	p.All = len(l.list)
	for i := range l.list {
		if a := &l.list[i]; !a.settled && l.runs(a.Name) {
			p.All--
		}
	}
	begin := 0
	if after != "" {
		begin, _ = slices.BinarySearchFunc(l.list, from, newestFirst)
	}
	for _, a := range l.list[begin:] {
		switch {
		case after != "" && newestFirst(a, from) <= 0 || l.runs(a.Name):
		case len(p.Archives) == archivesPage:
			last := p.Archives[archivesPage-1]
			p.Older = fmt.Sprintf("%d.%s", last.Written.UnixNano(), last.Name)
			return p, nil
		default:
			p.Archives = append(p.Archives, a)
		}
	}
	return p, nil
}

// cursorOf reads a place in the list.
func cursorOf(s string) (a Archived, err error) {
	at, name, ok := strings.Cut(s, ".")
	nanos, err := strconv.ParseInt(at, 10, 64)
	if s != "" && (!ok || err != nil) {
		return a, &problem{http.StatusBadRequest, fmt.Sprintf("after=%q is no place in the list of archives: use older "+
			"of the page before", s)}
	}
	return Archived{Name: name, Written: time.Unix(0, nanos)}, nil
}

func newestFirst(a, b Archived) int {
	return cmp.Or(b.Written.Compare(a.Written), strings.Compare(a.Name, b.Name))
}

// refresh looks at the directory, unless it did so just now.
func (l *listing) refresh(now time.Time) {
	if !l.looked.IsZero() && now.Sub(l.looked) < listEvery {
		return
	}
	before := l.looked
	l.looked = now
	info, err := fs.Stat(l.dir, ".")
	if err != nil {
		l.known, l.list, l.err, l.dirMod = nil, nil, err, time.Time{}
		return
	}
	changed := false
	if mod := info.ModTime(); mod.IsZero() || mod != l.dirMod || before.Sub(mod) < listEvery { // it may have changed since
		if changed, l.err = l.read(now); l.err != nil {
			mod = time.Time{} // the next look reads again
		}
		l.dirMod = mod
	} else {
		changed = l.ask(now)
	}
	if changed {
		l.list = l.list[:0]
		for _, a := range l.known {
			l.list = append(l.list, a)
		}
		slices.SortFunc(l.list, newestFirst)
	}
}

// read reads the directory.
func (l *listing) read(now time.Time) (changed bool, err error) {
	dir, err := l.dir.Open(".")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	from, ok := dir.(fs.ReadDirFile)
	if !ok {
		return false, errors.New("the directory cannot be read")
	}
	found := make(map[string]Archived, len(l.known))
	l.isMore = false
	for !l.isMore {
		entries, err := from.ReadDir(dirChunk)
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), archiveEnding)
			if !ok {
				continue
			}
			if l.isMore = len(found) == archivesMax; l.isMore {
				break
			}
			old, ok := l.known[name]
			if ok && old.settled {
				found[name] = old
			} else if a, ok := l.about(name, e.Info, now); ok {
				found[name] = a
				changed = changed || a != old
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	changed = changed || len(found) != len(l.known)
	for name := range l.known {
		_, ok := found[name]
		changed = changed || !ok
	}
	l.known = found
	return changed, nil
}

// ask asks about the archives that may have grown.
func (l *listing) ask(now time.Time) (changed bool) {
	for name, old := range l.known {
		if old.settled {
			continue
		}
		stat := func() (fs.FileInfo, error) { return fs.Stat(l.dir, name+archiveEnding) }
		if a, ok := l.about(name, stat, now); ok && a != old {
			l.known[name], changed = a, true
		}
	}
	return changed
}

// about returns what the file system says of an archive. It returns false if there is no such file.
func (l *listing) about(name string, stat func() (fs.FileInfo, error), now time.Time) (Archived, bool) {
	info, err := stat()
	if err != nil || !info.Mode().IsRegular() {
		return Archived{}, false
	}
	settled := !l.runs(name) && now.Sub(info.ModTime()) > settleTime
	return Archived{Name: name, Written: info.ModTime(), Bytes: info.Size(), settled: settled}, true
}
