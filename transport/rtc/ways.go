package rtc

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ways are the addresses of one caller that ICE tries by sending packets there. Their number is
// bounded, and none is an address to which a stranger must not make the gateway send. It is not
// safe for concurrent use.
type ways struct {
	private, loopback bool // such addresses may be tried
	tried             map[netip.AddrPort]struct{}
	session           int // number of tried addresses in this ICE session
}

func newWays(c Config) *ways {
	w := &ways{private: c.PrivateCandidates, tried: map[netip.AddrPort]struct{}{}}
	host, _, _ := net.SplitHostPort(c.Listen)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		w.loopback = ip.IsLoopback()
		w.private = w.private || !ip.IsUnspecified() && !ip.IsLoopback() && !public(ip)
	}
	return w
}

// restart begins another ICE session.
func (w *ways) restart() { w.session = 0 }

// take reports whether a candidate (RFC 8839 section 5.1, without "a=") may be tried, and counts
// it.
func (w *ways) take(candidate string) bool {
	at, ok := addressOf(candidate)
	if !ok || !w.allows(at.Addr()) {
		return false
	}
	if _, again := w.tried[at]; again {
		return true
	}
	if w.session >= CandidatesMax || len(w.tried) >= CallWaysMax {
		return false
	}
	w.session++
	w.tried[at] = struct{}{}
	return true
}

// filter returns an offer without the candidates that may not be tried.
func (w *ways) filter(offer string) string {
	var b strings.Builder
	for line := range strings.Lines(offer) {
		if c, ok := strings.CutPrefix(line, "a="); ok && strings.HasPrefix(c, "candidate:") && !w.take(c) {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// allows reports whether the endpoint may send packets to an address that a caller names.
func (w *ways) allows(ip netip.Addr) bool {
	switch {
	case public(ip):
		return true
	case ip.IsLoopback():
		return w.loopback
	}
	return w.private && (ip.IsPrivate() || ip.IsLinkLocalUnicast() || shared().Contains(ip))
}

// addressOf returns the address of a UDP candidate for RTP. It does not accept a name, which would
// need a lookup.
func addressOf(candidate string) (netip.AddrPort, bool) {
	f := strings.Fields(strings.TrimPrefix(candidate, "candidate:"))
	if len(f) < 8 || f[1] != "1" || !strings.EqualFold(f[2], "udp") {
		return netip.AddrPort{}, false
	}
	ip, err := netip.ParseAddr(f[4])
	port, wrong := strconv.ParseUint(f[5], 10, 16)
	if err != nil || wrong != nil || port == 0 || ip.Zone() != "" {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), true
}

// public reports whether an address is one of the public Internet: of the special-purpose
// registries (RFC 6890) it excludes every range whose packets could end in a network of ours.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared().Contains(ip) {
		return false
	}
	for _, special := range []string{"0.0.0.0/8", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b::/96",
		"64:ff9b:1::/48", "100::/64", "2001::/23", "2002::/16", "fec0::/10"} {
		if netip.MustParsePrefix(special).Contains(ip) {
			return false
		}
	}
	return true
}

// shared is the address space of carrier-grade NAT (RFC 6598).
func shared() netip.Prefix { return netip.MustParsePrefix("100.64.0.0/10") }
