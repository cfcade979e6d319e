package stateclass

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestCertifyTimes: of random nets with an environment, the times that were measured are certified,
// and the checker takes no certificate of times one nanosecond tighter.
func TestCertifyTimes(t *testing.T) {
	within, after := 0, 0
	for seed := uint64(1); (within < 15 || after < 6) && seed < 6000; seed++ {
		k := maker{rand.New(rand.NewPCG(seed, 23))}
		p, err := closeWith(k.coloured(), hand())
		if err != nil {
			continue
		}
		m := netmodel.New(p, netmodel.RunToCompletion)
		event := func() string {
			t := p.Transitions()[k.r.IntN(len(p.Transitions()))].Name
			return []string{t, "+" + p.Places()[0].Name, "-" + p.Places()[0].Name, "+x", "-x"}[k.r.IntN(5)]
		}
		start, stop := event(), event()
		e, g, err := Measure(context.Background(), m, observer(start, stop, 50), Options{Max: 800})
		if err != nil || !g.Complete || !e.Stopped || len(g.Faults) > 0 {
			continue
		}
		about := fmt.Sprintf("seed %d: %s after %s, %v", seed, stop, start, e)
		if !e.Overdue {
			within++
			certifies(t, about, p, Within(start, stop, e.Most, Options{}), verify.Proved)
			if e.Most > 0 {
				certifies(t, about, p, Within(start, stop, e.Most-1, Options{}), verify.Refuted)
			}
		}
		for _, least := range []time.Duration{max(e.Least, 1), e.Least + 1} {
			// Whoever waits longer than that is watched anew from the next start on, which may be
			// sooner than the first.
			prop := NotBefore(start, stop, least, Options{})
			seen, _, err := Measure(context.Background(), m, prop.Claim.(claim.Watch).Observer, Options{Max: 3000})
			if err != nil {
				t.Fatal(err)
			}
			if want := verify.Proved; !seen.Stopped || seen.Least >= least {
				after++
				certifies(t, about, p, prop, want)
			} else {
				certifies(t, about, p, prop, verify.Refuted)
			}
		}
		if t.Failed() {
			return
		}
	}
	if within < 15 || after < 6 {
		t.Errorf("only %d longest and %d shortest times", within, after)
	}
}

// TestFramesAreNoEvents: frames move without a trace, so nothing can be said of when they do.
func TestFramesAreNoEvents(t *testing.T) {
	n := &petri.Net{Name: "line", Ports: []petri.AnyPlace{unit("frame")}, Init: tokens("open"),
		Env: []petri.Env{{Place: unit("frame"), Capacity: 2, Policy: petri.DropOldest}},
		Out: []petri.Output{{Place: unit("sent")}}, Transitions: []petri.Transition{
			{Name: "send", In: petri.Arcs{unit("frame")}, Read: arcs("open"), Out: and("sent")},
			tr("shut", petri.After(time.Second), "open -> "),
		}}
	m := modelOf(t, n, netmodel.RunToCompletion)
	for _, event := range []string{"send", "-frame"} {
		_, err := m.Observe(netmodel.Observer{Name: "o", Start: []string{"start"}, Stop: []string{event}, Limit: time.Second})
		if err == nil || !strings.Contains(err.Error(), "no event") {
			t.Errorf("%s is observed: %v", event, err)
		}
	}
}

// certifies makes a certificate of a claim about time, true or not, and expects the checker to take
// it only if it is.
func certifies(t *testing.T, about string, p *petri.Program, prop *verify.Property, want verify.Outcome) {
	t.Helper()
	m := netmodel.New(p, netmodel.RunToCompletion)
	_, g, err := Measure(context.Background(), m, prop.Claim.(claim.Watch).Observer, Options{Max: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if !g.Complete {
		return
	}
	c, err := g.Certify(prop.Claim)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	again, err := check.ReadCertificate(c.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	err = again.Check(context.Background(), m, prop.Claim)
	if want == verify.Proved && err != nil || want == verify.Refuted && !errors.Is(err, check.ErrCertificate) {
		t.Errorf("%s: %s, %s: %v", about, prop.Name, want, err)
	}
}

// TestCertifiedTimes: with Certify a proof about time carries its certificate, which is one of no
// other claim, net or observer.
func TestCertifiedTimes(t *testing.T) {
	ctx := context.Background()
	core, finger := race()
	p, err := closeWith(core, finger)
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	soon, late := Within("start", "stay late", 20*ms, Options{}), NotBefore("start", "expire", 10*ms, Options{})
	relaxed := NotBefore("start", "expire", 10*ms, Options{Relax: true, Keep: []string{"expire"}})
	r, err := verify.Run(ctx, p, verify.Config{Certify: true}, soon, late, relaxed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome != verify.Proved || v.Certificate == nil {
			t.Fatalf("%s: %s (%s), certificate %v", v.Property.Name, v.Outcome, v.Reason, v.Certificate != nil)
		}
	}
	m := netmodel.New(p, netmodel.RunToCompletion)
	c := r.Results[0].Certificate
	other := Within("start", "stay late", 19*ms, Options{})
	for name, err := range map[string]error{
		"another limit":     c.Check(ctx, m, other.Claim),
		"another claim":     c.Check(ctx, m, late.Claim),
		"of two":            c.Check(ctx, m, soon.Claim, late.Claim),
		"a forged limit":    forged(c, other).Check(ctx, m, other.Claim),
		"another's classes": r.Results[1].Certificate.Check(ctx, m, soon.Claim),
	} {
		if !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// forged says that a certificate claims something else.
func forged(c *check.Certificate, p *verify.Property) *check.Certificate {
	f := *c
	f.Claims = []string{p.Claim.Text()}
	return &f
}
