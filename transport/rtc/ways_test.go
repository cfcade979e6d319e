package rtc

import (
	"fmt"
	"strings"
	"testing"
)

func candidate(address string, port int) string {
	return fmt.Sprintf("candidate:1 1 udp 2130706431 %s %d typ host", address, port)
}

// TestWaysLeadNowhereElse: what a caller names is tried only where it can be no one else's network.
func TestWaysLeadNowhereElse(t *testing.T) {
	t.Parallel()
	const public, lan, own = "203.0.113.9", "192.168.1.9", "127.0.0.1"
	for _, tt := range []struct {
		name        string
		cfg         Config
		taken, none []string
	}{
		{"here", Config{Listen: "127.0.0.1:0"}, []string{own, "::1", "8.8.8.8"}, []string{lan, "fe80::1", "0.0.0.0"}},
		{"everywhere", Config{Listen: ":3478"}, []string{"8.8.8.8", "2600::1"}, []string{own, lan, "10.1.2.3", "172.16.0.1",
			"169.254.169.254", "100.64.0.1", "fd00::1", "fe80::1", "::1", "::", "0.0.0.0", "0.1.2.3", "224.0.0.1", "ff02::1",
			"255.255.255.255", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "name.local", "example.com", "1", ""}},
		{"in a network", Config{Listen: "192.168.1.5:0"}, []string{lan, "8.8.8.8", "fd00::1", "fe80::1"},
			[]string{own, "224.0.0.1"}},
		{"allowed", Config{Listen: "0.0.0.0:0", PrivateCandidates: true}, []string{lan, "100.64.0.1", "8.8.8.8"},
			[]string{own, "0.0.0.0"}},
		{"at a public address", Config{Listen: public + ":0"}, []string{"8.8.8.8"}, []string{own, lan}},
	} {
		w := newWays(tt.cfg)
		for _, a := range tt.taken {
			if !w.take(candidate(a, 5000)) {
				t.Errorf("%s: %s is not tried", tt.name, a)
			}
		}
		for _, a := range tt.none {
			if w.take(candidate(a, 5000)) {
				t.Errorf("%s: %s is tried", tt.name, a)
			}
		}
	}
	w := newWays(Config{Listen: ":0"})
	for _, c := range []string{"candidate:1 1 tcp 1 8.8.8.8 9 typ host tcptype active",
		"candidate:1 2 udp 1 8.8.8.8 9 typ host",
		"candidate:1 1 udp 1 8.8.8.8 0 typ host", "candidate:1 1 udp 1 8.8.8.8 99999 typ host", "candidate:1 1 udp", ""} {
		if w.take(c) {
			t.Errorf("%q is tried", c)
		}
	}
}

// TestWaysAreFew: an offer of many candidates, and restarts without end, have packets sent to few
// addresses.
func TestWaysAreFew(t *testing.T) {
	t.Parallel()
	w := newWays(Config{Listen: ":0"})
	var offer strings.Builder
	for i := range 230 {
		fmt.Fprintf(&offer, "a=%s\r\n", candidate("8.8.8.8", 1000+i))
	}
	kept := w.filter("v=0\r\n" + offer.String() + "a=end-of-candidates\r\n")
	if n := strings.Count(kept, "a=candidate:"); n != CandidatesMax || !strings.HasPrefix(kept, "v=0\r\na=cand") ||
		!strings.HasSuffix(kept, "a=end-of-candidates\r\n") {
		t.Errorf("%d candidates are left in %q", n, kept)
	}
	if !w.take(candidate("8.8.8.8", 1000)) || w.take(candidate("8.8.8.8", 9)) {
		t.Error("one that is tried counts again, or one too many is tried")
	}
	for i := range RestartsMax {
		w.restart()
		for j := range CandidatesMax {
			w.take(candidate("8.8.4.4", 1000+i*CandidatesMax+j))
		}
	}
	if len(w.tried) != CallWaysMax {
		t.Errorf("%d addresses were tried in one call, want %d", len(w.tried), CallWaysMax)
	}
}

// FuzzCandidates: whatever an offer says, few candidates are left in it, and all lead to the public
// Internet.
func FuzzCandidates(f *testing.F) {
	f.Add("v=0\r\na=" + candidate("10.0.0.1", 1) + "\r\na=" + candidate("8.8.8.8", 1) + "\r\n")
	f.Add("a=x\ra=" + candidate("10.0.0.1", 1) + "\n")
	f.Fuzz(func(t *testing.T, offer string) {
		kept := newWays(Config{Listen: ":0"}).filter(offer)
		seen := map[string]bool{}
		for line := range strings.Lines(kept) {
			if c, ok := strings.CutPrefix(line, "a=candidate:"); ok {
				at, ok := addressOf(c)
				if !ok || !public(at.Addr()) {
					t.Errorf("%q is left", line)
				}
				seen[at.String()] = true
			}
		}
		if len(seen) > CandidatesMax {
			t.Errorf("%d addresses are left", len(seen))
		}
	})
}
