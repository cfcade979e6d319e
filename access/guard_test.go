package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/voicegw/voicegw/transport"
)

// secret signs the tokens of tests.
var secret = []byte("0123456789abcdef0123456789abcdef")

// clock is a clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time               { return c.t }
func (c *clock) pass(d time.Duration)         { c.t = c.t.Add(d) }
func newClock() *clock                        { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }
func (c *clock) in(d time.Duration) time.Time { return c.t.Add(d) }

func guard(t *testing.T, c *clock, cfg Config) *Guard {
	t.Helper()
	cfg.Now = c.now
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ids gives every token its own jti.
var ids = func() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint("t-", n) }
}()

// token is good for a minute.
func token(t *testing.T, c *clock, change func(*Claims)) string {
	t.Helper()
	claims := Claims{ID: ids(), Expiry: c.in(time.Minute), Tenant: "acme"}
	if change != nil {
		change(&claims)
	}
	s, err := Mint(secret, claims)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func from(remote, token string) *transport.Hello {
	return &transport.Hello{Remote: remote, Token: token}
}

// refused wants a refusal with a reason, and returns it.
func refused(t *testing.T, err error, reason transport.Reason) *transport.Refused {
	t.Helper()
	var r *transport.Refused
	if !errors.As(err, &r) || r.Reason != reason {
		t.Fatalf("Check = %v, want %s", err, reason)
	}
	return r
}

func TestTokenSaysWhatTheCallMay(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}})
	h := from("192.0.2.1", token(t, c, func(cl *Claims) {
		cl.Subject, cl.Model, cl.Instructions, cl.Language = "ann", "m-1", "sales", "de-DE"
		cl.CallMax, cl.Tools = 90*time.Second, []string{"weather"}
	}))
	h.Instructions, h.Language = "support", "en-US"
	grant, err := g.Check(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Release()
	if grant.Tenant != "acme" || grant.Subject != "ann" || grant.Model != "m-1" || grant.CallMax != 90*time.Second ||
		!grant.Allows("weather") || grant.Allows("bank") || grant.TokenID == "" {
		t.Errorf("%+v", grant)
	}
	if h.Instructions != "sales" || h.Language != "de-DE" || h.Token != "" {
		t.Errorf("the hello is %+v", h)
	}
}

func TestToolsOfAToken(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}})
	for name, tt := range map[string]struct {
		tools []string
		want  bool
	}{"not named": {nil, true}, "none": {[]string{}, false}, "others": {[]string{"x"}, false}} {
		grant, err := g.Check(t.Context(), from("", token(t, c, func(cl *Claims) { cl.Tools = tt.tools })))
		if err != nil {
			t.Fatal(err)
		}
		if grant.Allows("weather") != tt.want {
			t.Errorf("%s: allows %v", name, !tt.want)
		}
	}
}

// signed makes a token of any kind.
func signed(t *testing.T, key jose.SigningKey, kid string, claims ...any) string {
	t.Helper()
	o := new(jose.SignerOptions)
	if kid != "" {
		o = o.WithHeader("kid", kid)
	}
	s, err := jose.NewSigner(key, o)
	if err != nil {
		t.Fatal(err)
	}
	b := jwt.Signed(s)
	for _, c := range claims {
		b = b.Claims(c)
	}
	text, err := b.Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// standard are the registered claims of a good token.
func standard(c *clock) jwt.Claims {
	return jwt.Claims{ID: ids(), Audience: jwt.Audience{"voicegw"}, Expiry: jwt.NewNumericDate(c.in(time.Minute))}
}

func hs(key []byte) jose.SigningKey { return jose.SigningKey{Algorithm: jose.HS256, Key: key} }

// unsigned is a token with a header and no signature, or a wrong one.
func unsigned(header, claims, signature string) string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(header)) + "." + e([]byte(claims)) + "." + signature
}

