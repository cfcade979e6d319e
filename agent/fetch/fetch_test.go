package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// spellings lead to this machine, or to the metadata of a cloud, in forms that checks of texts miss. %s is the port.
func spellings() []string {
	return []string{"http://127.0.0.1:%s", "http://127.0.0.2:%s", "http://localhost:%s", "http://LocalHost:%s",
		"http://0.0.0.0:%s", "http://[::1]:%s", "http://[::]:%s", "http://[::ffff:127.0.0.1]:%s",
		"http://[::ffff:7f00:1]:%s", "http://[64:ff9b::7f00:1]:%s", "http://[fe80::1%%25lo]:%s",
		"http://[::1%%25lo]:%s", "http://169.254.169.254:%s/latest/meta-data", "http://[::127.0.0.1]:%s",
		"http://１２７.０.０.１:%s"}
}

// numbers lead to this machine with resolvers that read numbers as C does.
func numbers() []string {
	return []string{"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0x7f.1", "127.0.0.1.", "0X7F000001"}
}

// TestSpellings reaches no private address, however it is written, with both resolvers.
func TestSpellings(t *testing.T) {
	if os.Getenv("VOICEGW_RESOLVER") == "" {
		for _, resolver := range []string{"go", "cgo"} { // without cgo, both are Go's
			cmd := exec.Command(os.Args[0], "-test.run=^TestSpellings$")
			cmd.Env = append(os.Environ(), "VOICEGW_RESOLVER="+resolver, "GODEBUG=netdns="+resolver)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("with the resolver %s: %v\n%s", resolver, err, out)
			}
		}
		return
	}
	s := newTarget(t, nil)
	c := newClient(t, Config{})
	for _, format := range spellings() {
		url := fmt.Sprintf(format, s.port())
		_, err := c.Do(t.Context(), Request{URL: url})
		var denied *DeniedError
		if !errors.As(err, &denied) {
			t.Errorf("%s: the error is %v", url, err)
		}
	}
	for _, host := range numbers() {
		_, err := c.Do(t.Context(), Request{URL: "http://" + host + ":" + s.port()})
		if err == nil || !strings.Contains(err.Error(), "no address that all resolvers read alike") &&
			!strings.Contains(err.Error(), "is private") {
			t.Errorf("%s: the error is %v", host, err)
		}
	}
	// A number that got past the check of the URL is stopped by the check of the dial, if it resolves at all.
	if os.Getenv("VOICEGW_RESOLVER") == "go" {
		c = newClient(t, Config{Resolver: names(t, func(string) []netip.Addr { return nil })})
	}
	for _, host := range numbers() {
		conn, err := c.transport.DialContext(t.Context(), "tcp", host+":"+s.port())
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s: there is a connection", host)
		}
	}
	if n := s.hits.Load(); n > 0 {
		t.Errorf("the target was reached %d times", n)
	}
}

// TestNames checks what names resolve to, not how they look, and says what can be allowed.
func TestNames(t *testing.T) {
	s := newTarget(t, nil)
	r := names(t, func(name string) []netip.Addr {
		switch name {
		case "inner.example":
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		case "six.example":
			return []netip.Addr{netip.MustParseAddr("::1")}
		case "metadata.example":
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}
		}
		return nil
	})
	c := newClient(t, Config{Resolver: r})
	_, err := c.Do(t.Context(), Request{URL: "http://inner.example:" + s.port() + "/x?token=secret"})
	want := "fetch: http://inner.example:" + s.port() +
		"/x: inner.example is 127.0.0.1: the address 127.0.0.1 is private: " +
		`127.0.0.0/8 (this machine); the operator can allow "127.0.0.1/32", or the host "inner.example"`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v\nwant %s", err, want)
	}
	if _, err = c.Do(t.Context(), Request{URL: "http://metadata.example/"}); err == nil ||
		!strings.Contains(err.Error(), "169.254.0.0/16 (link-local, where clouds have their metadata)") {
		t.Errorf("the error is %v", err)
	}
	if _, err = c.Do(t.Context(), Request{URL: "http://six.example/"}); err == nil ||
		!strings.Contains(err.Error(), "::1/128 (this machine)") {
		t.Errorf("the error is %v", err)
	}
	if n := s.hits.Load(); n > 0 {
		t.Errorf("the target was reached %d times", n)
	}
}

