package live

import (
	"sync"
	"time"

	"github.com/voicegw/voicegw/internal/foreign"
)

// outcome is how a connection ended, once it has. All methods may be called by anyone.
type outcome struct {
	host, model string
	phase       phase // changes before the connection is handed out alone
	cleaner     foreign.Cleaner
	resuming    bool // the setup named a handle

	mu     sync.Mutex
	failed chan struct{} // closed once err is set
	err    *CloseError
}

func newOutcome(host, secret string, s *Setup) outcome {
	return outcome{host: host, model: s.Model, cleaner: foreign.NewCleaner(secret), resuming: s.Handle != "",
		phase: phaseSetup, failed: make(chan struct{})}
}

// fail makes e the error of the connection, unless there is one, and returns the one there is. Every error passes here,
// and loses the key and whatever is too long for a message.
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

// failure returns the error of the connection, if any.
func (o *outcome) failure() error {
	select {
	case <-o.failed:
		return o.err
	default:
		return nil
	}
}

// awaitReason gives a waiting Recv the chance to read the close frame that explains why a write failed.
func (o *outcome) awaitReason() {
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-o.failed:
	case <-t.C:
	}
}