func TestBadTokens(t *testing.T) {
	c := newClock()
	good := func(change func(*jwt.Claims), private ...any) string {
		s := standard(c)
		s.Issuer = "shop"
		if change != nil {
			change(&s)
		}
		return signed(t, hs(secret), "", append([]any{s}, private...)...)
	}
	object := func(v any) any { return map[string]any{"voicegw": v} }
	valid := good(nil)
	parts := strings.Split(valid, ".")
	other := strings.Split(good(func(s *jwt.Claims) { s.Subject = "root" }), ".")
	claims := fmt.Sprintf(`{"jti":"x","aud":"voicegw","exp":%d}`, c.in(time.Minute).Unix())
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, token, words string }{
		{"none at all", "", "needed"},
		{"not a token", "hello", ""},
		{"dots", "..", ""},
		{"too long", strings.Repeat("a", transport.TokenLenMax+1), ""},
		{"another secret", signed(t, hs([]byte(strings.Repeat("x", 32))), "", standard(c)), ""},
		{"claims of another", parts[0] + "." + other[1] + "." + parts[2], ""},
		{"a bit of the signature", valid[:len(valid)-3] + "AAA", ""},
		{"no signature", parts[0] + "." + parts[1] + ".", ""},
		{"alg none", unsigned(`{"alg":"none"}`, claims, ""), ""},
		{"alg None", unsigned(`{"alg":"None"}`, claims, ""), ""},
		{"no alg", unsigned(`{}`, claims, ""), ""},
		{"HS512", signed(t, jose.SigningKey{Algorithm: jose.HS512, Key: append(secret, secret...)}, "", standard(c)), ""},
		{"RS256 without a key set", signed(t, jose.SigningKey{Algorithm: jose.RS256, Key: rsaKey}, "", standard(c)), ""},
		{"its own key", signedWithOwnKey(t, c), ""},
		{"an unknown critical header", unsigned(`{"alg":"HS256","crit":["x"],"x":1}`, claims, parts[2]), ""},
		{"expired", good(func(s *jwt.Claims) { s.Expiry = jwt.NewNumericDate(c.in(-31 * time.Second)) }), "expired"},
		{"no exp", good(func(s *jwt.Claims) { s.Expiry = nil }), ""},
		{"for too long", good(func(s *jwt.Claims) { s.Expiry = jwt.NewNumericDate(c.in(2 * time.Hour)) }), ""},
		{"not yet", good(func(s *jwt.Claims) { s.NotBefore = jwt.NewNumericDate(c.in(31 * time.Second)) }), "not valid yet"},
		{"of tomorrow", good(func(s *jwt.Claims) { s.IssuedAt = jwt.NewNumericDate(c.in(time.Hour)) }), "not valid yet"},
		{"no jti", good(func(s *jwt.Claims) { s.ID = "" }), ""},
		{"long jti", good(func(s *jwt.Claims) { s.ID = strings.Repeat("x", 129) }), ""},
		{"no aud", good(func(s *jwt.Claims) { s.Audience = nil }), ""},
		{"another aud", good(func(s *jwt.Claims) { s.Audience = jwt.Audience{"shop"} }), ""},
		{"no iss", good(func(s *jwt.Claims) { s.Issuer = "" }), ""},
		{"another iss", good(func(s *jwt.Claims) { s.Issuer = "evil" }), ""},
		{"a misspelt limit", good(nil, object(map[string]any{"limit": map[string]int{"calls": 1}})), ""},
		{"a tenant in capitals", good(nil, object(map[string]any{"Tenant": "acme"})), ""},
		{"a limit in capitals", good(nil, object(map[string]any{"limits": map[string]int{"Calls": 1}})), ""},
		{"two tenants", good(nil, object(map[string]any{"tenant": "acme", "tenAnt": "umbrella"})), ""},
		{"a tenant twice", good(nil, object(json.RawMessage(`{"tenant":"a","tenant":"b"}`))), ""},
		{"a limit of another type", good(nil, object(map[string]any{"limits": map[string]string{"calls": "1"}})), ""},
		{"a negative limit", good(nil, object(map[string]any{"limits": map[string]int{"calls": -1}})), ""},
		{"a text", good(nil, object("acme")), ""},
		{"too many tools", good(nil, object(map[string]any{"tools": make([]string, 129)})), ""},
		{"a call for ever", good(nil, object(map[string]any{"call_s": 1 << 40})), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := guard(t, c, Config{Secrets: [][]byte{secret}, Issuers: []string{"shop"}, Address: Limits{Calls: 1}})
			for range 2 { // the address gets its permit back
				_, err := g.Check(t.Context(), from("192.0.2.1", tt.token))
				r := refused(t, err, transport.ReasonUnauthorized)
				if !strings.Contains(r.Text(), tt.words) {
					t.Errorf("the message to the caller is %q", r.Text())
				}
				if tt.token != "" && len(tt.token) > 20 && strings.Contains(err.Error(), tt.token[len(tt.token)-20:]) {
					t.Errorf("the error holds the token: %v", err)
				}
			}
			if s := g.Stats(); s.Admitted != 0 || s.Seen != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// signedWithOwnKey is a token that brings the key it is signed with.
func signedWithOwnKey(t *testing.T, c *clock) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(s).Claims(standard(c)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestClocksMayDiffer(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}})
	for name, change := range map[string]func(*Claims){
		"just expired": func(cl *Claims) { cl.Expiry = c.in(-29 * time.Second) },
		"in a moment":  func(cl *Claims) { cl.NotBefore, cl.IssuedAt = c.in(30*time.Second), c.in(30*time.Second) },
	} {
		if _, err := g.Check(t.Context(), from("", token(t, c, change))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenIsUsedOnce(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}})
	tok := token(t, c, nil)
	first, err := g.Check(t.Context(), from("192.0.2.1", tok))
	if err != nil {
		t.Fatal(err)
	}
	first.Release()
	for _, wait := range []time.Duration{0, 59 * time.Second, 30 * time.Second} {
		c.pass(wait)
		_, err := g.Check(t.Context(), from("192.0.2.2", tok))
		r := refused(t, err, transport.ReasonUnauthorized)
		if expired := c.t.Sub(newClock().t) >= 90*time.Second; !strings.Contains(r.Text(), "used before") && !expired {
			t.Errorf("after %v: %q", wait, r.Text())
		}
	}
	c.pass(time.Minute)
	if _, err := g.Check(t.Context(), from("", token(t, c, nil))); err != nil {
		t.Fatal(err)
	}
	if s := g.Stats(); s.Seen != 1 {
		t.Errorf("%d used tokens are remembered; those that expired should not be", s.Seen)
	}
}

