//go:build !race

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// These tests explore, prove or describe whole nets of calls, which takes several times as long
// under the race detector. What goroutines do in them, TestProofsAreKept does under it.

// verifyWhole looks for what refutes a property of a net that runs, not in slices.
func verifyWhole(ctx context.Context, n shippedNet, p *verify.Property) (*claims.Proof, error) {
	net, err := claims.Hostile(n.config)
	if err != nil {
		return nil, err
	}
	closed, err := petri.Compile(net)
	if err != nil {
		return nil, err
	}
	open, err := n.program()
	if err != nil {
		return nil, err
	}
	r, err := verify.Run(ctx, closed, verify.Config{Max: 20_000, Open: open}, p)
	if err != nil {
		return nil, err
	}
	return &claims.Proof{Claims: []claims.Claim{{Result: r.Results[0]}}}, nil
}

// TestVerifyKeepsOfShipped: what the net that runs does wrong becomes a test of that net, without its environment.
func TestVerifyKeepsOfShipped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ expr, says string }{
		"speech": {"confirming >= 1", "inject speech_edge start @0s\n"},
		"reply":  {"unplayed >= 2", "inject model_audio @"},
		"end":    {"farewell >= 1", "fired call/end_drain_in_quiet\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := fileCheck{kept: keeping{script: filepath.Join(dir, "script"), frames: filepath.Join(dir, "frames"),
				notes: io.Discard}}
			check := func(n shippedNet, ctx context.Context) (*claims.Proof, error) {
				return verifyWhole(ctx, n, verify.Never(test.expr))
			}
			nets := shippedNets()[:2] // both are refuted; the first is kept
			var out strings.Builder
			if err := c.verifyNets(t.Context(), nets, &out, check); err == nil || c.kept.err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			open, err := nets[0].program()
			if err != nil {
				t.Fatal(err)
			}
			petritest.Run(t, c.kept.script, open)
			data, err := os.ReadFile(c.kept.script)
			if err != nil || !strings.Contains(string(data), test.says) {
				t.Errorf("%v, or no %q:\n%s", err, test.says, data)
			}
		})
	}
}

// TestPartsDocIsFresh holds the tables of docs/parts.md to the parts.
func TestPartsDocIsFresh(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "parts.md")
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	claims := claimsOf(t)
	fresh := string(doc)
	replace := func(mark, text string) {
		block := regexp.MustCompile(`(?s)(<!-- ` + mark + `: .*?-->\n).*?(<!-- end of ` + mark + ` -->)`)
		if len(block.FindAllString(fresh, -1)) != 1 {
			t.Errorf("%s has not one block <!-- %s: ... --> ... <!-- end of %[2]s -->", name, mark)
		}
		fresh = block.ReplaceAllString(fresh, "${1}"+strings.ReplaceAll(text, "$", "$$")+"${2}")
	}
	for _, part := range documentedParts(t) {
		replace(part, portTable(t, part)+"\nSettings: "+codes(settingsOf(t, part))+
			"\n\nClaims that it could break: "+codes(claims.of(part))+"\n")
	}
	replace("claims", claims.table())
	if fresh == string(doc) {
		return
	}
	if !*update {
		t.Errorf("%s is not what the code says: go test ./cmd/voicegw -run Fresh -update", name)
	} else if err := os.WriteFile(name, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestProveBeforeServing proves a budget of its own once, keeps the
// certificates, and proves anew where the cache is damaged, cannot be read, or cannot be written.
func TestProveBeforeServing(t *testing.T) {
	gw := threeFrames(t)
	files := provedTwice(t, gw)
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	prove := func(want ...string) {
		t.Helper()
		var out strings.Builder
		if _, err := proveNets(t.Context(), gw, &out, zap.NewNop()); err != nil {
			t.Errorf("refused to serve: %v", err)
		}
		for _, words := range want {
			if strings.Count(out.String(), words) != 1 {
				t.Errorf("it does not say %q once:\n%s", words, out.String())
			}
		}
	}
	damaged := bytes.Clone(data)
	damaged[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	prove("is damaged, so all nets are proved again", "the nets of calls are proved")
	if mended, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(mended, data) {
		t.Errorf("the damaged certificate was not replaced: %v", err)
	}
	const warning = "warning: certificates cannot be kept"
	if err := errors.Join(os.Remove(files[0]), os.Mkdir(files[0], 0o700)); err != nil { // neither read nor written
		t.Fatal(err)
	}
	prove(warning, "the nets of calls are proved")
	blocked := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(blocked, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", blocked)
	prove(warning, "the nets of calls are proved")
}
