package rtc

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/pion/stun/v4"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio/opus"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

// Defaults of a Config.
const (
	ListenDefault            = "127.0.0.1:0"
	ConnectTimeoutDefault    = 10 * time.Second
	DisconnectTimeoutDefault = 15 * time.Second
	CloseTimeoutDefault      = time.Second
	WriteTimeoutDefault      = 5 * time.Second
	PlayoutDelayDefault      = 60 * time.Millisecond
)

// Fixed limits.
const (
	OfferBytesMax    = 64 << 10 // of an SDP offer
	FragmentBytesMax = 16 << 10 // of a PATCH
	HelloBytesMax    = 32 << 10 // of the header [HelloHeader]
	EventBytesMax    = 64<<10 - 1
	RestartsMax      = 100 // of ICE, in one call
	CandidatesMax    = 10  // addresses of the caller that FullICE tries, in one ICE session
	CallWaysMax      = 40  // such addresses in one call, over all restarts
	ChannelsMax      = 16  // data channels that a caller opens in one call
	ICEServersMax    = 16
)

// Config configures the endpoint. Only Lines is required: with it alone the endpoint takes calls of
// this machine. Zero and negative limits mean the defaults.
type Config struct {
	// Lines take the calls.
	Lines transport.Lines

	// Log receives refused and failed calls, never a token; nil means no log.
	Log *zap.Logger

	// Hosts are the names, without port, under which clients may address this server besides
	// localhost, 127.0.0.1, ::1 and the address the connection came in on. "*" means any: use it
	// only behind a proxy that checks.
	Hosts []string

	// Origins are the other origins whose pages may call, as "https://example.com". Pages of the
	// same host always may, and so may clients that are not browsers and send no Origin. "*" means
	// any page.
	Origins []string

	// Listen is the UDP address of all calls. Default: 127.0.0.1 and a free port, which only this
	// machine can reach.
	Listen string

	// PublicIPs are announced to callers in place of the machine's own addresses, for a router that
	// forwards packets from a public address. At most one of IPv4 and one of IPv6.
	PublicIPs []string

	// FullICE makes the endpoint search for paths to the caller itself, with ICEServers. By default
	// it is ICE-lite, which waits for the caller's checks at its own addresses. ICE-lite is right
	// for a server that callers can reach: it is faster, and it sends nothing to addresses that a
	// caller made up.
	FullICE bool

	// PrivateCandidates lets FullICE try private addresses that a caller names (RFC 1918, RFC 4193,
	// link-local and similar). By default it tries them only when Listen is a private address, and
	// tries this machine's own addresses only when Listen is one of those: otherwise a caller could
	// make the gateway send packets into the network behind it.
	PrivateCandidates bool

	// ICEServers are the STUN and TURN servers that the endpoint announces to callers.
	ICEServers []ICEServer

	// Codecs are the codecs of answers, the preferred one first. Default: Opus if it is built in,
	// G722, PCMU, PCMA.
	Codecs []Codec

	// OneWay takes callers whose audio goes one way too. A publisher (a=sendonly, as WHIP has it)
	// speaks and hears nothing; a listener (a=recvonly, as WHEP has it) hears the gateway and says
	// nothing. Such an offer may have video, which the answer rejects. By default the endpoint
	// refuses them: most often such an offer is an error.
	OneWay bool

	ConnectTimeout    time.Duration // from the answer until audio can flow; 10 s
	DisconnectTimeout time.Duration // without a packet of the far end, until it counts as lost; 15 s
	CloseTimeout      time.Duration // of Close as a whole; 1 s
	WriteTimeout      time.Duration // for events the far end does not take; after it the far end is stalled; 5 s

	// PlayoutDelay is the average time from sending audio to its playout, without the network's
	// part: the caller's jitter buffer and sound card. 60 ms.
	PlayoutDelay time.Duration
}

// ICEServer is a STUN or TURN server.
type ICEServer struct {
	URLs                 []string // such as "stun:stun.example.com" or "turn:turn.example.com?transport=udp"
	Username, Credential string   // for TURN

	// Secret, in place of Credential, is one that a TURN server shares: each call gets credentials of its
	// own, which are valid for Life (default TURNLifeDefault). Let Life be longer than the longest call.
	Secret string
	Life   time.Duration
}

// Format implements fmt.Formatter. It prints neither the credential nor the secret.
func (s ICEServer) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%q", s.URLs) }

// Check returns an error for the first invalid field.
func (c Config) Check() error {
	if err := c.names().Check(); err != nil {
		return fmt.Errorf("transport/rtc: %w", err)
	}
	if c.Listen != "" {
		if _, err := net.ResolveUDPAddr("udp", c.Listen); err != nil {
			return fmt.Errorf("transport/rtc: check listen: %w", err)
		}
	}
	families := map[bool]bool{}
	for _, s := range c.PublicIPs {
		ip := net.ParseIP(s)
		if ip == nil || families[ip.To4() != nil] {
			return fmt.Errorf("transport/rtc: check public addresses: %q is no address, or the second of its family", s)
		}
		families[ip.To4() != nil] = true
	}
	if err := checkServers(c.ICEServers); err != nil {
		return err
	}
	return checkCodecs(c.Codecs)
}

func (s ICEServer) check() error {
	if len(s.URLs) == 0 {
		return errors.New("transport/rtc: check ICE servers: one has no address")
	}
	for _, u := range s.URLs {
		scheme, rest, _ := strings.Cut(u, ":")
		parsed, err := stun.ParseURI(u)
		if !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, scheme) || rest == "" || err != nil ||
			parsed.Port < 1 || parsed.Port > 65535 || strings.ContainsAny(u, "<>\" \r\n") {
			return fmt.Errorf("transport/rtc: check ICE servers: %q is not such as \"stun:stun.example.com\"", u)
		}
		if strings.HasPrefix(scheme, "turn") && !s.hasCredentials() {
			return fmt.Errorf("transport/rtc: check ICE servers: %q has no user name with a credential, and no secret", u)
		}
	}
	return nil
}

// withDefaults sets the zero fields.
func (c Config) withDefaults() Config {
	for _, d := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.ConnectTimeout, ConnectTimeoutDefault},
		{&c.DisconnectTimeout, DisconnectTimeoutDefault},
		{&c.CloseTimeout, CloseTimeoutDefault},
		{&c.WriteTimeout, WriteTimeoutDefault},
		{&c.PlayoutDelay, PlayoutDelayDefault},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.Listen == "" {
		c.Listen = ListenDefault
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	c.Hosts, c.Origins = slices.Clone(c.Hosts), slices.Clone(c.Origins)
	c.ICEServers, c.PublicIPs = slices.Clone(c.ICEServers), slices.Clone(c.PublicIPs)
	c.Codecs = slices.Clone(c.Codecs)
	if len(c.Codecs) == 0 {
		c.Codecs = slices.DeleteFunc(codecs(), func(k Codec) bool { return k == Opus && !opus.HasEncoder })
	}
	return c
}

func (c Config) names() admission.Names { return admission.Names{Hosts: c.Hosts, Origins: c.Origins} }
