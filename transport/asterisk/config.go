package asterisk

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/phone"
)

// Config configures the endpoint. Only Lines is required.
type Config struct {
	// Lines are the gateway's lines.
	Lines transport.Lines

	// User and Password are the credentials of Asterisk: username and password of
	// websocket_client.conf. Without a Password only a listener on the loopback takes calls.
	User, Password string

	// Hosts are the names, without port, by which clients may address this server, besides
	// localhost and the address that a connection came in on. "*" means any. A request by another
	// name is refused with 421.
	Hosts []string

	// ARI configures transfers; without its URL calls cannot be transferred.
	ARI ARI
	// Targets are names for the targets of transfers, each an extension. An extension needs no
	// name.
	Targets map[string]string

	// Limits bound a call.
	Limits phone.Limits
	// Log may be nil. It never receives audio, passwords, numbers or parameters.
	Log *zap.Logger
}

// ARI configures Asterisk's REST interface.
type ARI struct {
	// URL is its address: http://127.0.0.1:8088/ari.
	URL            string
	User, Password string
	// Context is the dialplan context in which a caller in Stasis continues, at the extension of
	// the transfer's target. Empty: the caller is in the dialplan, and the extension is set as the
	// channel variable VOICEGW_TRANSFER.
	Context string
	// Timeout bounds a request; 3 s.
	Timeout time.Duration
	// Transport makes the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

const ariTimeoutDefault = 3 * time.Second

// withDefaults checks c and sets the zero fields.
func (c Config) withDefaults() (Config, error) {
	u, err := url.Parse(c.ARI.URL)
	switch {
	case c.Lines == nil:
		return c, fmt.Errorf("asterisk: check config: Lines is nil; a *voicegw.Gateway has them")
	case c.ARI.URL != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https"):
		return c, fmt.Errorf("asterisk: check config: ARI.URL is no address such as http://127.0.0.1:8088/ari")
	}
	if err := checkTargets(c.Targets); err != nil {
		return c, fmt.Errorf("asterisk: check config: %w", err)
	}
	if err := (admission.Names{Hosts: c.Hosts}).Check(); err != nil {
		return c, fmt.Errorf("asterisk: check config: %w", err)
	}
	c.ARI.URL = strings.TrimRight(c.ARI.URL, "/")
	if c.ARI.Timeout <= 0 {
		c.ARI.Timeout = ariTimeoutDefault
	}
	c.Limits = c.Limits.WithDefaults()
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c, nil
}

func checkTargets(targets map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if !extension(targets[name]) {
			return fmt.Errorf("the target %q is not an extension", name)
		}
	}
	return nil
}

// extension reports whether s can be an extension of a dialplan: 1 to 80 letters, digits and + - _
// . * #.
func extension(s string) bool {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("+-_.*#", r)
	}
	return s != "" && len(s) <= 80 && !strings.ContainsFunc(s, odd)
}
