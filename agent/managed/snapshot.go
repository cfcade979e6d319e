package managed

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal"
)

// A snapshot is the state of a session behind one record of its log. It shortens recovery and changes
// nothing else: a snapshot that is missing, damaged, of another log or of another version is ignored, and
// the log is read from its first record.
//
// The document snap/SESSION is a line with the snapshotHead and its hash, and behind it the beginning of the
// state, which is JSON, compressed. What does not fit is in the documents snap/SESSION/NAME/0, 1, ... They
// are stored first, under a new name, and the head last, if nobody has stored another meanwhile.

const (
	// snapshotVersion is the version of the format. A snapshot with another one is ignored.
	snapshotVersion = 1
	// snapshotMax is the largest state that is stored, in bytes of JSON.
	snapshotMax = 64 << 20
	// pieceMax is how much of a state one document holds, in bytes: a head and a piece fit into one.
	pieceMax = journal.DocMax - 4096
	// savers is how many snapshots a Runtime makes at a time.
	savers = 2
)

// snapshotHead says what a snapshot is.
type snapshotHead struct {
	Version int    `json:"version"`
	Session string `json:"session"`
	Record  uint64 `json:"record"` // number of the last record of the log that is in the state
	Hash    string `json:"hash"`   // of that record
	Sum     string `json:"sum"`    // of the compressed state
	Name    string `json:"name,omitempty"`
	Parts   int    `json:"parts,omitempty"` // documents besides this one
}

// snapshot is what a document of a snapshot was found to hold.
type snapshot struct {
	state    *state // nil: there is none that can be used
	record   uint64 // 0 if the head could not be read
	hash     string
	revision uint64 // of the head; 0 if there is none
}

// errBehind means that a log ends in front of its snapshot.
var errBehind = errors.New("records of the session are missing in the journal")

func snapshotKey(id string) string { return "snap/" + id }

func partKey(id, name string, i int) string { return fmt.Sprintf("snap/%s/%s/%d", id, name, i) }

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// snapshot loads the snapshot of a session. Whatever is wrong with it is logged.
func (r *Runtime) snapshot(ctx context.Context, id string) (*snapshot, error) {
	s := &snapshot{}
	d, err := r.cfg.Journal.Get(ctx, snapshotKey(id))
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return s, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, journal.ErrClosed):
		return nil, storage("read session "+id, err)
	}
	if err == nil {
		s.revision = d.Revision
		err = r.decodeSnapshot(ctx, id, d.Value, s)
	}
	if err != nil {
		r.cfg.Logger.Warn("a snapshot is ignored; its log is read instead", zap.String("session", id), zap.Error(err))
	}
	return s, nil
}

// decodeSnapshot reads a snapshot whose head is in a document.
func (r *Runtime) decodeSnapshot(ctx context.Context, id string, doc []byte, s *snapshot) error {
	h, blob, err := decodeSnapshotHead(id, doc)
	if err != nil {
		return err
	}
	s.record, s.hash = h.Record, h.Hash
	for i := range h.Parts {
		d, err := r.cfg.Journal.Get(ctx, partKey(id, h.Name, i))
		if err != nil {
			return fmt.Errorf("part %d of %d: %w", i+1, h.Parts, err)
		}
		blob = append(blob, d.Value...)
	}
	st, err := h.decodeState(blob)
	if err != nil {
		return err
	}
	s.state = st
	return nil
}

// decodeSnapshotHead reads the head of a snapshot. It returns the beginning of the state, too.
func decodeSnapshotHead(id string, doc []byte) (*snapshotHead, []byte, error) {
	line, blob, _ := bytes.Cut(doc, []byte{'\n'})
	sum, text, ok := bytes.Cut(line, []byte{' '})
	h := &snapshotHead{}
	if !ok || string(sum) != hashOf(text) {
		return nil, nil, errors.New("the snapshot has no head, or a damaged one")
	}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, nil, fmt.Errorf("the snapshot has no head: %w", err)
	}
	switch {
	case h.Version != snapshotVersion:
		return nil, nil, fmt.Errorf("the snapshot has version %d; this program reads version %d", h.Version, snapshotVersion)
	case h.Session != id:
		return nil, nil, fmt.Errorf("the snapshot is one of the session %q", h.Session)
	case h.Record == 0 || h.Parts < 0 || h.Parts > snapshotMax/pieceMax+1:
		return nil, nil, fmt.Errorf("the snapshot says that it is of record %d and has %d parts", h.Record, h.Parts)
	}
	return h, slices.Clip(blob), nil
}

// decodeState reads the state of a snapshot.
func (h *snapshotHead) decodeState(blob []byte) (*state, error) {
	if hashOf(blob) != h.Sum {
		return nil, errors.New("the snapshot is torn or damaged")
	}
	z, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		return nil, fmt.Errorf("the snapshot cannot be unpacked: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(z, snapshotMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the snapshot cannot be unpacked: %w", err)
	case len(b) > snapshotMax:
		return nil, fmt.Errorf("the snapshot has more than %d bytes", snapshotMax)
	}
	st, err := decodeImage(b)
	if err != nil {
		return nil, err
	}
	if st.info.ID != h.Session || st.records != h.Record {
		return nil, fmt.Errorf("the snapshot of record %d holds the state of %q behind record %d", h.Record, st.info.ID,
			st.records)
	}
	return st, nil
}

