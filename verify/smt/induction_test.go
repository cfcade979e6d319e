//go:build z3

package smt

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
)

// TestInduction: the answers are those of the other methods.
func TestInduction(t *testing.T) {
	needSolvers(t)
	leaves := &petri.Net{Name: "leaves", Imported: true, Init: many("q", 1), Transitions: []petri.Transition{
		anytime("leave", arcs("q"), arcs("p"))}}
	for _, x := range []struct {
		name string
		c    Config
		net  *petri.Net
		expr string
		want verify.Outcome
	}{
		{"budget for every K", budget(), voice(1), "INFLIGHT > K", verify.Proved},
		{"one less", budget(), voice(1), "INFLIGHT + 1 > K", verify.Unknown},
		{"window for every K", window(), playout(3), "unacked > K", verify.Proved},
		{"window exceeded", window(), playout(3), "unacked + 1 > K", verify.Unknown},
		{"mutex", Config{}, voice(4), "SPEAK && BARGE", verify.Proved},
		{"no deadlock, in several steps", Config{}, voice(2), "dead", verify.Proved},
		{"too hard: an invariant over unbounded turns", Config{}, freshness(true), "old", verify.Unknown},
		{"old results if what was picked stays", Config{}, freshness(false), "old", verify.Refuted},
		{"only at the start", Config{}, leaves, "q", verify.Refuted},
		{"wrong bound", Config{}, voice(2), "INFLIGHT > 1", verify.Refuted},
		{"right bound", Config{}, voice(2), "INFLIGHT > 2", verify.Proved},
	} {
		t.Run(x.name, func(t *testing.T) {
			var cert *Certificate
			p := compile(t, x.net)
			c := x.c
			c.Keep = func(found *Certificate) { cert = found }
			r := run(t, p, c.Induction(x.expr, 8))
			if r.Outcome != x.want || (r.Outcome == verify.Refuted) == (r.Method == induction) {
				t.Errorf("%s by %s: %s", r.Outcome, r.Method, r.Reason)
			}
			if (r.Outcome == verify.Refuted) != (r.Witness != nil) {
				t.Errorf("%s, witness %v: only a run refutes", r.Outcome, r.Witness)
			}
			t.Log(r.Reason)
			if (cert != nil) != (r.Outcome == verify.Proved) {
				t.Fatalf("%s, certificate %v", r.Outcome, cert)
			}
			if cert != nil {
				checkSteps(t, x.c, p, x.expr, cert)
			}
		})
	}
}

// checkSteps: everybody takes the certificate of an induction, and nobody one with a step less.
func checkSteps(t *testing.T, c Config, p *petri.Program, expr string, cert *Certificate) {
	t.Helper()
	b, err := cert.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = ReadCertificate(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkCert(t, c, p, expr, cert), inProcess(t, c, p, expr, cert)); err != nil || cert.Steps == 0 {
		t.Errorf("%d steps: %v", cert.Steps, err)
	}
	cert.Steps--
	if cert.Steps == 0 {
		return // the invariant may be enough
	}
	if err := checkCert(t, c, p, expr, cert); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("by a process, one step less: %v", err)
	}
	if err := inProcess(t, c, p, expr, cert); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("by the library, one step less: %v", err)
	}
}

// TestVoiceInduction: the budget of a session for every K.
func TestVoiceInduction(t *testing.T) {
	needSolvers(t)
	for name, p := range sessions(t, 20) {
		r := run(t, p, frames().Induction("unacked > K", 1))
		if r.Outcome != verify.Proved || r.Method != induction {
			t.Errorf("%s: %s by %s: %s", name, r.Outcome, r.Method, r.Reason)
		}
	}
}

