// Package postgres is an engine of package journal on PostgreSQL 12 or newer.
//
//	e, err := postgres.Open(ctx, postgres.Config{URL: "postgres://voicegw@db/voicegw?sslmode=verify-full"})
//
// A row holds the epoch and the last number of a log, another one each record. A commit is one statement
// that updates the first and inserts the others, if the epoch is still that of the owner: the lock of the
// row is the fence. When the answer of a commit is missing, the engine tries it again; the server stores it
// once, whatever became of the first attempt.
//
// Readers hold no connection while they wait. What one node stores it tells the others by NOTIFY; a hint
// that is lost costs time only, because readers also look by themselves.
//
// Any number of processes may share a schema. The engine sets parameters of its sessions, so a pooler in
// front of the server must keep them apart: PgBouncer in session mode, not in transaction mode.
package postgres
