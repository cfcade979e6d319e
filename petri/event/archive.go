package event

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// archiveFormat and archiveVersion appear in the header of an archive.
const (
	archiveFormat  = "voicegw.events"
	archiveVersion = 1
)

// Header is the first line of an archive.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Net     string `json:"net"`
	Hash    string `json:"hash"` // of the program; see Hash
	// Run is the name of the run.
	Run string `json:"run,omitempty"`
	// Start is the wall clock time of net time 0. Replay does not use it.
	Start time.Time `json:"start,omitzero"`
	// Complete is true if the archive holds every event up to its last one. Replay refuses an
	// archive whose header says false.
	Complete bool `json:"complete"`
}

// Archive is a Store that writes events as JSON lines: a Header, then one line for each event.
//
//	{"seq":2,"at":10000000,"kind":"injected","index":3,"name":"edge[start]","slot":0,"size":640}
//
// The field at is the net time in nanoseconds. The field index is the index of a transition if kind
// is "fired", and of a place otherwise; name is its name, which Replay compares too. A line that
// begins with {"note" is a Note. The note "incomplete" says that the events after it are missing:
// no event follows it, and Replay refuses the archive.
//
// An archive holds the keys and lengths of payloads, never the payloads. An Archive is safe for
// concurrent use.
type Archive struct {
	w    io.Writer
	sync func() error
	prog *petri.Program

	mu     sync.Mutex
	header Header
	begun  bool
	marked bool // the note "incomplete" is written
	buf    []byte
	names  names
	seq    uint64
	err    error
}

// name holds everything on which the name in a line depends.
type name struct {
	kind        petri.EventKind
	index, slot int32
	mode        uint16
	branch      uint8
}

// names caches the names in lines.
type names map[name]string

// ArchiveConfig configures an Archive. The zero value works.
type ArchiveConfig struct {
	Run   string    // name of the run, for Header.Run
	Start time.Time // wall clock time of net time 0, for Header.Start
	// Sync makes the written lines durable, such as os.File.Sync. nil means that they are durable
	// once Write has returned.
	Sync func() error
}

// NewArchive returns an archive of one run of prog that writes to w. Each Append calls w.Write
// once; if w may block, put the archive behind a Queue. After an error of w the archive has failed
// (see Err) and writes no more events, even if w works again, because an archive has no gaps.
// Incomplete then writes the note that says so.
func NewArchive(w io.Writer, prog *petri.Program, cfg ArchiveConfig) *Archive {
	if cfg.Sync == nil {
		cfg.Sync = func() error { return nil }
	}
	return &Archive{w: w, sync: cfg.Sync, prog: prog, names: names{}, header: Header{
		Format: archiveFormat, Version: archiveVersion, Net: prog.Name(), Hash: Hash(prog),
		Run: cfg.Run, Start: cfg.Start, Complete: true,
	}}
}

// Append writes events. Err returns the error if writing fails.
func (a *Archive) Append(events []petri.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil || a.marked || len(events) == 0 {
		return
	}
	a.begin()
	for i := range events {
		a.line(&events[i])
	}
	if a.flush() {
		a.seq = events[len(events)-1].Seq
	}
}

// Note writes a note.
func (a *Archive) Note(n Note) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil || a.marked {
		return
	}
	a.begin()
	a.buf = fmt.Appendf(a.buf, `{"note":%q,"after":%d,"at":%d,"value":%d}`+"\n", n.Kind, n.After, n.At, n.Value)
	a.flush()
}

// Stored returns the number of the last event that is durable.
func (a *Archive) Stored() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seq
}

// Incomplete marks the archive as one that cannot be replayed. Before the first event it sets
// Complete to false in the header. Later it writes the note "incomplete", after which the archive
// accepts no more events. If writing the note fails, Incomplete may be called again.
func (a *Archive) Incomplete() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.begun {
		a.header.Complete = false
		return
	}
	if a.marked {
		return
	}
	// The line before may be torn, so begin a new one. The reader skips empty lines.
	mark := fmt.Appendf(nil, "\n"+`{"note":%q,"after":%d}`+"\n", incompleteNote, a.seq)
	if err := a.write(mark); err == nil {
		a.marked = true
	} else if a.err == nil {
		a.err = err
	}
}

// incompleteNote is the note after which events are missing.
const incompleteNote = "incomplete"

// Err returns the reason why the archive failed, or nil.
func (a *Archive) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *Archive) begin() {
	if a.begun {
		return
	}
	a.begun = true
	line, err := json.Marshal(a.header)
	if err != nil {
		a.err = fmt.Errorf("event: archive %s: %w", a.header.Run, err)
		return
	}
	a.buf = append(append(a.buf, line...), '\n')
}

func (a *Archive) flush() bool {
	if a.err != nil {
		return false
	}
	a.err = a.write(a.buf)
	a.buf = a.buf[:0]
	return a.err == nil
}

// write writes and syncs.
func (a *Archive) write(b []byte) error {
	n, err := a.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = a.sync()
	}
	if err != nil {
		return fmt.Errorf("event: archive %s: %w", a.header.Run, err)
	}
	return nil
}

// line appends an event to buf, without the fields that its kind does not use.
func (a *Archive) line(e *petri.Event) {
	b := a.buf
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, int64(e.At), 10)
	b = append(b, `,"kind":"`...)
	b = append(b, e.Kind.String()...)
	b = append(b, '"')
	b = appendField(b, "index", int64(e.Index))
	if s := a.names.of(a.prog, e); s != "" {
		b = append(b, `,"name":`...)
		b = strconv.AppendQuote(b, s)
	}
	b = appendField(b, "slot", int64(e.Slot))
	b = appendField(b, "size", int64(e.Size))
	b = appendField(b, "mode", int64(e.Mode))
	b = appendField(b, "branch", int64(e.Branch))
	a.buf = append(b, '}', '\n')
}

func appendField(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, v, 10)
}

// of returns the name of an event's transition or place, or "" if it has none.
func (n names) of(p *petri.Program, e *petri.Event) string {
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
		return ""
	}
	k := name{e.Kind, e.Index, e.Slot, e.Mode, e.Branch}
	s, ok := n[k]
	if !ok {
		if e.Kind == petri.Fired {
			s = p.FiringName(*e)
		} else {
			s = p.Places()[e.Index].SlotName(int(e.Slot))
		}
		n[k] = s
	}
	return s
}
