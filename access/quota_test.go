package access

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/voicegw/voicegw/transport"
)

func TestLimits(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Secrets: [][]byte{secret}, Address: Limits{Calls: 3, CallsPerMinute: 6},
		Tenant: Limits{Calls: 2}, Tenants: map[string]Limits{"big": {Calls: 100}}})
	check := func(remote string, change func(*Claims)) (*Grant, error) {
		return g.Check(t.Context(), from(remote, token(t, c, change)))
	}
	big := func(cl *Claims) { cl.Tenant = "big" }
	one := func(cl *Claims) { cl.Tenant, cl.Subject, cl.Limits = "big", "ann", Limits{Calls: 1} }

	var grants []*Grant
	take := func(remote string, change func(*Claims)) {
		t.Helper()
		grant, err := check(remote, change)
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, grant)
	}
	deny := func(remote string, change func(*Claims), who string) {
		t.Helper()
		_, err := check(remote, change)
		if r := refused(t, err, transport.ReasonLimit); !strings.Contains(err.Error(), who) || r.RetryAfter < time.Second {
			t.Errorf("%v, retry after %v; want that it is for %s", err, r.RetryAfter, who)
		}
	}
	take("192.0.2.1", nil)
	take("192.0.2.2", nil)
	deny("192.0.2.3", nil, "tenant has reached its limit of calls")
	take("192.0.2.1", one)
	deny("192.0.2.4", one, "subject has reached its limit of calls")
	take("192.0.2.1", big)
	deny("192.0.2.1", big, "address has reached its limit of calls")
	for _, grant := range grants {
		grant.Release()
		grant.Release() // counts once
	}
	for range 3 { // of six a minute, three are left
		take("192.0.2.1", big)
		grants[len(grants)-1].Release()
	}
	deny("192.0.2.1", big, "address has reached its limit of rate")
	c.pass(10 * time.Second)
	take("192.0.2.1", big)
	deny("192.0.2.1", big, "address has reached its limit of rate")
	grants[len(grants)-1].Release()
	c.pass(time.Minute)
	g.mu.Lock()
	g.quotas.sweep(c.t)
	g.mu.Unlock()
	if s := g.Stats(); s.Running != 0 || s.Quotas != 0 || s.Admitted != 8 {
		t.Errorf("left behind: %+v", s)
	}
}

// TestAddresses: one IPv6 network is one address, and so is an IPv4 address however it is written.
func TestAddresses(t *testing.T) {
	for _, same := range [][]string{
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:2::1%eth0"},
	} {
		for _, a := range same {
			if transport.Network(a) != transport.Network(same[0]) {
				t.Errorf("%s counts as %s, %s as %s", a, transport.Network(a), same[0], transport.Network(same[0]))
			}
		}
	}
	if transport.Network("2001:db8:1:2::1") == transport.Network("2001:db8:1:3::1") ||
		transport.Network("192.0.2.1") == transport.Network("192.0.2.2") {
		t.Error("two networks count as one")
	}
	c := newClock()
	g := guard(t, c, Config{Address: Limits{Calls: 1}})
	for range 3 {
		if _, err := g.Check(t.Context(), from("", "")); err != nil {
			t.Errorf("without an address: %v", err)
		}
	}
}

// TestFloodOfAddresses: there is room for so many and no more, and room again when they are idle.
func TestFloodOfAddresses(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Address: Limits{Calls: 1, CallsPerMinute: 60}, QuotasMax: 100})
	for i := range 100 {
		grant, err := g.Check(t.Context(), from(fmt.Sprintf("192.0.2.%d", i), ""))
		if err != nil {
			t.Fatal(err)
		}
		grant.Release()
	}
	_, err := g.Check(t.Context(), from("198.51.100.1", ""))
	refused(t, err, transport.ReasonBusy)
	c.pass(2 * time.Second)
	if _, err := g.Check(t.Context(), from("198.51.100.1", "")); err != nil {
		t.Error(err)
	}
	if s := g.Stats(); s.Quotas != 1 {
		t.Errorf("%d quotas are counted", s.Quotas)
	}
}

func TestBytes(t *testing.T) {
	c := newClock()
	g := guard(t, c, Config{Tenant: Limits{BytesPerMinute: 6000}})
	grant, err := g.Check(t.Context(), from("192.0.2.1", ""))
	if err != nil {
		t.Fatal(err)
	}
	spent := 0
	for grant.Spend(10) {
		spent += 10
	}
	if spent != 6000 {
		t.Errorf("%d bytes were spent at once", spent)
	}
	_, err = g.Check(t.Context(), from("192.0.2.2", ""))
	if refused(t, err, transport.ReasonLimit); !strings.Contains(err.Error(), "bytes") {
		t.Error(err)
	}
	c.pass(10 * time.Second)
	spent = 0
	for grant.Spend(10) {
		spent += 10
	}
	if spent < 900 || spent > 1000 {
		t.Errorf("%d bytes were spent after ten seconds", spent)
	}
	c.pass(time.Hour)
	grant.Release()
	if grant.Spend(5000) {
		t.Error("a call that is over spends")
	}
}

