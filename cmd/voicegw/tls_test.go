package main

import (
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServeSelfSigned serves https with a certificate of its own, and keeps it for the next time.
func TestServeSelfSigned(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	env := []string{"XDG_CACHE_HOME=" + cache, "VOICEGW_TLS_SELF_SIGNED=true", "VOICEGW_GREETING="}
	name := filepath.Join(cache, "voicegw", "self-signed.pem")
	var prints []string
	for range 2 {
		s := startServe(t, env)
		s.stderr.waitFor(t, "fingerprint is ")
		_, after, _ := strings.Cut(s.stderr.String(), "fingerprint is ")
		prints = append(prints, strings.SplitN(after, "\n", 2)[0])
		pem, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
		client := &http.Client{Transport: transport}
		resp, _ := get(t, client, s.url+"healthz")
		if resp.StatusCode != 200 || !strings.HasPrefix(s.url, "https://") {
			t.Errorf("%s: %s", s.url, resp.Status)
		}
		transport.CloseIdleConnections()
		if len(prints) == 2 {
			ca := writeFile(t, "ca.pem", pem)
			in := speech(t, "over")
			command(t, nil, "call", "--url", s.voiceURL, "--in", in, "--max", "1s").want(t, 1, "certificate is not trusted")
			command(t, nil, "call", "--url", s.voiceURL, "--in", in, "--max", "1s", "--tls-ca", ca).want(t, 0, "model parrot")
		}
		s.end()
	}
	if len(prints[0]) != 95 || prints[0] != prints[1] {
		t.Errorf("fingerprints %q", prints)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the key may be read by others: %v, %v", info.Mode(), err)
	}
}

func TestCertificateServes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pem, err := makeCertificate([]string{"localhost", "127.0.0.1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(pem, pem)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		host string
		at   time.Time
		want bool
	}{
		{"new", "127.0.0.1", now, true},
		{"a name", "localhost", now, true},
		{"another address", "192.0.2.1", now, false},
		{"before its time", "localhost", now.Add(-2 * time.Hour), false},
		{"nearly over", "localhost", now.Add(certificateLife - certificateSpan + time.Hour), false},
	} {
		if got := serves(pair.Leaf, []string{c.host}, c.at); got != c.want {
			t.Errorf("%s: serves %v; want %v", c.name, got, c.want)
		}
	}
}
