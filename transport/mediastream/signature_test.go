package mediastream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

// TestSignature computes published examples.
func TestSignature(t *testing.T) {
	form := func(pairs ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	for _, tt := range []struct {
		from, want string
	}{
		{"+14158675309", "RSOYDt4T1cUTdK1PDd93/VVr8B8="},
		{"+12349013030", "0/KCTR6DLpKmkAf8muzZqo1nDgQ="},
	} {
		got := signature("12345", "https://mycompany.com/myapp.php?foo=1&bar=2", form("CallSid", "CA1234567890ABCDE",
			"From", tt.from, "To", "+18005551212", "Caller", tt.from, "Digits", "1234"))
		if string(got) != tt.want {
			t.Errorf("signature is %s, want %s", got, tt.want)
		}
	}
}

// TestNobodySignsWithoutAToken: everybody could compute a signature under an empty one.
func TestNobodySignsWithoutAToken(t *testing.T) {
	const here = "wss://voice.example.com/v1/twilio"
	r := upgrade(outside, signatureHeader, string(signature("", here, nil)))
	if signed(r, "", []string{here}, nil) {
		t.Error("a signature under an empty token is taken")
	}
}

// noLines are lines that nobody gets.
type noLines struct{ transport.Lines }

func (noLines) Take(transport.Handshake) (transport.Line, error) {
	return nil, &transport.Refused{Reason: transport.ReasonBusy}
}

const (
	token  = "0123456789abcdef0123456789abcdef"
	secret = "a secret of 20 bytes"
)

// upgrade is a request for a stream that came in on an address.
func upgrade(local string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://voice.example.com/v1/twilio", nil)
	ip, _ := net.ResolveTCPAddr("tcp", local)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(ip)))
	r.Header.Set("Upgrade", "websocket")
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

const (
	outside = "203.0.113.7:80"
	inside  = "127.0.0.1:8080"
)

func sign(address string) string { return string(signature(token, address, nil)) }

// TestAdmit: who may open a stream. It fails closed.
func TestAdmit(t *testing.T) {
	const here = "wss://voice.example.com/v1/twilio"
	public := Config{AuthToken: token, PublicURL: "https://voice.example.com"}
	own := public
	own.OwnTwiML = true
	both := Config{AuthToken: token, Secret: secret, PublicURL: "https://voice.example.com/"}
	for _, tt := range []struct {
		name    string
		cfg     Config
		r       *http.Request
		status  int
		missing proof
	}{
		{"nothing configured, from outside", Config{}, upgrade(outside), 403, nothing},
		{"nothing configured, loopback", Config{}, upgrade(inside), 0, nothing},
		{"nothing configured, IPv6 loopback", Config{}, upgrade("[::1]:80"), 0, nothing},
		{"nothing configured, loopback, a page", Config{}, upgrade(inside, "Origin", "http://voice.example.com"), 403,
			nothing},
		{"a signature nobody can check, from outside", Config{}, upgrade(outside, signatureHeader, sign(here)), 403,
			nothing},
		{"signed", public, upgrade(outside, signatureHeader, sign(here)), 0, thePass},
		{"signed, TwiML of one's own", own, upgrade(outside, signatureHeader, sign(here)), 0, nothing},
		{"signed with a final slash", public, upgrade(outside, signatureHeader, sign(here+"/")), 0, thePass},
		{"signed as https", public, upgrade(outside, signatureHeader,
			sign("https://voice.example.com/v1/twilio")), 0, thePass},
		{"signed with the port", public, upgrade(outside, signatureHeader,
			sign("wss://voice.example.com:443/v1/twilio")), 0, thePass},
		{"signed for another host", public, upgrade(outside, signatureHeader, sign("wss://example.com/v1/twilio")), 403,
			nothing},
		{"signed for another path", public, upgrade(outside, signatureHeader, sign(here+"2")), 403, nothing},
		{"signed under another token", public, upgrade(outside, signatureHeader,
			string(signature("x", here, nil))), 403, nothing},
		{"empty signature", public, upgrade(outside, signatureHeader, ""), 403, nothing},
		{"two signatures", public, upgrade(outside, signatureHeader, sign(here), signatureHeader, sign(here)), 403,
			nothing},
		{"not signed", public, upgrade(outside), 403, nothing},
		{"not signed, loopback", public, upgrade(inside), 403, nothing},
		{"wrong signature and right secret", both, upgrade(outside, signatureHeader, "x",
			"Authorization", "Bearer "+secret), 403, nothing},
		{"secret as bearer", both, upgrade(outside, "Authorization", "Bearer "+secret), 0, nothing},
		{"secret as password", both, upgrade(outside, "Authorization", basic("any", secret)), 0, nothing},
		{"wrong secret", both, upgrade(outside, "Authorization", "Bearer "+secret+"x"), 403, nothing},
		{"secret to come", both, upgrade(outside), 0, theSecret},
		{"secret to come, loopback", both, upgrade(inside), 0, theSecret},
		{"a secret alone, to come, loopback", Config{Secret: secret}, upgrade(inside), 0, theSecret},
		{"a secret alone, wrong, loopback", Config{Secret: secret}, upgrade(inside, "Authorization", "Bearer x"), 403,
			nothing},
		{"a signature under no token", Config{}, upgrade(outside, signatureHeader, string(signature("", here, nil))), 403,
			nothing},
		{"no WebSocket", Config{}, upgrade(inside, "Upgrade", ""), 0, nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Lines, tt.cfg.Hosts = noLines{}, []string{"voice.example.com"}
			d, err := New(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			missing, err := d.admit(tt.r)
			status := 0
			if err != nil {
				status, _ = admission.Status(err)
			}
			if missing != tt.missing || status != tt.status {
				t.Errorf("missing %d, status %d (%v), want %d, %d", missing, status, err, tt.missing, tt.status)
			}
		})
	}
}

