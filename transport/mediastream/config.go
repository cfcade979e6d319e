package mediastream

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/phone"
)

// Config configures the endpoint. Only Lines is required.
//
// A request must prove its origin: by X-Twilio-Signature under AuthToken, or by Secret. If neither
// is configured, only a listener on the loopback takes requests.
type Config struct {
	// Lines are the gateway's lines.
	Lines transport.Lines

	// AuthToken is the auth token of the Twilio account. Twilio signs every request with it.
	AuthToken string
	// OwnTwiML accepts signed streams that the integrator's own TwiML leads here. Without it a
	// signed stream must also show the pass that /voice gave its call, because a signature can be
	// sent again. A pass counts once and for a minute.
	OwnTwiML bool
	// Secret authorizes streams of carriers that do not sign: in the Authorization header (Bearer,
	// or the password of Basic), or as the custom parameter "secret". At least 16 bytes.
	Secret string
	// PublicURL is the address at which carriers reach this server through a proxy:
	// https://voice.example.com. A path in it, if any, precedes the path of each request. Empty
	// means the Host of the request.
	PublicURL string

	// Hosts are the names, without port, by which clients may address this server, besides
	// localhost, the address that a connection came in on, and the host of PublicURL. "*" means
	// any. A request by another name is refused with 421.
	Hosts []string

	// Parameters, if not nil, returns the custom parameters of a call that Twilio announces, from
	// the form of its webhook: a token, a customer's number. Its error refuses the call and is
	// logged. It is called concurrently.
	Parameters func(ctx context.Context, form url.Values) (map[string]string, error)
	// Targets are names for the targets of transfers, each a telephone number or a sip: address.
	// Numbers and sip: addresses need no name.
	Targets map[string]string
	// AfterURL is the TwiML that continues a call that was neither transferred nor hung up by the
	// caller; empty means hang up.
	AfterURL string

	// Limits bound a stream.
	Limits phone.Limits
	// Log may be nil. It never receives audio, keys, numbers or parameters.
	Log *zap.Logger
}

// SecretLenMin is the least length of Config.Secret, in bytes.
const SecretLenMin = 16

func checkSecret(secret string) error {
	if secret != "" && len(secret) < SecretLenMin {
		return fmt.Errorf("mediastream: check config: Secret has %d bytes; at least %d are needed", len(secret),
			SecretLenMin)
	}
	return nil
}

// withDefaults checks c and sets the zero fields.
func (c Config) withDefaults() (Config, error) {
	if c.Lines == nil {
		return c, fmt.Errorf("mediastream: check config: Lines is nil; a *voicegw.Gateway has them")
	}
	if err := checkSecret(c.Secret); err != nil {
		return c, err
	}
	for _, address := range []string{c.PublicURL, c.AfterURL} {
		u, err := url.Parse(address)
		if address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return c, fmt.Errorf("mediastream: check config: %q is not an address such as https://voice.example.com", address)
		}
	}
	if u, _ := url.Parse(c.PublicURL); u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return c, fmt.Errorf("mediastream: check config: PublicURL has more than a scheme, a host and a path")
	}
	if err := checkTargets(c.Targets); err != nil {
		return c, fmt.Errorf("mediastream: check config: %w", err)
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if err := (admission.Names{Hosts: c.Hosts}).Check(); err != nil {
		return c, fmt.Errorf("mediastream: check config: %w", err)
	}
	if u, _ := url.Parse(c.PublicURL); u.Hostname() != "" {
		c.Hosts = append(slices.Clone(c.Hosts), u.Hostname())
	}
	c.Limits = c.Limits.WithDefaults()
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c, nil
}