// TestTokenOfConnections is good for as many connections as it says, whoever else shows its id, and
// not after it has expired.
func TestTokenOfConnections(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, SeenMax: 1})
	tok := token(t, c, func(cl *Claims) { cl.Connections = 3 })
	for i := range 4 {
		grant, err := g.Check(t.Context(), from("192.0.2.1", tok))
		if i == 3 {
			if r := refused(t, err, transport.ReasonUnauthorized); !strings.Contains(r.Text(), "used before") {
				t.Errorf("connection %d: %q", i+1, r.Text())
			}
			break
		}
		if err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
		if i == 1 { // the gateway did not take it: it does not count
			grant.unuse()
			grant.Release()
			if grant, err = g.Check(t.Context(), from("192.0.2.1", tok)); err != nil {
				t.Fatal(err)
			}
		}
		grant.Release()
	}
	c.pass(2 * time.Minute)
	_, err := g.Check(t.Context(), from("192.0.2.1", tok))
	if r := refused(t, err, transport.ReasonUnauthorized); !strings.Contains(r.Text(), "expired") {
		t.Errorf("after its end: %q", r.Text())
	}
	for _, n := range []int{-1, 101} {
		if _, err := Mint(secret, Claims{ID: "x", Expiry: c.in(time.Minute), Connections: n}); err == nil {
			t.Errorf("a token for %d connections was made", n)
		}
	}
}

