package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// MaxLine is the longest line of an archive, in bytes.
const MaxLine = 64 << 10

// Reader reads an archive.
type Reader struct {
	Header Header
	s      *bufio.Scanner
	line   int
	next   uint64
	name   string // of the last event
	cut    bool
}

// NewReader reads the header of an archive. The error says what is wrong with
// it: no archive, or one of another version.
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{next: 1}
	a.s = bufio.NewScanner(r)
	a.s.Buffer(nil, MaxLine)
	a.s.Split(a.split)
	if !a.s.Scan() {
		return nil, a.fail(errors.Join(errors.New("it has no header"), a.s.Err()))
	}
	a.line++
	if err := json.Unmarshal(a.s.Bytes(), &a.Header); err != nil || a.Header.Format != Format {
		return nil, a.fail(fmt.Errorf("it is no archive of events (format %q)", Format))
	}
	if a.Header.Version != Version {
		return nil, a.fail(fmt.Errorf("its version is %d; this program reads %d", a.Header.Version, Version))
	}
	return a, nil
}

// split yields whole lines and notes whether the last one is cut off.
func (r *Reader) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		r.cut = true
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

func (r *Reader) fail(err error) error {
	return fmt.Errorf("event: read archive: line %d: %w", max(r.line, 1), err)
}

// record is a line after the header.
type record struct {
	Seq    uint64        `json:"seq"`
	At     time.Duration `json:"at"`
	Kind   string        `json:"kind"`
	Name   string        `json:"name"`
	Index  int32         `json:"index"`
	Slot   int32         `json:"slot"`
	Size   int32         `json:"size"`
	Mode   uint16        `json:"mode"`
	Branch uint8         `json:"branch"`
	Note   string        `json:"note"`
}

// Next returns the next event, or io.EOF at the end. The error is ErrIncomplete,
// wrapped, where the archive says that events are missing from there on; a torn
// line right before that is part of the gap. Any other error says in which line
// the archive is damaged: not JSON, an unknown kind, a number or time out of
// order, or a number missing in an archive that calls itself complete.
func (r *Reader) Next() (petri.Event, error) {
	rec, err := r.record()
	if err != nil && !errors.Is(err, io.EOF) {
		if next, nerr := r.record(); nerr == nil && next.Note == incompleteNote {
			rec, err = next, nil
		}
	}
	switch {
	case err != nil:
		return petri.Event{}, err
	case rec.Note == incompleteNote:
		return petri.Event{}, r.fail(fmt.Errorf("%w: events after %d are missing", ErrIncomplete, r.next-1))
	}
	return r.event(rec)
}

// record reads the next line that is an event or says that events are missing.
func (r *Reader) record() (*record, error) {
	for r.s.Scan() {
		r.line++
		if len(r.s.Bytes()) == 0 {
			continue
		}
		rec := &record{}
		if err := json.Unmarshal(r.s.Bytes(), rec); err != nil {
			return nil, r.fail(err)
		}
		if rec.Note == "" || rec.Note == incompleteNote {
			return rec, nil
		}
	}
	if err := r.s.Err(); err != nil {
		r.line++
		return nil, r.fail(err)
	}
	return nil, io.EOF
}

func (r *Reader) event(rec *record) (petri.Event, error) {
	kind, ok := kindOf(rec.Kind)
	if !ok {
		return petri.Event{}, r.fail(fmt.Errorf("unknown kind of event %q", rec.Kind))
	}
	if rec.Seq < r.next || rec.Seq > r.next && r.Header.Complete {
		return petri.Event{}, r.fail(fmt.Errorf("event %d where %d is due", rec.Seq, r.next))
	}
	r.next, r.name = rec.Seq+1, rec.Name
	return petri.Event{
		Seq: rec.Seq, At: rec.At, Kind: kind, Branch: rec.Branch, Mode: rec.Mode,
		Index: rec.Index, Slot: rec.Slot, Size: rec.Size,
	}, nil
}

// kindOf finds a kind of event by its name.
func kindOf(name string) (petri.EventKind, bool) {
	for k := petri.Started; k <= petri.Faulted; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Cut reports, after io.EOF, whether the last line was cut off, as a crash
// leaves it; that line is not returned.
func (r *Reader) Cut() bool { return r.cut }