// TestRebinding checks each dial: that a name was allowed once says nothing of its next answer.
func TestRebinding(t *testing.T) {
	good := newTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	answers := []string{"127.0.0.1", "127.0.0.2"} // the server listens on the first only; the check comes before
	var asked atomic.Int32
	r := names(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(answers[min(asked.Load(), 1)])} })
	c := newClient(t, Config{Resolver: r, Allow: []string{"127.0.0.1"}})
	url := "http://moving.example:" + good.port()
	if _, err := c.Do(t.Context(), Request{URL: url}); err != nil {
		t.Fatal(err)
	}
	asked.Add(1)
	_, err := c.Do(t.Context(), Request{URL: url})
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Addr.Addr() != netip.MustParseAddr("127.0.0.2") {
		t.Errorf("the error is %v", err)
	}
	if n := good.hits.Load(); n != 1 {
		t.Errorf("the target was reached %d times", n)
	}
}

// TestDeepValue: a body that is nested deeper than a journal could read back is text.
func TestDeepValue(t *testing.T) {
	for levels, isText := range map[int]bool{DepthMax: false, DepthMax + 1: true, 9000: true} {
		body := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		v, err := (&Response{Body: []byte(body)}).Value()
		if _, text := v.(string); err != nil || text != isText {
			t.Errorf("%d levels become %.20v: %v", levels, v, err)
		}
	}
}

// TestRedirects checks where a redirect leads, and takes secrets from what leaves the origin.
func TestRedirects(t *testing.T) {
	inner := newTarget(t, nil)
	var got http.Header
	other := newTarget(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	to := ""
	outer := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/same" {
			got = r.Header.Clone()
			return
		}
		code := http.StatusFound
		if r.URL.Path == "/keep" {
			code = http.StatusTemporaryRedirect
		}
		http.Redirect(w, r, to, code)
	})
	r := names(t, func(name string) []netip.Addr {
		if name == "outer.example" || name == "sub.outer.example" {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return nil
	})
	c := newClient(t, Config{Resolver: r, Allow: []string{"outer.example", "sub.outer.example"}})
	h := http.Header{"Authorization": {"Bearer s"}, "Cookie": {"a=s"}, "X-Api-Key": {"s"}, "Accept": {"text/plain"}}
	start := Request{URL: "http://outer.example:" + outer.port() + "/?key=s", Header: h}
	for to = range map[string]bool{inner.URL: true, "http://localhost:" + inner.port(): true, "file:///etc/passwd": true,
		"http://user:pass@outer.example:" + outer.port(): true, "http://0x7f000001:" + inner.port(): true} {
		if _, err := c.Do(t.Context(), start); err == nil {
			t.Errorf("the redirect to %s was followed", to)
		}
	}
	if inner.hits.Load() > 0 {
		t.Error("the target was reached")
	}
	to = "http://sub.outer.example:" + other.port() + "/"
	if _, err := c.Do(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	if got.Get("Accept") == "" || len(got["Authorization"])+len(got["Cookie"])+len(got["X-Api-Key"])+
		len(got["Referer"]) > 0 {
		t.Errorf("the other origin gets %v", got)
	}
	other.hits.Store(0)
	keep := Request{URL: "http://outer.example:" + outer.port() + "/keep", Method: "POST", Body: []byte("secret")}
	if _, err := c.Do(t.Context(), keep); err == nil || !strings.Contains(err.Error(), "with a body to another server") ||
		other.hits.Load() > 0 {
		t.Errorf("the body goes to the other origin: %v", err)
	}
	to = "/same"
	if _, err := c.Do(t.Context(), start); err != nil || got.Get("Authorization") == "" || got.Get("Referer") != "" {
		t.Errorf("the same origin gets %v, %v", got, err)
	}
	to = "/again"
	outer.hits.Store(0)
	if _, err := c.Do(t.Context(), start); err == nil || !strings.Contains(err.Error(), "more than 5 times") ||
		outer.hits.Load() != 1+RedirectsMax {
		t.Errorf("after %d requests, the error is %v", outer.hits.Load(), err)
	}
	start.Stay = true
	if resp, err := c.Do(t.Context(), start); err != nil || resp.Status != http.StatusFound {
		t.Errorf("%+v, %v", resp, err)
	}
}

// TestProxy uses no proxy of the environment.
func TestProxy(t *testing.T) {
	proxy := newTarget(t, nil)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	c := newClient(t, Config{Resolver: names(t, func(string) []netip.Addr { return nil })})
	if _, err := c.Do(t.Context(), Request{URL: "http://nowhere.example/"}); err == nil || proxy.hits.Load() > 0 ||
		c.transport.Proxy != nil {
		t.Errorf("the error is %v, and the proxy was reached %d times", err, proxy.hits.Load())
	}
}

// TestBounds holds responses to their size, compressed ones too, and requests to their limits.
func TestBounds(t *testing.T) {
	size := BodyMax
	s := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/zip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 8*BodyMax))
			_ = z.Close()
			return
		}
		_, _ = w.Write(make([]byte, size))
	})
	c := newClient(t, Config{Allow: []string{"127.0.0.0/8"}})
	resp, err := c.Do(t.Context(), Request{URL: s.URL})
	if err != nil || len(resp.Body) != BodyMax || resp.Status != http.StatusOK {
		t.Errorf("%v", err)
	}
	size++
	for _, path := range []string{"", "/zip"} {
		if _, err := c.Do(t.Context(), Request{URL: s.URL + path}); err == nil ||
			!strings.Contains(err.Error(), "the response has more than 1048576 bytes") {
			t.Errorf("%q: the error is %v", path, err)
		}
	}
	for want, r := range map[string]Request{
		"must be 1 to 300 seconds":   {URL: s.URL, Timeout: 301 * time.Second},
		"is 999ms":                   {URL: s.URL, Timeout: 999 * time.Millisecond},
		"user name or a password":    {URL: "http://a:secret@" + s.URL[len("http://"):]},
		`scheme of the URL is "ftp"`: {URL: "ftp://example.com"},
		"has no host":                {URL: "http:///x"},
		"it is no URL":               {URL: "http://a:secret@[::1"},
		"the URL has":                {URL: "http://example.com/" + strings.Repeat("x", urlMax)},
		"the body has":               {URL: s.URL, Body: make([]byte, BodyMax+1)},
		"invalid method":             {URL: s.URL, Method: "GET /"},
	} {
		if _, err := c.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v", want, err)
		}
	}
}

