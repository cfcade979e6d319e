package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/console"
)

const (
	searchBytesMax = 32 << 20 // of records that one search reads, besides the steps to where it begins
	searchBlock    = 256 << 10
	searchStepMax  = 2 << 20 // bytes in which a step looks for a record

	// searchSettle is how close to each other calls end whose records may be in another order than their ends.
	searchSettle = 10 * time.Second
	longestCall  = 24 * time.Hour // the largest timing.call_max
)

var errNoRecords = errors.New("there are none: set records.dir, and records.format to jsonl or both")

// search finds calls that have ended, for the console.
func (r *records) search(ctx context.Context, q console.Search) (console.Finding, error) {
	return r.searchWithin(ctx, q, searchBytesMax)
}

// searchWithin finds calls in so many bytes of records. It reads those of the calls that ended last first.
func (r *records) searchWithin(ctx context.Context, q console.Search, bytesMax int64) (console.Finding, error) {
	if r == nil || !slices.ContainsFunc(r.files, func(f *rotatedFile) bool { return f.ending == recordsJSON }) {
		return console.Finding{}, errNoRecords
	}
	s := &callSearch{Search: q, left: bytesMax}
	s.newest = s.bound()
	f := r.jsonFile()
	if err := s.read(ctx, filepath.Join(r.dir, f.name+f.ending)); err != nil {
		return console.Finding{}, err
	}
	names, err := f.renamed() // the file that was just read may be among them by now; read skips it then
	if err != nil {
		return console.Finding{}, err
	}
	for i, name := range slices.Backward(names) {
		if s.isDone() || !q.Since.IsZero() && name < f.renamedAt(q.Since.Add(-searchSettle)) {
			break
		}
		if i > 0 && !s.newest.IsZero() && names[i-1] > f.renamedAt(s.newest) {
			continue // all of its calls ended later
		}
		if err := s.read(ctx, filepath.Join(r.dir, name)); err != nil {
			return console.Finding{}, err
		}
	}
	return s.finding(bytesMax)
}

// callSearch is a search that runs.
type callSearch struct {
	console.Search
	found  []console.Found
	unread int
	left   int64       // bytes that may still be read
	begun  fs.FileInfo // the file to which records are added
	newest time.Time   // no wanted call ended later; zero: no bound
	ended  time.Time   // when the call of the record ended that was read last
	stop   time.Time   // no wanted call ended before; zero: not known yet
	passed bool        // all calls that are left ended before
}

func (s *callSearch) isDone() bool { return s.passed || s.left <= 0 }

// bound returns newest.
func (s *callSearch) bound() (at time.Time) {
	if !s.Until.IsZero() {
		at = s.Until.Add(longestCall)
	}
	if a := s.After.Ended; !a.IsZero() && (at.IsZero() || a.Before(at)) {
		at = a
	}
	if at.IsZero() {
		return at
	}
	return at.Add(searchSettle)
}

// read searches a file from its end, or from the first record that is later than newest. The file may be gone.
func (s *callSearch) read(ctx context.Context, name string) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || os.SameFile(info, s.begun) {
		return err
	}
	if s.begun == nil {
		s.begun = info
	}
	end := info.Size()
	if !s.newest.IsZero() {
		end = firstAfter(file, end, s.newest)
	}
	return s.back(ctx, file, end)
}

// back looks at the lines before an offset, the last one first.
func (s *callSearch) back(ctx context.Context, file io.ReaderAt, end int64) error {
	var rest []byte // of the line that begins before what was read
	for end > 0 && !s.isDone() {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(end, searchBlock, s.left)
		block := make([]byte, n, n+int64(len(rest)))
		if _, err := file.ReadAt(block, end-n); err != nil {
			return err
		}
		end, s.left = end-n, s.left-n
		if rest = s.lines(append(block, rest...)); len(rest) > recordLineMax {
			rest = nil // what is left of this line is no record
		}
	}
	if end == 0 && !s.passed {
		s.line(rest)
	}
	return nil
}

