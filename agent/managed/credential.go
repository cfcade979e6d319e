package managed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.uber.org/zap"
	"gopkg.in/yaml.v3"
)

// Credential is a secret that MCP servers of one address get as a bearer token. A definition names it. It is read
// whenever a server is connected, and neither stored nor logged.
type Credential struct {
	// URL is where it may be sent: to this scheme and host, at this path and below. It is an https URL, or an http
	// URL of a private address.
	URL string `yaml:"url"`
	// File is the path of a file with nothing but the secret, Env the variable that holds it. One of them is set.
	File string `yaml:"file"`
	Env  string `yaml:"env"`
}

// ParseCredentials reads Config.Credentials from YAML or JSON: for each name url, and file or env.
func ParseCredentials(text []byte) (map[string]Credential, error) {
	var list map[string]Credential
	if len(text) > definitionMax {
		return nil, fmt.Errorf("managed: credentials: %d bytes; at most %d are allowed", len(text), definitionMax)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil && !errors.Is(err, io.EOF) { // which may have what is no name of a field
		return nil, errors.New("managed: credentials: the file must have names, and for each url, and file or env; " +
			"nothing else, and no secret")
	}
	return list, checkCredentials(list)
}

// checkCredentials finds what is wrong with the credentials of a Config.
func checkCredentials(list map[string]Credential) error {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		c := list[name]
		u, err := url.Parse(c.URL)
		switch {
		case !credentialName.MatchString(name):
			return fmt.Errorf("managed: Config.Credentials: the name %q must have 1 to 64 letters, digits, \"_\" and \"-\"",
				name)
		case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "":
			return fmt.Errorf("managed: Config.Credentials[%q]: URL %q must have a scheme, a host and perhaps a path, no more",
				name, c.URL)
		case u.Scheme != "https" && (u.Scheme != "http" || !privateHost(u.Hostname())):
			return fmt.Errorf("managed: Config.Credentials[%q]: URL %q must be https; only to a private address may it be http",
				name, c.URL)
		case (c.File == "") == (c.Env == ""):
			return fmt.Errorf("managed: Config.Credentials[%q] must have either File or Env", name)
		case c.Env != "" && !variableName.MatchString(c.Env):
			return fmt.Errorf("managed: Config.Credentials[%q]: Env must be the name of a variable", name)
		}
	}
	return nil
}

var (
	credentialName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	bearerToken    = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`) // RFC 6750 section 2.1
)

// covers reports whether a credential may be sent to a URL.
func (c *Credential) covers(u *url.URL) bool {
	own, err := url.Parse(c.URL)
	if err != nil || u.Scheme != own.Scheme || !strings.EqualFold(u.Hostname(), own.Hostname()) || port(u) != port(own) {
		return false
	}
	base, at := path.Clean("/"+own.Path), path.Clean("/"+u.Path)
	return base == "/" || at == base || strings.HasPrefix(at, base+"/")
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// secret reads the secret. The error does not have it.
func (c *Credential) secret() (string, error) {
	const secretMax = 8 << 10
	text, from := os.Getenv(c.Env), "the variable "+c.Env
	if c.File != "" {
		f, err := os.Open(c.File)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		b, err := io.ReadAll(io.LimitReader(f, secretMax+1))
		if err != nil {
			return "", err
		}
		text, from = string(b), "the file "+c.File
	}
	if text = strings.TrimSpace(text); len(text) > secretMax || !bearerToken.MatchString(text) {
		return "", fmt.Errorf("%s holds no bearer token of up to %d bytes", from, secretMax)
	}
	return text, nil
}

// ErrNoCredential means that Config.Credentials has no credential of a name for the URL of an MCP server.
var ErrNoCredential = errors.New("the operator has no credential of this name")

// errUnreadable means that the operator's secret cannot be read. Clients learn no more.
var errUnreadable = fmt.Errorf("%w, and its credential cannot be read; the operator's log says why", errUnauthorized)

// admitCredential finds what the operator does not allow in the credential of a server. It does not repeat the name:
// it may be the secret itself.
func (r *Runtime) admitCredential(at string, s *MCPServer) error {
	if s.Credential == "" {
		return nil
	}
	c, ok := r.cfg.Credentials[s.Credential]
	u, err := url.Parse(s.URL)
	if !ok || err != nil || !c.covers(u) {
		return because(invalid(at+".credential", "%v for the URL of the MCP server %q; name one that Config.Credentials has",
			ErrNoCredential, s.Name), ErrNoCredential)
	}
	return nil
}

// readable finds credentials of an agent that cannot be read. A session that exists goes on without them.
func (r *Runtime) readable(a *Agent) error {
	for i := range a.MCPServers {
		s := &a.MCPServers[i]
		if s.Credential == "" {
			continue
		}
		c := r.cfg.Credentials[s.Credential]
		if _, err := c.secret(); err != nil {
			return because(invalid(fmt.Sprintf("mcp_servers[%d].credential", i),
				"the credential of the MCP server %q cannot be read; ask the operator", s.Name), err)
		}
	}
	return nil
}

// bearer is the secret for a server with a URL; "" if it has none.
func (r *Runtime) bearer(def *MCPServer) (string, error) {
	if def.Credential == "" {
		return "", nil
	}
	c := r.cfg.Credentials[def.Credential]
	secret, err := c.secret()
	if err != nil {
		r.cfg.Logger.Warn("a credential cannot be read", zap.String("credential", def.Credential), zap.Error(err))
		return "", errUnreadable
	}
	return secret, nil
}

const redacted = "[secret]"

// without is a result without a secret, which a server may send back.
func without(secret string, result map[string]any) map[string]any {
	b, err := json.Marshal(result)
	if secret == "" || err != nil || !bytes.Contains(b, []byte(secret)) {
		return result
	}
	clean := map[string]any{}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte(secret), []byte(redacted)), &clean); err != nil {
		return map[string]any{"result": redacted}
	}
	return clean
}

// withoutIn is an error without a secret.
func withoutIn(secret string, err error) error {
	if err == nil || secret == "" || !strings.Contains(err.Error(), secret) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), secret, redacted))
}