// TestSetSecrets: other secrets count from now on, and the old ones no more. Whether there are any stays.
func TestSetSecrets(t *testing.T) {
	const here = "wss://voice.example.com/v1/twilio"
	d, err := New(Config{Lines: noLines{}, AuthToken: "the old token", Secret: "the old secret of carriers",
		PublicURL: "https://voice.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	admits := func(header, value string) bool {
		_, err := d.admit(upgrade(outside, header, value))
		return err == nil
	}
	judge := func(when string, old, now bool) {
		t.Helper()
		for _, tt := range []struct {
			header, value string
			want          bool
		}{
			{signatureHeader, string(signature("the old token", here, nil)), old},
			{"Authorization", "Bearer the old secret of carriers", old},
			{signatureHeader, sign(here), now},
			{"Authorization", "Bearer " + secret, now},
		} {
			if got := admits(tt.header, tt.value); got != tt.want {
				t.Errorf("%s: %s %s is taken: %t", when, tt.header, tt.value, got)
			}
		}
	}
	judge("at first", true, false)
	for _, bad := range [][2]string{{"", ""}, {token, "short"}} {
		if err := d.SetSecrets(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken", bad)
		}
		judge("after a refusal", true, false)
	}
	if err := d.SetSecrets(token, secret); err != nil {
		t.Error(err)
	}
	judge("afterwards", false, true)
	open, err := New(Config{Lines: noLines{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := open.SetSecrets(token, ""); err == nil {
		t.Error("an endpoint without secrets takes one")
	}
}

// TestPassBeforeReload: a call that has a pass when the auth token changes gets to its stream, once and in the pass's
// life.
func TestPassBeforeReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := New(Config{Lines: noLines{}, AuthToken: "the old token"})
		if err != nil {
			t.Fatal(err)
		}
		shows := func(pass string) bool {
			return d.shown(thePass, &start{call: "CA1", params: map[string]string{paramPass: pass}})
		}
		first, second := newPass("the old token", "CA1", time.Now()), newPass("the old token", "CA1", time.Now())
		if err := errors.Join(d.SetSecrets(token, ""), d.SetSecrets(token, secret)); err != nil {
			t.Fatal(err)
		}
		if !shows(first) || shows(first) || shows(newPass("another", "CA1", time.Now())) {
			t.Error("the pass counts not, or twice, or any does")
		}
		time.Sleep(passLife)
		if shows(second) || shows(newPass("the old token", "CA1", time.Now())) || !shows(newPass(token, "CA1", time.Now())) {
			t.Error("a minute later the old token counts, or the new one does not")
		}
	})
}

func basic(user, password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// TestForeignHost refuses requests by another name than the server's, on the stream's path and on
// the webhooks'.
func TestForeignHost(t *testing.T) {
	for _, tt := range []struct {
		cfg    Config
		status int // of the stream; the webhooks are not proven
	}{
		{Config{}, 421},
		{Config{Hosts: []string{"other.example.com"}}, 421},
		{Config{Hosts: []string{"voice.example.com"}}, 503},
		{Config{Hosts: []string{"*"}}, 503},
		{Config{PublicURL: "https://VOICE.example.com:8443/x"}, 503},
	} {
		tt.cfg.Lines = noLines{}
		d, err := New(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/v1/twilio", "/v1/twilio/voice", "/v1/twilio/after"} {
			r := upgrade(inside)
			want := tt.status
			if r.URL.Path = path; path != "/v1/twilio" && want != 421 {
				want = 405 // let in, and no POST
			}
			w := httptest.NewRecorder()
			if d.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%+v: %s by the name %s: %d, want %d", tt.cfg, path, r.Host, w.Code, want)
			}
		}
	}
	if _, err := New(Config{Lines: noLines{}, Hosts: []string{"a.example:80"}}); err == nil {
		t.Error("a host with a port was taken")
	}
}

func TestNotAStream(t *testing.T) {
	d, _ := New(Config{Lines: noLines{}, Hosts: []string{"voice.example.com"}})
	for _, tt := range []struct {
		method, path, upgrade string
		status                int
	}{
		{"POST", "/v1/twilio", "websocket", 405},
		{"GET", "/v1/twilio", "", 426},
		{"GET", "/v1/twilio/voice", "", 405},
		{"GET", "/v1/twilio/after", "", 405},
		{"GET", "/v1/twilio", "websocket", 503}, // all lines in use
	} {
		r := upgrade(inside)
		r.Method, r.URL.Path = tt.method, tt.path
		r.Header.Set("Upgrade", tt.upgrade)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, w.Code, tt.status)
		}
	}
}

