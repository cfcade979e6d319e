// Package journal keeps an append-only log for each session, and small documents beside it.
//
// A log has one owner at a time. Open makes the caller the owner: it appends a claim with a higher
// epoch, and from then on the log refuses every record of an earlier owner. No clock takes part in
// that. Writing is asynchronous: Append queues a record and returns its number, Await waits until
// the record is as durable as the engine's Durability says. Reading needs no owner.
//
//	w, err := engine.Open(ctx, "sess_1", "node a")
//	n, err := w.Append([]byte(`{"text":"hello"}`))
//	err = w.Await(ctx, n)
//	for rec, err := range engine.Read(ctx, "sess_1", 1, false) { ... }
//
// Package journal/jetstream is an engine on an embedded NATS server or a cluster, package
// journal/postgres one on PostgreSQL. Package journal/journaltest holds every engine to one suite.
package journal

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Limits of every engine.
const (
	// RecordMax is the largest size of a record, in bytes.
	RecordMax = 1_000_000
	// WindowRecords and WindowBytes limit what a Writer has queued and the engine has not stored.
	WindowRecords = 256
	WindowBytes   = 4 << 20
	// DocMax is the largest size of a document, in bytes.
	DocMax = 900_000
	// KeyMax is the largest length of the key of a log or a document, in bytes.
	KeyMax = 256
	// ListMax is the largest number of documents that one call of List returns.
	ListMax = 1000
)

// Errors that an Engine and a Writer return, wrapped.
var (
	// ErrFenced means that somebody else owns the log now. The writer is useless from then on.
	ErrFenced = errors.New("journal: another owner has claimed the log")
	// ErrStore means that the engine cannot store. The writer is useless from then on: whether its
	// last records are stored shows the next Open.
	ErrStore = errors.New("journal: the log cannot be written")
	// ErrWindowFull means that too much waits to be stored. Wait for an earlier record and try again.
	ErrWindowFull = errors.New("journal: too many records wait to be stored")
	// ErrClosed means that the writer or the engine is closed.
	ErrClosed = errors.New("journal: closed")
	// ErrArchived means that the log takes no more records.
	ErrArchived = errors.New("journal: the log is archived")
	// ErrNotFound means that there is no such log or document.
	ErrNotFound = errors.New("journal: not found")
	// ErrConflict means that a document has another revision than the caller expects.
	ErrConflict = errors.New("journal: the document has changed")
	// ErrCorrupt means that what is stored cannot be read: a damaged or foreign record, or one of a
	// newer version. The error says which.
	ErrCorrupt = errors.New("journal: the log cannot be read")
)

// Durability is what survives when Await has returned.
type Durability uint8

// The grades of durability, each with the ones before it.
const (
	// ProcessLocal: nothing survives the process.
	ProcessLocal Durability = iota
	// OSCrash: the end of the process, not that of the machine.
	OSCrash
	// PowerLoss: the end of the machine, as far as its disk keeps what it has confirmed.
	PowerLoss
	// Replicated: the loss of a minority of the machines.
	Replicated
)

// Kind is what a record is.
type Kind uint8

// The kinds of records.
const (
	// Data is a record of the owner.
	Data Kind = iota
	// Claim is the first record of an owner. Record.Owner is its name.
	Claim
	// Archived is the last record of a log.
	Archived
)

// Record is one entry of a log.
type Record struct {
	Seq   uint64 // number in the log, from 1, without gaps
	Epoch uint64 // of the owner that appended it, from 1
	Kind  Kind
	Owner string // of a Claim
	Data  []byte // of a Data record; never empty
}

// Engine keeps logs and documents. It is safe for concurrent use. Keys have 1 to KeyMax bytes of
// letters, digits, "_", "-" and single "/", and begin with a letter or a digit (see CheckKey). An
// invalid key is an error that names it.
type Engine interface {
	// Durability is what a record survives that Await has confirmed.
	Durability() Durability

	// Open makes owner the owner of a log, which begins with it if there is none. It returns a Writer
	// that has appended the Claim, durably, and knows everything that is stored. Its error is
	// ErrArchived or ErrStore. Of two calls at once, one may return ErrFenced.
	Open(ctx context.Context, log, owner string) (Writer, error)
	// Read yields the records of a log from number from on (0 means 1). It ends behind the last one
	// that is stored, or, with live, waits for more until ctx ends or the log is archived or deleted.
	// It yields no record twice and leaves none out, however slow the reader is. A record is yielded
	// only when Await would have returned for it. The error of a log that does not exist is
	// ErrNotFound; one that is deleted meanwhile ends with it, too.
	Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[Record, error]
	// Last returns the last stored record of a log.
	Last(ctx context.Context, log string) (Record, error)
	// Archive appends an Archived record, whoever owns the log. It is idempotent.
	Archive(ctx context.Context, log string) error
	// Delete removes a log. It is idempotent. Its writer is fenced. A later Open of the same key begins
	// a new log, which no writer of before can touch.
	Delete(ctx context.Context, log string) error

	// Get returns a document.
	Get(ctx context.Context, key string) (Doc, error)
	// Put stores a document if its revision is expect; 0 means that there must be none. It returns the
	// new revision, durably. The error is ErrConflict if the document has another revision.
	Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error)
	// Remove removes a document if its revision is expect; 0 means whatever it is. It is idempotent.
	Remove(ctx context.Context, key string, expect uint64) error
	// List returns up to q.Limit documents whose keys begin with q.Prefix, in the order of their keys.
	List(ctx context.Context, q Query) ([]Doc, error)
	// Watch calls changed for every document whose key begins with prefix, and again when one changes,
	// in order per document, until ctx ends. Of changes in quick succession it may leave out all but the
	// last. A document that is removed has a nil Value and the Revision 0. It returns when the engine
	// cannot watch any more.
	Watch(ctx context.Context, prefix string, changed func(Doc)) error

	// Close releases the engine. Writers and readers that are open get ErrClosed, as every later call
	// does. It is idempotent.
	Close() error
}

// Writer appends to a log for its owner. It is safe for concurrent use. After an ErrFenced or an
// ErrStore every call returns the same error.
type Writer interface {
	// Epoch is the owner's epoch: higher than that of every owner before.
	Epoch() uint64
	// Claimed is the number of the owner's Claim: what came before has lower numbers.
	Claimed() uint64
	// Append queues a record and returns its number. It never blocks and keeps no reference to data.
	// Its error is ErrWindowFull, ErrFenced, ErrStore or ErrClosed, or names a record that is empty or
	// too large.
	Append(data []byte) (uint64, error)
	// Await waits until the record with that number and all before it are stored.
	Await(ctx context.Context, seq uint64) error
	// Acked is the number of the last record that is stored.
	Acked() uint64
	// Failed is closed when the writer is useless; Await then tells why.
	Failed() <-chan struct{}
	// Close stores what is queued, until ctx ends, and closes the writer. Its error says that something
	// that was queued may not be stored. The log stays claimed until somebody else opens it.
	Close(ctx context.Context) error
}

// Doc is a document.
type Doc struct {
	Key      string
	Value    []byte
	Revision uint64    // 1 or more; each Put makes it larger
	At       time.Time // of the Put, by the engine's clock; for people, not for decisions
}

// Query says which documents List returns.
type Query struct {
	Prefix  string
	After   string // only keys behind it in the order of the list; "" means from the beginning
	Reverse bool   // from the last key to the first
	Limit   int    // 1 to ListMax; 0 means ListMax
}
