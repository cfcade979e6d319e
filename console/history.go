package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Limits of reading the archive of a call that runs.
const (
	historyEvents = 200_000                // of a call; a longer one is shown from now on
	historyTries  = 20                     // readings of an archive that is not written so far yet
	historyWait   = 100 * time.Millisecond // between two readings
)

// Why a running call is not shown from its beginning.
var (
	errNoHistory   = errors.New("it is not archived; with the setting archive, a running call is shown from its beginning")
	errLongHistory = fmt.Errorf("it has more than %d events; its archive has them all when it is over", historyEvents)
	errLateHistory = errors.New("its archive does not have the events until now")
)

// history takes the events of a running call up to number seq from its archive. An error says why
// no archive has them. The call is then shown from now on.
func (s *server) history(ctx context.Context, call string, prog *petri.Program, seq uint64) (*recorder, error) {
	if seq > historyEvents {
		return nil, errLongHistory
	}
	if s.cfg.Archives == nil {
		return nil, errNoHistory
	}
	rec := newRecorder(prog.Track())
	for range historyTries {
		done, err := s.catchUp(rec, call, seq)
		var none *problem
		switch {
		case done:
			return rec, nil
		case errors.As(err, &none) && none.status == http.StatusNotFound:
			return nil, errNoHistory
		case err != nil || !rest(ctx, historyWait):
			return nil, errLateHistory
		}
	}
	return nil, errLateHistory
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