// TestAddress: how carriers reach a request.
func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		public string
		tls    bool
		want   string
	}{
		{"", false, "ws://voice.example.com/v1/a%20b"},
		{"", true, "wss://voice.example.com/v1/a%20b"},
		{"https://proxy.example.net", false, "wss://proxy.example.net/v1/a%20b"},
		{"https://proxy.example.net/pre/", false, "wss://proxy.example.net/pre/v1/a%20b"},
	} {
		d, err := New(Config{Lines: noLines{}, PublicURL: tt.public})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "http://voice.example.com/v1/a%20b?x=1", nil)
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := d.address(r, "ws"); got != tt.want {
			t.Errorf("PublicURL %q: %s, want %s", tt.public, got, tt.want)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{},
		{Lines: noLines{}, Secret: "short"},
		{Lines: noLines{}, PublicURL: "voice.example.com"},
		{Lines: noLines{}, PublicURL: "ftp://voice.example.com"},
		{Lines: noLines{}, PublicURL: "https://voice.example.com?a=b"},
		{Lines: noLines{}, AfterURL: "after"},
		{Lines: noLines{}, Targets: map[string]string{"sales": "ask for Ann"}},
	} {
		if d, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), "mediastream: check config: ") {
			t.Errorf("%+v was taken: %v, %v", cfg, d, err)
		}
	}
}
