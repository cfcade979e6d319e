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

// gate handles all requests first. When the process has to end, the gate first reports on /readyz
// that it is not ready, and then refuses new calls; running calls go on.
type gate struct {
	next    http.Handler
	unready atomic.Bool
	shut    atomic.Bool
	// requests counts requests to call paths; that of a WebSocket lasts as long as its call.
	requests atomic.Int64
}

// retryShut is the Retry-After, in seconds, of a refused call.
const retryShut = "5"

// ServeHTTP passes on the requests that are still admitted.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/readyz" && g.unready.Load():
		plain(http.HandlerFunc(notReady)).ServeHTTP(w, r)
	case !isCallPath(r.URL.Path) || isControlPath(r.URL.Path):
		g.next.ServeHTTP(w, r)
	default:
		g.requests.Add(1)
		defer g.requests.Add(-1)
		if g.shut.Load() && isNew(r) { // after counting it: drain waits for every request that passes
			w.Header().Set("Retry-After", retryShut)
			w.Header().Set("Connection", "close")
			plain(http.HandlerFunc(notReady)).ServeHTTP(w, r)
			return
		}
		g.next.ServeHTTP(w, r)
	}
}

// isCallPath reports whether a path belongs to an endpoint.
func isCallPath(path string) bool { return strings.HasPrefix(path, "/v1/") || gemini.Serves(path) }

// isNew reports whether a request may begin a call. PATCH and DELETE change and end one.
func isNew(r *http.Request) bool {
	return r.Method != http.MethodPatch && r.Method != http.MethodDelete
}

func notReady(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "not ready: the server is shutting down", http.StatusServiceUnavailable)
}

// drain waits for running calls to end, up to limits.drain_limit. It does so at SIGTERM, which
// service managers send; after SIGINT, from a keyboard, it does not wait. shutDown ends the calls
// that are left. Meanwhile other nodes, if there are any, go on with the sessions of agents, unless calls
// need them here.
func (s *serving) drain(signal os.Signal) {
	limits := &s.settings.Limits
	s.gate.unready.Store(true)
	handOver := func() {
		s.gate.shut.Store(true)
		if s.settings.Journal.Advertise != "" && !usesAgents(s.settings) { // sessionsAPI.close waits for it
			go s.sessions.handOver(context.Background())
		}
	}
	if signal != syscall.SIGTERM {
		handOver()
		return
	}
	s.log.Info("draining", zap.Int("calls", s.gw.Calls()), zap.Duration("delay", limits.DrainDelay),
		zap.Duration("limit", limits.DrainLimit))
	time.Sleep(limits.DrainDelay) // so that clients of /readyz notice; a second signal ends the process
	handOver()
	if s.server.shared { // another process takes new connections
		_ = s.server.listener.Close()
	}
	limited, cancel := context.WithTimeout(context.Background(), limits.DrainLimit)
	defer cancel()
	if err := s.gw.Drain(limited); err != nil {
		s.log.Info("drain limit reached", zap.Int("calls", s.gw.Calls()))
		return
	}
	idle := func() bool { return s.gate.requests.Load() == 0 } // every request for a call has its response, or soon will
	waitFor(idle, requestGrace)
}
