package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"sync"
	"time"
)

// Limits of what is remembered of a connection; beyond them things are only counted.
const (
	turnsMax      = 1000
	eventsMax     = 4000
	setupBytesMax = 64 << 10
)

// Connection is what a Server remembers of one connection.
type Connection struct {
	ID     int    // from 1, in the order of the upgrades
	Path   string // without the query, which may hold a key
	Binary bool   // whether it was answered in binary frames
	Setup  []byte // the setup message as it came, at most 64 KiB

	AudioMessages int
	Samples       int64  // received in all, at the client's rate
	SHA256        string // of all PCM bytes received, hex

	Turns   []Turn // the first thousand
	Events  []Event
	Dropped int // turns and events beyond the limits

	Open     bool
	Code     int    // the close code, by whichever side; 1006 when the connection broke
	Reason   string // of the close
	ByClient bool   // the client closed, or broke
}

// Turn is one turn of the caller.
type Turn struct {
	Began, Ended time.Duration // since the upgrade; Ended is 0 while it goes on
	Samples      int64         // received between start and end, at the client's rate
	SHA256       string        // of these PCM bytes, hex
	Loud         time.Duration // how much of it was louder than the threshold of speech
	OverReply    bool          // it began over a reply, or within 300 ms of its end
	Answered     bool          // with audio
}

// Event is something that happened on a connection.
type Event struct {
	At   time.Duration // since the upgrade
	Name string        // setup, setup_complete, activity_start, activity_end, text, content, stream_end, reply,
	//                    interrupted, generation_complete, turn_complete, empty_turn, ignored, fault, close, ...
	Detail string
}

// record collects a Connection. The connection's loop writes, snapshots read.
type record struct {
	mu       sync.Mutex
	conn     Connection
	all      hash.Hash
	turn     hash.Hash
	turnOpen bool
}

func newRecord(id int, path string, binary bool) *record {
	return &record{
		conn: Connection{ID: id, Path: path, Binary: binary, Open: true},
		all:  sha256.New(),
		turn: sha256.New(),
	}
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// snapshot returns a copy.
func (r *record) snapshot() Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	c.SHA256 = sum(r.all)
	c.Turns = slices.Clone(c.Turns)
	c.Events = slices.Clone(c.Events)
	c.Setup = slices.Clone(c.Setup)
	if n := len(c.Turns); n > 0 && r.turnOpen {
		c.Turns[n-1].SHA256 = sum(r.turn)
	}
	return c
}

func (r *record) event(at time.Duration, name, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.conn.Events) == eventsMax {
		r.conn.Dropped++
		return
	}
	r.conn.Events = append(r.conn.Events, Event{At: at, Name: name, Detail: detail})
}

func (r *record) setup(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Setup = slices.Clone(data[:min(len(data), setupBytesMax)])
}

// message counts one audio message.
func (r *record) message(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.AudioMessages++
	r.conn.Samples += int64(len(pcm) / 2)
	r.all.Write(pcm)
}

// startTurn opens a turn; heard adds to it, endTurn closes it.
func (r *record) startTurn(at time.Duration, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn.Reset()
	if r.turnOpen = len(r.conn.Turns) < turnsMax; !r.turnOpen {
		r.conn.Dropped++
		return
	}
	r.conn.Turns = append(r.conn.Turns, Turn{Began: at, OverReply: over})
}

func (r *record) heard(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turnOpen {
		r.turn.Write(pcm)
		r.conn.Turns[len(r.conn.Turns)-1].Samples += int64(len(pcm) / 2)
	}
}

func (r *record) endTurn(at, loud time.Duration, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.turnOpen {
		return
	}
	r.turnOpen = false
	t := &r.conn.Turns[len(r.conn.Turns)-1]
	t.Ended, t.Loud, t.Answered, t.SHA256 = at, loud, answered, sum(r.turn)
}

func (r *record) closed(code int, reason string, byClient bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.Open {
		r.conn.Open, r.conn.Code, r.conn.Reason, r.conn.ByClient = false, code, reason, byClient
	}
}

func (r *record) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conn.Open
}