// packers are compressors of snapshots that nobody uses now. Each is over a megabyte.
var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // no such level
	}
	return z
}}

// encode returns a state as the documents of a snapshot: the head, and what does not fit into it.
func (m *image) encode(tip []byte) (head []byte, name string, parts [][]byte, err error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, "", nil, fmt.Errorf("managed: encode a snapshot: %w", err)
	}
	if len(b) > snapshotMax {
		return nil, "", nil, fmt.Errorf("managed: the snapshot has %d bytes; at most %d are stored", len(b), snapshotMax)
	}
	var out bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&out)
	if _, err = z.Write(b); err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("managed: compress a snapshot: %w", err)
	}
	pieces := slices.Collect(slices.Chunk(out.Bytes(), pieceMax))
	h := snapshotHead{Version: snapshotVersion, Session: m.Info.ID, Record: m.Records, Hash: hashOf(tip),
		Sum: hashOf(out.Bytes()), Parts: len(pieces) - 1}
	if h.Parts > 0 {
		h.Name = rand.Text()
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, "", nil, fmt.Errorf("managed: encode a snapshot: %w", err)
	}
	return slices.Concat([]byte(hashOf(text)), []byte{' '}, text, []byte{'\n'}, pieces[0]), h.Name, pieces[1:], nil
}

// snapshotToOpen loads the snapshot of a session that is to be opened. It refuses a log that ends in front
// of its snapshot: to go on from there would give numbers of events that readers have seen to other events.
// It comes before the claim, which makes the log longer.
func (r *Runtime) snapshotToOpen(ctx context.Context, id string) (*snapshot, error) {
	s, err := r.snapshot(ctx, id)
	if err != nil || s.record == 0 {
		return s, err
	}
	last, err := r.cfg.Journal.Last(ctx, logKey(id))
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		return nil, storage("read session "+id, err)
	}
	if last.Seq >= s.record {
		return s, nil
	}
	r.cfg.Logger.Error("a session cannot go on: its log ends in front of its snapshot, so records are lost. Restore a "+
		"newer copy of the journal, or delete the session; it can be read", zap.String("session", id),
		zap.Uint64("last_record", last.Seq), zap.Uint64("snapshot_record", s.record))
	return nil, &Error{Code: Storage, Message: "the journal has lost records of the session; it can be read and deleted",
		Err: fmt.Errorf("managed: open session %s: %w: the log ends with record %d, the snapshot is of record %d", id,
			errBehind, last.Seq, s.record)}
}

