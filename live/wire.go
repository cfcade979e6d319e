package live

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultModel is the model if neither the Setup nor the Wire names one.
const DefaultModel = "gemini-3.1-flash-live-preview"

const (
	defaultBaseURL = "wss://generativelanguage.googleapis.com"
	livePath       = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
)

// Wire is a Dialer that speaks the protocol of the Gemini API, or of Vertex AI, over one WebSocket.
// A key is all it needs. It is a plain value.
type Wire struct {
	// BaseURL is the address of the service: ws, wss, http or https, a host, and an optional path
	// before the path of the service. The default is Google's. A key needs wss or https, unless the
	// host is this machine.
	BaseURL string
	// APIKey is required unless BaseURL or Vertex is set. Dial sends it only in the header
	// x-goog-api-key. A key that begins with "auth_tokens/" is an ephemeral token; Dial sends it in
	// the header Authorization, to v1alpha of the service.
	APIKey string `json:"-"`
	// Vertex selects Vertex AI. The default is the Gemini API.
	Vertex *Vertex `json:"-"`
	// Model is the model if the Setup names none. The default is DefaultModel.
	Model string
	// HandshakeTimeout bounds a dial, up to the accepted setup. The default is 10 s.
	HandshakeTimeout time.Duration
	// PingInterval is the time between two pings. The default is 20 s.
	PingInterval time.Duration
	// SilenceTimeout is how long a ping may wait for any frame before the connection fails. Real
	// answers have taken 8 to 30 s. The default is 30 s.
	SilenceTimeout time.Duration
	// WriteTimeout bounds the write of one message to the operating system. The default is 5 s.
	WriteTimeout time.Duration
	// CloseTimeout is how long Close waits for the answer of the model. The default is 1 s.
	CloseTimeout time.Duration
	// ReadLimit is the longest message from the model, in bytes. A longer one ends the connection.
	// The default is 4 MiB.
	ReadLimit int64
	// HTTPClient makes the upgrade request. It never follows redirects. The default is a new client
	// for each dial, with the proxy of the environment.
	HTTPClient *http.Client `json:"-"`
}

// Format implements fmt.Formatter. It never prints the key.
func (w Wire) Format(f fmt.State, _ rune) {
	key := "none"
	if w.APIKey != "" {
		key = "hidden"
	}
	if w.Vertex != nil {
		key += fmt.Sprintf(" Vertex:%s/%s", w.Vertex.Project, w.Vertex.Location)
	}
	fmt.Fprintf(f, "live.Wire{BaseURL:%q Model:%q APIKey:%s}", w.BaseURL, w.Model, key)
}

// withDefaults returns w with the defaults set.
func (w Wire) withDefaults() Wire {
	setDefault(&w.Model, DefaultModel)
	setDefault(&w.HandshakeTimeout, 10*time.Second)
	setDefault(&w.PingInterval, 20*time.Second)
	setDefault(&w.SilenceTimeout, 30*time.Second)
	setDefault(&w.WriteTimeout, 5*time.Second)
	setDefault(&w.CloseTimeout, time.Second)
	setDefault(&w.ReadLimit, 4<<20)
	return w
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Check returns a *SetupError for a field that cannot work or would reveal the key. Dial calls
// Check.
func (w Wire) Check() error {
	return w.withDefaults().check()
}

func (w Wire) check() error {
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Wire.HandshakeTimeout", w.HandshakeTimeout}, {"Wire.PingInterval", w.PingInterval},
		{"Wire.SilenceTimeout", w.SilenceTimeout}, {"Wire.WriteTimeout", w.WriteTimeout},
		{"Wire.CloseTimeout", w.CloseTimeout},
	} {
		if d.value < 0 {
			return fieldError(d.field, d.value, "0 for the default, or more")
		}
	}
	if w.ReadLimit < 0 {
		return fieldError("Wire.ReadLimit", w.ReadLimit, "a number of bytes, or 0 for the default")
	}
	if err := w.Vertex.check(&w); err != nil {
		return err
	}
	if w.APIKey == "" && w.BaseURL == "" && w.Vertex == nil {
		return &SetupError{"Wire.APIKey", "empty", "a key of the Gemini API"}
	}
	if _, err := w.address(); err != nil {
		return err
	}
	if err := printable(w.APIKey); err != nil {
		return &SetupError{"Wire.APIKey", "hidden, with " + err.Error(), "a key without, also at its end"}
	}
	return nil
}

// address returns the URL to dial.
func (w Wire) address() (*url.URL, error) {
	u, err := w.root()
	if path := w.path(); err == nil && path != "" {
		u = u.JoinPath(path)
	}
	return u, err
}

// root returns the base URL with the scheme ws or wss.
func (w Wire) root() (*url.URL, error) {
	const field = "Wire.BaseURL"
	base := w.BaseURL
	if w.Vertex != nil {
		setDefault(&base, w.Vertex.base())
	}
	setDefault(&base, defaultBaseURL)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, &SetupError{field, "not a URL with a host", "a URL such as " + defaultBaseURL}
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &SetupError{field, "a URL with a user, a query or a fragment (not shown: it may hold a secret)",
			"a URL without them; the key belongs in APIKey"}
	}
	switch u.Scheme {
	case "http", "ws":
		u.Scheme = "ws"
	case "https", "wss":
		u.Scheme = "wss"
	default:
		return nil, fieldError(field, base, "ws, wss, http or https")
	}
	if u.Scheme == "ws" && w.secretive() && !loopback(u.Hostname()) {
		return nil, fieldError(field, base, "wss: the API key would be sent unencrypted over the network")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
