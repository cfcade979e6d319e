package live

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultModel is asked for when neither the Setup nor the Wire names one.
const DefaultModel = "gemini-3.1-flash-live-preview"

const (
	defaultBaseURL = "wss://generativelanguage.googleapis.com"
	livePath       = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
)

// Wire is a Dialer that speaks the protocol of the Gemini API, or of Vertex AI, over one WebSocket. The zero value and
// a key work. It is a plain value; printing it shows no key.
type Wire struct {
	// BaseURL is where the service is: ws, wss, http or https, a host, and a path to put in front, if any. Default:
	// Google's. A key is sent unencrypted to this machine alone; otherwise it takes wss.
	BaseURL string
	// APIKey goes into the header x-goog-api-key and nowhere else. Needed unless BaseURL or Vertex is set. A key that
	// begins with "auth_tokens/" is an ephemeral token: it goes into the header Authorization, to the service's v1alpha.
	APIKey string `json:"-"`
	// Vertex, if set, means a model of Vertex AI. Default: the Gemini API.
	Vertex *Vertex `json:"-"`
	// Model is asked for when the Setup names none. Default: DefaultModel.
	Model string
	// HandshakeTimeout limits the dial with everything up to the accepted setup. Default: 10 s.
	HandshakeTimeout time.Duration
	// PingInterval is how often the model is pinged. Default: 20 s.
	PingInterval time.Duration
	// SilenceTimeout is how long a ping may stay without any frame in return before the connection is given up.
	// Answers have been seen to take 8 to 30 s. Default: 30 s.
	SilenceTimeout time.Duration
	// WriteTimeout is how long one message may take to be handed to the operating system. Default: 5 s.
	WriteTimeout time.Duration
	// CloseTimeout is how long Close waits for the model's answer. Default: 1 s.
	CloseTimeout time.Duration
	// ReadLimit is the longest message taken from the model, in bytes; a longer one ends the connection. Default:
	// 4 MiB.
	ReadLimit int64
	// HTTPClient makes the upgrade request; redirects are never followed. Default: a client of its own for each dial
	// with the proxy of the environment.
	HTTPClient *http.Client `json:"-"`
}

// Format prints everything but the key, whatever the verb.
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

// withDefaults returns the configuration to use.
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

// Check refuses what cannot work, or would give the key away. Its error is a *SetupError. Dial checks too.
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
			return fieldError(d.field, d.value, "more than 0, or 0 for the default")
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
		return &SetupError{"Wire.APIKey", "hidden, with " + err.Error(), "a key without them, not even at its end"}
	}
	return nil
}

// address returns where to dial.
func (w Wire) address() (*url.URL, error) {
	u, err := w.root()
	if path := w.path(); err == nil && path != "" {
		u = u.JoinPath(path)
	}
	return u, err
}

// root is the base URL, as ws or wss.
func (w Wire) root() (*url.URL, error) {
	const field = "Wire.BaseURL"
	base := w.BaseURL
	if w.Vertex != nil {
		setDefault(&base, w.Vertex.base())
	}
	setDefault(&base, defaultBaseURL)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, &SetupError{field, "no URL with a host", "a URL such as " + defaultBaseURL}
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &SetupError{field, "a URL with a user, a query or a fragment (not shown: it may hold a secret)",
			"a URL without; the key belongs into APIKey"}
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