// fold reads the state of a session, up to a record of its log; 0 means to the end. It begins with a
// snapshot if that is one of this log.
func (r *Runtime) fold(ctx context.Context, id string, from *snapshot, until uint64) (*state, error) {
	st := from.state
	if st == nil {
		st = newState()
	}
	err := r.replay(ctx, id, st, from, until)
	if errors.Is(err, errForeign) {
		r.cfg.Logger.Warn("a snapshot is ignored; its log is read instead", zap.String("session", id),
			zap.Uint64("snapshot_record", from.record), zap.Error(err))
		st = newState()
		err = r.replay(ctx, id, st, &snapshot{revision: from.revision}, until)
	}
	if err == nil && st.info.ID == "" { // the log was deleted, and somebody has claimed it again
		err = storage("read session "+id, fmt.Errorf("%w: the log of %s has no records", journal.ErrNotFound, id))
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

// errForeign means that a snapshot does not belong to the log.
var errForeign = errors.New("the log does not have the record that the snapshot ends with")

// replay applies what the log has to a state: from the first record, or from the one behind a snapshot,
// whose own record must be in the log.
func (r *Runtime) replay(ctx context.Context, id string, st *state, s *snapshot, until uint64) error {
	st.saved = saved{revision: s.revision}
	begin := uint64(1)
	if s.state != nil {
		begin, st.saved.record = s.record, s.record
	}
	met := s.state == nil
	for rec, err := range r.cfg.Journal.Read(ctx, logKey(id), begin, false) {
		switch {
		case err != nil:
			return storage("read session "+id, err)
		case !met && (rec.Seq != begin || rec.Kind != journal.Data || hashOf(rec.Data) != s.hash):
			return errForeign
		case !met:
			met, st.tip = true, rec.Data
		case rec.Kind == journal.Data:
			one, err := decodeRecord(rec)
			if err == nil {
				err = st.apply(rec.Seq, one)
			}
			if err != nil {
				return storage("read session "+id, err)
			}
			st.tip = rec.Data
		}
		if rec.Seq == until {
			break
		}
	}
	if !met {
		return errForeign
	}
	return nil
}

// saved is the newest snapshot of a session, as far as the process knows.
type saved struct {
	record   uint64 // 0: none that is of use
	revision uint64 // of the head
}

// due reports whether a snapshot is worth its while: the log has grown by so many records, and by more
// while a turn runs. The caller holds mu.
func (o *owned) due() bool {
	grown, l := int64(o.st.records-o.st.saved.record), &o.rt.cfg.Limits //nolint:gosec // small
	return o.fault == nil && (grown >= int64(l.snapshot) && o.st.turn == nil || grown >= int64(l.snapshotBusy))
}

// snapshotSoon takes a snapshot beside the work of the session if one is due. The caller holds mu.
func (o *owned) snapshotSoon() {
	if o.saving || o.net == nil || o.closed.Load() || !o.due() {
		return
	}
	o.saving = true
	o.saver.Go(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		for more := true; more; more = more && o.due() && !o.closed.Load() {
			o.mu.Unlock()
			more = o.save(context.Background())
			o.mu.Lock()
		}
		o.saving = false
	})
}

// snapshotLast takes a snapshot of a session that leaves memory if one is due. The session is closed, so
// that nobody else begins to take one.
func (o *owned) snapshotLast(ctx context.Context) {
	o.mu.Lock()
	saving := o.saving
	o.mu.Unlock()
	if saving {
		o.saver.Wait()
	}
	o.mu.Lock()
	due := o.due()
	o.mu.Unlock()
	if due {
		o.save(ctx)
	}
}

// save stores a snapshot of the session as it is now. That it cannot be stored harms nothing. It reports
// whether the log can be written.
func (o *owned) save(ctx context.Context) bool {
	select {
	case o.rt.savers <- struct{}{}:
		defer func() { <-o.rt.savers }()
	case <-ctx.Done():
		return false
	}
	o.mu.Lock()
	m, tip, was := o.st.image(), o.st.tip, o.st.saved
	o.mu.Unlock()
	if err := o.w.Await(ctx, m.Records); err != nil {
		return false // what is not stored is in no snapshot
	}
	now, err := o.rt.storeSnapshot(ctx, m, tip, was)
	if err != nil {
		o.log.Warn("a snapshot cannot be stored", zap.Uint64("record", m.Records), zap.Error(err))
		now = saved{record: m.Records, revision: was.revision} // try again when the log has grown further
	}
	o.mu.Lock()
	o.st.saved = now
	o.mu.Unlock()
	return true
}

// storeSnapshot stores a snapshot in place of the one that was there, unless another process has stored one
// meanwhile. It returns which one is there now.
func (r *Runtime) storeSnapshot(ctx context.Context, m *image, tip []byte, was saved) (saved, error) {
	id := m.Info.ID
	head, name, parts, err := m.encode(tip)
	if err != nil {
		return was, err
	}
	// The parts of other snapshots are of no use once this head is stored. Of a snapshot that is being
	// stored at the same time, the head is then refused.
	old, err := r.snapshotParts(ctx, id)
	if err != nil {
		return was, err
	}
	var own []string
	for i, p := range parts {
		key := partKey(id, name, i)
		if _, err := r.cfg.Journal.Put(ctx, key, p, 0); err != nil {
			return was, err
		}
		own = append(own, key)
	}
	revision, err := r.cfg.Journal.Put(ctx, snapshotKey(id), head, was.revision)
	if errors.Is(err, journal.ErrConflict) {
		if err := r.removeDocs(ctx, own); err != nil {
			return was, err
		}
		return r.savedNow(ctx, id)
	}
	if err != nil {
		return was, err
	}
	now := saved{record: m.Records, revision: revision}
	if _, err := r.cfg.Journal.Last(ctx, logKey(id)); errors.Is(err, journal.ErrNotFound) {
		return now, r.removeSnapshot(ctx, id) // the session was deleted meanwhile
	}
	return now, r.removeDocs(ctx, old)
}

// savedNow looks which snapshot somebody else has stored.
func (r *Runtime) savedNow(ctx context.Context, id string) (saved, error) {
	d, err := r.cfg.Journal.Get(ctx, snapshotKey(id))
	if errors.Is(err, journal.ErrNotFound) {
		return saved{}, nil
	}
	if err != nil {
		return saved{}, err
	}
	now := saved{revision: d.Revision}
	if h, _, err := decodeSnapshotHead(id, d.Value); err == nil {
		now.record = h.Record
	}
	return now, nil
}

// snapshotParts are the keys of what snapshots of a session have besides a head.
func (r *Runtime) snapshotParts(ctx context.Context, id string) ([]string, error) {
	var keys []string
	err := r.list(ctx, snapshotKey(id)+"/", Page{Limit: listMax}, func(d journal.Doc) (bool, error) {
		keys = append(keys, d.Key)
		return true, nil
	})
	return keys, err
}

// removeSnapshot removes everything of the snapshots of a session.
func (r *Runtime) removeSnapshot(ctx context.Context, id string) error {
	if err := r.cfg.Journal.Remove(ctx, snapshotKey(id), 0); err != nil {
		return err
	}
	keys, err := r.snapshotParts(ctx, id)
	if err != nil {
		return err
	}
	return r.removeDocs(ctx, keys)
}

func (r *Runtime) removeDocs(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := r.cfg.Journal.Remove(ctx, key, 0); err != nil {
			return err
		}
	}
	return nil
}
