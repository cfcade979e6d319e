package managed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// records are those of the log of the session; none if it is deleted, or its engine closed.
func (h *house) records() []journal.Record {
	h.Helper()
	if h.session == "" {
		return nil
	}
	var list []journal.Record
	for rec, err := range h.engine.Read(context.Background(), logKey(h.session), 1, false) {
		if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrClosed) {
			return nil
		}
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, rec)
	}
	return list
}

// applied applies records to a state.
func applied(t *testing.T, s *state, list []journal.Record) *state {
	t.Helper()
	for _, rec := range list {
		if rec.Kind != journal.Data {
			continue
		}
		one, err := decodeRecord(rec)
		if err == nil {
			err = s.apply(rec.Seq, one)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// through stores a state and reads it back.
func through(t *testing.T, s *state) *state {
	t.Helper()
	head, _, parts, err := s.image().encode([]byte("tip"))
	if err != nil {
		t.Fatal(err)
	}
	h, blob, err := decodeSnapshotHead(s.info.ID, head)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.decodeState(append(blob, bytes.Join(parts, nil)...))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// throughJSON is through without the documents.
func throughJSON(t *testing.T, s *state) *state {
	t.Helper()
	b, err := json.Marshal(s.image())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeImage(b)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// snapshots holds snapshots to the log of the session: a state that is stored and read behind every record is the one
// that is folded without, and what the process had in memory is it, too.
func (h *house) snapshots(living []*state) {
	h.Helper()
	list := h.records()
	first := slices.IndexFunc(list, func(r journal.Record) bool { return r.Kind == journal.Data }) + 1
	if first == 0 {
		return
	}
	every := 1 + len(list)/200
	if h.hasty {
		every = 1 + len(list)/3
	}
	s, again := applied(h.T, newState(), list[:first]), applied(h.T, newState(), list[:first])
	for k := first; k < len(list); k++ {
		if k%every == 0 {
			again = throughJSON(h.T, again)
			if !reflect.DeepEqual(s, again) {
				h.Fatalf("record %d: the snapshot holds\n\t%+v, want\n\t%+v", k, again, s)
			}
		}
		applied(h.T, s, list[k:k+1])
		applied(h.T, again, list[k:k+1])
	}
	if again = through(h.T, again); !reflect.DeepEqual(s, again) {
		h.Fatalf("at the end, the snapshot holds\n\t%+v, want\n\t%+v", again, s)
	}
	for _, s := range living {
		if s.records == 0 || s.records > uint64(len(list)) || s.info.ID != h.session {
			continue
		}
		a, errA := json.Marshal(s.image())
		b, errB := json.Marshal(applied(h.T, newState(), list[:s.records]).image())
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			h.Errorf("record %d: the process has\n\t%s, and the log\n\t%s, %v", s.records, a, b, err)
		}
	}
}

// living are the states of sessions that a runtime has in memory.
func (r *Runtime) living() []*state {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*state
	for _, s := range r.active {
		if s.o != nil {
			list = append(list, s.o.st)
		}
	}
	return list
}

// TestImage: a field that a state gets is in its snapshots, or here, with the reason why not.
func TestImage(t *testing.T) {
	without := map[string]string{
		"reported": "it is of the net that runs; the net of the next process is told again",
		"untold":   "the same",
		"keyOrder": "it is the order of keys",
		"tip":      "it is read from the log",
		"saved":    "it is of the document",
	}
	for of, pair := range map[string][2]reflect.Type{
		"state":    {reflect.TypeFor[state](), reflect.TypeFor[image]()},
		"turn":     {reflect.TypeFor[turn](), reflect.TypeFor[turnImage]()},
		"effect":   {reflect.TypeFor[effect](), reflect.TypeFor[effectImage]()},
		"accepted": {reflect.TypeFor[accepted](), reflect.TypeFor[inputImage]()},
	} {
		for i := range pair[0].NumField() {
			name := pair[0].Field(i).Name
			_, ok := pair[1].FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
			if (without[name] == "") != ok {
				t.Errorf("%s.%s: in the image it is %v, and here it is %q", of, name, ok, without[name])
			}
		}
	}
}

// often lets the house take snapshots behind so many records, at rest and in turns.
func (h *house) often(rest, busy int) {
	h.Helper()
	h.close()
	h.cfg.Limits.snapshot, h.cfg.Limits.snapshotBusy = rest, busy
	h.open()
}

// snapshotDocs are the keys of the documents of snapshots.
func (h *house) snapshotDocs() []string {
	h.Helper()
	docs, err := h.engine.List(context.Background(), journal.Query{Prefix: "snap/"})
	if err != nil {
		h.Fatal(err)
	}
	keys := []string{}
	for _, d := range docs {
		keys = append(keys, d.Key)
	}
	return keys
}

// forget removes every snapshot.
func (h *house) forget() {
	h.Helper()
	for _, key := range h.snapshotDocs() {
		if err := h.engine.Remove(context.Background(), key, 0); err != nil {
			h.Fatal(err)
		}
	}
}

// chat is a house whose model answers any number of messages.
func chat(t *testing.T, engine journal.Engine) *house {
	t.Helper()
	hello := &provider.Script{Repeat: true, Turns: []provider.ScriptTurn{says("Hello.")}}
	return newHouseOn(t, engine, Definition{}, hello)
}

// TestSnapshotTaken: a session that rests takes a snapshot when its log has grown enough, and so does one that leaves
// memory. The next process reads the records behind it only.
func TestSnapshotTaken(t *testing.T) {
	in(t, func(t *testing.T) {
		engine := &countingReads{Engine: journaltest.NewMemory()}
		h := chat(t, engine)
		h.often(40, 1000)
		defer func() { h.close() }()
		for i := range 5 { // 7 records each, and one at the beginning
			h.send(Text("Hi"))
			if docs := h.snapshotDocs(); len(docs) != 0 {
				t.Fatalf("%d messages: there is a snapshot: %q", i+1, docs)
			}
		}
		h.send(Text("Hi"))
		if docs := h.snapshotDocs(); !slices.Equal(docs, []string{"snap/" + h.session}) {
			t.Fatalf("the snapshots are %q", docs)
		}
		h.send(Text("Hi"))
		h.close()
		h.open()
		for what, ask := range map[string]func(){"status": func() { h.status(Idle) }, "opening": func() {
			if err := h.rt.with(t.Context(), h.session, func(*owned) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}} {
			engine.read = 0
			ask()
			if engine.read < 8 || engine.read > 10 { // the snapshot's own, 7, and claims
				t.Errorf("%s: %d records were read", what, engine.read)
			}
			h.close()
			h.open()
		}
		if s := h.status(Idle); s.Turns != 7 || s.LastSeq != 56 {
			t.Errorf("the session has %d turns and %d events", s.Turns, s.LastSeq)
		}
		h.forget()
		if err := h.rt.with(t.Context(), h.session, func(*owned) error { return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // the session leaves memory
		synctest.Wait()
		if docs := h.snapshotDocs(); len(h.rt.living()) != 0 || len(docs) != 1 {
			t.Errorf("%d sessions are in memory, and there are the snapshots %q", len(h.rt.living()), docs)
		}
	})
}

// TestSnapshotOfWork: a long turn is stored in its middle.
func TestSnapshotOfWork(t *testing.T) {
	in(t, func(t *testing.T) {
		turns := make([]provider.ScriptTurn, 0, 11)
		for i := range 10 {
			turns = append(turns, calls(provider.ScriptCall{Name: "look", ID: fmt.Sprint("c", i)}))
		}
		var h *house
		seen := 0
		h = newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset}}}, append(turns, says("Done.")),
			counting("look", map[string]int{}, func(context.Context) error {
				time.Sleep(time.Second) // others come first
				seen = max(seen, len(h.snapshotDocs()))
				return nil
			}))
		h.often(1000, 20)
		defer h.close()
		h.send(Text("Look"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if seen == 0 {
			t.Errorf("no snapshot was taken while the turn ran: %d records %s", len(h.records()), letters(h.events()))
		}
	})
}

// TestSnapshotIgnored: a snapshot that is of no use is logged, and the session is what its log says.
func TestSnapshotIgnored(t *testing.T) {
	for name, spoil := range map[string]func(h *house, doc []byte) []byte{
		"empty":   func(*house, []byte) []byte { return nil },
		"garbage": func(*house, []byte) []byte { return []byte("garbage\nmore") },
		"damaged": func(_ *house, doc []byte) []byte { doc[len(doc)-9] ^= 1; return doc },
		"head damaged": func(_ *house, doc []byte) []byte {
			return bytes.Replace(doc, []byte(`"record":`), []byte(`"record":9`), 1)
		},
		"cut": func(_ *house, doc []byte) []byte { return doc[:len(doc)/2] },
		"newer": func(_ *house, doc []byte) []byte {
			return reheaded(doc, `"version":1`, `"version":2`)
		},
		"of another session": func(h *house, doc []byte) []byte { return reheaded(doc, h.session, h.session+"x") },
		"of another log": func(_ *house, doc []byte) []byte {
			_, rest, _ := bytes.Cut(doc, []byte(`"hash":"`))
			return reheaded(doc, string(rest[:64]), strings.Repeat("0", 64))
		},
		"torn": func(_ *house, doc []byte) []byte { return reheaded(doc, `"sum":`, `"name":"X","parts":1,"sum":`) },
	} {
		t.Run(name, func(t *testing.T) { in(t, func(t *testing.T) { ignored(t, spoil) }) })
	}
}

// reheaded changes the head of a snapshot and its sum.
func reheaded(doc []byte, from, to string) []byte {
	line, blob, _ := bytes.Cut(doc, []byte{'\n'})
	text := bytes.Replace(line[65:], []byte(from), []byte(to), 1)
	return slices.Concat([]byte(hashOf(text)), []byte{' '}, text, []byte{'\n'}, blob)
}

func ignored(t *testing.T, spoil func(h *house, doc []byte) []byte) {
	h := chat(t, journaltest.NewMemory())
	h.often(1, 1)
	h.send(Text("Hi"))
	h.close()
	key := snapshotKey(h.session)
	d, err := h.engine.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := spoil(h, slices.Clone(d.Value))
	if bytes.Equal(spoilt, d.Value) {
		t.Fatal("the snapshot is not spoilt")
	}
	if _, err := h.engine.Put(t.Context(), key, spoilt, d.Revision); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.WarnLevel)
	h.cfg.Logger = zap.New(core)
	h.open()
	h.status(Idle)
	if logs.FilterMessageSnippet("a snapshot is ignored").Len() != 1 {
		t.Errorf("the log says %v", logs.All())
	}
	h.send(Text("Hi"))
	h.tells(`mes, running, mes', "Hello.", idle end_turn, mes, running, mes', "Hello.", idle end_turn`)
	h.close()
	now, err := h.engine.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := (&Runtime{cfg: h.cfg}).snapshot(t.Context(), h.session); err != nil || s.state == nil ||
		s.record != uint64(len(h.records())) {
		t.Errorf("the snapshot was not replaced: %+v, %v; it has %d bytes", s, err, len(now.Value))
	}
}

// TestSnapshotAhead: a session whose log ends in front of its snapshot can be read and deleted, not continued. To ask
// for it does not make the log longer.
func TestSnapshotAhead(t *testing.T) {
	for _, left := range []int{0, 1, 5, 7} {
		t.Run(fmt.Sprint(left, " records left"), func(t *testing.T) {
			in(t, func(t *testing.T) { ahead(t, left) })
		})
	}
}

func ahead(t *testing.T, left int) {
	h := chat(t, journaltest.NewMemory())
	h.often(1, 1)
	h.send(Text("Hi"))
	list := h.records()
	h.rt.Close(context.Background()) //nolint:errcheck // no check of a log that is replaced
	if err := h.engine.Delete(t.Context(), logKey(h.session)); err != nil {
		t.Fatal(err)
	}
	rewrite(t, h.engine, logKey(h.session), list[:left])
	core, logs := observer.New(zap.ErrorLevel)
	h.cfg.Logger = zap.New(core)
	h.open()
	defer func() { _ = h.rt.Close(context.Background()) }()
	for range 12 {
		_, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Hi"))
		if CodeOf(err) != Storage || !errors.Is(err, errBehind) || !strings.Contains(err.Error(), "lost records") {
			t.Fatalf("the error is %v", err)
		}
	}
	entry := logs.FilterMessageSnippet("records are lost").All()
	if len(entry) != 12 || entry[0].ContextMap()["last_record"] != uint64(left) ||
		entry[0].ContextMap()["snapshot_record"] != uint64(len(list)) {
		t.Errorf("the log says %v", entry)
	}
	if n := len(h.records()); n != left {
		t.Errorf("the log has %d records now", n)
	}
	if left > 1 {
		h.events()
		if _, err := h.rt.Session(t.Context(), ada, h.session); err != nil {
			t.Error(err)
		}
	}
	if err := h.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
		t.Fatal(err)
	}
	if docs := h.snapshotDocs(); len(docs) != 0 {
		t.Errorf("the snapshots %q are left", docs)
	}
	if _, err := h.rt.Session(t.Context(), ada, h.session); CodeOf(err) != NotFound {
		t.Errorf("the session is there: %v", err)
	}
}

// rewrite writes records into a log that is not there.
func rewrite(t *testing.T, engine journal.Engine, log string, list []journal.Record) {
	t.Helper()
	var w journal.Writer
	for _, rec := range list {
		var err error
		if rec.Kind == journal.Claim {
			w, err = engine.Open(t.Context(), log, rec.Owner)
		} else {
			var seq uint64
			if seq, err = w.Append(rec.Data); err == nil {
				err = w.Await(t.Context(), seq)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSnapshotOfDeletedSession: deleting a session removes its snapshots, and one that is taken meanwhile.
func TestSnapshotOfDeletedSession(t *testing.T) {
	in(t, func(t *testing.T) {
		h := chat(t, journaltest.NewMemory())
		h.often(1, 1)
		defer func() { _ = h.rt.Close(context.Background()) }()
		h.send(Text("Hi"))
		late := h.rt.living()[0]
		if len(h.snapshotDocs()) == 0 {
			t.Fatal("there is no snapshot")
		}
		if err := h.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		if docs := h.snapshotDocs(); len(docs) != 0 {
			t.Fatalf("%q are left", docs)
		}
		if _, err := h.rt.storeSnapshot(t.Context(), late.image(), late.tip, saved{}); err != nil {
			t.Fatal(err)
		}
		if docs := h.snapshotDocs(); len(docs) != 0 {
			t.Errorf("%q are left of a snapshot that came late", docs)
		}
	})
}
