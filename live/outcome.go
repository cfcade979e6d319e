package live

import (
	"sync"
	"time"

	"github.com/voicegw/voicegw/internal/foreign"
)

// outcome is the error that ended a connection, once it has ended. It is safe for concurrent use.
type outcome struct {
	host, model string
	phase       phase // constant once Dial has returned
	cleaner     foreign.Cleaner
	resuming    bool // the setup has a handle

	mu     sync.Mutex
	failed chan struct{} // closed once err is set
	err    *CloseError
}

func newOutcome(host, secret string, s *Setup) outcome {
	return outcome{host: host, model: s.Model, cleaner: foreign.NewCleaner(secret), resuming: s.Handle != "",
		phase: phaseSetup, failed: make(chan struct{})}
}

// fail makes e the error of the connection, unless it has one already, and returns the error of the
// connection. It removes the key from e and shortens long texts.
func (o *outcome) fail(e *CloseError) *CloseError {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		e.phase, e.host, e.model = o.phase, o.host, o.model
		e.Reason = o.cleaner.Text(e.Reason, reasonBytesMax)
		e.Err = o.cleaner.Error(e.Err, reasonBytesMax)
		if o.resuming && o.phase == phaseSetup && e.Class == ClassModel && containsAny(e.Reason, "entity was not found") {
			e.Class = ClassHandle
		}
		o.err = e
		close(o.failed)
	}
	return o.err
}

// failure returns the error of the connection, nil while it is open.
func (o *outcome) failure() error {
	select {
	case <-o.failed:
		return o.err
	default:
		return nil
	}
}

// awaitReason waits, after a failed write, for Recv to read the close frame with the reason.
func (o *outcome) awaitReason() {
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-o.failed:
	case <-t.C:
	}
}
