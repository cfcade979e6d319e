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
)

// Limits of the HTTP server. A connection that became a WebSocket has those of its door instead.
const (
	headerTimeout  = 10 * time.Second
	headerBytesMax = 32 << 10
	requestTimeout = 30 * time.Second // to read a request, and to write its answer
	keepAlive      = 60 * time.Second
	// requestsMax is how many connections there may be that are no WebSockets: pages being loaded, and idle ones.
	requestsMax = 256
)

// door is a listener with its server.
type door struct {
	url      string // of the page
	notes    []string
	listener net.Listener
	shared   bool // others may take connections on its address after us
	server   *http.Server
}

// openDoor listens, and will serve what it is given.
func openDoor(o *options, handler http.Handler, log *zap.Logger) (*door, error) {
	var config *tls.Config
	var notes []string
	if o.tls.on() {
		var err error
		if config, notes, err = certificate(o.tls, log); err != nil {
			return nil, err
		}
	}
	listener, shared, err := listen(o)
	if err != nil {
		return nil, err
	}
	if address := listener.Addr().String(); o.exposed(address) {
		_ = listener.Close()
		return nil, usagef("the socket that was handed over is open to strangers (%s), and there is a real API key and no "+
			"authentication: set access.secret_file or access.jwks, or --insecure", address)
	}
	d := &door{listener: limitConnections(listener, o.connections()), notes: notes, shared: shared}
	d.address(o, listener.Addr())
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

// connections are how many connections there may be.
func (o *options) connections() connectionLimits {
	c := connectionLimits{most: o.callsMax + o.limits.handshakesMax + requestsMax, each: o.limits.connectionsPerAddress,
		requests: requestsMax}
	if c.each == 0 {
		c.each = o.callsMax + requestsMax/2
	}
	c.requestsEach = min(c.each, requestsMax/2)
	return c
}

// routes are what is served where: the page, calls, and whether the gateway is well.
func routes(page, voice, health http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.Handle("/v1/voice", plain(voice))
	mux.Handle("/healthz", plain(health))
	mux.Handle("/readyz", plain(health))
	return mux
}

// plain marks answers that are no pages, for browsers that would take them for one.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

// serve serves until close.
func (d *door) serve() error {
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

// close listens no more and lets requests come to their end; when ctx is done it cuts them off. Calls go on.
func (d *door) close(ctx context.Context) {
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close()
	}
}

// address says where the page is, and where else.
func (d *door) address(o *options, addr net.Addr) {
	scheme := "http"
	if o.tls.on() {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(addr.String())
	asked, _, _ := net.SplitHostPort(o.listen)
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
	if !loopback(o.listen) && !o.tls.on() {
		d.notes = append(d.notes, "browsers on other machines give a page its microphone over https only: see "+
			"--tls-self-signed")
	}
}

// ownAddresses are this machine's addresses in its networks, the loopback and link-local ones excepted.
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

// listenError says what to do.
func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the port is in use; stop what uses it, or choose another with --listen "+
			"(port 0 takes any free one)", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("cannot listen on %s: not allowed; ports below 1024 are for root, choose a higher one with "+
			"--listen", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("cannot listen on %s: this machine does not have that address", address)
	}
	return fmt.Errorf("cannot listen on %s: %w", address, err)
}
