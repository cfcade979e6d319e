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

	"github.com/voicegw/voicegw/settings"
)

// acmeTimeout limits each request to the authority.
const acmeTimeout = 30 * time.Second

// automatic returns a configuration of TLS that gets certificates from an authority when a client
// connects, keeps them in a directory, and renews them a month before they end. The authority
// connects to port 443 of each host (TLS-ALPN-01, RFC 8737), so no other port is needed.
func automatic(a *settings.ACME) (*tls.Config, error) {
	dir := a.Folder
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
	client, err := acmeClient(a)
	if err != nil {
		return nil, err
	}
	m := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), Email: a.Email, Client: client,
		HostPolicy: autocert.HostWhitelist(a.Hosts...)}
	return &tls.Config{GetCertificate: m.GetCertificate, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1", acme.ALPNProto}}, nil
}

func acmeClient(a *settings.ACME) (*acme.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: acmeTimeout,
		ResponseHeaderTimeout: acmeTimeout}
	if a.CAFile != "" {
		pem, err := os.ReadFile(a.CAFile)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New(a.CAFile + " has no certificate in PEM")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &acme.Client{DirectoryURL: a.Directory, UserAgent: "voicegw",
		HTTPClient: &http.Client{Transport: transport, Timeout: acmeTimeout}}, nil
}
