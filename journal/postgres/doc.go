// Package postgres is an engine of package journal on PostgreSQL 12 or newer.
//
//	e, err := postgres.Open(ctx, postgres.Config{URL: "postgres://voicegw@db/voicegw?sslmode=verify-full"})
//
// One row holds the epoch and the last number of a log; each record has a row of its own. A commit is one statement
// that updates the first and inserts the others, if the epoch is still that of the owner: the lock of the row is
// the fence. When the answer of a commit is missing, the engine tries it again; the server stores it once, even if
// the first attempt succeeded.
//
// Readers hold no connection while they wait. A node announces what it stores to the others by
// NOTIFY. A lost announcement only costs time, because readers also poll.
//
// Any number of processes may share a schema. The engine sets parameters of its sessions, so a pooler in
// front of the server must keep them apart: PgBouncer in session mode, not in transaction mode.
package postgres