// TestGuardModel plays random calls against a guard and a list of those that run.
func TestGuardModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		limits := func(name string) Limits {
			return Limits{Calls: rapid.IntRange(0, 3).Draw(rt, name),
				CallsPerMinute: rapid.IntRange(0, 4).Draw(rt, name+" rate")}
		}
		a, te := limits("address"), limits("tenant")
		g, err := New(Config{Address: a, Tenant: te, Secrets: [][]byte{secret}, Now: c.now})
		if err != nil {
			rt.Fatal(err)
		}
		type call struct {
			grant          *Grant
			remote, tenant string
		}
		var running []call
		count := func(remote, tenant string) (r, n int) {
			for _, k := range running {
				if k.remote == remote {
					r++
				}
				if k.tenant == tenant {
					n++
				}
			}
			return r, n
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				c.pass(time.Duration(rapid.IntRange(0, 40).Draw(rt, "pass")) * time.Second)
			case 1:
				if len(running) > 0 {
					i := rapid.IntRange(0, len(running)-1).Draw(rt, "end")
					running[i].grant.Release()
					running = append(running[:i], running[i+1:]...)
				}
			default:
				remote := rapid.SampledFrom([]string{"192.0.2.1", "192.0.2.2"}).Draw(rt, "remote")
				tenant := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "tenant")
				tok, err := Mint(secret, Claims{ID: ids(), Expiry: c.in(time.Minute), Tenant: tenant})
				if err != nil {
					rt.Fatal(err)
				}
				grant, err := g.Check(t.Context(), from(remote, tok))
				r, n := count(remote, tenant)
				full := a.Calls > 0 && r >= a.Calls || te.Calls > 0 && n >= te.Calls
				switch {
				case err == nil && full:
					rt.Fatalf("a call too many: %d of the address, %d of the tenant", r, n)
				case err != nil && !full && a.CallsPerMinute == 0 && te.CallsPerMinute == 0:
					rt.Fatalf("refused without need: %v", err)
				case err == nil:
					running = append(running, call{grant, remote, tenant})
				}
			}
		}
		if s := g.Stats(); s.Running != len(running) {
			rt.Fatalf("%d run, %d are counted", len(running), s.Running)
		}
		for _, k := range running {
			k.grant.Release()
		}
		c.pass(2 * time.Minute)
		g.mu.Lock()
		g.quotas.sweep(c.t)
		g.mu.Unlock()
		if s := g.Stats(); s.Quotas != 0 {
			rt.Fatalf("permits are stranded: %+v", s)
		}
	})
}

// TestGuardTogether lets many call at once: no limit is exceeded at any time.
func TestGuardTogether(t *testing.T) {
	g, err := New(Config{Address: Limits{Calls: 3}, Tenant: Limits{Calls: 5, BytesPerMinute: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now, most := 0, 0
	var callers sync.WaitGroup
	for i := range 50 {
		callers.Go(func() {
			for range 20 {
				grant, err := g.Check(t.Context(), from(fmt.Sprintf("192.0.2.%d", i%10), ""))
				if err != nil {
					continue
				}
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				grant.Spend(1 << 20)
				mu.Lock()
				now--
				mu.Unlock()
				grant.Release()
			}
		})
	}
	callers.Wait()
	if s := g.Stats(); most > 5 || most == 0 || s.Running != 0 {
		t.Errorf("%d calls at one time; %+v", most, s)
	}
}

func TestSpendAllocatesNothing(t *testing.T) {
	g, err := New(Config{Address: Limits{BytesPerMinute: 1 << 40}, Tenant: Limits{BytesPerMinute: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := g.Check(t.Context(), from("192.0.2.1", ""))
	if err != nil {
		t.Fatal(err)
	}
	grant.Spend(1)
	if n := testing.AllocsPerRun(1000, func() { grant.Spend(640) }); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}

func BenchmarkSpend(b *testing.B) {
	g, err := New(Config{Address: Limits{BytesPerMinute: 1 << 40}, Tenant: Limits{BytesPerMinute: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	grant, err := g.Check(b.Context(), from("192.0.2.1", ""))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		grant.Spend(640)
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, cfg := range map[string]Config{
		"open":  {Address: Limits{Calls: 10}, Tenant: Limits{Calls: 10}},
		"token": {Address: Limits{Calls: 10}, Tenant: Limits{Calls: 10}, Secrets: [][]byte{secret}, Reuse: true},
	} {
		b.Run(name, func(b *testing.B) {
			g, err := New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			tok, err := Mint(secret, Claims{ID: "x", Expiry: time.Now().Add(time.Hour)})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				grant, err := g.Check(b.Context(), from("192.0.2.1", tok))
				if err != nil {
					b.Fatal(err)
				}
				grant.Release()
			}
		})
	}
}
