package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"go.uber.org/zap"
)

// authority is a certificate authority that speaks ACME (Let's Encrypt's pebble), on this machine.
type authority struct {
	*httptest.Server
	root *x509.CertPool
	ca   string // a file: whom to trust to talk to it
}

// freePort is one that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// newAuthority issues certificates for whoever answers on tlsPort of this machine, under any name.
func newAuthority(t *testing.T, tlsPort int) *authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	resolver := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	names, err := challtestsrv.New(challtestsrv.Config{Log: quiet, DNSAddrs: []string{resolver}})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	names.Run()
	t.Cleanup(names.Shutdown)
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "test"}})
	front := wfe.New(quiet, store, va.New(quiet, 1, tlsPort, false, resolver, store), issuer,
		[]string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	a := &authority{Server: httptest.NewTLSServer(front.Handler()), root: x509.NewCertPool()}
	t.Cleanup(a.Close)
	a.root.AppendCertsFromPEM(issuer.GetRootCert(0).PEM())
	a.ca = writeFile(t, "authority.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}))
	return a
}

// servedDoor serves a page with settings of `serve`, without a gateway behind it.
func servedDoor(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	o, err := configured(t, "", nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDoor(o, http.HandlerFunc(healthy), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.serve() }()
	return d.url, func() {
		t.Helper()
		d.close(t.Context())
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func healthy(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

// TestAutomaticCertificate gets a certificate from an authority for one name, not for others, and keeps it.
func TestAutomaticCertificate(t *testing.T) {
	port := freePort(t)
	a := newAuthority(t, port)
	cache := filepath.Join(t.TempDir(), "acme")
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := []string{"--listen", listen, "--tls-acme-hosts", "voice.example",
		"--tls-acme-directory", a.URL + wfe.DirectoryPath, "--tls-acme-ca-file", a.ca, "--tls-acme-cache", cache,
		"--tls-acme-email", "me@example.com"}
	var serials []string
	for range 2 {
		url, stop := servedDoor(t, args...)
		client := func(name string) *http.Client {
			return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
				TLSClientConfig: &tls.Config{RootCAs: a.root, ServerName: name}}}
		}
		resp, err := client("voice.example").Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		serials = append(serials, resp.TLS.PeerCertificates[0].SerialNumber.String())
		if _, err := client("other.example").Get(url); err == nil {
			t.Error("a certificate for a name that was not asked for")
		}
		stop()
		a.Close() // the second time nobody is there to ask
	}
	if serials[0] != serials[1] {
		t.Errorf("it was not kept: %v", serials)
	}
	kept, err := os.ReadDir(cache)
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, f := range kept {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others: %v, %v", f.Name(), info, err)
		}
	}
	_, err = acmeClient(acmeOptions{caFile: writeFile(t, "x.pem", nil)})
	if err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("an empty file of authorities: %v", err)
	}
}
