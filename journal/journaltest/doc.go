// Package journaltest has one suite, Run, that every engine of package journal must pass, and an
// engine in memory that misbehaves on request.
package journaltest
