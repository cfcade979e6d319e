package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

// admin is a listener of this machine alone, for whoever runs the gateway: /healthz, /readyz and /metrics. What it
// serves is not on the other listener's paths, and nothing of it is for strangers.
type admin struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// openAdmin listens on the admin address; nil when there is none.
func openAdmin(o *options, h, metrics http.Handler, log *zap.Logger) (*admin, error) {
	if o.adminListen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", o.adminListen)
	if err != nil {
		return nil, listenError(o.adminListen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", h)
	mux.Handle("GET /readyz", h)
	mux.Handle("GET /metrics", metrics)
	limits := connectionLimits{most: adminConnections + 1, each: adminConnections, requests: adminConnections,
		requestsEach: adminConnections}
	a := &admin{listener: limitConnections(l, limits), server: &http.Server{
		Handler:           ofThisMachine(plain(mux)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          zap.NewStdLog(log.Named(httpLogger)),
	}}
	a.serving.Go(func() { _ = a.server.Serve(a.listener) })
	return a, nil
}

// adminConnections is how many connections the admin listener has at one time; one more closes the oldest.
const adminConnections = 32

// ofThisMachine refuses what a browser sends for a page of elsewhere: a request by another name than this machine's own
// (DNS rebinding), or with an Origin.
func ofThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !onLoopback(r.Host):
			http.Error(w, "the admin listener answers to localhost alone", http.StatusMisdirectedRequest)
		case r.Header.Get("Origin") != "":
			http.Error(w, "the admin listener is not for pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// url is where it is, for people.
func (a *admin) url() string { return fmt.Sprintf("http://%s/", a.listener.Addr()) }

// close ends it; it is the last to go, so that it can tell of the end.
func (a *admin) close() {
	if a == nil {
		return
	}
	_ = a.server.Close()
	a.serving.Wait()
}

// waitFor waits for ok, which is asked now and then, or for the end of a limit of time, and reports which it was.
func waitFor(ok func() bool, limit time.Duration) bool {
	const every = 20 * time.Millisecond
	end := time.After(limit)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			return ok()
		}
	}
	return true
}