// TestTimeout ends a request whose server is silent, in the time it was given.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _ := CheckURL("http://slow.example/")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		<-ctx.Done()
		if err := plain(u, ctx.Err(), 3*time.Second); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "no whole response within 3s") {
			t.Errorf("the error is %v", err)
		}
	})
	hang := make(chan struct{})
	s := newTarget(t, func(_ http.ResponseWriter, r *http.Request) { <-hang })
	defer close(hang)
	c := newClient(t, Config{Allow: []string{"127.0.0.1"}})
	if _, err := c.Do(t.Context(), Request{URL: s.URL, Timeout: TimeoutMin}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// TestAllow takes addresses, prefixes and hosts, and refuses what would be misread.
func TestAllow(t *testing.T) {
	s := newTarget(t, func(w http.ResponseWriter, _ *http.Request) {})
	for _, allow := range []string{"127.0.0.1", "127.0.0.0/8", "::ffff:127.0.0.1", "LOCALHOST", "localhost."} {
		c := newClient(t, Config{Allow: []string{allow}})
		if _, err := c.Do(t.Context(), Request{URL: "http://localhost:" + s.port()}); err != nil {
			t.Errorf("%s: %v", allow, err)
		}
	}
	c := newClient(t, Config{Allow: []string{"localhost", "10.0.0.0/8"}})
	if _, err := c.Do(t.Context(), Request{URL: s.URL}); err == nil {
		t.Error("that localhost is allowed allows 127.0.0.1")
	}
	for _, bad := range []string{"", "http://x", "x:80", "*.internal", "127.1", "10.0.0.1/8", "a b"} {
		if _, err := New(Config{Allow: []string{bad}}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
