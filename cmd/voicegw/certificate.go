package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

const (
	certificateLife = 365 * 24 * time.Hour // browsers accept no more than 398 days
	certificateSpan = 7 * 24 * time.Hour   // a certificate with less time left is replaced
)

// certificate returns the configuration of TLS, and notes for the user.
func certificate(t *settings.TLS, log *zap.Logger) (*tls.Config, []string, error) {
	switch {
	case len(t.ACME.Hosts) > 0:
		c, err := automatic(&t.ACME)
		return c, nil, err
	case !t.SelfSigned:
		files, err := readCertificate(t.CertFile, t.KeyFile, log)
		if err != nil {
			return nil, nil, err
		}
		return &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS12}, nil, nil
	}
	pair, err := selfSigned(time.Now())
	if err != nil {
		return nil, nil, err
	}
	note := fmt.Sprintf("self-signed certificate: a browser warns once; its SHA-256 fingerprint is %s",
		fingerprint(pair.Certificate[0]))
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, []string{note}, nil
}

// selfSigned returns the certificate in the user's cache. It makes another if there is none, if it
// ends soon, or if this machine has new addresses. Thanks to the cache a browser warns once, not at
// each start.
func selfSigned(now time.Time) (tls.Certificate, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the self-signed certificate: %w; set XDG_CACHE_HOME, or use "+
			"tls.cert_file", err)
	}
	name := filepath.Join(cache, "voicegw", "self-signed.pem") // certificate and key
	hosts := append([]string{"localhost", "127.0.0.1", "::1"}, ownAddresses()...)
	if pair, err := tls.LoadX509KeyPair(name, name); err == nil && serves(pair.Leaf, hosts, now) {
		return pair, nil
	}
	both, err := makeCertificate(hosts, now)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	if err := keep(name, both); err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the self-signed certificate: %w", err)
	}
	return tls.X509KeyPair(both, both)
}

// serves reports whether a certificate is valid for all hosts and long enough.
func serves(c *x509.Certificate, hosts []string, now time.Time) bool {
	bad := slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(h) != nil })
	return !bad && now.After(c.NotBefore) && now.Add(certificateSpan).Before(c.NotAfter)
}

// makeCertificate returns a certificate for hosts and its key, in PEM.
func makeCertificate(hosts []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "voicegw, self-signed"},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// keep writes a file for this user alone, whole or not at all.
func keep(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	if _, err = bytes.NewReader(data).WriteTo(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// fingerprint returns the SHA-256 of a certificate as browsers show it: pairs of hexadecimal
// digits.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}
