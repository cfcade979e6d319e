package verify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// lampNet is lit at any time, tells so, and goes out after a second.
func lampNet(t *testing.T) *petri.Program {
	t.Helper()
	on, off, told := petri.Place[petri.Unit]("on"), petri.Place[petri.Unit]("off"), petri.Place[petri.Unit]("told")
	p, err := petri.Compile(&petri.Net{Name: "lamp", Init: []petri.Token{off.Token(petri.Unit{})},
		Out: []petri.Output{{Place: told}}, Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{off}, When: petri.Anytime(), Out: petri.And(on, told)},
			{Name: "darken", In: petri.Arcs{on}, When: petri.After(time.Second), Out: petri.And(off)},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMove: a claim about moves is proved, or refuted by a run that ends with the move.
func TestMove(t *testing.T) {
	pass, err := verify.NewPass(lampNet(t), verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		move claim.Move
		ends string // the refuting run's last firing; "" if it is proved
	}{
		{claim.Move{On: []string{"light"}, From: "off", Does: []string{"+told", "!darken"}, Then: "on && !off"}, ""},
		{claim.Move{On: []string{"darken"}, Then: "on"}, "darken"},
		{claim.Move{On: []string{"light"}, From: "on"}, "light"},
		{claim.Move{On: []string{"+told"}, Does: []string{"darken|light"}}, ""},
		{claim.Move{On: []string{"+off"}, Does: []string{"+told"}}, "darken"},
		{claim.Move{On: []string{"light"}, Does: []string{"!+told"}}, "light"},
		{claim.Move{Changed: "on", Does: []string{"+told|darken"}}, ""},
		{claim.Move{Changed: "on", Does: []string{"+told"}}, "darken"},
		{claim.Move{When: "on", Keeps: []string{"off"}}, "darken"},
		{claim.Move{When: "on && off", Then: "dark"}, ""},
		{claim.Move{On: []string{"light"}, Then: "!nowhere && !can(nothing) && !nowhere[red]"}, ""},
	} {
		c.move.Name = "claim"
		v, err := verify.EachMove(c.move).Check(context.Background(), pass)
		if err != nil {
			t.Fatal(err)
		}
		last := ""
		if v.Outcome == verify.Refuted {
			last = v.Witness.Firings[len(v.Witness.Firings)-1].Name
		}
		if last != c.ends || c.ends == "" && v.Outcome != verify.Proved {
			t.Errorf("%+v is %s: %s, by %q", c.move, v.Outcome, v.Reason, last)
		}
	}
}

// TestMoveStrict: a misspelt name is found, wherever it stands.
func TestMoveStrict(t *testing.T) {
	m := netmodel.New(lampNet(t), netmodel.RunToCompletion)
	good := claim.Move{On: []string{"light"}, When: "off",
		Does: []string{"+told", "!darken|light"}, Keeps: []string{"on"}}
	if err := good.Strict(m); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]claim.Move{
		"lihgt": {On: []string{"lihgt"}}, "of": {When: "of"}, "tld": {Does: []string{"+tld"}},
		"onn": {Keeps: []string{"onn"}},
		"chg": {Changed: "chg"}, "frm": {From: "frm"}, "thn": {Then: "can(thn)"},
	} {
		if err := bad.Strict(m); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not found: %v", name, err)
		}
	}
}

// TestWaits: how long a timer waits is proved, or refuted by a run in which it fires at another
// time.
func TestWaits(t *testing.T) {
	pass, err := verify.NewPass(lampNet(t), verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for wait, want := range map[time.Duration]verify.Outcome{time.Second: verify.Proved, 2 * time.Second: verify.Refuted} {
		v, err := verify.Waits("darken", wait).Check(context.Background(), pass)
		if err != nil || v.Outcome != want {
			t.Errorf("%v: %s (%s) %v, want %s", wait, v.Outcome, v.Reason, err, want)
		}
	}
}
