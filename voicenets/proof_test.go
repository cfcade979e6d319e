package voicenets

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

var update = flag.Bool("update", false, "write the certificates anew")

// variants are sessions that gateways run.
func variants() map[string]Config {
	list := baseVariants()
	list["zero"] = Config{}
	list["everything"] = everything()
	list["all prompts"] = Config{Detection: Server, Prompts: everyPrompt(), Consent: true, ToolSlots: 4,
		RepromptAfter: 20 * time.Second}
	return list
}

// baseVariants are the sessions of the gateway's four modes, with and without
// tools and a greeting.
func baseVariants() map[string]Config {
	list := map[string]Config{}
	for name, mode := range map[string]Config{
		"manual":             {},
		"manual half-duplex": {HalfDuplex: true},
		"server":             {Detection: Server},
		"server half-duplex": {Detection: Server, HalfDuplex: true},
	} {
		mode.Prompts = Prompts(0).With(Fallback).With(Goodbye)
		list[name+", no greeting"] = mode
		mode.Greeting = true
		list[name] = mode
		mode.ToolSlots = 2
		list[name+" with tools"] = mode
		mode.Greeting = false
		list[name+" with tools, no greeting"] = mode
	}
	return list
}

func everyPrompt() Prompts {
	var all Prompts
	for p := range Prompt(0).KeyNames() {
		all = all.With(Prompt(p))
	}
	return all
}

// everything is a session with all that can be had.
func everything() Config {
	return Config{Greeting: true, GreetingFirm: true, Adaptive: true, Hints: true, Consent: true, Prompts: everyPrompt(),
		ToolSlots: 2, RepromptAfter: 10 * time.Second}
}

func compile(t testing.TB, n *petri.Net, err error) *petri.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// memory is a Cache in memory.
type memory map[string][]byte

func (m memory) Load(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(name string, data []byte) error { m[name] = data; return nil }

// budget is the most markings that the proofs of one session may have: twice that
// with consent, reprompts or hints.
const budget = 50_000

// embeddedMax is how many bytes of certificates ship at most.
const embeddedMax = 2 << 20

// TestShippedCertificates holds every session that ships to its certificates,
// and the certificates to the sessions. After a change of a net, -update writes
// them anew.
func TestShippedCertificates(t *testing.T) {
	if *update {
		writeCertificates(t)
		t.Skip("the certificates were written; the program must be built again to have them")
	}
	start := time.Now()
	proofs, err := Prover{certified: true}.Prove(context.Background(), Shipped()...)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for i, p := range proofs {
		name := fmt.Sprintf("%s, %+v", p.Name, Shipped()[i])
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Source != FromShipped {
			t.Errorf("%s has no certificate: run go test ./voicenets -run Shipped -update", name)
		}
		limit := budget
		if c := Shipped()[i]; c.Consent || c.RepromptAfter > 0 || c.Hints {
			limit *= 2
		}
		if p.Markings > limit {
			t.Errorf("%s: %d markings, more than %d", name, p.Markings, limit)
		}
		for _, s := range p.Parts {
			want[s.Certificate] = true
		}
	}
	files, err := filepath.Glob("certificates/*.json")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if size += info.Size(); !want[filepath.Base(f)] {
			t.Errorf("%s is of no session", f)
		}
	}
	t.Logf("%d sessions, %d slices, %d kB, checked in %v", len(proofs), len(want), size/1000,
		time.Since(start).Round(time.Millisecond))
	if size > embeddedMax {
		t.Errorf("the certificates have %d bytes, more than %d", size, embeddedMax)
	}
}

func writeCertificates(t *testing.T) {
	t.Helper()
	written := memory{}
	proofs, err := Prover{Cache: written, Anew: true, certified: true}.Prove(context.Background(), Shipped()...)
	for _, p := range proofs {
		err = errors.Join(err, p.Err())
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("certificates/*.json")
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	for name, data := range written {
		err = errors.Join(err, os.WriteFile(filepath.Join("certificates", name), data, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestProveVariants proves sessions that do not ship, all there is in one among
// them.
func TestProveVariants(t *testing.T) {
	base := baseVariants()
	for name, c := range variants() {
		if _, ok := base[name]; ok {
			continue // TestShippedCertificates
		}
		start := time.Now()
		p, err := Prove(context.Background(), c, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%-30s %6d markings in %d slices, %d properties, %v", name, p.Markings, len(p.Parts), len(p.Claims),
			time.Since(start).Round(time.Millisecond))
	}
}

// TestProveOtherTimings proves a configuration of its own once, and refuses
// its certificate when it is damaged or of another net.
func TestProveOtherTimings(t *testing.T) {
	ctx, cache := context.Background(), memory{}
	c := Config{ConfirmWindow: 700 * time.Millisecond, BudgetFrames: 2}
	prove := func() (*Proof, error) {
		list, err := Prover{Cache: cache, certified: true}.Prove(ctx, c)
		if err != nil {
			return nil, err
		}
		return list[0], list[0].Err()
	}
	for _, want := range []Source{FromNow, FromCache} {
		p, err := prove()
		if err != nil {
			t.Fatal(err)
		}
		if p.Source != want || p.Markings < 500 {
			t.Errorf("%d markings, %s; want %s", p.Markings, p.Source, want)
		}
	}
	for name, good := range cache {
		for i := 0; i < len(good); i += len(good)/7 + 1 {
			bad := append([]byte(nil), good...)
			bad[i] ^= 4
			cache[name] = bad
			if _, err := prove(); err == nil {
				t.Fatalf("byte %d of the certificate %s was changed and it was taken", i, name)
			}
		}
		for other, data := range cache {
			if cache[name] = data; other == name || strings.Contains(string(data), name) {
				continue
			}
			if _, err := prove(); !errors.Is(err, verify.ErrCertificate) {
				t.Errorf("the certificate of another slice: %v", err)
			}
			break
		}
		cache[name] = good
	}
}
