package claims

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/voicenets"
)

var update = flag.Bool("update", false, "write the certificates anew")

// memory is a Cache in memory.
type memory map[string][]byte

func (m memory) Load(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(name string, data []byte) error { m[name] = data; return nil }

// budget is the most markings that the proofs of one session may have: twice that with consent,
// reprompts or hints.
const budget = 50_000

// embeddedMax is how many bytes of certificates ship at most.
const embeddedMax = 2 << 20

// TestShippedCertificates holds every session that ships to its certificates, and the certificates
// to the sessions. After a change of a net, -update writes them anew.
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

// TestProveVariants proves sessions that do not ship, all there is in one among them.
func TestProveVariants(t *testing.T) {
	base, list := baseVariants(), variants()
	maps.DeleteFunc(list, func(name string, _ voicenets.Config) bool {
		_, ok := base[name]
		return ok // TestShippedCertificates
	})
	for name, p := range proveAll(t, list) {
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%-30s %6d markings in %d slices, %d properties", name, p.Markings, len(p.Parts), len(p.Claims))
	}
}

// proveAll proves sessions, and a slice that several of them share once.
func proveAll(t *testing.T, list map[string]voicenets.Config) map[string]*Proof {
	t.Helper()
	names := slices.Sorted(maps.Keys(list))
	var configs []voicenets.Config
	for _, name := range names {
		configs = append(configs, list[name])
	}
	proofs, err := Prover{}.Prove(t.Context(), configs...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Proof{}
	for i, name := range names {
		out[name] = proofs[i]
	}
	return out
}

// TestProveOtherTimings proves a configuration of its own once, and refuses its certificate when it
// is damaged or of another net.
func TestProveOtherTimings(t *testing.T) {
	ctx, cache := context.Background(), memory{}
	c := voicenets.Config{ConfirmWindow: 700 * time.Millisecond, BudgetFrames: 2}
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
			if _, err := prove(); !errors.Is(err, check.ErrCertificate) {
				t.Errorf("the certificate of another slice: %v", err)
			}
			break
		}
		cache[name] = good
	}
}

// prove makes sure that a session keeps every claim that is made of it under Hostile automata: see
// Prover. A claim that is refuted, or left open, is an error that tells how. cache may be nil.
func prove(ctx context.Context, c voicenets.Config, cache Cache) (*Proof, error) {
	steps, all := 0, 0
	step := func(slice string, done, of int) {
		if done != steps || (slice == "") != (done == 0) {
			panic(fmt.Sprintf("step %d: %q is number %d of %d", steps, slice, done, of))
		}
		steps, all = steps+1, of
	}
	list, err := Prover{Cache: cache, Step: step}.Prove(ctx, c)
	if err != nil {
		return nil, err
	}
	if steps != all+1 || all == 0 {
		return nil, fmt.Errorf("%d steps were told of %d slices", steps, all)
	}
	if err := list[0].Err(); err != nil {
		return nil, err
	}
	return list[0], nil
}

// TestProofWithIdlePrompts proves a session without tools, consent and reprompts by the
// certificates of the same session without their prompts.
func TestProofWithIdlePrompts(t *testing.T) {
	t.Parallel()
	all := usualPrompts(voicenets.Config{Consent: true, RepromptAfter: time.Second}).With(voicenets.Filler)
	p, err := prove(t.Context(), voicenets.Config{Greeting: true, Prompts: all}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Source != FromShipped {
		t.Errorf("the source is %s", p.Source)
	}
}

// TestProvedWithoutPrompts: a session without any prompt keeps everything that a gateway proves at
// its start.
func TestProvedWithoutPrompts(t *testing.T) {
	p, err := prove(t.Context(), small(voicenets.Config{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}
