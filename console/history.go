package console

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Limits of reading the archive of a call that runs.
const (
	historyEvents = 200_000                // of a call; a longer one is shown from now on
	historyTries  = 20                     // readings of an archive that is not written so far yet
	historyWait   = 100 * time.Millisecond // between two readings
)

// history takes the events of a running call up to number seq from its archive. It returns nil if there
// is no archive that has them: the call is shown from now on then.
func (s *server) history(ctx context.Context, call string, prog *petri.Program, seq uint64) *recorder {
	if s.cfg.Archives == nil || seq > historyEvents {
		return nil
	}
	rec := newRecorder(prog.Track())
	for range historyTries {
		done, err := s.catchUp(rec, call, seq)
		if done {
			return rec
		}
		if err != nil || !rest(ctx, historyWait) {
			return nil
		}
	}
	return nil
}

// catchUp takes the events of an archive that rec does not have. done reports whether it has them up to seq.
func (s *server) catchUp(rec *recorder, call string, seq uint64) (done bool, err error) {
	read, _, file, err := s.open(call)
	if err != nil {
		return false, err
	}
	defer file.Close()
	for rec.t.Seq() < seq {
		e, err := read.Next()
		if err != nil {
			return false, nil // its end, so far: perhaps in the middle of a line
		}
		if e.Seq <= rec.t.Seq() {
			continue
		}
		if err := rec.take(e); err != nil {
			return false, err
		}
	}
	return true, nil
}
