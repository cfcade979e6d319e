package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

// Limits of the HTTP server. A WebSocket has those of its endpoint instead.
const (
	headerTimeout  = 10 * time.Second
	headerBytesMax = 32 << 10
	requestTimeout = 30 * time.Second // for reading a request, and for writing its response
	keepAlive      = 60 * time.Second
	// requestsMax limits the connections that are not WebSockets: those of pages, and idle ones.
	requestsMax = 256
)

// server is an HTTP server with its listener.
type server struct {
	url      string // of the page
	notes    []string
	listener net.Listener
	shared   bool // other processes may listen on its address
	server   *http.Server
}

// openServer listens; serve then serves the handler.
func openServer(s *settings.Settings, handler http.Handler, log *zap.Logger) (*server, error) {
	var config *tls.Config
	var notes []string
	if s.TLS.On() {
		var err error
		if config, notes, err = certificate(&s.TLS, log); err != nil {
			return nil, err
		}
	}
	listener, shared, err := listen(s)
	if err != nil {
		return nil, err
	}
	if address := listener.Addr().String(); s.Exposed(address) {
		_ = listener.Close()
		return nil, usagef("the socket of LISTEN_FDS is open to strangers (%s), and there is a real API key and no "+
			"authentication: set access.secret_file or access.jwks, or --insecure", address)
	}
	d := &server{listener: limitConnections(listener, connectionsOf(s)), notes: notes, shared: shared}
	d.address(s, listener.Addr())
	d.server = &http.Server{
		Handler:           handler,
		TLSConfig:         config,
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    headerBytesMax,
		ConnState:         leaveRequests,
		ErrorLog:          zap.NewStdLog(log.Named(httpLogger)),
	}
	d.server.Protocols.SetHTTP1(true) // a WebSocket begins with a request of HTTP/1.1
	return d, nil
}

// connectionsOf returns the limits of connections.
func connectionsOf(s *settings.Settings) connectionLimits {
	c := connectionLimits{most: s.CallsMax() + s.HandshakesMax() + requestsMax, each: s.Limits.ConnectionsPerAddress,
		requests: requestsMax}
	if c.each == 0 {
		c.each = s.CallsMax() + requestsMax/2
	}
	c.requestsEach = min(c.each, requestsMax/2)
	return c
}

// routes serves the page, calls and the health of the gateway.
func routes(page, voice, health http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.Handle("/v1/voice", plain(voice))
	mux.Handle("/healthz", plain(health))
	mux.Handle("/readyz", plain(health))
	return mux
}

// policyHeader is the header of what a browser may do with a response, and plainPolicy allows it nothing.
const (
	policyHeader = "Content-Security-Policy"
	plainPolicy  = "default-src 'none'; frame-ancestors 'none'"
)

// plain marks responses that are not pages, so that no browser takes them for one.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set(policyHeader, plainPolicy)
		next.ServeHTTP(w, r)
	})
}

// serve serves until close.
func (d *server) serve() error {
	var err error
	if d.server.TLSConfig != nil {
		err = d.server.ServeTLS(d.listener, "", "")
	} else {
		err = d.server.Serve(d.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// close stops listening and waits for requests; when ctx is done it cuts them off. Calls go on.
func (d *server) close(ctx context.Context) {
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close()
	}
}

// address notes the URL of the page, and its other addresses.
func (d *server) address(s *settings.Settings, addr net.Addr) {
	scheme := "http"
	if s.TLS.On() {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(addr.String())
	asked, _, _ := net.SplitHostPort(s.Listen)
	ip := net.ParseIP(host)
	if strings.ContainsAny(asked, "abcdefghijklmnopqrstuvwxyz") && !strings.Contains(asked, ":") {
		host = asked // a name: localhost
	} else if ip.IsUnspecified() {
		host = "127.0.0.1"
		for _, other := range ownAddresses() {
			d.notes = append(d.notes, "also at "+scheme+"://"+net.JoinHostPort(other, port)+"/")
		}
	}
	d.url = scheme + "://" + net.JoinHostPort(host, port) + "/"
	if !settings.Loopback(s.Listen) && !s.TLS.On() {
		d.notes = append(d.notes, "a browser on another machine gives a page the microphone over https only: see "+
			"--tls-self-signed")
	}
}

// ownAddresses returns the addresses of this machine except loopback and link-local ones.
func ownAddresses() []string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var list []string
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// listenError adds what to do about it.
func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the port is in use; stop what uses it, or choose another with --listen "+
			"(port 0 takes any free one)", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("cannot listen on %s: permission denied; only root may use ports below 1024, choose a higher "+
			"one with --listen", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("cannot listen on %s: this machine does not have that address", address)
	}
	return fmt.Errorf("cannot listen on %s: %w", address, err)
}
