package fetch

import (
	"fmt"
	"net/netip"
	"strings"
)

// network is a range of addresses that is not public, and what it is for.
type network struct {
	prefix netip.Prefix
	what   string
}

// networks are the ranges that the IANA registries of special addresses take from the public network, and those
// that lead to IPv4 addresses, which need not be public.
var networks = parseNetworks(`
	0.0.0.0/8 this network
	10.0.0.0/8 a private network
	100.64.0.0/10 the network of a provider
	127.0.0.0/8 this machine
	168.63.129.16/32 Azure's metadata
	169.254.0.0/16 link-local, where clouds have their metadata
	172.16.0.0/12 a private network
	192.0.0.0/24 reserved for protocols
	192.0.2.0/24 for documentation
	192.88.99.0/24 a relay to IPv6
	192.168.0.0/16 a private network
	198.18.0.0/15 for benchmarks
	198.51.100.0/24 for documentation
	203.0.113.0/24 for documentation
	224.0.0.0/4 multicast
	240.0.0.0/4 reserved
	::/128 no address
	::1/128 this machine
	64:ff9b::/96 a translation to IPv4
	64:ff9b:1::/48 a translation to IPv4
	100::/64 discarded
	2001::/23 reserved for protocols
	2001:db8::/32 for documentation
	2002::/16 a tunnel to IPv4
	3fff::/20 for documentation
	fc00::/7 a private network
	fe80::/10 link-local
	fec0::/10 a private network
	ff00::/8 multicast`)

// global is the only part of IPv6 that has public addresses.
var global = netip.MustParsePrefix("2000::/3")

func parseNetworks(table string) []network {
	var list []network
	for line := range strings.Lines(table) {
		if prefix, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			list = append(list, network{netip.MustParsePrefix(prefix), what})
		}
	}
	return list
}

// Private says why an address is not one of the public network, or "" if it is. An IPv4 address in an IPv6
// address counts as itself, and a zone does not count.
func Private(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	for _, n := range networks {
		if n.prefix.Contains(a) {
			return fmt.Sprintf("%s (%s)", n.prefix, n.what)
		}
	}
	if a.Is4() || global.Contains(a) {
		return ""
	}
	return "outside " + global.String() + " (not public)"
}

// allowList are addresses and hosts that an operator allows although they are private.
type allowList struct {
	prefixes []netip.Prefix
	hosts    map[string]bool
}

func parseAllow(entries []string) (*allowList, error) {
	l := &allowList{hosts: map[string]bool{}}
	for _, e := range entries {
		if p, err := netip.ParsePrefix(e); err == nil {
			if p != p.Masked() {
				return nil, fmt.Errorf("fetch: Config.Allow: %q has bits behind its prefix; write %q", e, p.Masked())
			}
			l.prefixes = append(l.prefixes, p)
			continue
		}
		if a, err := netip.ParseAddr(strings.Trim(e, "[]")); err == nil {
			a = a.Unmap().WithZone("")
			l.prefixes = append(l.prefixes, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		if e == "" || strings.ContainsAny(e, "/:*@ ") || likeNumber(e) {
			return nil, fmt.Errorf("fetch: Config.Allow: %q is no host, no address and no prefix such as 10.1.0.0/16; write "+
				"one without scheme, port and wildcard", e)
		}
		l.hosts[canonical(e)] = true
	}
	return l, nil
}

func (l *allowList) has(host string, a netip.Addr) bool {
	if l.hosts[canonical(host)] {
		return true
	}
	for _, p := range l.prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// canonical is a host name in the form in which two spellings are equal.
func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// likeNumber reports whether a host is meant as an IPv4 address, which some resolvers read in forms such as 127.1,
// 0x7f000001 and 0177.0.0.1: its last label is a number (WHATWG URL, "ends in a number").
func likeNumber(host string) bool {
	host = canonical(host)
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// DeniedError is the error of a connection that is not allowed.
type DeniedError struct {
	Host string         // as the URL has it
	Addr netip.AddrPort // what it resolved to
	Rule string         // the range of the address, and what it is for
}

// Error names the host, the address and the rule, and what the operator can allow.
func (e *DeniedError) Error() string {
	a := e.Addr.Addr().Unmap().WithZone("")
	from := ""
	if e.Host != a.String() {
		from = fmt.Sprintf("%s is %s: ", e.Host, a)
	}
	return fmt.Sprintf("%sthe address %s is private: %s; the operator can allow %q, or the host %q", from, a, e.Rule,
		netip.PrefixFrom(a, a.BitLen()), e.Host)
}
