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

// maxLine limits a line of an archive, in bytes.
const maxLine = 64 << 10

// Reader reads an archive, event by event.
type Reader struct {
	Header Header
	s      *bufio.Scanner
	line   int
	next   uint64
	name   string // of the last event
	cut    bool
}

// NewReader reads the header of an archive. It returns an error if r is not an archive, or one of
// another version.
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{next: 1}
	a.s = bufio.NewScanner(r)
	a.s.Buffer(nil, maxLine)
	a.s.Split(a.split)
	if !a.s.Scan() {
		return nil, a.fail(errors.Join(errors.New("it has no header"), a.s.Err()))
	}
	a.line++
	if err := json.Unmarshal(a.s.Bytes(), &a.Header); err != nil || a.Header.Format != archiveFormat {
		return nil, a.fail(fmt.Errorf("it is not an archive of events (format %q)", archiveFormat))
	}
	if a.Header.Version != archiveVersion {
		return nil, a.fail(fmt.Errorf("its version is %d; this program reads %d", a.Header.Version, archiveVersion))
	}
	return a, nil
}

// split returns whole lines and notes whether the last one is cut off.
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

// entry is a line after the header.
type entry struct {
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

// Next returns the next event, or io.EOF at the end. If the archive says that the events from here
// on are missing, the error wraps ErrIncomplete; a torn line right before that note counts as
// missing too. Any other error names the damaged line: it is not JSON, its kind is unknown, or its
// number is not the next one. Only an archive whose header says that it is incomplete may skip
// numbers.
func (r *Reader) Next() (petri.Event, error) {
	e, err := r.entry()
	if err != nil && !errors.Is(err, io.EOF) {
		if next, nerr := r.entry(); nerr == nil && next.Note == incompleteNote {
			e, err = next, nil
		}
	}
	switch {
	case err != nil:
		return petri.Event{}, err
	case e.Note == incompleteNote:
		return petri.Event{}, r.fail(fmt.Errorf("%w: events after %d are missing", ErrIncomplete, r.next-1))
	}
	return r.event(e)
}

// entry reads lines up to the next event or to the note that events are missing.
func (r *Reader) entry() (*entry, error) {
	for r.s.Scan() {
		r.line++
		if len(r.s.Bytes()) == 0 {
			continue
		}
		e := &entry{}
		if err := json.Unmarshal(r.s.Bytes(), e); err != nil {
			return nil, r.fail(err)
		}
		if e.Note == "" || e.Note == incompleteNote {
			return e, nil
		}
	}
	if err := r.s.Err(); err != nil {
		r.line++
		return nil, r.fail(err)
	}
	return nil, io.EOF
}

func (r *Reader) event(e *entry) (petri.Event, error) {
	kind, ok := kindOf(e.Kind)
	if !ok {
		return petri.Event{}, r.fail(fmt.Errorf("unknown kind of event %q", e.Kind))
	}
	if e.Seq < r.next || e.Seq > r.next && r.Header.Complete {
		return petri.Event{}, r.fail(fmt.Errorf("event %d instead of event %d", e.Seq, r.next))
	}
	r.next, r.name = e.Seq+1, e.Name
	return petri.Event{
		Seq: e.Seq, At: e.At, Kind: kind, Branch: e.Branch, Mode: e.Mode,
		Index: e.Index, Slot: e.Slot, Size: e.Size,
	}, nil
}

// kindOf returns the kind of event with a name.
func kindOf(name string) (petri.EventKind, bool) {
	for k := petri.Started; k <= petri.Faulted; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Name returns the name of the last event that Next returned: of its transition, or of its place. It is
// the archive's, so it needs no program.
func (r *Reader) Name() string { return r.name }

// Cut reports, after io.EOF, whether the last line was cut off, as after a crash. Next does not
// return that line.
func (r *Reader) Cut() bool { return r.cut }