func TestTokenMayBeUsedAgain(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, Reuse: true})
	tok := token(t, c, nil)
	for range 3 {
		if _, err := g.Check(t.Context(), from("", tok)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedTokenIsNotUsedUp: who is refused for a limit may come again with the same token.
func TestRefusedTokenIsNotUsedUp(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, Tenant: Limits{Calls: 1}, Address: Limits{Calls: 5}})
	first, err := g.Check(t.Context(), from("192.0.2.1", token(t, c, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tok := token(t, c, nil)
	_, err = g.Check(t.Context(), from("192.0.2.2", tok))
	if r := refused(t, err, transport.ReasonLimit); r.RetryAfter <= 0 || r.Status() != 429 {
		t.Errorf("%+v", r)
	}
	first.Release()
	if _, err := g.Check(t.Context(), from("192.0.2.2", tok)); err != nil {
		t.Error(err)
	}
}

func TestSeenIsBounded(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, SeenMax: 2})
	used := []string{token(t, c, nil), token(t, c, nil)}
	for _, tok := range used {
		if _, err := g.Check(t.Context(), from("", tok)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := g.Check(t.Context(), from("", token(t, c, nil)))
	refused(t, err, transport.ReasonBusy)
	_, err = g.Check(t.Context(), from("", used[0]))
	refused(t, err, transport.ReasonUnauthorized)
	c.pass(2 * time.Minute)
	if _, err := g.Check(t.Context(), from("", token(t, c, nil))); err != nil {
		t.Error(err)
	}
}

func TestWithoutTokens(t *testing.T) {
	c := newClock()
	open := guard(t, c, Config{Tenant: Limits{Calls: 2}})
	for range 2 {
		if _, err := open.Check(t.Context(), from("192.0.2.1", "whatever")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := open.Check(t.Context(), from("192.0.2.1", ""))
	refused(t, err, transport.ReasonLimit)
	optional := guard(t, c, Config{Secrets: [][]byte{secret}, Optional: true})
	if _, err := optional.Check(t.Context(), from("", "")); err != nil {
		t.Error(err)
	}
	_, err = optional.Check(t.Context(), from("", "whatever"))
	refused(t, err, transport.ReasonUnauthorized)
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]Config{
		"31 bytes":    {Secrets: [][]byte{secret[:31]}},
		"9 secrets":   {Secrets: make([][]byte, 9)},
		"Skew":        {Skew: time.Hour},
		"LifeMax":     {LifeMax: 25 * time.Hour},
		"QuotasMax":   {QuotasMax: 1},
		"Issuers":     {Issuers: []string{"shop", ""}},
		"an address":  {Address: Limits{Calls: -1}},
		"a tenant":    {Tenant: Limits{CallsPerMinute: 6001}},
		"tenant acme": {Tenants: map[string]Limits{"acme": {BytesPerMinute: 59}}},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New = %v, want an error about %s", err, name)
		}
	}
}

func TestMintRefuses(t *testing.T) {
	good := Claims{ID: "x", Expiry: time.Unix(2e9, 0)}
	for name, change := range map[string]func(*Claims){
		"ID": func(c *Claims) { c.ID = "" }, "Expiry": func(c *Claims) { c.Expiry = time.Time{} },
		"whole seconds": func(c *Claims) { c.CallMax = time.Millisecond },
		"-1 calls":      func(c *Claims) { c.Limits.Calls = -1 },
	} {
		c := good
		change(&c)
		if _, err := Mint(secret, c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Mint = %v, want an error about %s", err, name)
		}
	}
	if _, err := Mint(secret[:31], good); err == nil {
		t.Error("a short secret was taken")
	}
}

// FuzzCheck gives a guard any text as a token. The guard admits only tokens that were minted, and
// keeps nothing of the others.
func FuzzCheck(f *testing.F) {
	c := newClock()
	good, err := Mint(secret, Claims{ID: "a", Expiry: c.in(time.Minute), Tools: []string{"x"}, Limits: Limits{Calls: 1}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(unsigned(`{"alg":"none"}`, `{"jti":"x"}`, ""))
	f.Add(unsigned(`{"alg":"HS256","kid":"../../x"}`, `{"voicegw":{}}`, "AAAA"))
	f.Add("{}")
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	set := &JWKS{fetched: c.t, cfg: JWKSConfig{Refresh: time.Hour, Stale: time.Hour, Pause: time.Hour}, tried: c.t,
		known: []publicKey{{"a", jose.EdDSA, key.Public()}}}
	f.Fuzz(func(t *testing.T, tok string) {
		g := guard(t, c, Config{Secrets: [][]byte{secret}, JWKS: set, Address: Limits{Calls: 1}})
		grant, err := g.Check(context.Background(), from("192.0.2.1", tok))
		if err == nil {
			if tok != good {
				t.Errorf("%q was let in", tok)
			}
			grant.Release()
		}
		if s := g.Stats(); s.Quotas != 0 || s.Running != 0 {
			t.Errorf("left behind: %+v", s)
		}
	})
}

// TestScopes: a token is good for calls alone unless it says more, and for nothing that it does not say.
func TestScopes(t *testing.T) {
	for _, test := range []struct {
		scopes          []string
		calls, sessions bool
	}{{nil, true, false}, {[]string{}, false, false}, {[]string{ScopeSessions}, false, true}, {Scopes, true, true}} {
		g, err := New(Config{Secrets: [][]byte{secret}})
		if err != nil {
			t.Fatal(err)
		}
		token, err := Mint(secret, Claims{ID: "t", Tenant: "acme", Subject: "ada", Expiry: time.Now().Add(time.Minute),
			Scopes: test.scopes})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a request does not use the token up
			c, err := g.Verify(t.Context(), token, ScopeSessions)
			if (err == nil) != test.sessions || err == nil && (c.Tenant != "acme" || c.Subject != "ada") {
				t.Errorf("scopes %q: sessions %+v, %v", test.scopes, c, err)
			}
		}
		_, err = g.Check(t.Context(), &transport.Hello{Token: token})
		if (err == nil) != test.calls {
			t.Errorf("scopes %q: calls %v", test.scopes, err)
		}
		if _, err := g.Verify(t.Context(), "", ScopeSessions); err == nil {
			t.Error("no token is good for sessions")
		}
	}
	if _, err := Mint(secret, Claims{ID: "t", Expiry: time.Now().Add(time.Minute), Scopes: []string{"all"}}); err == nil {
		t.Error("an unknown scope is accepted")
	}
}

// TestSetSecrets replaces the secrets of a guard. What it refuses changes nothing.
func TestSetSecrets(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, Reuse: true})
	old := token(t, c, nil)
	check := func(want bool) {
		t.Helper()
		grant, err := g.Check(t.Context(), from("192.0.2.1", old))
		if err == nil {
			grant.Release()
		}
		if (err == nil) != want {
			t.Errorf("a token of the first secret: %v", err)
		}
	}
	check(true)
	next := []byte("fedcba9876543210fedcba9876543210")
	for _, bad := range [][][]byte{nil, {}, {[]byte("short")}, {next, []byte("short")}} {
		if err := g.SetSecrets(bad); err == nil {
			t.Errorf("%d secrets are taken", len(bad))
		}
	}
	check(true)
	if err := g.SetSecrets([][]byte{next, secret}); err != nil {
		t.Fatal(err)
	}
	check(true)
	if err := g.SetSecrets([][]byte{next}); err != nil {
		t.Fatal(err)
	}
	check(false)
	if err := guard(t, c, Config{}).SetSecrets([][]byte{next}); err == nil {
		t.Error("a guard that needs no tokens takes secrets")
	}
}
