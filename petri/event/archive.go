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

// Format and Version are what the header of an archive says.
const (
	Format  = "voicegw.events"
	Version = 1
)

// Header is the first line of an archive.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Net     string `json:"net"`
	Hash    string `json:"hash"` // of the program: see Hash
	// Run is the name of the run.
	Run string `json:"run,omitempty"`
	// Start is the wall clock of net time 0, for people.
	Start time.Time `json:"start,omitzero"`
	// Complete says that the archive holds every event up to its last. An archive
	// that does not cannot be replayed.
	Complete bool `json:"complete"`
}

// Archive writes events as JSON lines: a Header, then one line for each event:
//
//	{"seq":2,"at":10000000,"kind":"injected","index":3,"name":"edge[start]","slot":0,"size":640}
//
// at is net time in nanoseconds; index is that of a transition (fired) or a
// place; name is the same in words, which Replay compares too. Lines that begin
// {"note" are Notes. The note "incomplete" says that events after it are
// missing: no event follows it, and Replay refuses the archive. An archive holds
// keys and lengths of payloads, never payloads.
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

// name is what a name in a line depends on.
type name struct {
	kind        petri.EventKind
	index, slot int32
	mode        uint16
	branch      uint8
}

// names are those made so far.
type names map[name]string

// ArchiveConfig says what an archive is called and when it is safe.
type ArchiveConfig struct {
	Run   string    // of the run
	Start time.Time // wall clock of net time 0
	// Sync makes what was written safe, such as os.File.Sync; nil if it is safe
	// once Write has returned.
	Sync func() error
}

// NewArchive makes an archive of one run of prog in w. Append writes to w once;
// if w may block, put the archive behind a Queue. After an error of w the archive
// has failed (see Err) and writes no more events, also if w works again: an
// archive has no gaps. Incomplete then adds the note that says so.
func NewArchive(w io.Writer, prog *petri.Program, cfg ArchiveConfig) *Archive {
	if cfg.Sync == nil {
		cfg.Sync = func() error { return nil }
	}
	return &Archive{w: w, sync: cfg.Sync, prog: prog, names: names{}, header: Header{
		Format: Format, Version: Version, Net: prog.Name(), Hash: Hash(prog), Run: cfg.Run, Start: cfg.Start, Complete: true,
	}}
}

// Append writes events.
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

// Stored is the number of the last event that is safe.
func (a *Archive) Stored() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seq
}

// Incomplete marks the archive as one that cannot be replayed. Before the first
// event it says so in the header. Later it writes the note "incomplete" and the
// archive ends there; Incomplete may be called again if w did not take the note.
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
	// The line before may be torn: begin a new one. The reader skips empty lines.
	mark := fmt.Appendf(nil, "\n"+`{"note":%q,"after":%d}`+"\n", incompleteNote, a.seq)
	if err := a.write(mark); err == nil {
		a.marked = true
	} else if a.err == nil {
		a.err = err
	}
}

// incompleteNote is the note after which events are missing.
const incompleteNote = "incomplete"

// Err is why the archive stopped, or nil.
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

// line appends an event, leaving out what its kind does not use.
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

// of is an event's transition or place in words, "" if it has none.
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
