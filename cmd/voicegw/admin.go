package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

// admin serves /healthz, /readyz, /metrics, /debug/pprof and the control of calls to the operator. Its listener is of
// this machine alone, unless its requests need a token.
type admin struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
	token    atomic.Pointer[string] // "": none is needed
}

// openAdmin listens on the admin address; it returns nil if there is none.
func openAdmin(s *settings.Settings, h, metrics, control http.Handler, log *zap.Logger) (*admin, error) {
	if s.AdminListen == "" {
		return nil, nil
	}
	token, err := adminToken(s)
	if err != nil {
		return nil, err
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
	mux.Handle(consolePath, control)
	profiles(mux)
	limits := connectionLimits{most: adminConnections + 1, each: adminConnections, requests: adminConnections,
		requestsEach: adminConnections}
	a := &admin{listener: limitConnections(l, limits)}
	a.setToken(token)
	a.server = &http.Server{
		Handler:           a.guarded(plain(mux)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          zap.NewStdLog(log.Named(httpLogger)),
	}
	a.serving.Go(func() { _ = a.server.Serve(a.listener) })
	return a, nil
}

// adminConnections limits the connections at one time; one more closes the oldest.
const adminConnections = 32

// adminTokenMin is the length of the shortest token, in bytes.
const adminTokenMin = 16

// adminToken reads the token of the admin listener, "" if it needs none.
func adminToken(s *settings.Settings) (string, error) {
	token, err := s.Secret("admin.token_file", s.AdminTokenFile)
	switch {
	case err != nil:
		return "", &usageError{err}
	case token != "" && len(token) < adminTokenMin:
		return "", &usageError{fmt.Errorf("admin.token_file: the token in %s has %d bytes; it must have %d or more, such as "+
			"those of `openssl rand -hex 32`", s.AdminTokenFile, len(token), adminTokenMin)}
	}
	return token, nil
}

// profiles serves what Go's own tools read of a running process. The command line is not among it.
func profiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
}

// guarded refuses requests without the token, but for /healthz, /readyz and signed links to calls. If there is no
// token, it refuses those that a page of another site can make a browser send: with a name that is not this machine's
// own (DNS rebinding). It always refuses pages of other origins.
func (a *admin) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := *a.token.Load()
		want := sha256.Sum256([]byte("Bearer " + token))
		got := sha256.Sum256([]byte(authorization(r)))
		switch {
		case token == "" && !onLoopback(r.Host):
			http.Error(w, "the admin listener answers only to localhost; admin.token_file lets it answer to other names",
				http.StatusMisdirectedRequest)
		case !ownOrigin(r):
			http.Error(w, "the admin listener does not answer to pages of other origins", http.StatusForbidden)
		case token != "" && !isProbe(r) && !isShared(r) && subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", challenge(r))
			http.Error(w, "the admin listener needs the token of admin.token_file: Authorization: Bearer TOKEN",
				http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// setToken changes the token for the requests that follow.
func (a *admin) setToken(token string) { a.token.Store(&token) }

// isProbe reports whether a request asks only whether the process is well.
func isProbe(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// isShared reports whether a request is for what a signed link shows, which checks the signature.
func isShared(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, sharedPath) && path.Clean(r.URL.Path) == strings.TrimSuffix(r.URL.Path, "/")
}

// ownOrigin reports whether a request comes from no page, or from one of this listener.
func ownOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host != "" && u.Host == r.Host
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
