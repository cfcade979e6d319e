package access

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/voicegw/voicegw/transport"
)

// issuer serves a key set and signs.
type issuer struct {
	*httptest.Server
	t       *testing.T
	fetches atomic.Int32

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	status int
	body   string        // in place of the keys
	hold   chan struct{} // if not nil: a fetch waits until it is closed
	asked  chan struct{} // ... and says here that it does
}

func newIssuer(t *testing.T) *issuer {
	is := &issuer{t: t, status: http.StatusOK}
	is.Server = httptest.NewServer(is)
	t.Cleanup(is.Close)
	return is
}

func (is *issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	is.fetches.Add(1)
	is.mu.Lock()
	defer is.mu.Unlock()
	if is.hold != nil {
		is.asked <- struct{}{}
		<-is.hold
	}
	if is.status == http.StatusFound {
		w.Header().Set("Location", "/other")
	}
	w.WriteHeader(is.status)
	if is.body != "" {
		_, _ = w.Write([]byte(is.body))
		return
	}
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: is.keys})
}

// set changes what is served.
func (is *issuer) set(change func()) {
	is.mu.Lock()
	defer is.mu.Unlock()
	change()
}

// key makes a key of an algorithm and publishes it under a kid.
func (is *issuer) key(a jose.SignatureAlgorithm, kid string) jose.SigningKey {
	is.t.Helper()
	var private crypto.Signer
	var err error
	switch a {
	case jose.RS256:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		is.t.Fatal(err)
	}
	is.set(func() {
		is.keys = append(is.keys, jose.JSONWebKey{Key: private.Public(), KeyID: kid, Algorithm: string(a), Use: "sig"})
	})
	return jose.SigningKey{Algorithm: a, Key: private}
}

// guard trusts the issuer.
func (is *issuer) guard(c *clock, secrets ...[]byte) *Guard {
	is.t.Helper()
	set, err := NewJWKS(JWKSConfig{URL: is.URL, Client: is.Client()})
	if err != nil {
		is.t.Fatal(err)
	}
	return guard(is.t, c, Config{JWKS: set, Secrets: secrets})
}

func TestJWKS(t *testing.T) {
	c, is := newClock(), newIssuer(t)
	for _, a := range publicAlgorithms() {
		key := is.key(a, "k-"+string(a))
		g := is.guard(c)
		for _, kid := range []string{"k-" + string(a), ""} {
			if _, err := g.Check(t.Context(), from("", signed(t, key, kid, standard(c)))); err != nil {
				t.Errorf("%s, kid %q: %v", a, kid, err)
			}
		}
		_, err := g.Check(t.Context(), from("", signed(t, key, "k-other", standard(c))))
		refused(t, err, transport.ReasonUnauthorized)
	}
}

// TestKeyConfusion signs with what is public: with the key set's key as if it were a secret, and
// with a secret that the key set brings.
func TestKeyConfusion(t *testing.T) {
	c, is := newClock(), newIssuer(t)
	key := is.key(jose.RS256, "k")
	is.key(jose.ES256, "e")
	public := key.Key.(*rsa.PrivateKey).Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	oct := []byte(strings.Repeat("o", 32))
	is.set(func() { is.keys = append(is.keys, jose.JSONWebKey{Key: oct, KeyID: "oct", Algorithm: "HS256"}) })
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	is.set(func() {
		is.keys = append(is.keys, jose.JSONWebKey{Key: weak.Public(), KeyID: "weak", Algorithm: "RS256"})
	})
	enc := is.key(jose.ES256, "enc")
	is.set(func() { is.keys[len(is.keys)-1].Use = "enc" })
	for name, tok := range map[string]string{
		"the public key in PEM":     signed(t, hs(block), "k", standard(c)),
		"the public key in DER":     signed(t, hs(der), "k", standard(c)),
		"a secret of the set":       signed(t, hs(oct), "oct", standard(c)),
		"a key of 1,024 bits":       signed(t, jose.SigningKey{Algorithm: jose.RS256, Key: weak}, "weak", standard(c)),
		"a key for encryption":      signed(t, enc, "enc", standard(c)),
		"another algorithm, by kid": signed(t, key, "e", standard(c)),
		"RS512": signed(t, jose.SigningKey{Algorithm: jose.RS512, Key: key.Key}, "k",
			standard(c)),
		"PS256": signed(t, jose.SigningKey{Algorithm: jose.PS256, Key: key.Key}, "k", standard(c)),
	} {
		for _, g := range []*Guard{is.guard(c), is.guard(c, secret)} {
			if _, err := g.Check(t.Context(), from("", tok)); err == nil {
				t.Errorf("signed with %s: it was let in", name)
			}
		}
	}
	keys, err := parseSet([]byte(`{"keys":[]}`))
	if err == nil {
		t.Errorf("an empty set has %d keys", len(keys))
	}
	set := &JWKS{cfg: JWKSConfig{Refresh: time.Hour, Stale: time.Hour, Pause: time.Hour}, fetched: c.t, tried: c.t,
		known: []publicKey{{"k", jose.RS256, public}, {"k", jose.ES256, nil}}}
	if found, _, err := set.look(jose.RS256, "k", c.t); err != nil || len(found) != 1 {
		t.Errorf("%d keys for RS256, %v; want its own alone", len(found), err)
	}
}

