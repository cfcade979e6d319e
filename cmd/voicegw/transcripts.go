package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/voicegw/voicegw/console"
)

// transcriptFilesMax is how many files of records are searched for a call: the one that was written when its archive
// was, and what came next.
const transcriptFilesMax = 3

var errTranscriptsOff = errors.New("transcripts are off: the settings records.dir and records.transcripts turn " +
	"them on")

// transcript returns what was said in a call, for the console: so far in a running one, for which written is zero, or
// as its record has it.
func (r *records) transcript(ctx context.Context, call string, written time.Time) ([]console.Said, error) {
	if r == nil || !r.transcripts {
		return nil, errTranscriptsOff
	}
	r.mu.Lock()
	if rec := r.running[call]; rec != nil || written.IsZero() {
		defer r.mu.Unlock()
		return saidIn(rec), nil
	}
	r.mu.Unlock()
	names, err := r.filesSince(written)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		rec, err := recordIn(ctx, name, call)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if rec != nil {
			return saidIn(rec), nil
		}
	}
	return nil, fmt.Errorf("there is no record of this call in %s: it was deleted or is not written yet, or "+
		"records.format is csv", r.dir)
}

// jsonFile is the file of records in JSON lines.
func (r *records) jsonFile() rotatedFile {
	return rotatedFile{dir: r.dir, name: recordsName, ending: recordsJSON}
}

// filesSince lists the files that have the records of calls which ended at a time, or soon after.
func (r *records) filesSince(at time.Time) (names []string, err error) {
	f := r.jsonFile()
	old, err := f.renamed()
	since := f.renamedAt(at.Add(-archivesEvery))
	for _, name := range old {
		if name >= since && len(names) < transcriptFilesMax-1 {
			names = append(names, filepath.Join(r.dir, name))
		}
	}
	return append(names, filepath.Join(r.dir, f.name+f.ending)), err
}

// recordIn returns the record of a call in a file, nil if it has none.
func recordIn(ctx context.Context, name, call string) (found *callRecord, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	id, _ := json.Marshal(call) // of a string
	err = eachLine(whileAsked{ctx, file}, func(line []byte) {
		rec := &callRecord{}
		if bytes.Contains(line, id) && json.Unmarshal(line, rec) == nil && rec.Call == call {
			found = rec
		}
	})
	return found, err
}

// whileAsked reads until ctx is done.
type whileAsked struct {
	ctx  context.Context
	from io.Reader
}

// Read reads, or returns the error of ctx.
func (w whileAsked) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.from.Read(p)
}

// saidIn returns what was said in the turns of a record; nil has none.
func saidIn(rec *callRecord) (list []console.Said) {
	if rec == nil {
		return nil
	}
	for _, t := range rec.Turns {
		if t.Prompt && t.Text == "" {
			t.Text = "(a prompt of the gateway)"
		}
		if t.Text != "" {
			list = append(list, console.Said{At: float64(t.BeganMS), Who: string(t.Who), Text: t.Text, End: string(t.End)})
		}
	}
	return list
}
