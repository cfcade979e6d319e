package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
)

// pemFor is a certificate for a host with its key.
func pemFor(t *testing.T, host string) []byte {
	t.Helper()
	both, err := makeCertificate([]string{host}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return both
}

// TestCertificateIsReadAgain renews a certificate under a server that runs: half of it at first.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	first, second := pemFor(t, "one.example"), pemFor(t, "two.example")
	write(cert, first)
	write(key, first)
	c, err := readCertificate(cert, key, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	serves := func(host string) {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil || pair.Leaf.VerifyHostname(host) != nil {
			t.Fatalf("it does not serve %s: %v", host, err)
		}
	}
	serves("one.example")
	write(cert, second)
	now = now.Add(time.Minute)
	serves("one.example") // the key is still the old one's
	write(key, second)
	serves("one.example") // it was looked at just now
	now = now.Add(time.Second)
	serves("two.example")
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	serves("two.example")
}

// TestServeWithCertificateFiles renews the certificate of an endpoint that serves.
func TestServeWithCertificateFiles(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "both.pem", pemFor(t, "127.0.0.1"))
	url, stop := servedPage(t, "--listen", "127.0.0.1:0", "--tls-cert-file", file, "--tls-key-file", file)
	address := url[len("https://") : len(url)-1]
	serial := func(pem []byte) string {
		t.Helper()
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: patience}, Config: &tls.Config{RootCAs: pool}}
		conn, err := d.DialContext(t.Context(), "tcp", address)
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := serial(old)
	renewed := pemFor(t, "127.0.0.1")
	if err := os.WriteFile(file, renewed, 0o600); err != nil {
		t.Fatal(err)
	}
	after := ""
	if !waitFor(func() bool { after = serial(renewed); return len(after) < 50 }, patience) {
		t.Fatalf("the new certificate is not served: %s", after)
	}
	if before == after {
		t.Errorf("both certificates have the serial number %s", before)
	}
	stop()
}