// TestVoiceInductionFails: no bound of one less, and none where the budget is not looked at, on the
// part of a session that hands frames over.
func TestVoiceInductionFails(t *testing.T) {
	needSolvers(t)
	whole := sessions(t, 3)["gateway VAD"]
	for name, keep := range map[string][]string{
		"playout": {"session/playout"}, "frames alone": {"send_frame", "play_again", "return_budget"},
	} {
		p, err := slice.Slice{Name: name, Keep: keep}.Of(whole)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, p, frames().Induction("unacked > K", 1))
		if r.Outcome != verify.Proved || r.Method != induction {
			t.Errorf("%s: %s by %s: %s", name, r.Outcome, r.Method, r.Reason)
		}
		// One step proves the right bound, and then no other.
		r = run(t, p, frames().Induction("unacked + 1 > K", 1))
		if r.Outcome != verify.Unknown || !strings.Contains(r.Reason, "1 steps are not enough") {
			t.Errorf("%s, one less: %s: %s", name, r.Outcome, r.Reason)
		}
		forgot := frames()
		forgot.Params[0].Thresholds = forgot.Params[0].Thresholds[:1]
		r = run(t, p, forgot.Induction("unacked > K", 1))
		if r.Outcome != verify.Unknown || !strings.Contains(r.Reason, "1 steps are not enough") {
			t.Errorf("%s, forgotten: %s: %s", name, r.Outcome, r.Reason)
		}
	}
}

// TestSteps: one step is not enough for what takes more.
func TestSteps(t *testing.T) {
	needSolvers(t)
	p := compile(t, voice(2))
	r := run(t, p, Config{}.Induction("dead", 1))
	if r.Outcome != verify.Unknown || r.Cause != verify.Solver || !strings.Contains(r.Reason, "1 steps") {
		t.Errorf("one step: %s: %s", r.Outcome, r.Reason)
	}
	// The process that confirms a proof does not confirm one that ends too soon.
	e, err := newEncoder(netmodel.New(p, netmodel.RunToCompletion), netmodel.RunToCompletion, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.keepAll()
	s, err := e.system("dead")
	if err != nil {
		t.Fatal(err)
	}
	by, err := Config{}.second(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]bool{1: false, 4: true} {
		script, names := s.unroll(proof{s.invariants(), k})
		if err := by.refute(context.Background(), script, names); (err == nil) != want {
			t.Errorf("%d steps: %v", k, err)
		}
	}
}

// TestInductionUnknown: what cannot be told is not told.
func TestInductionUnknown(t *testing.T) {
	needSolvers(t)
	open := &petri.Net{Name: "open", Env: []petri.Env{{Place: unit("in")}}, Transitions: []petri.Transition{
		{Name: "take", In: arcs("in"), Out: petri.And(unit("out"))}, {Name: "go", In: arcs("out"), When: petri.After(1)}}}
	if r := run(t, compile(t, open), Config{}.Induction("out > 1", 4)); r.Cause != verify.OpenEnv {
		t.Errorf("open: %s, %s: %s", r.Outcome, r.Cause, r.Reason)
	}
	p := compile(t, voice(2))
	alone := Config{Z3: "none", CVC5: "none"}
	if r := run(t, p, alone.Induction("INFLIGHT > 2", 4)); r.Outcome != verify.Unknown || r.Cause != verify.Solver {
		t.Errorf("unconfirmed: %s, %s: %s", r.Outcome, r.Cause, r.Reason)
	}
	hasty := Config{Timeout: 1}
	if r := run(t, p, hasty.Induction("INFLIGHT > 2", 4)); r.Outcome != verify.Unknown || r.Cause != verify.Solver {
		t.Errorf("hasty: %s, %s: %s", r.Outcome, r.Cause, r.Reason)
	}
	for _, depth := range []int{0, inductionMax + 1} {
		prop := Config{}.Induction("INFLIGHT > 2", depth)
		if _, err := verify.Run(context.Background(), p, verify.Config{}, prop); err == nil {
			t.Errorf("depth %d", depth)
		}
	}
	if _, err := verify.Run(context.Background(), p, verify.Config{}, Config{}.Induction("nowhere > 2", 1)); err == nil {
		t.Error("no such place")
	}
}
