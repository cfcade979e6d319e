package voicegw_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/voicenets"
)

// everyInput is a session that takes all that can be injected.
func everyInput() voicenets.Config {
	return voicenets.Config{Consent: true, Hints: true, ToolSlots: 2,
		Prompts: voicenets.Prompts(0).With(voicenets.AskConsent).With(voicenets.Filler)}
}

// TestInputs: this package injects at the places that the hostile environment of the proofs fills, and at all of them.
func TestInputs(t *testing.T) {
	listed := map[string]bool{}
	for _, in := range voicenets.Inputs(everyInput()) {
		listed[in.Place.String()] = true
	}
	injected := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			made, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || made.Sel.Name != "Token" {
				return true
			}
			if of, ok := made.X.(*ast.SelectorExpr); ok {
				if pkg, ok := of.X.(*ast.Ident); ok && pkg.Name == "voicenets" {
					injected[placeName(of.Sel.Name)] = true
					return true
				}
			}
			t.Errorf("%s makes a token of a place that this test cannot read", f.Name())
			return true
		})
	}
	if want, got := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(injected)); !slices.Equal(want, got) {
		t.Errorf("voicenets.Inputs lists %v\nthis package injects %v", want, got)
	}
}

// placeName is the name of a place by that of its constant: SpeechEdge is speech_edge.
func placeName(constant string) string {
	var b strings.Builder
	for i, r := range constant {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// TestOneWayIn: only the injector puts tokens into the net of a call.
func TestOneWayIn(t *testing.T) {
	calls := map[string]int{} // of a method of the runner, by file
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Inject") && s.Sel.Name != "InjectError" {
				calls[name]++
			}
			return true
		})
	}
	if len(calls) != 1 || calls["injector.go"] == 0 {
		t.Errorf("these files inject: %v; want injector.go alone", calls)
	}
}
