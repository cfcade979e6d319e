package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"sync"
	"time"
)

// Limits of a Connection. Beyond them a recorder only counts.
const (
	turnsMax      = 1000
	eventsMax     = 4000
	setupBytesMax = 64 << 10
	messagesMax   = 1000 // of each other kind
)

// Connection is the history of one connection.
type Connection struct {
	ID     int    // from 1, in the order of the upgrades
	Path   string // without the query, which may contain a key
	Binary bool   // whether the model sent binary frames
	Setup  []byte // the setup message, at most 64 KiB

	AudioMessages int
	Samples       int64  // all received samples, at the rate of the client
	SHA256        string // of all received PCM bytes, in hex

	Turns   []Turn  // of the caller, at most 1,000
	Events  []Event // at most 4,000
	Dropped int     // turns, events and messages beyond the limits

	Messages    [][]byte    // all but the setup and audio, at most 1,000, of each at most 64 KiB
	Texts       []Text      // of realtimeInput.text and clientContent, at most 1,000
	Calls       []Call      // of tools, at most 1,000
	ToolReplies []ToolReply // at most 1,000
	Handle      string      // of the setup
	History     []Line      // of the whole conversation, with resumed ones, at most 1,000

	Open     bool
	Code     int    // close code of either side; 1006 if the connection broke
	Reason   string // of the close
	ByClient bool   // whether the client closed or broke the connection
}

// Turn is one turn of the caller.
type Turn struct {
	Began, Ended time.Duration // since the upgrade; Ended is 0 while the turn is open
	Samples      int64         // from start to end, at the rate of the client
	SHA256       string        // of these PCM bytes, hex
	Loud         time.Duration // duration of its loud frames
	OverReply    bool          // it began during a reply, or within 300 ms after it
	Answered     bool          // the reply had audio
}

// Line is what one side said.
type Line struct {
	Role string // "user" or "model"
	Text string
}

// Text is a text from the client.
type Text struct {
	At   time.Duration // since the upgrade
	Kind string        // "text" or "content"
	Line
}

// Call is a tool call of the model.
type Call struct {
	At             time.Duration // since the upgrade
	ID, Name, Args string
	Ended          string // "replied", "cancelled", or "" while it is open
}

// ToolReply is the reply of the client to a Call.
type ToolReply struct {
	At         time.Duration // since the upgrade
	ID, Name   string
	Response   string // JSON
	Scheduling string
}

// Event is an event on a connection.
type Event struct {
	At   time.Duration // since the upgrade
	Name string        // setup, setup_complete, activity_start, activity_end, text, content, stream_end, reply,
	//                    interrupted, generation_complete, turn_complete, empty_turn, ignored, fault, close, ...
	Detail string
}

// recorder collects a Connection. It is safe for concurrent use.
type recorder struct {
	mu       sync.Mutex
	conn     Connection
	all      hash.Hash
	turn     hash.Hash
	turnOpen bool
}

func newRecorder(id int, path string, binary bool) *recorder {
	return &recorder{
		conn: Connection{ID: id, Path: path, Binary: binary, Open: true},
		all:  sha256.New(),
		turn: sha256.New(),
	}
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// snapshot returns a copy of the Connection.
func (r *recorder) snapshot() Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	c.SHA256 = sum(r.all)
	c.Turns = slices.Clone(c.Turns)
	c.Events = slices.Clone(c.Events)
	c.Setup = slices.Clone(c.Setup)
	c.Messages, c.Texts, c.Calls = slices.Clone(c.Messages), slices.Clone(c.Texts), slices.Clone(c.Calls)
	c.ToolReplies, c.History = slices.Clone(c.ToolReplies), slices.Clone(c.History)
	if n := len(c.Turns); n > 0 && r.turnOpen {
		c.Turns[n-1].SHA256 = sum(r.turn)
	}
	return c
}

func (r *recorder) event(at time.Duration, name, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.conn.Events) == eventsMax {
		r.conn.Dropped++
		return
	}
	r.conn.Events = append(r.conn.Events, Event{At: at, Name: name, Detail: detail})
}

func (r *recorder) setup(data []byte, handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Setup = slices.Clone(data[:min(len(data), setupBytesMax)])
	r.conn.Handle = handle
}

// keep appends v to a list, or counts it as dropped if the list is full.
func keep[T any](r *recorder, list *[]T, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*list) == messagesMax {
		r.conn.Dropped++
		return
	}
	*list = append(*list, v)
}

func (r *recorder) said(data []byte) {
	keep(r, &r.conn.Messages, slices.Clone(data[:min(len(data), setupBytesMax)]))
}

func (r *recorder) text(at time.Duration, kind string, line Line) {
	keep(r, &r.conn.Texts, Text{at, kind, line})
}

func (r *recorder) remember(line Line) { keep(r, &r.conn.History, line) }

func (r *recorder) called(at time.Duration, id, name, args string) {
	keep(r, &r.conn.Calls, Call{At: at, ID: id, Name: name, Args: args})
}

func (r *recorder) toolReply(at time.Duration, t toolReply) {
	keep(r, &r.conn.ToolReplies, ToolReply{at, t.id, t.name, string(t.response), t.scheduling})
}

// callEnded sets how a call ended. The last call of callEnded counts.
func (r *recorder) callEnded(id, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.conn.Calls {
		if r.conn.Calls[i].ID == id {
			r.conn.Calls[i].Ended = how
		}
	}
}

// message counts one audio message.
func (r *recorder) message(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.AudioMessages++
	r.conn.Samples += int64(len(pcm) / 2)
	r.all.Write(pcm)
}

// startTurn opens a turn. heard adds audio to it, and endTurn closes it.
func (r *recorder) startTurn(at time.Duration, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn.Reset()
	if r.turnOpen = len(r.conn.Turns) < turnsMax; !r.turnOpen {
		r.conn.Dropped++
		return
	}
	r.conn.Turns = append(r.conn.Turns, Turn{Began: at, OverReply: over})
}

func (r *recorder) heard(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turnOpen {
		r.turn.Write(pcm)
		r.conn.Turns[len(r.conn.Turns)-1].Samples += int64(len(pcm) / 2)
	}
}

func (r *recorder) endTurn(at, loud time.Duration, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.turnOpen {
		return
	}
	r.turnOpen = false
	t := &r.conn.Turns[len(r.conn.Turns)-1]
	t.Ended, t.Loud, t.Answered, t.SHA256 = at, loud, answered, sum(r.turn)
}

func (r *recorder) closed(code int, reason string, byClient bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.Open {
		r.conn.Open, r.conn.Code, r.conn.Reason, r.conn.ByClient = false, code, reason, byClient
	}
}

func (r *recorder) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conn.Open
}
