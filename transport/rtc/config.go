package rtc

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
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

// Limits that no setting moves.
const (
	OfferBytesMax    = 64 << 10 // of an SDP offer
	FragmentBytesMax = 16 << 10 // of a PATCH
	HelloBytesMax    = 32 << 10 // of the header [HelloHeader]
	EventBytesMax    = 64<<10 - 1
	RestartsMax      = 100 // of ICE, in one call
	CandidatesMax    = 10  // addresses of the caller that are tried with FullICE, in one ICE session
	CallWaysMax      = 40  // such addresses in one call, whatever the number of restarts
	ChannelsMax      = 16  // data channels that a caller opens in one call
	ICEServersMax    = 16
)

// Config is how the door behaves. Only Lines is needed: then calls of this machine are taken. Zero and negative limits
// mean the defaults.
type Config struct {
	// Lines are the gateway that takes the calls.
	Lines transport.Lines

	// Log is told of calls that were refused or failed, never of a token; nil means nobody.
	Log *zap.Logger

	// Hosts are names, without port, under which this server may be addressed besides localhost, 127.0.0.1, ::1 and the
	// address the connection came in on. "*" means any: only behind a proxy that checks.
	Hosts []string

	// Origins are the pages of other origins that may call, as "https://example.com"; pages of the same host always may,
	// and so may clients that are not browsers and send no Origin. "*" means any page.
	Origins []string

	// Listen is the UDP address of all calls. Default: 127.0.0.1 and a free port, which only this machine can reach.
	Listen string

	// PublicIPs are announced to callers in place of the machine's own addresses: where a router hands on what comes in
	// at a public address. At most one of IPv4 and one of IPv6.
	PublicIPs []string

	// FullICE makes the door look for ways to the caller itself, with ICEServers. By default it is ICE-lite, which waits
	// to be found at its addresses: right for a server that can be reached, faster, and it sends nothing to addresses
	// that a caller made up.
	FullICE bool

	// PrivateCandidates lets FullICE try private addresses that a caller names (RFC 1918, RFC 4193, link-local and the
	// like). By default it does when Listen is one of them, and tries this machine's own addresses only when Listen is one
	// of those: otherwise a caller could have packets sent into the network behind the gateway.
	PrivateCandidates bool

	// ICEServers are STUN and TURN servers that callers are told of.
	ICEServers []ICEServer

	// Codecs are what callers may be answered with, the best first. Default: Opus where it is built in, G722, PCMU, PCMA.
	Codecs []Codec

	ConnectTimeout    time.Duration // from the answer until sound can flow; 10 s
	DisconnectTimeout time.Duration // without a packet of the far end, until it counts as lost; 15 s
	CloseTimeout      time.Duration // of Close as a whole; 1 s
	WriteTimeout      time.Duration // for events the far end does not take; then it is stalled; 5 s

	// PlayoutDelay is how much later than it is sent sound is heard on average, without the network's part: the caller's
	// jitter buffer and sound card. 60 ms.
	PlayoutDelay time.Duration
}

// ICEServer is a STUN or TURN server.
type ICEServer struct {
	URLs                 []string // such as "stun:stun.example.com" or "turn:turn.example.com?transport=udp"
	Username, Credential string   // of TURN
}

// Check returns an error for the first field that cannot be right.
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
	if len(c.ICEServers) > ICEServersMax {
		return fmt.Errorf("transport/rtc: check ICE servers: %d, at most %d", len(c.ICEServers), ICEServersMax)
	}
	for _, s := range c.ICEServers {
		if err := s.check(); err != nil {
			return err
		}
	}
	return checkCodecs(c.Codecs)
}

func (s ICEServer) check() error {
	if len(s.URLs) == 0 {
		return errors.New("transport/rtc: check ICE servers: one has no address")
	}
	for _, u := range s.URLs {
		scheme, rest, _ := strings.Cut(u, ":")
		if !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, scheme) || rest == "" ||
			strings.ContainsAny(u, "<>\" \r\n") {
			return fmt.Errorf("transport/rtc: check ICE servers: %q is not such as \"stun:stun.example.com\"", u)
		}
		if strings.HasPrefix(scheme, "turn") && (s.Username == "" || s.Credential == "") {
			return fmt.Errorf("transport/rtc: check ICE servers: %q has no user name or credential", u)
		}
	}
	return nil
}

// withDefaults fills in what is not set.
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
		c.Codecs = slices.DeleteFunc(codecs(), func(k Codec) bool { return k == Opus && !hasOpusEncoder })
	}
	return c
}

func (c Config) names() httpdoor.Names { return httpdoor.Names{Hosts: c.Hosts, Origins: c.Origins} }