// TestKeysRotate: a new kid fetches the set at once, but not more often than every Pause; a key
// that was taken out is good until the set is fetched again.
func TestKeysRotate(t *testing.T) {
	c, is := newClock(), newIssuer(t)
	old := is.key(jose.ES256, "old")
	g := is.guard(c)
	check := func(key jose.SigningKey, kid string) error {
		_, err := g.Check(t.Context(), from("", signed(t, key, kid, standard(c))))
		return err
	}
	if err := check(old, "old"); err != nil {
		t.Fatal(err)
	}
	is.set(func() { is.keys = nil })
	next := is.key(jose.ES256, "new")
	refused(t, check(next, "new"), transport.ReasonUnauthorized) // within the pause
	for range 50 {
		refused(t, check(next, "made up"), transport.ReasonUnauthorized)
	}
	if n := is.fetches.Load(); n != 1 {
		t.Errorf("the set was fetched %d times within the pause", n)
	}
	if err := check(old, "old"); err != nil {
		t.Errorf("before the set is fetched again: %v", err)
	}
	c.pass(16 * time.Second)
	if err := check(next, "new"); err != nil {
		t.Error(err)
	}
	refused(t, check(old, "old"), transport.ReasonUnauthorized)
	if n := is.fetches.Load(); n != 2 {
		t.Errorf("the set was fetched %d times", n)
	}
	c.pass(11 * time.Minute)
	if err := check(next, "new"); err != nil || is.fetches.Load() != 3 {
		t.Errorf("after Refresh: %v, %d fetches", err, is.fetches.Load())
	}
}

// TestKeysCannotBeHad: nobody is let in without keys, keys that are there are used on for a while,
// and it is not the token's fault.
func TestKeysCannotBeHad(t *testing.T) {
	for name, breakIt := range map[string]func(*issuer){
		"500":      func(is *issuer) { is.status = http.StatusInternalServerError },
		"redirect": func(is *issuer) { is.status = http.StatusFound },
		"garbage":  func(is *issuer) { is.body = "<html>" },
		"too long": func(is *issuer) { is.body = `{"keys":[` + strings.Repeat(" ", setBytesMax) + `]}` },
		"too many": func(is *issuer) { is.body = `{"keys":[` + strings.Repeat(`{},`, setKeysMax) + `{}]}` },
		"no keys":  func(is *issuer) { is.body = `{"keys":[{"kty":"oct","k":"AAAA"}]}` },
	} {
		t.Run(name, func(t *testing.T) {
			c, is := newClock(), newIssuer(t)
			key := is.key(jose.ES256, "k")
			check := func(g *Guard) error {
				_, err := g.Check(t.Context(), from("", signed(t, key, "k", standard(c))))
				return err
			}
			cold, warm := is.guard(c), is.guard(c)
			if err := check(warm); err != nil {
				t.Fatal(err)
			}
			is.set(func() { breakIt(is) })
			if r := refused(t, check(cold), transport.ReasonBusy); r.RetryAfter == 0 {
				t.Errorf("%+v", r)
			}
			c.pass(time.Hour)
			if err := check(warm); err != nil {
				t.Errorf("an hour later: %v", err)
			}
			c.pass(6 * time.Hour)
			refused(t, check(warm), transport.ReasonBusy)
		})
	}
}

// TestSlowIssuer: while somebody waits for the set, others go on with the keys there are.
func TestSlowIssuer(t *testing.T) {
	c, is := newClock(), newIssuer(t)
	key := is.key(jose.ES256, "k")
	g := is.guard(c)
	tokens := []string{signed(t, key, "k", standard(c)), signed(t, key, "made up", standard(c)),
		signed(t, key, "k", standard(c))}
	if _, err := g.Check(t.Context(), from("", tokens[0])); err != nil {
		t.Fatal(err)
	}
	hold, asked := make(chan struct{}), make(chan struct{})
	is.set(func() { is.hold, is.asked = hold, asked })
	c.pass(20 * time.Second)
	waits := make(chan error, 1)
	go func() {
		_, err := g.Check(t.Context(), from("", tokens[1]))
		waits <- err
	}()
	<-asked
	if _, err := g.Check(t.Context(), from("", tokens[2])); err != nil {
		t.Errorf("beside a fetch: %v", err)
	}
	close(hold)
	refused(t, <-waits, transport.ReasonUnauthorized)
}

func TestJWKSConfig(t *testing.T) {
	for _, u := range []string{"", "http://keys.example/jwks", "ftp://x/", "https://", "https://me:pw@k.example/", "::"} {
		if _, err := NewJWKS(JWKSConfig{URL: u}); err == nil {
			t.Errorf("%q was taken", u)
		}
	}
	for _, u := range []string{"https://keys.example/jwks", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost/"} {
		if _, err := NewJWKS(JWKSConfig{URL: u}); err != nil {
			t.Error(err)
		}
	}
}

func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		keys, err := parseSet(b)
		if (err == nil) == (len(keys) == 0) {
			t.Errorf("%d keys and %v", len(keys), err)
		}
		for _, k := range keys {
			if algorithmOf(k.key) != k.algorithm {
				t.Errorf("%+v", k)
			}
		}
	})
}
