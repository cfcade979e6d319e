package runner

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri/event"
)

// ErrStore means that the store failed.
var ErrStore = errors.New("the store failed")

// checkStore reports a failure of the store once, when the store returns an error.
func (r *Runner) checkStore() error {
	if r.loop.broken != nil || r.cfg.Store == nil {
		return nil
	}
	if err := event.Failure(r.cfg.Store); err != nil {
		return r.storeFailed(err)
	}
	return nil
}

// storeFailed reports the failure of the store to the owner of the run. An error that it returns
// ends the run.
func (r *Runner) storeFailed(cause error) error {
	err := fmt.Errorf("%w: %w", ErrStore, cause)
	r.loop.broken = err
	switch {
	case r.cfg.StoreFailed != nil:
		r.cfg.StoreFailed(err)
	case r.loop.sinks.durable:
		return err
	default:
		r.cfg.Logger.Error("store failed", zap.String("run", r.cfg.Name), zap.Error(cause))
	}
	return nil
}
