package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport/gemini"
)

// gate stands before everything that is served. When the process is asked to end it first says on /readyz that it is
// not ready, then takes no more calls; those that run go on.
type gate struct {
	next    http.Handler
	unready atomic.Bool
	shut    atomic.Bool
	// requests are those of call paths under way; a call of a WebSocket is one as long as it lasts.
	requests atomic.Int64
}

// retryShut is when a caller who found the gate shut may try again.
const retryShut = "5"

// ServeHTTP lets through what may still come in.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/readyz" && g.unready.Load():
		plain(http.HandlerFunc(notReady)).ServeHTTP(w, r)
	case !isCallPath(r.URL.Path):
		g.next.ServeHTTP(w, r)
	default:
		g.requests.Add(1)
		defer g.requests.Add(-1)
		if g.shut.Load() && isNew(r) { // counted first: nobody slips by who is not waited for
			w.Header().Set("Retry-After", retryShut)
			w.Header().Set("Connection", "close")
			plain(http.HandlerFunc(notReady)).ServeHTTP(w, r)
			return
		}
		g.next.ServeHTTP(w, r)
	}
}

// isCallPath tells the paths of the doors from the page and what else is served.
func isCallPath(path string) bool { return strings.HasPrefix(path, "/v1/") || gemini.Serves(path) }

// isNew tells requests that may begin a call from those that belong to one: changes and ends of a call come as PATCH
// and DELETE.
func isNew(r *http.Request) bool {
	return r.Method != http.MethodPatch && r.Method != http.MethodDelete
}

func notReady(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "not ready: the server is shutting down", http.StatusServiceUnavailable)
}

// drain lets the calls that run come to their end, up to the limit: at SIGTERM, which a service manager sends. Someone
// at a keyboard, who sends SIGINT, does not want to wait. What is left is ended by shutDown.
func (s *serving) drain(signal os.Signal) {
	limits := &s.o.limits
	s.gate.unready.Store(true)
	if signal != syscall.SIGTERM {
		s.gate.shut.Store(true)
		return
	}
	s.log.Info("draining", zap.Int("calls", s.gw.Calls()), zap.Duration("delay", limits.drainDelay),
		zap.Duration("limit", limits.drainLimit))
	time.Sleep(limits.drainDelay) // for those who look at /readyz to notice; a second signal ends the process
	s.gate.shut.Store(true)
	if s.door.shared { // others take the connections that come now
		_ = s.door.listener.Close()
	}
	limited, cancel := context.WithTimeout(context.Background(), limits.drainLimit)
	defer cancel()
	if err := s.gw.Drain(limited); err != nil {
		s.log.Info("drained for long enough", zap.Int("calls", s.gw.Calls()))
		return
	}
	idle := func() bool { return s.gate.requests.Load() == 0 } // who asked for a call is answered, or about to be
	waitFor(idle, requestGrace)
}
