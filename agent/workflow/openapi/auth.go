package openapi

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw/agent/fetch"
)

// auth authorizes requests. It is safe for concurrent use.
type auth struct {
	cfg      Auth
	now      func() time.Time
	secret   string   // of bearer and apikey
	id, key  string   // of oauth2
	account  *account // of service_account
	tokenURL string

	mu      sync.Mutex // held while a token is fetched
	token   string
	expires time.Time
	hidden  []string // what no result may have
}

// account is the key of a service account, as its JSON file has it.
type account struct {
	Email string `json:"client_email"`
	KeyID string `json:"private_key_id"`
	Key   string `json:"private_key"`
	URL   string `json:"token_uri"`
	key   *rsa.PrivateKey
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`) // RFC 9110 section 5.6.2

// newAuth checks a configuration and reads its secrets.
func newAuth(cfg Auth, opt Options) (*auth, error) {
	a := &auth{cfg: cfg, now: opt.Now}
	var err error
	read := func(key, name string) (v string) {
		if err == nil {
			v, err = variable(key, name, opt.Getenv)
		}
		return v
	}
	switch cfg.Type {
	case "", "none":
		if cfg.TokenEnv != "" || cfg.ClientIDEnv != "" || cfg.ServiceAccountEnv != "" {
			return nil, errors.New("type is missing: bearer, apikey, oauth2 or service_account")
		}
		a.cfg.Type = "none"
	case "bearer":
		a.secret = read("token_env", cfg.TokenEnv)
	case "apikey":
		a.secret = read("token_env", cfg.TokenEnv)
		if in := cfg.APIKeyLocation; in != "" && in != "header" && in != "query" {
			return nil, fmt.Errorf("apikey_location is %q; it must be header or query", in)
		}
		if !headerName.MatchString(cfg.APIKeyName) {
			return nil, fmt.Errorf("apikey_name is %q; it must be the name of a header or of a query parameter", cfg.APIKeyName)
		}
	case "oauth2":
		a.id, a.key = read("client_id_env", cfg.ClientIDEnv), read("client_secret_env", cfg.ClientSecretEnv)
		a.tokenURL = cfg.TokenURL
	case "service_account":
		if s := read("service_account_env", cfg.ServiceAccountEnv); err == nil {
			a.account, err = parseAccount(s)
		}
		if err == nil {
			a.tokenURL = a.account.URL
		}
	default:
		return nil, fmt.Errorf("type is %q; it must be none, bearer, apikey, oauth2 or service_account", cfg.Type)
	}
	if err == nil && a.tokens() {
		var u *url.URL
		if u, err = fetch.CheckURL(a.tokenURL); err == nil {
			err = secure(u)
		}
		if err != nil {
			err = fmt.Errorf("the URL of tokens: %w", err)
		}
	}
	a.conceal(a.secret, a.key)
	return a, err
}

// tokens reports whether requests need a token that another server gives.
func (a *auth) tokens() bool { return a.cfg.Type == "oauth2" || a.cfg.Type == "service_account" }

// variable reads a secret from the environment.
func variable(key, name string, getenv func(string) (string, bool)) (string, error) {
	if name == "" {
		return "", fmt.Errorf("%s is missing: the name of an environment variable", key)
	}
	v, ok := getenv(name)
	v = strings.TrimSpace(v)
	if !ok || v == "" {
		return "", fmt.Errorf("%s: the environment variable %s is not set, or is empty", key, name)
	}
	if key != "service_account_env" && strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: the environment variable %s has characters that no credential has", key, name)
	}
	return v, nil
}

func parseAccount(s string) (*account, error) {
	a := &account{}
	if err := json.Unmarshal([]byte(s), a); err != nil {
		return nil, errors.New("service_account_env: the variable is no JSON key of a service account")
	}
	block, _ := pem.Decode([]byte(a.Key))
	if block == nil || a.Email == "" || a.URL == "" {
		return nil, errors.New("service_account_env: the key needs client_email, token_uri and a private_key in PEM")
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := k.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("service_account_env: private_key is no RSA key in PKCS #8")
	}
	a.key = key
	return a, nil
}

// secure refuses to send a secret in clear, except to this machine.
func secure(u *url.URL) error {
	addr, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && addr.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s://%s would get a credential in clear; use https", u.Scheme, u.Host)
}

// admits refuses a server that must not get the credential: one in clear, or another one than that of the first
// operation.
func (a *auth) admits(base, first *url.URL) error {
	if a.cfg.Type == "none" {
		return nil
	}
	if base.Scheme != first.Scheme || base.Host != first.Host {
		return fmt.Errorf("its server is %s, that of other operations %s, and a credential is for one; set server, or leave "+
			"the operation out with tool_filter", base.Host, first.Host)
	}
	return secure(base)
}

// apply adds the credential to a request.
func (a *auth) apply(ctx context.Context, client *fetch.Client, r *fetch.Request) error {
	token := a.secret
	if a.tokens() {
		var err error
		if token, err = a.fresh(ctx, client); err != nil {
			return fmt.Errorf("no token: %w", err)
		}
	}
	switch {
	case a.cfg.Type == "none":
	case a.cfg.Type != "apikey":
		r.Header.Set("Authorization", "Bearer "+token)
	case a.cfg.APIKeyLocation == "query":
		u, err := url.Parse(r.URL)
		if err != nil {
			return err
		}
		q := u.Query()
		q.Set(a.cfg.APIKeyName, token)
		u.RawQuery = q.Encode()
		r.URL = u.String()
	default:
		r.Header.Set(a.cfg.APIKeyName, token)
	}
	return nil
}

// fresh is a token that is valid for half a minute at least.
func (a *auth) fresh(ctx context.Context, client *fetch.Client) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != "" && a.now().Add(30*time.Second).Before(a.expires) {
		return a.token, nil
	}
	form, h := url.Values{}, http.Header{"Content-Type": {"application/x-www-form-urlencoded"},
		"Accept": {"application/json"}}
	if a.account != nil {
		jwt, err := a.account.assertion(a.now(), a.cfg.ServiceAccountScopes)
		if err != nil {
			return "", err
		}
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer") // RFC 7523
		form.Set("assertion", jwt)
	} else {
		form.Set("grant_type", "client_credentials") // RFC 6749 section 4.4
		if len(a.cfg.Scopes) > 0 {
			form.Set("scope", strings.Join(a.cfg.Scopes, " "))
		}
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(a.id)+":"+
			url.QueryEscape(a.key))))
	}
	resp, err := client.Do(ctx, fetch.Request{Method: "POST", URL: a.tokenURL, Header: h, Body: []byte(form.Encode()),
		Stay: true})
	if err != nil {
		return "", err
	}
	var got struct {
		Token   string  `json:"access_token"`
		Expires float64 `json:"expires_in"`
	}
	if json.Unmarshal(resp.Body, &got) != nil || resp.Status != http.StatusOK || len(got.Token) < tokenMin {
		return "", fmt.Errorf("the server of tokens answered %d without one", resp.Status)
	}
	if got.Expires <= 0 || got.Expires > 86400 {
		got.Expires = 300
	}
	a.token, a.expires = got.Token, a.now().Add(time.Duration(got.Expires)*time.Second)
	a.hidden = append(a.hidden[:min(len(a.hidden), 8)], got.Token)
	return a.token, nil
}

// assertion is a signed JWT that asks for a token.
func (a *account) assertion(now time.Time, scopes []string) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": a.KeyID})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": a.Email, "aud": a.URL, "scope": strings.Join(scopes, " "),
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(nil, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("the key of the service account: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig), nil
}

// tokenMin is the length of the shortest token that is taken: a shorter one could not be hidden in results.
const tokenMin = 8

// forget drops a token that a server refused.
func (a *auth) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = ""
}

func (a *auth) conceal(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 4 {
			a.hidden = append(a.hidden, s)
		}
	}
}

// replacer replaces secrets in texts, also as URLs have them.
func (a *auth) replacer() *strings.Replacer {
	a.mu.Lock()
	defer a.mu.Unlock()
	var pairs []string
	for _, s := range a.hidden {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			pairs = append(pairs, form, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// without is a JSON value without secrets, in keys and in texts.
func without(r *strings.Replacer, v any) any {
	switch v := v.(type) {
	case string:
		return r.Replace(v)
	case []any:
		for i := range v {
			v[i] = without(r, v[i])
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			one := without(r, v[key])
			delete(v, key)
			v[r.Replace(key)] = one
		}
	}
	return v
}

// hide is an error without secrets.
func (a *auth) hide(err error) error {
	if s := a.replacer().Replace(err.Error()); s != err.Error() {
		return errors.New(s)
	}
	return err
}
