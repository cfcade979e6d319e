package fetch

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// edges are, for each range, whether addresses at and beside its ends are private.
func edges() map[string]bool {
	return map[string]bool{"0.255.255.255": true, "1.0.0.0": false, "9.255.255.255": false, "10.0.0.0": true,
		"10.255.255.255": true, "11.0.0.0": false, "100.63.255.255": false, "100.64.0.0": true, "100.127.255.255": true,
		"100.128.0.0": false, "126.255.255.255": false, "127.0.0.0": true, "127.255.255.255": true, "128.0.0.0": false,
		"169.253.255.255": false, "169.254.0.0": true, "169.255.0.0": false, "172.15.255.255": false, "172.16.0.0": true,
		"172.31.255.255": true, "172.32.0.0": false, "192.0.0.255": true, "192.0.1.0": false, "192.0.2.255": true,
		"192.88.99.1": true, "192.88.100.0": false, "192.167.255.255": false, "192.168.0.0": true, "192.169.0.0": false,
		"198.17.255.255": false, "198.18.0.0": true, "198.19.255.255": true, "198.20.0.0": false, "198.51.100.9": true,
		"203.0.113.9": true, "223.255.255.255": false, "224.0.0.0": true, "240.0.0.0": true, "255.255.255.255": true,
		"::": true, "::1": true, "::2": true, "::8.8.8.8": true, "::ffff:8.8.8.8": false, "::ffff:10.0.0.1": true,
		"::ffff:0:8.8.8.8": true, "64:ff9b::808:808": true, "64:ff9b:1::1": true, "100::1": true, "1fff::1": true,
		"2001::1": true, "2001:1ff::1": true, "2001:200::1": false, "2001:db8::1": true, "2001:db9::1": false,
		"2002::1": true, "2003::1": false, "3fff:fff::1": true, "2606:4700::1111": false, "4000::1": true, "5f00::1": true,
		"fc00::1": true, "fdff::1": true, "fe80::1%eth0": true, "fec0::1": true, "ff02::1": true}
}

func TestEdges(t *testing.T) {
	for s, want := range edges() {
		if rule := Private(netip.MustParseAddr(s)); (rule != "") != want {
			t.Errorf("%s: private is %t: %q", s, !want, rule)
		}
	}
}

// spelled are texts of an address, as a resolver or a URL may have them.
func spelled(a netip.Addr) []string {
	list := []string{a.String(), a.StringExpanded(), strings.ToUpper(a.StringExpanded())}
	if a.Is4() {
		b := a.As4()
		n := binary.BigEndian.Uint32(b[:])
		list = append(list, "::ffff:"+a.String(), fmt.Sprintf("::ffff:%x:%x", n>>16, n&0xffff),
			fmt.Sprintf("0:0:0:0:0:FFFF:%X:%X", n>>16, n&0xffff))
	}
	for _, s := range list[1:] {
		if strings.Contains(s, ":") {
			list = append(list, s+"%eth0", s+"%1")
		}
	}
	return list
}

// FuzzPrivate holds that an address which is denied is denied in every spelling, that one which netip does not
// call global unicast is denied, and that one that leads to a denied IPv4 address is denied, too.
func FuzzPrivate(f *testing.F) {
	for s := range edges() {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	allow, err := parseAllow(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		rule := Private(a)
		for _, s := range spelled(a) {
			one, err := netip.ParseAddr(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := Private(one); got != rule {
				t.Errorf("%s: %q, but %s: %q", a, rule, s, got)
			}
			err = checkDial(allow, "x", "tcp", netip.AddrPortFrom(one, 80).String())
			if (err == nil) != (rule == "") {
				t.Errorf("%s: the rule is %q, and a dial gives %v", s, rule, err)
			}
		}
		plain := a.Unmap()
		if rule == "" && (!plain.IsGlobalUnicast() || plain.IsPrivate() || plain.IsLoopback()) {
			t.Errorf("%s is taken for public", a)
		}
		if a.Is4() {
			four := a.As4()
			for _, prefix := range []string{"64:ff9b::", "::", "2002::"} {
				in := netip.MustParseAddr(prefix).As16()
				copy(in[12:], four[:])
				if prefix == "2002::" {
					copy(in[2:], four[:])
				}
				if six := netip.AddrFrom16(in); Private(six) == "" {
					t.Errorf("%s leads to %s", six, a)
				}
			}
		}
	})
}

// FuzzURL holds that a URL which is accepted has no user, and a host that all resolvers read alike.
func FuzzURL(f *testing.F) {
	for _, s := range append(spellings(), "https://example.com/a?b#c", "http://a@b", "http://0x7f.1", "//x") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := CheckURL(s)
		if err != nil {
			return
		}
		if u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			t.Errorf("%q is accepted as %v", s, u)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil && likeNumber(u.Hostname()) {
			t.Errorf("%q has the host %q", s, u.Hostname())
		}
	})
}
