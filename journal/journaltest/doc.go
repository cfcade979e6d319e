// Package journaltest holds every engine of package journal to one suite, Run, and has an engine in memory that
// misbehaves on request.
package journaltest
