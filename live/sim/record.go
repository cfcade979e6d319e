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
	messagesMax   = 1000 // of each kind; of raw messages at most 64 KiB each
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
	Dropped int // turns, events and messages beyond the limits

	Messages    [][]byte // as they came: all but the setup and audio; the first thousand, at most 64 KiB of each
	Texts       []Text   // of realtimeInput.text and clientContent; the first thousand
	Calls       []Call   // of tools, by the model
	ToolReplies []ToolReply
	Handle      string // that the setup named
	History     []Line // of the conversation, also of earlier connections of it; the first thousand

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

// Line is what one side said.
type Line struct {
	Role string // user or model
	Text string
}

// Text is a text that a client sent.
type Text struct {
	At   time.Duration // since the upgrade
	Kind string        // text or content
	Line
}

// Call is a call of a tool by the model.
type Call struct {
	At             time.Duration // since the upgrade
	ID, Name, Args string
	Ended          string // replied, cancelled, or nothing yet
}

// ToolReply is the reply of a client to a call.
type ToolReply struct {
	At         time.Duration // since the upgrade
	ID, Name   string
	Response   string // JSON
	Scheduling string
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
	c.Messages, c.Texts, c.Calls = slices.Clone(c.Messages), slices.Clone(c.Texts), slices.Clone(c.Calls)
	c.ToolReplies, c.History = slices.Clone(c.ToolReplies), slices.Clone(c.History)
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

func (r *record) setup(data []byte, handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Setup = slices.Clone(data[:min(len(data), setupBytesMax)])
	r.conn.Handle = handle
}

// keep appends to a list, or counts what has no room.
func keep[T any](r *record, list *[]T, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*list) == messagesMax {
		r.conn.Dropped++
		return
	}
	*list = append(*list, v)
}

func (r *record) said(data []byte) {
	keep(r, &r.conn.Messages, slices.Clone(data[:min(len(data), setupBytesMax)]))
}

func (r *record) text(at time.Duration, kind string, line Line) {
	keep(r, &r.conn.Texts, Text{at, kind, line})
}

func (r *record) remember(line Line) { keep(r, &r.conn.History, line) }

func (r *record) called(at time.Duration, id, name, args string) {
	keep(r, &r.conn.Calls, Call{At: at, ID: id, Name: name, Args: args})
}

func (r *record) toolReply(at time.Duration, t toolReply) {
	keep(r, &r.conn.ToolReplies, ToolReply{at, t.id, t.name, string(t.response), t.scheduling})
}

// callEnded says how a call ended; the last word counts.
func (r *record) callEnded(id, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.conn.Calls {
		if r.conn.Calls[i].ID == id {
			r.conn.Calls[i].Ended = how
		}
	}
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
