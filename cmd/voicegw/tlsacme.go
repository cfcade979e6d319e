package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// acmeOptions are how certificates are got automatically (RFC 8555).
type acmeOptions struct {
	hosts                             []string
	email, directory, caFile, cacheIn string
}

// acmeTimeout bounds each request to the authority.
const acmeTimeout = 30 * time.Second

// automatic is the configuration of TLS with certificates that an authority issues when somebody connects, keeps in a
// directory, and renews a month before they end. The authority looks at port 443 of each host by TLS (TLS-ALPN-01, RFC
// 8737), so no other port is needed.
func automatic(o acmeOptions) (*tls.Config, error) {
	dir := o.cacheIn
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("keep certificates: %w; set tls.acme_cache", err)
		}
		dir = filepath.Join(cache, "voicegw", "acme")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep certificates: %w", err)
	}
	client, err := acmeClient(o)
	if err != nil {
		return nil, err
	}
	m := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), Email: o.email, Client: client,
		HostPolicy: autocert.HostWhitelist(o.hosts...)}
	return &tls.Config{GetCertificate: m.GetCertificate, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1", acme.ALPNProto}}, nil
}

func acmeClient(o acmeOptions) (*acme.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: acmeTimeout,
		ResponseHeaderTimeout: acmeTimeout}
	if o.caFile != "" {
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New(o.caFile + " has no certificate in PEM")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &acme.Client{DirectoryURL: o.directory, UserAgent: "voicegw",
		HTTPClient: &http.Client{Transport: transport, Timeout: acmeTimeout}}, nil
}
