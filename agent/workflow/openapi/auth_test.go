package openapi

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestAuth sends credentials where they belong, and shows none in a result.
func TestAuth(t *testing.T) {
	const secret = "s3cret-value"
	for want, a := range map[string]Auth{
		"Bearer " + secret: {Type: "bearer", TokenEnv: "T"},
		"key " + secret:    {Type: "apikey", TokenEnv: "T", APIKeyName: "X-Key"},
		"query " + secret:  {Type: "apikey", TokenEnv: "T", APIKeyName: "key", APIKeyLocation: "query"},
	} {
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(rw, `{"echo": %q}`, r.Header.Get("Authorization")+r.Header.Get("X-Key")+r.URL.RawQuery)
		})
		w.env["T"] = secret + "\n"
		tools, err := w.load(document(w.url, "  /a: {get: {operationId: a, "+ok+"}}"), Config{Auth: a})
		if err != nil {
			t.Fatal(err)
		}
		r := w.call(tools, "a", `{}`)
		got := w.last().Header.Get("Authorization")
		if h := w.last().Header.Get("X-Key"); h != "" {
			got = "key " + h
		}
		if q := w.last().URL.Query().Get("key"); q != "" {
			got = "query " + q
		}
		if b, _ := json.Marshal(r); got != want || strings.Contains(string(b), secret) ||
			!strings.Contains(string(b), "[secret]") {
			t.Errorf("it sends %q and the result is %s; want %s", got, b, want)
		}
	}
}

// TestClientCredentials keeps a token until it expires or is refused.
func TestClientCredentials(t *testing.T) {
	tokens, status := 0, 200
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			rw.WriteHeader(status)
			_, _ = fmt.Fprint(rw, `{}`)
			return
		}
		tokens++
		_, _ = fmt.Fprintf(rw, `{"access_token": "my-token-%d", "expires_in": 100}`, tokens)
	})
	w.env["ID"], w.env["KEY"] = "me", "s3cret:/"
	cfg := Config{Auth: Auth{Type: "oauth2", TokenURL: w.url + "/token", ClientIDEnv: "ID", ClientSecretEnv: "KEY",
		Scopes: Scopes{"read", "write"}}}
	tools, err := w.load(document(w.url, "  /a: {get: {operationId: a, "+ok+"}}"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.got) > 0 {
		t.Error("a token is fetched at load")
	}
	auth := func() string { w.call(tools, "a", `{}`); return w.last().Header.Get("Authorization") }
	if got := auth(); got != "Bearer my-token-1" {
		t.Errorf("it sends %q", got)
	}
	form, _ := url.ParseQuery(w.sent[0])
	if id, key, _ := w.got[0].BasicAuth(); id != "me" || key != "s3cret%3A%2F" || form.Get("scope") != "read write" ||
		form.Get("grant_type") != "client_credentials" {
		t.Errorf("it asks with %q, %q and %v", id, key, form)
	}
	w.now = w.now.Add(69 * time.Second)
	if got := auth(); got != "Bearer my-token-1" {
		t.Errorf("before the token expires, it sends %q", got)
	}
	w.now = w.now.Add(2 * time.Second)
	if got := auth(); got != "Bearer my-token-2" {
		t.Errorf("shortly before the token expires, it sends %q", got)
	}
	status = 401
	auth()
	status = 200
	if got := auth(); got != "Bearer my-token-3" {
		t.Errorf("after a refusal, it sends %q", got)
	}
}

// TestServiceAccount signs what it asks with.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, answer(`{"access_token": "token-of-it"}`))
	b, _ := json.Marshal(map[string]string{"client_email": "me@x", "private_key_id": "k1", "token_uri": w.url + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
	w.env["SA"] = string(b)
	cfg := Config{Auth: Auth{Type: "service_account", ServiceAccountEnv: "SA", ServiceAccountScopes: Scopes{"sheets"}}}
	tools, err := w.load(document(w.url, "  /a: {get: {operationId: a, "+ok+"}}"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.call(tools, "a", `{}`)
	form, _ := url.ParseQuery(w.sent[0])
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 || w.last().Header.Get("Authorization") != "Bearer token-of-it" {
		t.Fatalf("it asks with %v, and sends %v", form, w.last().Header)
	}
	sig, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], sig); err != nil {
		t.Error(err)
	}
	claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
	want := fmt.Sprintf(`{"aud":%q,"exp":1003600,"iat":1000000,"iss":"me@x","scope":"sheets"}`, w.url+"/token")
	if string(claims) != want {
		t.Errorf("the claims are %s, want %s", claims, want)
	}
}

// TestAuthRefuses finds what is wrong with credentials at load, and names variables, not values.
func TestAuthRefuses(t *testing.T) {
	w := newWorld(t, answer("{}"))
	w.env["T"], w.env["BAD"], w.env["EMPTY"] = "s3cret-value", "s3cret\x01value", " "
	one := "  /a: {get: {operationId: a, " + ok + "}}"
	two := one + "\n  /b: {servers: [{url: 'http://localhost:1'}], get: {operationId: b, " + ok + "}}"
	bearer := Auth{Type: "bearer", TokenEnv: "T"}
	for _, c := range []struct {
		doc, want string
		auth      Auth
	}{
		{one, `type is "baerer"; it must be none, bearer`, Auth{Type: "baerer"}},
		{one, "type is missing", Auth{TokenEnv: "T"}},
		{one, "token_env is missing", Auth{Type: "bearer"}},
		{one, "token_env: the environment variable NONE is not set", Auth{Type: "bearer", TokenEnv: "NONE"}},
		{one, "the environment variable EMPTY is not set, or is empty", Auth{Type: "bearer", TokenEnv: "EMPTY"}},
		{one, "the environment variable BAD has characters", Auth{Type: "bearer", TokenEnv: "BAD"}},
		{one, "apikey_name is \"\"", Auth{Type: "apikey", TokenEnv: "T"}},
		{one, "apikey_location is \"cookie\"", Auth{Type: "apikey", TokenEnv: "T", APIKeyName: "k",
			APIKeyLocation: "cookie"}},
		{one, "the URL of tokens: http://x would get a credential in clear", Auth{Type: "oauth2", ClientIDEnv: "T",
			ClientSecretEnv: "T", TokenURL: "http://x"}},
		{one, "the variable is no JSON key", Auth{Type: "service_account", ServiceAccountEnv: "T"}},
		{two, "a credential is for one", bearer},
		{"  /a: {servers: [{url: 'http://crm.example'}], get: {" + ok + "}}", "a credential in clear; use https", bearer},
	} {
		if _, err := w.load(document(w.url, c.doc), Config{Auth: c.auth}); err == nil ||
			!strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: the error is %v; want %s", c.auth, err, c.want)
		}
	}
	if _, err := w.load(document(w.url, two), Config{Auth: bearer, Server: w.url}); err != nil {
		t.Errorf("with one server: %v", err)
	}
}
