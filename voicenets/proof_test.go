package voicenets

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify"
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

// TestShippedCertificates holds every default session to its certificate, and
// the certificates to the sessions. After a change of a net, -update writes
// them anew.
func TestShippedCertificates(t *testing.T) {
	want := map[string]bool{}
	written := memory{}
	for name, c := range variants() {
		if *update {
			n, err := Hostile(c)
			p := newProver(compile(t, n, err), c, written)
			if _, err := p.prove(context.Background()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		proof, err := Prove(context.Background(), c, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if proof.Source != FromShipped {
			t.Errorf("%s has no certificate: run go test ./voicenets -run Shipped -update", name)
		}
		want[strings.TrimPrefix(proof.Hash, "sha256:")[:24]+".json"] = true
	}
	files, err := filepath.Glob("certificates/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if *update {
			err = errors.Join(err, os.Remove(f))
		} else if !want[filepath.Base(f)] {
			t.Errorf("%s is of no session", f)
		}
	}
	for name, data := range written {
		err = errors.Join(err, os.WriteFile(filepath.Join("certificates", name), data, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestProveOtherTimings proves a configuration of its own once, and refuses
// its certificate when it is damaged or of another net.
func TestProveOtherTimings(t *testing.T) {
	ctx, cache := context.Background(), memory{}
	c := Config{ConfirmWindow: 700 * time.Millisecond}
	for _, want := range []Source{FromNow, FromCache} {
		p, err := Prove(ctx, c, cache)
		if err != nil {
			t.Fatal(err)
		}
		if p.Source != want || p.Markings < 1000 {
			t.Errorf("%d markings, %s; want %s", p.Markings, p.Source, want)
		}
	}
	var name string
	for name = range cache {
	}
	good := cache[name]
	for i := 0; i < len(good); i += len(good) / 50 {
		bad := append([]byte(nil), good...)
		bad[i] ^= 4
		cache[name] = bad
		if _, err := Prove(ctx, c, cache); err == nil {
			t.Fatalf("byte %d of the certificate was changed and it was taken", i)
		}
	}
	other := memory{}
	if _, err := Prove(ctx, Config{ConfirmWindow: 800 * time.Millisecond}, other); err != nil {
		t.Fatal(err)
	}
	for _, data := range other {
		cache[name] = data
	}
	if _, err := Prove(ctx, c, cache); !errors.Is(err, verify.ErrCertificate) {
		t.Errorf("the certificate of another net: %v", err)
	}
}
