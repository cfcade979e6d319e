package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

// authority is a certificate authority that speaks ACME (Let's Encrypt's pebble), on this machine.
type authority struct {
	Directory, Root, Trust string // URL, PEM, PEM of whom to trust to talk to it
	stop                   func()
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
// It is a program of the module of tools, which keeps pebble out of the module graph of whoever
// imports voicegw.
func newAuthority(t *testing.T, tlsPort int) *authority {
	t.Helper()
	program := filepath.Join(t.TempDir(), "authority")
	build := goCommand("build", "-C", "../../internal/tools", "-o", program, "./authority")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the authority, which make deps makes possible: %v\n%s", err, out)
	}
	run := exec.Command(program, "-tls-port", strconv.Itoa(tlsPort))
	in, err1 := run.StdinPipe()
	out, err2 := run.StdoutPipe()
	if err := errors.Join(err1, err2, run.Start()); err != nil {
		t.Fatal(err)
	}
	a := &authority{stop: sync.OnceFunc(func() {
		_ = in.Close()
		_ = run.Wait()
	})}
	t.Cleanup(a.stop)
	if err := json.NewDecoder(out).Decode(a); err != nil {
		t.Fatalf("the authority does not begin: %v", err)
	}
	return a
}

// servedPage serves a page with settings of `serve`, without a gateway behind it.
func servedPage(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	o, err := configured(t, "", nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openServer(o, http.HandlerFunc(healthy), zap.NewNop())
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

// TestAutomaticCertificate gets a certificate from an authority for one name, not for others, and
// keeps it.
func TestAutomaticCertificate(t *testing.T) {
	port := freePort(t)
	a := newAuthority(t, port)
	cache := filepath.Join(t.TempDir(), "acme")
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := []string{"--listen", listen, "--tls-acme-hosts", "voice.example",
		"--tls-acme-directory", a.Directory, "--tls-acme-ca-file", writeFile(t, "authority.pem", []byte(a.Trust)),
		"--tls-acme-cache", cache, "--tls-acme-email", "me@example.com"}
	root := x509.NewCertPool()
	root.AppendCertsFromPEM([]byte(a.Root))
	var serials []string
	for range 2 {
		url, stop := servedPage(t, args...)
		client := func(name string) *http.Client {
			return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
				TLSClientConfig: &tls.Config{RootCAs: root, ServerName: name}}}
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
		a.stop() // the second time nobody is there to ask
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
	_, err = acmeClient(&settings.ACME{CAFile: writeFile(t, "x.pem", nil)})
	if err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("an empty file of authorities: %v", err)
	}
}
