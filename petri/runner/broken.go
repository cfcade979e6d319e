package runner

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri/event"
)

// ErrStore says that the store failed, and that outputs of the net depend on it.
var ErrStore = errors.New("the store failed")

// judgeStore acts once on a store that says that it has failed.
func (r *Runner) judgeStore() error {
	if r.loop.broken != nil || r.cfg.Store == nil {
		return nil
	}
	if err := event.Failure(r.cfg.Store); err != nil {
		return r.storeBroke(err)
	}
	return nil
}

// storeBroke tells the owner of the run that the store failed. The error it
// returns ends the run.
func (r *Runner) storeBroke(cause error) error {
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