// lines looks at all lines but the first, the last one first, and returns the first.
func (s *callSearch) lines(block []byte) []byte {
	for !s.passed {
		i := bytes.LastIndexByte(bytes.TrimSuffix(block, []byte("\n")), '\n')
		if i < 0 {
			break
		}
		s.line(block[i+1:])
		block = block[:i+1]
	}
	return block
}

// line looks at a line.
func (s *callSearch) line(line []byte) {
	if len(line) == 0 {
		return
	}
	var r voicegw.Record
	if json.Unmarshal(line, &r) != nil || r.Call == "" {
		if bytes.HasSuffix(line, []byte("\n")) { // else it is being written
			s.unread++
		}
		return
	}
	call := console.Found{Call: r.Call, Endpoint: r.Endpoint, From: r.From, To: r.To, Client: r.Client, Reason: r.Reason,
		Began: r.Began, DurationMS: r.Duration.Milliseconds()}
	at := call.Place()
	s.ended = at.Ended
	if !s.Since.IsZero() && s.ended.Before(s.Since.Add(-searchSettle)) || !s.stop.IsZero() && s.ended.Before(s.stop) {
		s.passed = true
		return
	}
	if (s.After == console.Place{} || at.Compare(s.After) > 0) &&
		s.Takes(r.Began, r.Call, r.CarrierCall, r.Endpoint, r.From, r.To, r.Client, r.Reason) {
		s.take(call)
	}
}

// take takes a call. One more than are wanted shows where to stop.
func (s *callSearch) take(call console.Found) {
	s.found = append(s.found, call)
	if len(s.found) == s.Most+1 {
		first := slices.MinFunc(s.found, func(a, b console.Found) int { return b.Place().Compare(a.Place()) })
		s.stop = first.Place().Ended.Add(-searchSettle)
	}
}

// finding returns what was found in bytesMax.
func (s *callSearch) finding(bytesMax int64) (console.Finding, error) {
	f := console.Finding{Unread: s.unread}
	slices.SortFunc(s.found, func(a, b console.Found) int { return a.Place().Compare(b.Place()) })
	if s.left <= 0 && !s.passed { // calls that ended a little later than the last one may be missing
		f.More = console.Place{Ended: s.ended.Add(searchSettle)}
		if s.ended.IsZero() || s.After != (console.Place{}) && s.After.Compare(f.More) >= 0 {
			return f, fmt.Errorf("%d bytes of them have no record, or only those of calls that ended within %v",
				bytesMax, searchSettle)
		}
		s.found = slices.DeleteFunc(s.found, func(c console.Found) bool { return c.Place().Compare(f.More) > 0 })
	}
	if len(s.found) > s.Most {
		s.found = s.found[:s.Most]
		f.More = s.found[s.Most-1].Place()
	}
	f.Calls = s.found
	return f, nil
}

// firstAfter returns the offset of the first record of a call that ended after a time, or the size of the file.
func firstAfter(file io.ReaderAt, size int64, at time.Time) int64 {
	first := size
	for low, high := int64(0), size; low < high; {
		middle := (low + high) / 2
		offset, ended, ok := recordFrom(file, middle, high)
		switch {
		case !ok:
			high = middle
		case ended.After(at):
			first, high = offset, middle
		default:
			low = offset + 1
		}
	}
	return first
}

// recordFrom returns the first record that begins between two offsets, and when its call ended.
func recordFrom(file io.ReaderAt, from, to int64) (offset int64, ended time.Time, ok bool) {
	at := max(0, from-1) // a line may begin at from
	lines := bufio.NewReaderSize(io.NewSectionReader(file, at, searchStepMax), 16<<10)
	for isWhole := from == 0; at < to; isWhole = true {
		line, err := lines.ReadBytes('\n')
		var r voicegw.Record
		if isWhole && json.Unmarshal(line, &r) == nil && r.Call != "" {
			return at, r.Began.Add(r.Duration), true
		}
		if err != nil {
			break
		}
		at += int64(len(line))
	}
	return 0, ended, false
}
