package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

// admin serves /healthz, /readyz, /metrics and the control of calls to the operator, on a listener of this machine
// alone.
type admin struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// openAdmin listens on the admin address; it returns nil if there is none.
func openAdmin(s *settings.Settings, h, metrics, control http.Handler, log *zap.Logger) (*admin, error) {
	if s.AdminListen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", s.AdminListen)
	if err != nil {
		return nil, listenError(s.AdminListen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", h)
	mux.Handle("GET /readyz", h)
	mux.Handle("GET /metrics", metrics)
	mux.Handle(controlPath, control)
	mux.Handle(controlPath+"/", control)
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

// adminConnections limits the connections at one time; one more closes the oldest.
const adminConnections = 32

// ofThisMachine refuses requests that a page of another site can make a browser send: with a name
// that is not this machine's own (DNS rebinding), or with an Origin.
func ofThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !onLoopback(r.Host):
			http.Error(w, "the admin listener answers only to localhost", http.StatusMisdirectedRequest)
		case r.Header.Get("Origin") != "":
			http.Error(w, "the admin listener does not answer to pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// url returns its address for people.
func (a *admin) url() string { return fmt.Sprintf("http://%s/", a.listener.Addr()) }

// close ends it. It runs to the very end, so that the operator can watch that.
func (a *admin) close() {
	if a == nil {
		return
	}
	_ = a.server.Close()
	a.serving.Wait()
}

// waitFor polls ok until it is true or the limit has passed, and returns its last answer.
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

// onLoopback reports whether a host is this machine by one of its own names. Any other name, even
// if it leads here, is not.
func onLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
